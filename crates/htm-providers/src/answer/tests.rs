use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

static RULES: std::sync::LazyLock<TagRules> = std::sync::LazyLock::new(TagRules::default);

fn reading(texts: usize) -> Reading<'static> {
    Reading { texts, max_tags: 8, rules: &RULES }
}

/// The tags in their stored form, without invalid ones.
fn normal(tags: &HashSet<String>) -> HashSet<String> {
    tags.iter().filter_map(|tag| TagPath::normalise(tag).ok()).map(String::from).collect()
}

fn paths(answer: &str, count: usize) -> Result<Vec<Vec<String>>, String> {
    let lists = parse(answer, reading(count))?.into_lists()?;
    Ok(lists.into_iter().map(|tags| tags.into_iter().map(|tag| tag.path.into()).collect()).collect())
}

#[test]
fn each_form_that_models_give() {
    for answer in [
        r#"{"results":[{"index":0,"tags":["a:b","c"]}]}"#,
        r#"{"tags":["a:b","c"]}"#,
        r#"["a:b","c"]"#,
        r#"{"0":["a:b","c"]}"#,
        r#"{"tags":"a:b, c"}"#,
        r##"{"tags":[{"tag":"A:B","confidence":0.9},"#c"]}"##,
        "Sure! Here are the tags:\n```json\n{\"tags\": [\"a:b\", \"c\"]}\n```\nHope it helps {smile}.",
        "<think>maybe {\"tags\":[\"no\"]}</think>[[\"a:b\",\"c\"]]",
        "Tags:\n- a:b\n- `c`\n",
        "1. a:b\n2. c",
        "a:b, c",
        "Here they are:\n- A: B\n- **C**\nI hope that helps",
        "- [ ] a:b\n- [x] C",
        "1. [ ] A:B\n2. [X] c",
        "* [ ] `a:b`, `c`",
    ] {
        assert_eq!(paths(answer, 1).unwrap(), [["a:b", "c"]], "{answer}");
    }
}

#[test]
fn items_of_a_list_are_tags_as_people_write_them_and_prose_is_none() {
    for (answer, tags) in [
        ("- Database: PostgreSQL\n- Query Planning", vec!["database:postgresql", "query-planning"]),
        ("Sure, the tags:\n* Data Bases:Index Choice\nHope it helps", vec!["data-base:index-choice"]),
        ("- The note is about a database\n- food: what we cooked for dinner\n- cooking", vec!["cooking"]),
    ] {
        assert_eq!(paths(answer, 1).unwrap(), [tags], "{answer}");
    }
    let refusal =
        "I can't tag this note because:\n\n1. Personal data\n2. Sensitive topic\n\nPlease rephrase.";
    assert!(paths(refusal, 1).is_err());
    let refusal = refusal.replace("can't tag this note", "don’t give tags");
    assert!(paths(&refusal, 1).is_err());
    for above in ["Here are the tags:", "Here they are:", "Suggested topics:", "**Tags:**", "Sure!"] {
        let answer = format!("{above}\n- Query Planning");
        assert_eq!(paths(&answer, 1).unwrap(), [["query-planning"]], "{answer}");
    }
    // An answer without tags is valid, unlike prose.
    assert_eq!(paths("[ ]", 1).unwrap(), [Vec::<String>::new()]);
    assert_eq!(paths("Tags: [ ]", 1).unwrap(), [Vec::<String>::new()]);
    assert!(paths("- This is what I have to say about that", 1).is_err());
}

