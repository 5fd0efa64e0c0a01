//! Counts tokens as the language model does.

use serde::{Deserialize, Serialize};

use crate::model::error::{Error, codes};

/// The most bytes that are counted at once. tiktoken's regular expressions overflow their stack, and it panics, at a
/// run of some hundred thousand letters or spaces. Longer texts are counted in pieces that are cut at boundaries. Only
/// a piece without a boundary is cut elsewhere, which adds at most one token, of thousands.
const PIECE_BYTES: usize = 1 << 16;

/// The encoding that counts the tokens of a text. It is stored with each node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[derive(
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumString,
    strum::AsRefStr,
    strum::IntoStaticStr,
    strum::VariantNames
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", parse_err_ty = Error, parse_err_fn = no_encoding)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
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
    /// The number of tokens of `text`.
    pub fn count(self, text: &str) -> usize {
        match self {
            Self::O200kBase => encode(tiktoken_rs::o200k_base_singleton(), text),
            Self::Cl100kBase => encode(tiktoken_rs::cl100k_base_singleton(), text),
            Self::Estimate => text.chars().count().div_ceil(4),
        }
    }
}

/// Whether no token spans the place between two characters, in any context. Both encodings split a text by a regular
/// expression before they look for tokens (`tiktoken_ext/openai_public.rs`): a run of letters or digits ends at white
/// space and at punctuation, and a line break ends its run unless another line break or a `/` follows. So the counts on
/// both sides of a boundary add up. Characters for which this is not certain at a glance make no boundary.
pub(crate) fn is_boundary(before: char, after: char) -> bool {
    let gap = |c: char| {
        // Not the apostrophe: "it's" is split differently.
        (c.is_ascii_whitespace() || c.is_ascii_punctuation() && c != '\'')
            || matches!(c, '\u{3000}'..='\u{3002}' | '！' | '，' | '？')
    };
    let word = |c: char| {
        c.is_ascii_alphanumeric()
            || matches!(c, '\u{c0}'..='\u{24f}' | '\u{370}'..='\u{52f}') && c.is_alphabetic()
            || matches!(c, 'ぁ'..='ゖ' | 'ァ'..='ヺ' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
    };
    word(before) && gap(after) || before == '\n' && !after.is_whitespace() && after != '/'
}

/// The first boundary within a text, as a byte offset.
pub(crate) fn first_boundary(text: &str) -> Option<usize> {
    let after = text.char_indices().skip(1);
    text.chars().zip(after).find(|&(before, (_, after))| is_boundary(before, after)).map(|(_, (at, _))| at)
}

/// The last boundary within a text, as a byte offset.
pub(crate) fn last_boundary(text: &str) -> Option<usize> {
    let before = text.chars().rev().skip(1);
    let after = text.char_indices().rev();
    before.zip(after).find(|&(before, (_, after))| is_boundary(before, after)).map(|(_, (at, _))| at)
}

fn encode(encoding: &tiktoken_rs::CoreBPE, mut text: &str) -> usize {
    let mut tokens = 0;
    while !text.is_empty() {
        let mut end = text.floor_char_boundary(PIECE_BYTES);
        if end < text.len() {
            end = last_boundary(&text[..end]).unwrap_or(end);
        }
        let (piece, rest) = text.split_at(end);
        tokens += encoding.encode_ordinary(piece).len();
        text = rest;
    }
    tokens
}

fn no_encoding(name: &str) -> Error {
    Error::new(codes::ENCODING_UNKNOWN, format!("`{name}` is not a token encoding"))
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

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

    /// Texts of words, gaps, line breaks, apostrophes and scripts, in any order.
    pub(crate) fn any_text() -> impl Strategy<Value = String> {
        prop_oneof![
            "([a-zA-Zéßкあ漢한0-9]{1,6}|[ \\t]{1,3}|[\\r\\n]{1,2}|[-.,;:!?/()'’#…。、「」]{1,3}|'s|'LL|ſ|🦀|\u{301}|\u{85}|\u{a0}){1,12}",
            "\\PC{1,12}",
            "[ -~\n]{1,40}",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8 * ProptestConfig::default().cases))]
        #[test]
        fn counts_add_up_at_each_boundary(text in any_text()) {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).skip(1).collect();
            let boundaries: Vec<usize> = places
                .into_iter()
                .filter(|&at| is_boundary(text[..at].chars().next_back().unwrap(), text[at..].chars().next().unwrap()))
                .collect();
            prop_assert_eq!(first_boundary(&text), boundaries.first().copied());
            prop_assert_eq!(last_boundary(&text), boundaries.last().copied());
            for encoding in [TokenEncoding::O200kBase, TokenEncoding::Cl100kBase] {
                for &at in &boundaries {
                    let (left, right) = text.split_at(at);
                    prop_assert_eq!(encoding.count(left) + encoding.count(right), encoding.count(&text), "{:?} | {:?}", left, right);
                }
            }
        }
    }

    #[test]
    fn a_long_text_is_counted_as_if_at_once() {
        let line = "The deployment of service 17 waited for review until evening.\n";
        let text = line.repeat(3 * PIECE_BYTES / line.len());
        for encoding in [TokenEncoding::O200kBase, TokenEncoding::Cl100kBase] {
            assert_eq!(encoding.count(&text), encoding.count(line) * (3 * PIECE_BYTES / line.len()));
        }
    }

    #[test]
    fn names_parse_back() {
        for encoding in [TokenEncoding::O200kBase, TokenEncoding::Cl100kBase, TokenEncoding::Estimate] {
            assert_eq!(encoding.as_ref().parse::<TokenEncoding>().unwrap(), encoding);
        }
        assert_eq!("gpt2".parse::<TokenEncoding>().unwrap_err().code(), "encoding_unknown");
    }
}
