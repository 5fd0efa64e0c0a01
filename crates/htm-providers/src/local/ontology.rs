//! The terms that local tags are chosen from: templates of `config/ontology/`, built in, and files of users.

use std::collections::BTreeMap;
use std::path::Path;

use htm_core::tag::TagPath;
use serde::Deserialize;

use super::weights::{bad, read};
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
pub(super) fn load(templates: &[String]) -> Result<Vec<Term>, SettingsError> {
    let mut terms = Vec::new();
    for template in templates {
        let path = Path::new(template);
        let file = match BUILT_IN.iter().find(|(name, _)| name == template) {
            Some((_, text)) => parse(text),
            None => parse(&String::from_utf8_lossy(&read(path)?)),
        };
        let file = file.map_err(|reason| bad(path, reason))?;
        terms.extend(file.terms.into_iter().map(|(path, description)| Term { path, description }));
    }
    Ok(terms)
}

/// A template: `[terms]` with a line a term, `"database:postgresql" = "What it is about"`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    terms: BTreeMap<TagPath, String>,
}

fn parse(text: &str) -> Result<File, String> {
    toml::from_str(text).map_err(|error| error.message().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_trees_with_descriptions() {
        for (name, text) in BUILT_IN {
            let terms = parse(text).unwrap_or_else(|error| panic!("{name}: {error}")).terms;
            assert!((40..=80).contains(&terms.len()), "{name} has {} terms", terms.len());
            for (path, description) in &terms {
                assert!(path.depth() <= 4, "{path}");
                assert!(description.split_whitespace().count() >= 4, "{path}: {description}");
                if let Some((parent, _)) = path.as_str().rsplit_once(':') {
                    assert!(
                        terms.contains_key(&parent.parse::<TagPath>().unwrap()),
                        "{name}: {path} has no parent"
                    );
                }
            }
        }
    }

    #[test]
    fn a_file_of_ones_own_and_its_mistakes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("mine.toml").display().to_string();
        let load_it = || load(std::slice::from_ref(&path));
        assert!(matches!(load_it(), Err(SettingsError::MissingFile { .. })));
        std::fs::write(&path, "[terms]\n\"pets:cats\" = \"Cats at home\"\n").unwrap();
        assert_eq!(load_it().unwrap()[0].path.as_str(), "pets:cats");
        std::fs::write(&path, "[terms]\n\"Pets\" = \"Cats\"\n").unwrap();
        assert!(load_it().unwrap_err().to_string().contains("not a tag"));
    }
}
