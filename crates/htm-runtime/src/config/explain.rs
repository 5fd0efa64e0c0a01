//! The explanations of the keys, from the comments in `config/default.toml`.

use htm_core::Result;

use super::error::unknown_name;
use super::{DEFAULT_TOML, keys};

/// A key with its explanation.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Explained {
    /// The key, such as `recall.limit`.
    pub key: String,
    /// Its effect, its unit and its allowed values.
    pub explanation: String,
    /// Its default, in TOML.
    pub default: String,
}

/// Explains a key, or all keys of a section in the order of the file.
///
/// # Errors
/// `config_unknown_key`, with the key of the most similar name.
pub fn explain(name: &str) -> Result<Vec<Explained>> {
    let mut all = all();
    all.retain(|it| it.key == name || it.key.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')));
    match all.is_empty() {
        true => Err(unknown_name(name, keys::nearest(name))),
        false => Ok(all),
    }
}

fn all() -> Vec<Explained> {
    let mut all = Vec::new();
    let (mut section, mut comment, mut is_open) = ("", Vec::new(), false);
    for line in DEFAULT_TOML.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            (section, is_open) = (name, false);
            comment.clear();
        } else if let Some(text) = line.strip_prefix('#') {
            // A comment is for the keys below it, up to the next comment.
            if !is_open {
                comment.clear();
            }
            is_open = true;
            comment.push(text.trim());
        } else if let Some((key, default)) = line.split_once(" = ") {
            is_open = false;
            all.push(Explained {
                key: format!("{section}.{key}"),
                explanation: comment.join(" "),
                default: default.into(),
            });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_an_explanation_and_its_default() {
        let names: Vec<String> = all().into_iter().map(|it| it.key).collect();
        assert_eq!(names, keys::KEYS.iter().map(|key| key.name).collect::<Vec<_>>());
        for it in all() {
            assert!(it.explanation.len() > 10 && it.explanation.contains('.'), "{it:?}");
        }
    }

    #[test]
    fn a_section_is_all_of_its_keys() {
        let limit = explain("recall.limit").unwrap();
        assert_eq!((limit.len(), limit[0].default.as_str()), (1, "20"));
        assert_eq!(limit[0].explanation, "The default number of hits; 1 to 10000.");
        let keys: Vec<_> = explain("recall").unwrap().into_iter().map(|it| it.key).collect();
        let of_recall = keys::KEYS.iter().map(|key| key.name).filter(|name| name.starts_with("recall."));
        assert_eq!(keys, of_recall.collect::<Vec<_>>());
        let error = explain("recall.limt").unwrap_err();
        assert_eq!(error.code(), "config_unknown_key");
        assert_eq!(
            error.to_string(),
            "no key and no section is called `recall.limt`; did you mean `recall.limit`?"
        );
        assert!(explain("").is_err() && explain("rec").is_err());
    }
}
