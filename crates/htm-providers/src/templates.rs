//! Templates of an ontology: terms with descriptions, built in or in a TOML file.

use std::collections::BTreeMap;
use std::path::Path;

use htm_core::tag::TagPath;
use htm_core::{Error, Result};
use serde::Deserialize;

use crate::codes;

/// A term: a tag and its description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The tag.
    pub path: TagPath,
    /// The topics of its texts, in the words of such texts.
    pub description: String,
}

const BUILT_IN: [(&str, &str); 4] = [
    ("software", include_str!("../../../config/ontology/software.toml")),
    ("research", include_str!("../../../config/ontology/research.toml")),
    ("personal", include_str!("../../../config/ontology/personal.toml")),
    ("business", include_str!("../../../config/ontology/business.toml")),
];

/// The names of the built-in templates.
pub fn built_in() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// Reads the terms of a template, which is a built-in name or a path. Each term comes after its parent.
///
/// A file is TOML. Below `[terms]` it has a line for each term: `"database:postgresql" = "What it is about"`.
///
/// # Errors
/// `provider_settings_template`: the file is missing or cannot be read, a path is not in its normal form, a term has no
/// description, or its parent is not a term.
pub fn read(template: &str) -> Result<Vec<Term>> {
    let bad = |reason: String| {
        Error::new(codes::TEMPLATE, format!("the template {template} cannot be used: {reason}"))
    };
    if let Some((_, text)) = BUILT_IN.iter().find(|(name, _)| *name == template) {
        return parse(text).map_err(bad);
    }
    let bytes = std::fs::read(Path::new(template)).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => bad("there is no such file".to_owned()),
        _ => bad(error.to_string()),
    })?;
    String::from_utf8(bytes).map_err(|error| error.to_string()).and_then(|text| parse(&text)).map_err(bad)
}

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
    let term = |(path, description): (&String, &String)| {
        let stored = TagPath::normalise(path).map_err(|error| error.to_string())?;
        if stored.as_str() != path {
            return Err(format!("the term `{path}` must be written `{stored}`"));
        }
        if description.trim().is_empty() {
            return Err(format!("the term `{path}` has no description"));
        }
        if let Some(parent) = stored.parent().filter(|parent| !file.terms.contains_key(parent.as_str())) {
            return Err(format!("the term `{path}` stands below `{parent}`, which is no term"));
        }
        Ok(Term { path: stored, description: description.clone() })
    };
    file.terms.iter().map(term).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn those_built_in_are_trees_with_descriptions() {
        for (name, text) in BUILT_IN {
            let terms = parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!((40..=80).contains(&terms.len()), "{name} has {} terms", terms.len());
            let paths: HashSet<&TagPath> = terms.iter().map(|term| &term.path).collect();
            assert_eq!(paths.len(), terms.len());
            for Term { path, description } in &terms {
                assert!(path.depth() <= 4, "{path}");
                assert!(description.split_whitespace().count() >= 4, "{path}: {description}");
            }
        }
    }

    /// A plural of a built-in term's noun is normalised to the singular.
    #[test]
    fn the_nouns_of_those_built_in_are_known() {
        const NO_NOUNS: &str = "ancient ci driven flaky git go graphql gratitude hr java javascript leave legal lgbtq mental modern \
                                molecular nlp nosql postgresql python react rust social water";
        for Term { path, .. } in BUILT_IN.iter().flat_map(|(_, text)| parse(text).unwrap()) {
            let word = path.leaf().rsplit('-').next().unwrap();
            let ends = |endings: &[&str]| endings.iter().any(|ending| word.ends_with(ending));
            if ends(&["s"]) || NO_NOUNS.split(' ').any(|it| it == word) {
                continue;
            }
            let plural = match word {
                "child" => "children".into(),
                _ if ends(&["ay", "ey", "oy"]) => format!("{word}s"),
                _ if ends(&["y"]) => format!("{}ies", &word[..word.len() - 1]),
                _ if ends(&["ch", "sh", "x"]) => format!("{word}es"),
                _ => format!("{word}s"),
            };
            assert_eq!(TagPath::normalise(&plural).unwrap().as_str(), word);
        }
    }

    #[test]
    fn a_file_of_ones_own() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("mine.toml").display().to_string();
        std::fs::write(&path, "[terms]\n\"pet:cat\" = \"Cats at home\"\npet = \"Animals at home\"\n")
            .unwrap();
        let terms = read(&path).unwrap();
        let paths: Vec<&str> = terms.iter().map(|term| term.path.as_str()).collect();
        assert_eq!(paths, ["pet", "pet:cat"]);
    }

    #[test]
    fn a_mistake_is_named_with_what_to_do() {
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
            (
                Some("[terms]\n\"pet:cat\" = \"Cats\"\n"),
                "the term `pet:cat` stands below `pet`, which is no term",
            ),
        ] {
            match file {
                Some(text) => std::fs::write(&path, text).unwrap(),
                None => assert!(!Path::new(&path).exists()),
            }
            let error = read(&path).unwrap_err();
            assert_eq!(error.code(), "provider_settings_template");
            assert!(error.to_string().contains(&path) && error.to_string().contains(message), "{error}");
            assert!(error.hint().contains("software, research, personal, business"));
        }
    }
}
