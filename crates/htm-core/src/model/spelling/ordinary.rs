//! Ordinary words: those that are one token of GPT-4o's vocabulary (o200k_base), which was made from very many texts.
//!
//! They stand in a list of their own: a program that looks up one word would otherwise load the whole vocabulary, which takes
//! a quarter of a second.

/// The words of four letters or more in lower case, a line each, in the order of their bytes.
const WORDS: &str = include_str!("ordinary.txt");

/// Whether a word in lower case, of four letters or more, is ordinary.
pub(crate) fn is_ordinary(word: &str) -> bool {
    let mut rest = WORDS;
    while !rest.is_empty() {
        let middle = rest.floor_char_boundary(rest.len() / 2);
        let start = rest[..middle].rfind('\n').map_or(0, |before| before + 1);
        let end = start + rest[start..].find('\n').unwrap_or(rest.len() - start);
        rest = match word.cmp(&rest[start..end]) {
            std::cmp::Ordering::Less => &rest[..start],
            std::cmp::Ordering::Equal => return true,
            std::cmp::Ordering::Greater => rest.get(end + 1..).unwrap_or_default(),
        };
    }
    false
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::model::tokens::TokenEncoding;

    fn is_one_token(word: &str) -> bool {
        TokenEncoding::O200kBase.count(&format!(" {word}")) == 1
    }

    /// `HTM_WRITE_DOCS=1` writes the list.
    #[test]
    fn the_list_is_that_of_the_vocabulary() {
        let vocabulary = tiktoken_rs::o200k_base_singleton();
        let mut words = BTreeSet::new();
        for token in 0..200_000 {
            let Some(bytes) = vocabulary.decode_bytes(&[token]).ok() else { continue };
            let Ok(text) = String::from_utf8(bytes) else { continue };
            let Some(word) = text.strip_prefix(' ') else { continue };
            let is_word = word.chars().all(char::is_alphabetic) && word.chars().nth(3).is_some();
            if is_word && word == word.to_lowercase() && is_one_token(word) {
                words.insert(word.to_owned());
            }
        }
        let written = words.iter().map(|word| format!("{word}\n")).collect::<String>();
        if std::env::var_os("HTM_WRITE_DOCS").is_some() {
            std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/model/spelling/ordinary.txt"), written)
                .unwrap();
            return;
        }
        assert!(written == WORDS, "ordinary.txt is not current: run this test with HTM_WRITE_DOCS=1");
        assert!(words.iter().all(|word| is_ordinary(word)));
    }

    #[test]
    fn words_beside_those_of_the_list_are_not_ordinary() {
        let first = WORDS.lines().next().unwrap();
        let last = WORDS.lines().next_back().unwrap();
        for word in
            ["", "\n", "wordd", "zzzzzzzz", "holidai", &first[..3], &format!("{last}x"), "time\ntimed"]
        {
            assert!(!is_ordinary(word), "{word}");
        }
        for word in [first, last, "holiday", "semantic", "branch"] {
            assert!(is_ordinary(word), "{word}");
        }
    }
}
