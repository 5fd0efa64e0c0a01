//! What an ontology changes of the one that is there. Pure.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

use super::{Called, Descriptions, Imported, Ontology, OntologyError};
use crate::error::Result;
use crate::tag::TagPath;

/// What a name is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    /// A tag, with its description.
    Tag(Option<String>),
    /// Another name of a tag.
    Synonym(TagPath),
}

impl Name {
    /// As the log of changes has it.
    pub(crate) fn logged(&self) -> Value {
        match self {
            Self::Tag(description) => json!({ "tag": description }),
            Self::Synonym(tag) => json!({ "synonym": tag }),
        }
    }
}

/// Each name that changes: what it was, what it is then.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) names: BTreeMap<TagPath, (Option<Name>, Name)>,
}

impl Plan {
    /// Lays `ontology`, which is free of contradictions, over what there is: `called` says what its tags are called in
    /// the namespace, `present` what each of those, those above them and the document's other names are there.
    pub(crate) fn of(
        ontology: &Ontology,
        namespace: &str,
        descriptions: Descriptions,
        called: &HashMap<TagPath, TagPath>,
        present: &HashMap<TagPath, Name>,
    ) -> Result<(Self, Imported), OntologyError> {
        let mut plan = Self::default();
        let mut report = Imported {
            namespace: namespace.to_owned(),
            change: None,
            added: Vec::new(),
            described: Vec::new(),
            kept: Vec::new(),
            synonyms: Vec::new(),
            renamed: Vec::new(),
        };
        let here = |tag: &TagPath| called.get(tag).unwrap_or(tag).clone();
        for it in &ontology.tags {
            let tag = here(&it.tag);
            if tag != it.tag {
                report.renamed.push(Called { name: it.tag.clone(), tag: tag.clone() });
            }
            for above in tag.ancestors() {
                plan.tag(above, None, Descriptions::Keep, present, &mut report);
            }
            let description = it.description.clone().filter(|text| !text.trim().is_empty());
            plan.tag(tag, description, descriptions, present, &mut report);
        }
        for (it, name) in ontology.tags.iter().flat_map(|it| it.synonyms.iter().map(move |name| (it, name))) {
            plan.synonym(name.clone(), here(&it.tag), namespace, present, &mut report)?;
        }
        Ok((plan, report))
    }

    fn tag(
        &mut self,
        tag: TagPath,
        wanted: Option<String>,
        descriptions: Descriptions,
        present: &HashMap<TagPath, Name>,
        report: &mut Imported,
    ) {
        match (self.names.get_mut(&tag), present.get(&tag), wanted) {
            // Added by one below it that came first: it was not described yet.
            (Some((None, Name::Tag(planned @ None))), _, wanted) => *planned = wanted,
            // Two names of the document mean the same tag here: the first one's description stays.
            (Some(_), ..) => {}
            (None, None, wanted) => {
                self.names.insert(tag.clone(), (None, Name::Tag(wanted)));
                report.added.push(tag);
            }
            (None, Some(Name::Tag(had)), Some(wanted)) if had.as_ref() != Some(&wanted) => {
                if had.is_some() && descriptions == Descriptions::Keep {
                    report.kept.push(tag);
                } else {
                    let before = Some(Name::Tag(had.clone()));
                    self.names.insert(tag.clone(), (before, Name::Tag(Some(wanted))));
                    report.described.push(tag);
                }
            }
            (None, Some(_), _) => {}
        }
    }

