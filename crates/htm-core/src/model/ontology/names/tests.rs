//! Renames, merges, synonyms and splits of names.

use super::*;

fn names(tags: &[&str], synonyms: &[(&str, &str)]) -> Names {
    Names {
        tags: tags.iter().map(|tag| ((*tag).to_owned(), Tag::default())).collect(),
        synonyms: synonyms.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect(),
    }
}

fn path(text: &str) -> TagPath {
    text.parse().unwrap()
}

fn tags(names: &Names) -> Vec<&str> {
    names.tags.keys().map(String::as_str).collect()
}

fn merge(draft: &mut Draft, from: &[&str], into: &str) -> Result<()> {
    let from: Vec<TagPath> = from.iter().map(|it| path(it)).collect();
    draft.merge(&TagRules::default(), &from, &path(into))
}

fn rename(draft: &mut Draft, from: &str, to: &str) -> Result<TagPath> {
    draft.rename(&TagRules::default(), &path(from), &path(to))
}

#[test]
fn a_name_that_was_renamed_twice_means_the_last() {
    let mut draft = Draft::new(names(&["a", "a:x"], &[]));
    rename(&mut draft, "a", "b").unwrap();
    rename(&mut draft, "b:x", "b:y").unwrap();
    assert_eq!(tags(&draft.after), ["b", "b:y"]);
    assert_eq!(draft.after.canonical("a:x:new"), "b:y:new");
    assert_eq!(draft.after.canonical("ab"), "ab");
    // A rename of the parent.
    rename(&mut draft, "b", "c:d").unwrap();
    assert_eq!(draft.after.canonical("a:x:new"), "c:d:y:new");
    assert_eq!(draft.after.canonical("b:x"), "c:d:y");
}

#[test]
fn a_rename_back_leaves_the_other_name() {
    let mut draft = Draft::new(names(&["b"], &[("a", "b")]));
    rename(&mut draft, "b", "a").unwrap();
    assert_eq!((tags(&draft.after), draft.after.canonical("b")), (vec!["a"], "a".to_owned()));
    assert_eq!(draft.after.synonyms.len(), 1);
}

#[test]
fn a_merge_takes_what_stands_below_along() {
    let mut draft = Draft::new(names(&["db", "db:x", "db:y", "data", "data:x", "psql"], &[("old", "db:y")]));
    merge(&mut draft, &["db", "psql"], "data").unwrap();
    assert_eq!(tags(&draft.after), ["data", "data:x", "data:y"]);
    assert_eq!(
        draft.after.synonyms,
        names(&[], &[("db", "data"), ("old", "data:y"), ("psql", "data")]).synonyms
    );
    assert_eq!(draft.renamed.len() + draft.merged.len(), 4);
    assert_eq!(draft.renamed["db:y"], "data:y");
}

#[test]
fn a_child_and_its_parent_go_together() {
    let mut draft = Draft::new(names(&["a", "a:b", "a:b:c", "t"], &[]));
    merge(&mut draft, &["a", "a:b"], "t").unwrap();
    assert_eq!(tags(&draft.after), ["t", "t:c"]);
    let mut draft = Draft::new(names(&["a", "a:b", "a:b:b"], &[]));
    merge(&mut draft, &["a:b"], "a").unwrap();
    assert_eq!(tags(&draft.after), ["a"]);
}

#[test]
fn no_level_comes_twice_by_a_change() {
    let mut draft = Draft::new(names(&["db", "db:database", "db:database:index", "database"], &[]));
    merge(&mut draft, &["db"], "database").unwrap();
    assert_eq!(tags(&draft.after), ["database", "database:index"]);
    assert_eq!(draft.merged["db:database"], "database");
    assert_eq!(draft.after.canonical("db:database:x"), "database:x");
    let named = draft.define(&TagRules::default(), &path("db:database"), Some("Where it is kept")).unwrap();
    assert_eq!(named.as_str(), "database");
    // A repetition that is not at the seam breaks the rule.
    let mut draft = Draft::new(names(&["db", "db:data", "data", "data:sql"], &[]));
    let refused = merge(&mut draft, &["db"], "data:sql").unwrap_err();
    assert_eq!((refused.code(), refused.to_string().contains("comes twice")), ("tag_unmovable", true));
    let mut draft = Draft::new(names(&["sql", "data:sql"], &[("db", "data:sql")]));
    let refused = draft.define(&TagRules::default(), &path("db:data"), None).unwrap_err();
    assert_eq!(refused.code(), "tag_unmovable");
}

