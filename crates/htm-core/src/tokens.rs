//! Counting tokens as the language model will.

use std::str::FromStr;

use crate::error::{Error, Result};

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
            Self::O200kBase => tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len(),
            Self::Cl100kBase => tiktoken_rs::cl100k_base_singleton().encode_ordinary(text).len(),
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
    fn names_parse_back() {
        for encoding in [TokenEncoding::O200kBase, TokenEncoding::Cl100kBase, TokenEncoding::Estimate] {
            assert_eq!(encoding.as_str().parse::<TokenEncoding>().unwrap(), encoding);
        }
        assert_eq!("gpt2".parse::<TokenEncoding>().unwrap_err().code(), "encoding_unknown");
    }
}