    fn synonym(
        &mut self,
        name: TagPath,
        tag: TagPath,
        namespace: &str,
        present: &HashMap<TagPath, Name>,
        report: &mut Imported,
    ) -> Result<(), OntologyError> {
        if self.names.contains_key(&name) || matches!(present.get(&name), Some(Name::Tag(_))) {
            // The document's tag was renamed to what it calls another name: that is so already.
            if name == tag {
                return Ok(());
            }
            let place = format!("of namespace `{namespace}`");
            return Err(OntologyError::SynonymIsTag { name, tag, place });
        }
        match present.get(&name) {
            Some(Name::Synonym(meant)) if *meant == tag => Ok(()),
            Some(Name::Synonym(meant)) => {
                let (present, namespace) = (meant.clone(), namespace.to_owned());
                Err(OntologyError::SynonymTaken { name, tag, present, namespace })
            }
            _ => {
                report.synonyms.push(Called { name: name.clone(), tag: tag.clone() });
                self.names.insert(name, (None, Name::Synonym(tag)));
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::OntologyTag;
    use super::*;

    fn path(path: &str) -> TagPath {
        path.parse().unwrap()
    }

    fn tag(tag: &str, description: &str, synonyms: &[&str]) -> OntologyTag {
        let description = (!description.is_empty()).then(|| description.to_owned());
        OntologyTag { tag: path(tag), description, synonyms: synonyms.iter().map(|it| path(it)).collect() }
    }

    fn described(text: &str) -> Name {
        Name::Tag(Some(text.into()))
    }

    fn planned(
        tags: &[OntologyTag],
        descriptions: Descriptions,
        called: &[(&str, &str)],
        present: &[(&str, Name)],
    ) -> Result<(Plan, Imported), OntologyError> {
        let called = called.iter().map(|(name, tag)| (path(name), path(tag))).collect();
        let present = present.iter().map(|(name, is)| (path(name), is.clone())).collect();
        Plan::of(&Ontology::new(tags.to_vec()), "n", descriptions, &called, &present)
    }

    fn names(paths: &[TagPath]) -> Vec<&str> {
        paths.iter().map(TagPath::as_str).collect()
    }

    #[test]
    fn into_nothing_everything_is_added_and_those_above() {
        let tags = [tag("a:b", "B", &["x"]), tag("a", "A", &[])];
        let (plan, report) = planned(&tags, Descriptions::Keep, &[], &[]).unwrap();
        assert_eq!(names(&report.added), ["a", "a:b"]);
        assert_eq!(plan.names[&path("a")], (None, described("A")));
        assert_eq!(plan.names[&path("x")], (None, Name::Synonym(path("a:b"))));
    }

    #[test]
    fn a_description_that_is_there_stays_unless_told_otherwise() {
        let present = [("a", described("mine")), ("b", Name::Tag(None)), ("c", described("C"))];
        let tags = [tag("a", "A", &[]), tag("b", "B", &[]), tag("c", "C", &[])];
        let (_, report) = planned(&tags, Descriptions::Keep, &[], &present).unwrap();
        assert_eq!((names(&report.kept), names(&report.described)), (vec!["a"], vec!["b"]));
        let (plan, report) = planned(&tags, Descriptions::Overwrite, &[], &present).unwrap();
        assert_eq!((names(&report.kept), names(&report.described)), (vec![], vec!["a", "b"]));
        assert_eq!(plan.names[&path("a")], (Some(described("mine")), described("A")));
        let none = [tag("a", " ", &[])];
        assert!(planned(&none, Descriptions::Overwrite, &[], &present).unwrap().0.names.is_empty());
    }

    #[test]
    fn a_former_name_means_the_tag() {
        let present = [("sql", Name::Tag(None)), ("db", Name::Synonym(path("sql")))];
        let tags = [tag("db", "D", &["rdbms"])];
        let (plan, report) = planned(&tags, Descriptions::Keep, &[("db", "sql")], &present).unwrap();
        assert_eq!(report.renamed, [Called { name: path("db"), tag: path("sql") }]);
        assert_eq!(plan.names[&path("sql")], (Some(Name::Tag(None)), described("D")));
        assert_eq!(plan.names[&path("rdbms")].1, Name::Synonym(path("sql")));
        // Its other name in the document is its name here.
        let tags = [tag("db", "", &["sql"])];
        assert!(planned(&tags, Descriptions::Keep, &[("db", "sql")], &present).unwrap().0.names.is_empty());
    }

    #[test]
    fn another_name_that_means_something_here_is_a_conflict() {
        let tags = [tag("a", "", &["x"])];
        let code = |is: Name| planned(&tags, Descriptions::Overwrite, &[], &[("x", is)]).map_err(|it| it.code());
        assert_eq!(code(Name::Tag(None)).unwrap_err(), "synonym_is_tag");
        assert_eq!(code(Name::Synonym(path("b"))).unwrap_err(), "synonym_taken");
        assert_eq!(code(Name::Synonym(path("a"))).unwrap().1.synonyms, []);
    }
}