#[test]
fn order_follows_the_index() {
    let answer = r#"{"results":[{"index":1,"tags":["b"]},{"index":"0","tags":["a"]}]}"#;
    assert_eq!(paths(answer, 2).unwrap(), [["a"], ["b"]]);
    assert_eq!(paths(r#"[["a"],["b"]]"#, 2).unwrap(), [["a"], ["b"]]);
    assert_eq!(paths(r#"[{"tags":["a"]},{"tags":[]}]"#, 2).unwrap(), [vec!["a"], vec![]]);
}

#[test]
fn indexes_may_count_from_one_where_nothing_else_is_meant() {
    let only = r#"{"results":[{"index":1,"tags":["a"]}]}"#;
    assert_eq!(paths(only, 1).unwrap(), [["a"]]);
    assert!(paths(only, 2).is_err());
    let both = r#"{"results":[{"index":2,"tags":["b"]},{"index":1,"tags":["a"]}]}"#;
    assert_eq!(paths(both, 2).unwrap(), [["a"], ["b"]]);
    assert_eq!(paths(r#"{"1":["a"],"2":["b"]}"#, 2).unwrap(), [["a"], ["b"]]);
    for unclear in [r#"[{"index":1,"tags":["a"]},{"index":1,"tags":["b"]}]"#, r#"{"1":["a"],"3":["b"]}"#] {
        assert!(paths(unclear, 2).is_err(), "{unclear}");
    }
}

#[test]
fn what_could_mean_two_things_is_refused() {
    for (answer, words) in [
        (r#"{"results":[{"index":0,"tags":["a"]}]}"#, "leaves out index 1"),
        (r#"{"results":[{"index":0,"tags":["a"]},{"index":0,"tags":["b"]}]}"#, "index 0 twice"),
        (r#"{"results":[{"index":0,"tags":[]},{"index":7,"tags":[]}]}"#, "index 7 of 2"),
        (r#"["a","b","c"]"#, "not 2"),
        ("I cannot do that.", "no JSON"),
        ("a:b\nc", "no JSON"),
    ] {
        let reason = paths(answer, 2).unwrap_err();
        assert!(reason.contains(words), "{answer}: {reason}");
    }
    assert!(paths("I cannot do that, sorry.", 1).is_err());
}

#[test]
fn invalid_tags_are_dropped_and_harmless_ones_mended() {
    let answer = r#"{"tags":["Data Base:Postgre_SQL","a::b","a!","---","x:y:z:1:2:3","","ok","OK"]}"#;
    assert_eq!(paths(answer, 1).unwrap(), [["data-base:postgre-sql", "ok"]]);
    assert_eq!(paths(r#"{"tags":["!"]}"#, 1).unwrap(), [Vec::<String>::new()]);
}

#[test]
fn confidence_is_kept_if_it_is_one() {
    let answer = r#"{"tags":[{"tag":"a","confidence":0.5},{"tag":"b","confidence":95}]}"#;
    let tags = parse(answer, reading(1)).unwrap().into_lists().unwrap();
    assert_eq!((tags[0][0].confidence, tags[0][1].confidence), (Some(0.5), None));
    let by_tag = r#"{"tags":{"topic:dicta":0.5,"topic:dictb":95}}"#;
    let tags = parse(by_tag, reading(1)).unwrap().into_lists().unwrap().remove(0);
    let tags: Vec<_> = tags.iter().map(|tag| (tag.path.as_str(), tag.confidence)).collect();
    assert_eq!(tags, [("topic:dicta", Some(0.5)), ("topic:dictb", None)]);
}

#[test]
fn each_broken_rule_is_told_once() {
    let answer = r#"{"results":[{"index":0,"tags":["a!","ok","a::b",""]}]}"#;
    let draft = parse(answer, reading(2)).unwrap();
    assert!(!draft.is_complete());
    let trouble = draft.trouble();
    assert_eq!(trouble[0], "index 1 is left out, or has no list of tags");
    assert!(trouble[1].starts_with("index 0: `a!`: only a-z"), "{trouble:?}");
    assert!(trouble[2].contains("a level is empty"), "{trouble:?}");
    assert_eq!(trouble.len(), 3);
}

#[test]
fn what_has_another_form_is_told() {
    let of = |tags: &str| parse(&format!(r#"{{"tags":{tags}}}"#), reading(1)).unwrap();
    for tags in [r#"[{"label":"a:b"}]"#, r#"[["a"]]"#, "[7]", r#"["c",{"label":"a:b"}]"#] {
        let draft = of(tags);
        assert!(
            draft.is_complete() && draft.trouble()[0].contains("neither a text nor"),
            "{tags}: {draft:?}"
        );
    }
    for tags in [r#"{"confidence":0.9}"#, r#"{"a:b":"yes"}"#, "{}", "true", "7"] {
        let draft = of(tags);
        assert_eq!(draft.trouble(), ["index 0 is left out, or has no list of tags"], "{tags}");
        assert!(draft.into_lists().is_err(), "{tags}");
    }
    for none in ["null", "[]", "[null]", "\"\"", r#"["'' `","' '"," "]"#] {
        let draft = of(none);
        assert!(draft.is_complete() && draft.trouble().is_empty(), "{none}: {draft:?}");
    }
}

#[test]
fn a_second_answer_mends_and_takes_nothing_away() {
    let of = |answer: &str| parse(answer, Reading { max_tags: 2, ..reading(3) }).unwrap();
    let first = of(r#"{"results":[{"index":0,"tags":["a","b:c:b"]},{"index":1,"tags":["d"]}]}"#);
    let second = of(
        r#"{"results":[{"index":0,"tags":["x!","b","e"]},{"index":1,"tags":["z"]},{"index":2,"tags":["f"]}]}"#,
    );
    let mended = first.mended_by(second);
    assert_eq!(mended.invalid.iter().map(|tag| tag.tag.as_str()).collect::<Vec<_>>(), ["x!"]);
    let lists: Vec<Vec<String>> = mended
        .into_lists()
        .unwrap()
        .into_iter()
        .map(|tags| tags.into_iter().map(|tag| tag.path.into()).collect())
        .collect();
    assert_eq!(lists, [vec!["a", "b"], vec!["d"], vec!["f"]]);
}

/// JSON of any form, with keys that models give.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z:\"' ]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let key = prop::sample::select(vec!["tag", "name", "label", "confidence"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..3).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_not_read_is_told(tags in values()) {
        let answer = serde_json::json!({ "results": [{ "index": 0, "tags": tags }] }).to_string();
        let draft = parse(&answer, reading(1)).unwrap();
        if draft.trouble().is_empty() {
            let found = draft.into_lists().unwrap().remove(0);
            let is_read = |text: &str| {
                let is_found = |path: TagPath| found.iter().any(|known| known.path == path);
                bare(text).is_empty() || tag(text, &RULES).is_ok_and(is_found)
            };
            let all_read = match &tags {
                Value::Null => true,
                Value::String(text) => text.split(',').all(is_read),
                Value::Array(items) => items.iter().all(|item| {
                    item.is_null() || tag_and_confidence(item).is_some_and(|(text, _)| is_read(text))
                }),
                Value::Object(fields) => is_by_tag(fields) && fields.keys().all(|tag| is_read(tag)),
                _ => false,
            };
            prop_assert!(all_read, "{}", answer);
        }
    }

    #[test]
    fn nothing_makes_it_panic_and_all_tags_are_valid(answer in "\\PC{0,80}", count in 0_usize..4) {
        if let Ok(lists) = paths(&answer, count) {
            prop_assert_eq!(lists.len(), count);
        }
    }

    #[test]
    fn brackets_do_not_either(answer in "[\\[\\]{}\",:a0 \n]{0,60}", count in 0_usize..3) {
        let _ = paths(&answer, count);
    }

    #[test]
    fn prose_around_json_changes_nothing(
        before in "[a-zA-Z .,!\n]{0,60}",
        after in "[a-zA-Z .,!\n]{0,60}",
        fence in any::<bool>(),
        tags in prop::collection::vec(prop::collection::hash_set("[a-z0-9]{1,8}(:[a-z0-9]{1,8}){0,4}", 0..5), 1..5),
    ) {
        let results: Vec<Value> = tags.iter().enumerate()
            .map(|(index, tags)| serde_json::json!({ "index": index, "tags": tags })).rev().collect();
        let json = serde_json::json!({ "results": results });
        let answer = if fence { format!("{before}\n```json\n{json:#}\n```\n{after}") } else { format!("{before}{json}{after}") };
        let found = paths(&answer, tags.len()).unwrap();
        for (found, tags) in found.into_iter().zip(tags) {
            prop_assert_eq!(found.into_iter().collect::<HashSet<_>>(), normal(&tags));
        }
    }

    #[test]
    fn one_tag_a_line(tags in prop::collection::hash_set("[a-z][a-z0-9]{0,7}(:[a-z0-9]{1,8}){0,4}", 1..8), bullet in "(- |\\* |1\\. |)") {
        let answer: String = tags.iter().map(|tag| format!("{bullet}{tag}\n")).collect();
        prop_assume!(!normal(&tags).is_empty());
        let found = paths(&answer, 1).unwrap().remove(0);
        prop_assert_eq!(found.into_iter().collect::<HashSet<_>>(), normal(&tags));
    }
}
