//! The ontology as a document, for export and import.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use super::change::{Changed, Synonym, check_description};
use super::errors::unknown;
use super::names::{Draft, Names};
use crate::model::error::{Error, Result, codes};
use crate::model::tags::{Leftover, TagPath, TagRules};

/// The document version of this program.
pub const DOCUMENT_VERSION: u32 = 1;

/// The tags of a namespace with descriptions and synonyms, without nodes, counts and namespace: the same ontology is
/// always the same document.
///
/// Its tags are normalised, each before the tags below it. Parents may be left out; they are added anyway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OntologyDocument {
    /// [`DOCUMENT_VERSION`].
    pub version: u32,
    /// The tags.
    pub tags: Vec<DocumentTag>,
}

/// A tag of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DocumentTag {
    /// The tag.
    pub tag: TagPath,
    /// Its description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its synonyms, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub synonyms: Vec<TagPath>,
    /// The tags that replace it after a split.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub split_into: Vec<TagPath>,
    /// The tag of a text that fits none of them.
    #[serde(default, skip_serializing_if = "Leftover::is_keep")]
    pub leftover: Leftover,
    /// Tags declared distinct from it, sorted. A pair is on one of its tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distinct_from: Vec<TagPath>,
}

impl DocumentTag {
    /// A tag with a description.
    pub fn new(tag: TagPath, description: Option<String>) -> Self {
        let (synonyms, split_into, distinct_from) = Default::default();
        Self { tag, description, synonyms, split_into, leftover: Leftover::Keep, distinct_from }
    }
}

/// The description that wins if both the namespace and the document have one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Descriptions {
    /// The namespace's.
    #[default]
    Keep,
    /// The document's.
    Overwrite,
}

/// The receipt of an import, or of its dry run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Imported {
    /// The change.
    #[serde(flatten)]
    pub changed: Changed,
    /// Tags that kept a description other than the document's.
    pub descriptions_kept: Vec<String>,
    /// Tags of the document that are synonyms here and were replaced by their tags.
    pub called: Vec<Synonym>,
}

impl OntologyDocument {
    /// A document of this version.
    pub fn new(tags: Vec<DocumentTag>) -> Self {
        Self { version: DOCUMENT_VERSION, tags }
    }

    pub(crate) fn check(&self) -> Result<()> {
        if self.version != DOCUMENT_VERSION {
            let found = self.version;
            let message = format!(
                "the ontology has version {found}, and this program reads version {DOCUMENT_VERSION}"
            );
            return Err(Error::new(codes::ONTOLOGY_VERSION, message));
        }
        let mut seen = HashSet::new();
        for (number, it) in (1..).zip(&self.tags) {
            check_description(it.tag.as_str(), it.description.as_deref())?;
            if !seen.insert(&it.tag) {
                let message =
                    format!("the ontology lists tag `{}` a second time, as number {number}", it.tag);
                return Err(Error::new(codes::TAG_TWICE, message));
            }
        }
        Ok(())
    }

