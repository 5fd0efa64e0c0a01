//! Counting tokens as the language model will.

use std::str::FromStr;

use crate::error::{Error, Result};

/// tiktoken's regular expressions overflow their stack, and it panics, at a run of some hundred thousand letters or
/// spaces. Longer texts are counted in pieces of this many bytes: a token more for each cut at most, of thousands.
const PIECE_BYTES: usize = 1 << 16;

/// What counts the tokens of a text; stored with each node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TokenEncoding {
    /// GPT-4o and later.
    #[default]
    O200kBase,
    /// GPT-4, text-embedding-3.
    Cl100kBase,
    /// A quarter of the characters, rounded up: no vocabulary is loaded.
    Estimate,
}

impl TokenEncoding {
    /// How many tokens `text` has.
    pub fn count(self, text: &str) -> usize {
        match self {
            Self::O200kBase => encode(tiktoken_rs::o200k_base_singleton(), text),
            Self::Cl100kBase => encode(tiktoken_rs::cl100k_base_singleton(), text),
            Self::Estimate => text.chars().count().div_ceil(4),
        }
    }

    /// As the configuration and the database write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base",
            Self::Cl100kBase => "cl100k_base",
            Self::Estimate => "estimate",
        }
    }
}

fn encode(encoding: &tiktoken_rs::CoreBPE, mut text: &str) -> usize {
    let mut tokens = 0;
    while !text.is_empty() {
        let (piece, rest) = text.split_at(text.floor_char_boundary(PIECE_BYTES));
        tokens += encoding.encode_ordinary(piece).len();
        text = rest;
    }
    tokens
}

impl FromStr for TokenEncoding {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        [Self::O200kBase, Self::Cl100kBase, Self::Estimate]
            .into_iter()
            .find(|encoding| encoding.as_str() == name)
            .ok_or_else(|| Error::EncodingUnknown { value: name.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_text_has_its_known_count() {
        // From OpenAI's cookbook, "How to count tokens with tiktoken": "antidisestablishmentarianism".
        assert_eq!(TokenEncoding::Cl100kBase.count("antidisestablishmentarianism"), 6);
        assert_eq!(TokenEncoding::O200kBase.count("2 + 2 = 4"), 7);
        assert_eq!(TokenEncoding::Estimate.count("12345"), 2);
        assert_eq!(TokenEncoding::O200kBase.count(""), 0);
    }

    #[test]
    fn the_longest_runs_are_counted() {
        for run in [" ", "x", "=", "あ"] {
            let text = run.repeat((1 << 20) / run.len());
            for encoding in [TokenEncoding::O200kBase, TokenEncoding::Cl100kBase] {
                assert!((1000..=1 << 20).contains(&encoding.count(&text)), "{run:?}");
            }
        }
    }

    #[test]
    fn names_parse_back() {
        for encoding in [TokenEncoding::O200kBase, TokenEncoding::Cl100kBase, TokenEncoding::Estimate] {
            assert_eq!(encoding.as_str().parse::<TokenEncoding>().unwrap(), encoding);
        }
        assert_eq!("gpt2".parse::<TokenEncoding>().unwrap_err().code(), "encoding_unknown");
    }
}
