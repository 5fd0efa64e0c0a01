//! The terms that local tags are chosen from: templates of `config/ontology/`, built in, and files of users.

use std::collections::BTreeMap;
use std::path::Path;

use htm_core::tag::TagPath;
use serde::Deserialize;

use super::weights::read;
use crate::SettingsError;

/// A term: a tag and what it is about.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub(super) path: TagPath,
    pub(super) description: String,
}

const BUILT_IN: [(&str, &str); 4] = [
    ("software", include_str!("../../../../config/ontology/software.toml")),
    ("research", include_str!("../../../../config/ontology/research.toml")),
    ("personal", include_str!("../../../../config/ontology/personal.toml")),
    ("business", include_str!("../../../../config/ontology/business.toml")),
];

/// The names of the templates that need no file.
pub(super) fn built_in_names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// The terms of `templates`, which are built-in names or paths. A term that is in two of them comes twice,
/// with a description each: `finance` is another thing at home than in a company.
///
/// A term whose parent has no line of its own is a term all the same: the path says where it stands, so a file can
/// hold no cycle; a level that comes again below itself is refused, as is every path that is not in the stored form.
pub(super) fn load(templates: &[String]) -> Result<Vec<Term>, SettingsError> {
    let mut terms = Vec::new();
    for template in templates {
        let bad = |reason: String| SettingsError::Template { template: template.clone(), reason };
        let file = match BUILT_IN.iter().find(|(name, _)| name == template) {
            Some((_, text)) => parse(text),
            None => {
                let bytes = read(Path::new(template)).map_err(|error| match error {
                    SettingsError::MissingFile { .. } => bad("there is no such file".to_owned()),
                    error => bad(error.to_string()),
                })?;
                String::from_utf8(bytes).map_err(|error| error.to_string()).and_then(|text| parse(&text))
            }
        };
        terms.extend(file.map_err(bad)?);
    }
    Ok(terms)
}

impl Term {
    /// What is embedded of it: its name with the whole description, then each clause of the description alone.
    ///
    /// A text is about one of the things that a description counts up, and nearest to that clause; the whole keeps a
    /// clause from pulling in what only sounds like it.
    pub(super) fn lines(&self) -> Vec<String> {
        let leaf = self.path.leaf().replace('-', " ");
        let mut lines = vec![format!("{leaf}: {}", self.description)];
        let clauses = self.description.split([',', ';', ':']).flat_map(|part| part.split(" and "));
        lines.extend(clauses.map(str::trim).filter(|clause| !clause.is_empty()).map(str::to_owned));
        lines
    }
}

/// A template: `[terms]` with a line a term, `"database:postgresql" = "What it is about"`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    terms: BTreeMap<String, String>,
}

fn parse(text: &str) -> Result<Vec<Term>, String> {
    let file: File = toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| 1 + text[..span.start].matches('\n').count());
        line.map_or_else(|| error.message().to_owned(), |line| format!("line {line}: {}", error.message()))
    })?;
    let terms = file.terms.into_iter().map(|(path, description)| {
        let stored = TagPath::normalise(&path).map_err(|error| error.to_string())?;
        if stored.as_str() != path {
            return Err(format!("the term `{path}` must be written `{stored}`"));
        }
        if description.trim().is_empty() {
            return Err(format!("the term `{path}` has no description"));
        }
        Ok(Term { path: stored, description })
    });
    terms.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn templates_are_trees_with_descriptions() {
        for (name, text) in BUILT_IN {
            let terms = parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!((40..=80).contains(&terms.len()), "{name} has {} terms", terms.len());
            let paths: HashSet<&TagPath> = terms.iter().map(|term| &term.path).collect();
            for Term { path, description } in &terms {
                assert!(path.depth() <= 4, "{path}");
                assert!(description.split_whitespace().count() >= 4, "{path}: {description}");
                if let Some(parent) = path.parent() {
                    assert!(paths.contains(&parent), "{name}: {path} has no parent");
                }
            }
        }
    }

    #[test]
    fn a_term_is_embedded_whole_and_by_clauses() {
        let term = Term {
            path: "pet:guinea-pig".parse().unwrap(),
            description: "rodents at home, a cage and hay; squeaks".to_owned(),
        };
        assert_eq!(
            term.lines(),
            [
                "guinea pig: rodents at home, a cage and hay; squeaks",
                "rodents at home",
                "a cage",
                "hay",
                "squeaks"
            ]
        );
    }

    #[test]
    fn a_file_of_ones_own() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("mine.toml").display().to_string();
        std::fs::write(&path, "[terms]\n\"pet:cat\" = \"Cats at home\"\n").unwrap();
        assert_eq!(load(std::slice::from_ref(&path)).unwrap()[0].path.as_str(), "pet:cat");
    }

    #[test]
    fn a_mistake_in_a_template_is_named_with_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("mine.toml").display().to_string();
        for (file, message) in [
            (None, "there is no such file"),
            (Some("[terms]\n\"pets\" = \"Animals\"\n\"pets\" = \"Again\"\n"), "line 3: duplicate key"),
            (Some("[terms\n"), "line 1: "),
            (Some("[words]\n"), "unknown field `words`"),
            (Some("[terms]\npets = 3\n"), "line 2: invalid type"),
            (Some("[terms]\nPets = \"Animals\"\n"), "the term `Pets` must be written `pet`"),
            (Some("[terms]\n\"a:b:c:d:e:f\" = \"Deep\"\n"), "6 levels"),
            (Some("[terms]\n\"food:meal:food\" = \"A cycle\"\n"), "the level `food` comes twice"),
            (Some("[terms]\n\"food:\" = \"Nothing\"\n"), "a level is empty"),
            (Some("[terms]\npet = \" \"\n"), "the term `pet` has no description"),
        ] {
            match file {
                Some(text) => std::fs::write(&path, text).unwrap(),
                None => assert!(!Path::new(&path).exists()),
            }
            let error = load(std::slice::from_ref(&path)).unwrap_err();
            assert_eq!(error.code(), "provider_settings_template");
            assert!(error.to_string().contains(&path) && error.to_string().contains(message), "{error}");
            assert!(error.hint().contains("software, research, personal, business"));
        }
    }
}