    pub(crate) fn of(names: &Names) -> Result<Self> {
        let read = |path: &String| crate::model::tags::read_tag(path.clone());
        let mut synonyms: BTreeMap<&str, Vec<TagPath>> = BTreeMap::new();
        for (name, tag) in &names.synonyms {
            synonyms.entry(tag).or_default().push(read(name)?);
        }
        let mut tags = Vec::new();
        for (path, tag) in &names.tags {
            tags.push(DocumentTag {
                tag: read(path)?,
                description: tag.description.clone(),
                synonyms: synonyms.remove(path.as_str()).unwrap_or_default(),
                split_into: tag.split_into.iter().map(read).collect::<Result<_>>()?,
                leftover: tag.leftover,
                distinct_from: tag.distinct_from.iter().map(read).collect::<Result<_>>()?,
            });
        }
        tags.sort_by(|a, b| a.tag.levels().cmp(b.tag.levels()));
        Ok(Self::new(tags))
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Laid {
    pub(crate) kept: Vec<String>,
    pub(crate) called: Vec<Synonym>,
}

/// Refuses new names that break the rules. An existing name may be older than the rules, so the export of a namespace can
/// be imported into it again.
pub(crate) fn check_new(before: &Names, rules: &TagRules, document: &OntologyDocument) -> Result<()> {
    let names = document.tags.iter().flat_map(|it| it.synonyms.iter().chain([&it.tag]));
    for name in names.filter(|name| before.meaning(name.as_str()).is_none()) {
        rules.check(name)?;
    }
    Ok(())
}

pub(crate) fn lay(
    draft: &mut Draft,
    rules: &TagRules,
    namespace: &str,
    document: &OntologyDocument,
    descriptions: Descriptions,
) -> Result<Laid> {
    let mut laid = Laid::default();
    let mut tags = Vec::new();
    for it in &document.tags {
        let called: TagPath = draft.after.canonical(it.tag.as_str()).parse()?;
        let there = draft.before.tags.get(called.as_str()).and_then(|tag| tag.description.as_ref());
        let mut description = it.description.as_deref().filter(|text| !text.trim().is_empty());
        if let (Some(there), Some(new), Descriptions::Keep) = (there, description, descriptions) {
            if there != new {
                laid.kept.push(called.to_string());
            }
            description = None;
        }
        let tag = draft.define(rules, &called, description)?;
        if tag != it.tag {
            laid.called.push(Synonym { name: it.tag.to_string(), tag: tag.to_string() });
        }
        tags.push(tag);
    }
    // After all tags are known, so that their order does not matter.
    for (it, tag) in document.tags.iter().zip(&tags) {
        for name in it.synonyms.iter().filter(|name| *name != tag || it.tag == *tag) {
            draft.add_synonym(name, tag)?;
        }
        if !it.split_into.is_empty() {
            split(draft, namespace, it, tag, descriptions)?;
        }
        for other in &it.distinct_from {
            let other = draft.define(rules, &draft.after.canonical(other.as_str()).parse()?, None)?;
            // A pair that means one tag here is none.
            if other != *tag {
                draft.mark_distinct(tag, &other)?;
            }
        }
    }
    Ok(laid)
}

fn split(
    draft: &mut Draft,
    namespace: &str,
    it: &DocumentTag,
    tag: &TagPath,
    descriptions: Descriptions,
) -> Result<()> {
    let into: Vec<String> =
        it.split_into.iter().map(|target| draft.after.canonical(target.as_str())).collect();
    if let Some(missing) = into.iter().find(|target| !draft.after.tags.contains_key(*target)) {
        return Err(unknown(namespace, missing));
    }
    let there = draft.after.tags.entry(tag.to_string()).or_default();
    if there.split_into.is_empty() || descriptions == Descriptions::Overwrite {
        (there.split_into, there.leftover) = (into, it.leftover);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::names::Tag;
    use super::*;
    use crate::model::error::Error;

    fn path(path: &str) -> TagPath {
        path.parse().unwrap()
    }

    fn tag(tag: &str, description: &str, synonyms: &[&str]) -> DocumentTag {
        let description = (!description.is_empty()).then(|| description.to_owned());
        let synonyms = synonyms.iter().map(|name| path(name)).collect();
        DocumentTag { synonyms, ..DocumentTag::new(path(tag), description) }
    }

    fn names(tags: &[(&str, &str)], synonyms: &[(&str, &str)]) -> Names {
        let tag = |(path, text): &(&str, &str)| {
            let description = Some((*text).to_owned()).filter(|it| !it.is_empty());
            ((*path).to_owned(), Tag { description, ..Tag::default() })
        };
        let synonym = |(name, tag): &(&str, &str)| ((*name).to_owned(), (*tag).to_owned());
        Names { tags: tags.iter().map(tag).collect(), synonyms: synonyms.iter().map(synonym).collect() }
    }

    fn laid(before: Names, tags: &[DocumentTag], descriptions: Descriptions) -> Result<(Names, Laid), Error> {
        let mut draft = Draft::new(before);
        let document = OntologyDocument::new(tags.to_vec());
        document.check()?;
        check_new(&draft.before, &TagRules::default(), &document)?;
        let laid = lay(&mut draft, &TagRules::default(), "n", &document, descriptions)?;
        Ok((draft.after, laid))
    }

    #[test]
    fn a_description_that_is_there_stays_unless_told_otherwise() {
        let before = || names(&[("a", "mine"), ("b", ""), ("c", "C")], &[]);
        let tags = [tag("a", "A", &[]), tag("b", "B", &[]), tag("c", "C", &[]), tag("d:e", "", &[])];
        let (after, what) = laid(before(), &tags, Descriptions::Keep).unwrap();
        assert_eq!(after, names(&[("a", "mine"), ("b", "B"), ("c", "C"), ("d", ""), ("d:e", "")], &[]));
        assert_eq!(what.kept, ["a"]);
        let (after, what) = laid(before(), &tags[..1], Descriptions::Overwrite).unwrap();
        assert_eq!((after.tags["a"].description.as_deref(), what.kept.len()), (Some("A"), 0));
        let (after, _) = laid(before(), &[tag("a", " ", &[])], Descriptions::Overwrite).unwrap();
        assert_eq!(after, before());
    }

    #[test]
    fn a_former_name_means_the_tag() {
        let before = || names(&[("sql", "")], &[("db", "sql")]);
        let tags = [tag("db", "D", &["rdbms"]), tag("db:index", "I", &[])];
        let (after, what) = laid(before(), &tags, Descriptions::Keep).unwrap();
        assert_eq!(after, names(&[("sql", "D"), ("sql:index", "I")], &[("db", "sql"), ("rdbms", "sql")]));
        assert_eq!(what.called.len(), 2);
        // The document's synonym is the name of the tag here.
        assert_eq!(laid(before(), &[tag("db", "", &["sql"])], Descriptions::Keep).unwrap().0, before());
    }

    #[test]
    fn contradictions_are_refused() {
        let before = || names(&[("x", ""), ("y", "")], &[("z", "y")]);
        for (tags, code) in [
            (&[tag("a", "", &[]), tag("b", "", &[]), tag("a", "", &[])][..], "tag_twice"),
            (&[tag("a", "", &["b"]), tag("b", "", &[])], "synonym_is_tag"),
            (&[tag("a", "", &["b"]), tag("b:c", "", &[])], "synonym_is_tag"),
            (&[tag("a:b", "", &["a"])], "synonym_is_tag"),
            (&[tag("a", "", &["x"])], "synonym_is_tag"),
            (&[tag("a", "", &["z"])], "tag_is_synonym"),
            (&[tag("a", "", &["c"]), tag("b", "", &["c"])], "tag_is_synonym"),
            (&[tag("a", "", &["a"])], "tag_into_itself"),
            (&[tag("a", &"x".repeat(1_001), &[])], "description_too_long"),
            (&[tag("a", "a\0b", &[])], "nul_byte"),
            (&[DocumentTag { split_into: vec![path("x"), path("b")], ..tag("a", "", &[]) }], "tag_unknown"),
        ] {
            let error = laid(before(), tags, Descriptions::Overwrite).unwrap_err();
            assert_eq!(error.code(), code, "{error}");
        }
        let later = OntologyDocument { version: 2, tags: Vec::new() };
        assert_eq!(later.check().unwrap_err().code(), "ontology_version");
        let shallow = TagRules { max_depth: 1, ..TagRules::default() };
        let deep = OntologyDocument::new(vec![tag("a:b", "", &[])]);
        let lay_deep = |before: Names| {
            let mut draft = Draft::new(before);
            check_new(&draft.before, &shallow, &deep)?;
            lay(&mut draft, &shallow, "n", &deep, Descriptions::Keep).map(|_| draft.after)
        };
        assert_eq!(lay_deep(Names::default()).unwrap_err().code(), "tag_invalid");
        // Tags from before the limit was lowered.
        let there = names(&[("a", ""), ("a:b", "")], &[]);
        assert_eq!(lay_deep(there.clone()).unwrap(), there);
    }

    #[test]
    fn a_new_name_keeps_the_rules_and_one_that_is_there_stays() {
        for (tags, rule) in [
            (&[tag("databases", "", &[])][..], "it is written `database`"),
            (&[tag("--x", "", &[])], "it is written `x`"),
            (&[tag("-", "", &[])], "a level is empty"),
            (&[tag("a:b:a", "", &[])], "comes twice"),
            (&[tag("fine", "", &["indexes"])], "it is written `index`"),
        ] {
            let error = laid(Names::default(), tags, Descriptions::Keep).unwrap_err();
            assert_eq!((error.code(), error.to_string().contains(rule)), ("tag_invalid", true), "{error}");
        }
        let before = || names(&[("databases", ""), ("-", ""), ("a", ""), ("a:a", "")], &[("others", "a")]);
        let document = OntologyDocument::of(&before()).unwrap();
        let (after, _) = laid(before(), &document.tags, Descriptions::Overwrite).unwrap();
        assert_eq!(after, before());
    }

    /// Valid names of a namespace: synonyms differ from tags.
    fn any_names() -> impl Strategy<Value = Names> {
        let tags = proptest::collection::btree_map("[a-d]{1,2}(:[a-d]{1,2}){0,4}", "[ -~]{0,8}", 1..20);
        let synonyms =
            proptest::collection::btree_map("[w-z](:[a-z]){0,2}", any::<proptest::sample::Index>(), 0..8);
        (tags, synonyms).prop_map(|(tags, synonyms)| {
            let mut draft = Draft::new(Names::default());
            for (tag, text) in tags {
                let Ok(tag) = TagPath::normalise(&tag) else { continue };
                let text = Some(text).filter(|text| !text.trim().is_empty());
                draft.define(&TagRules::default(), &tag, text.as_deref()).unwrap();
            }
            let known: Vec<String> = draft.after.tags.keys().cloned().collect();
            for (name, tag) in synonyms.iter().filter(|_| !known.is_empty()) {
                let Ok(name) = TagPath::normalise(name) else { continue };
                // Two names may have the same stored form.
                let _ = draft.add_synonym(&name, &path(tag.get::<String>(&known)));
            }
            draft.after
        })
    }

    proptest! {
        #[test]
        fn what_is_exported_comes_back_the_same(names in any_names()) {
            let document = OntologyDocument::of(&names).unwrap();
            let (after, what) = laid(Names::default(), &document.tags, Descriptions::Keep).unwrap();
            prop_assert_eq!(&after, &names);
            prop_assert_eq!(what, Laid::default());
            let (again, _) = laid(after, &document.tags, Descriptions::Overwrite).unwrap();
            prop_assert_eq!(again, names);
        }
    }
}