#[test]
fn what_cannot_be_moved_is_refused() {
    let all = names(&["a", "a:b", "x", "p", "p:q", "p:q:r", "p:q:r:s", "p:q:r:s:t"], &[("o", "x")]);
    let mut draft = Draft::new(all);
    assert_eq!(merge(&mut draft, &["a"], "a").unwrap_err().code(), "tag_into_itself");
    assert_eq!(merge(&mut draft, &["a"], "a:b").unwrap_err().code(), "tag_into_own_child");
    assert_eq!(merge(&mut draft, &[], "a").unwrap_err().code(), "nothing_to_merge");
    assert_eq!(rename(&mut draft, "a", "x").unwrap_err().code(), "tag_taken");
    assert_eq!(rename(&mut draft, "a", "o").unwrap_err().code(), "tag_is_synonym");
    assert_eq!(rename(&mut draft, "a", "a:c").unwrap_err().code(), "tag_into_own_child");
    assert_eq!(draft.add_synonym(&path("p"), &path("x")).unwrap_err().code(), "synonym_is_tag");
    assert_eq!(rename(&mut draft, "p", "n:p").unwrap_err().code(), "tag_unmovable");
}

#[test]
fn a_part_that_is_merged_back_ends_its_split() {
    let split = |draft: &mut Draft, tag: &str, into: &[&str]| {
        let tag = draft.after.tags.get_mut(tag).unwrap();
        (tag.split_into, tag.leftover) = (into.iter().map(ToString::to_string).collect(), Leftover::First);
    };
    let all = names(&["db", "db:pg", "db:my", "x", "y", "z", "w"], &[]);
    let into = |draft: &Draft, tag: &str| draft.after.tags[tag].split_into.clone();
    let mut draft = Draft::new(all.clone());
    split(&mut draft, "db", &["db:pg", "db:my"]);
    merge(&mut draft, &["db:pg"], "db").unwrap();
    assert_eq!(draft.after.tags["db"], Tag::default());
    // Two parts become one.
    let mut draft = Draft::new(all.clone());
    split(&mut draft, "x", &["y", "z"]);
    merge(&mut draft, &["y"], "z").unwrap();
    assert_eq!((into(&draft, "x"), draft.after.tags["x"].leftover), (vec!["z".to_owned()], Leftover::First));
    // A tag is not split into what was split from it.
    let mut draft = Draft::new(all);
    split(&mut draft, "x", &["y", "w"]);
    split(&mut draft, "y", &["z", "db"]);
    merge(&mut draft, &["z"], "x").unwrap();
    assert_eq!((into(&draft, "x"), into(&draft, "y")), (vec!["y".into(), "w".into()], vec!["db".to_owned()]));
}

#[test]
fn tags_stay_told_apart_under_their_new_names() {
    let mut draft = Draft::new(names(&["a", "b", "b:x", "c", "d"], &[]));
    for (tag, other) in [("c", "a"), ("b:x", "c"), ("d", "c"), ("c", "d")] {
        draft.mark_distinct(&path(tag), &path(other)).unwrap();
    }
    assert_eq!(draft.mark_distinct(&path("a"), &path("a")).unwrap_err().code(), "tag_into_itself");
    let pairs = |names: &Names| {
        let pairs = |(tag, it): (&String, &Tag)| {
            it.distinct_from.iter().map(|other| format!("{other} {tag}")).collect::<Vec<_>>()
        };
        names.tags.iter().flat_map(pairs).collect::<Vec<_>>()
    };
    assert_eq!(pairs(&draft.after), ["a c", "b:x c", "c d"]);
    rename(&mut draft, "b", "e").unwrap();
    assert!(draft.after.are_distinct("c", "e:x") && !draft.after.are_distinct("c", "b:x"));
    // A pair that is merged is none; what was distinct from one is from the other.
    merge(&mut draft, &["c"], "d").unwrap();
    assert_eq!(pairs(&draft.after), ["a d", "e:x d"]);
    let mut twice = Draft::new(names(&["a", "b", "c"], &[]));
    twice.mark_distinct(&path("a"), &path("b")).unwrap();
    twice.mark_distinct(&path("b"), &path("c")).unwrap();
    merge(&mut twice, &["c"], "a").unwrap();
    assert_eq!(pairs(&twice.after), ["a b"], "a pair is on one of its tags");
    draft.unmark_distinct(&path("a"), &path("d"));
    draft.remove(&path("e"));
    assert_eq!(pairs(&draft.after), Vec::<String>::new());
}
