//! Tokenization of texts into windows.

use std::path::Path;

use htm_core::Result;
use tokenizers::Tokenizer;
use tokenizers::models::wordpiece::WordPiece;
use tokenizers::normalizers::BertNormalizer;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;

use super::config::Config;
use super::files::{bad, read};
use super::sentence::Sentence;
use crate::codes;
use crate::split::too_long;

/// A tokenizer and its marks.
pub(super) struct Marked {
    pub(super) tokenizer: Tokenizer,
    /// `[CLS]` or `<s>`.
    pub(super) first: u32,
    /// `[SEP]` or `</s>`.
    pub(super) last: u32,
}

impl Marked {
    /// Reads `tokenizer.json` of `dir`, else `vocab.txt`, the vocabulary of an uncased BERT.
    pub(super) fn load(dir: &Path, config: &Config) -> Result<Self> {
        let vocabulary = dir.join("vocab.txt");
        let (path, mut tokenizer) = match read(&dir.join("tokenizer.json")) {
            Err(error) if error.is(codes::MISSING_FILE) && vocabulary.exists() => {
                let tokenizer = word_pieces(&vocabulary)?;
                (vocabulary, tokenizer)
            }
            bytes => {
                let path = dir.join("tokenizer.json");
                let tokenizer = Tokenizer::from_bytes(bytes?).map_err(|error| bad(&path, error))?;
                (path, tokenizer)
            }
        };
        // The file asks for truncation and padding. Texts are split and packed instead.
        tokenizer.with_truncation(None).map_err(|error| bad(&path, error))?.with_padding(None);
        let [first, last] = match tokenizer.get_post_processor() {
            Some(_) => around(&path, &tokenizer)?,
            None => {
                let mark = |names: [&str; 2]| {
                    let mut ids = names.iter().filter_map(|name| tokenizer.token_to_id(name));
                    ids.next()
                        .ok_or_else(|| bad(&path, format!("it has no {} and no {}", names[0], names[1])))
                };
                [mark(["[CLS]", "<s>"])?, mark(["[SEP]", "</s>"])?]
            }
        };
        // The encoder indexes its table of words by these ids. Those of the marks have a place of their own in the file.
        let largest = tokenizer.get_vocab(true).into_values().chain([first, last]).max().unwrap_or(0);
        if largest as usize >= config.vocab_size {
            let reason = format!(
                "it has more tokens than the model: the id {largest}, where the model has {}",
                config.vocab_size
            );
            return Err(bad(&path, reason));
        }
        Ok(Self { tokenizer, first, last })
    }
}

/// The two marks that the tokenizer puts around a text.
fn around(path: &Path, tokenizer: &Tokenizer) -> Result<[u32; 2]> {
    let encoding = tokenizer.encode_fast("a", true).map_err(|error| bad(path, error))?;
    let (ids, marks) = (encoding.get_ids(), encoding.get_special_tokens_mask());
    match (ids, marks) {
        ([first, .., last], [1, text @ .., 1]) if !text.contains(&1) => Ok([*first, *last]),
        _ => Err(bad(path, "it does not put one mark before a text and one after it")),
    }
}

/// BERT's tokenizer for a vocabulary with one piece per line.
fn word_pieces(path: &Path) -> Result<Tokenizer> {
    let model = WordPiece::from_file(&path.to_string_lossy()).unk_token("[UNK]".into()).build();
    let mut tokenizer = Tokenizer::new(model.map_err(|error| bad(path, error))?);
    let normalizer = BertNormalizer::new(true, true, None, true);
    tokenizer.with_normalizer(Some(normalizer)).map_err(|error| bad(path, error))?;
    tokenizer.with_pre_tokenizer(Some(BertPreTokenizer));
    Ok(tokenizer)
}

/// Splits texts into windows of tokens, each with the model's marks around it.
pub(super) struct Windows {
    tokenizer: Tokenizer,
    /// The tokens of text in a window: its length less the two marks.
    room: usize,
    first: u32,
    last: u32,
    lower_case: bool,
    /// `[UNK]` or `<unk>`, which stands for whatever the vocabulary lacks.
    unknown: Option<u32>,
}

/// A prefix of texts.
#[derive(Debug, Default)]
pub(super) struct Prefix {
    text: String,
    tokens: Vec<u32>,
}

/// A part of a text, as tokens.
#[derive(Debug, PartialEq)]
pub(super) struct Window {
    /// The index of the text.
    pub(super) text: usize,
    /// `[CLS]`, tokens, `[SEP]`.
    pub(super) tokens: Vec<u32>,
}

impl Windows {
    /// Reads the tokenizer of `dir`.
    pub(super) fn load(dir: &Path, config: &Config, sentence: &Sentence) -> Result<Self> {
        let Marked { tokenizer, first, last } = Marked::load(dir, config)?;
        let unknown = ["[UNK]", "<unk>"].iter().find_map(|name| tokenizer.token_to_id(name));
        let (room, lower_case) = (sentence.window - 2, sentence.lower_case);
        Ok(Self { tokenizer, room, first, last, lower_case, unknown })
    }

    /// Makes a prefix of `text`. An error if it takes more than half of a window.
    pub(super) fn prefix(&self, text: &str) -> Result<Prefix, String> {
        if text.is_empty() {
            return Ok(Prefix::default());
        }
        let text = self.cased(text);
        // Its final space belongs to the text's first token.
        let encoding =
            self.tokenizer.encode_fast(text.trim_end(), false).map_err(|error| error.to_string())?;
        let tokens = encoding.get_ids().to_vec();
        if tokens.len() > self.room / 2 {
            return Err(too_long(tokens.len(), self.room));
        }
        Ok(Prefix { text, tokens })
    }

    /// Splits the text with this index into windows, in order. A long text is split into windows of equal size, because
    /// a short last window would represent only a few words. An empty text has one empty window. Each window begins with
    /// `prefix`.
    pub(super) fn split(&self, index: usize, text: &str, prefix: &Prefix) -> Result<Vec<Window>, String> {
        let ids = self.ids(format!("{}{}", prefix.text, self.cased(text)))?;
        if ids.len() <= self.room || prefix.tokens.is_empty() {
            return Ok(even_parts(&ids, self.room).map(|part| self.window(index, &[], part)).collect());
        }
        let alone = self.ids(self.cased(text))?;
        let parts = even_parts(&alone, self.room - prefix.tokens.len());
        Ok(parts.map(|part| self.window(index, &prefix.tokens, part)).collect())
    }

    /// Whether at most half of a text's tokens, beside punctuation, are unknown. Of texts of unknown tokens alone the vectors are
    /// the same.
    pub(super) fn knows(&self, text: &str) -> bool {
        let Ok(encoding) = self.tokenizer.encode(self.cased(text), false) else { return true };
        let (unknown, known): (Vec<_>, Vec<_>) = encoding
            .get_ids()
            .iter()
            .zip(encoding.get_tokens())
            .partition(|(id, _)| Some(**id) == self.unknown);
        unknown.len() <= known.iter().filter(|(_, token)| token.contains(char::is_alphanumeric)).count()
    }

    fn ids(&self, text: String) -> Result<Vec<u32>, String> {
        let encoding = self.tokenizer.encode_fast(text, false).map_err(|error| error.to_string())?;
        Ok(encoding.get_ids().to_vec())
    }

    fn window(&self, text: usize, prefix: &[u32], part: &[u32]) -> Window {
        Window { text, tokens: [&[self.first], prefix, part, &[self.last]].concat() }
    }

    fn cased(&self, text: &str) -> String {
        if self.lower_case { text.to_lowercase() } else { text.to_owned() }
    }
}

/// Splits `windows` into runs of at most `budget` tokens. A longer window is a run of its own.
pub(super) fn batches(windows: &[Window], budget: usize) -> Vec<&[Window]> {
    let (mut runs, mut start, mut tokens) = (Vec::new(), 0, 0);
    for (at, window) in windows.iter().enumerate() {
        if at > start && tokens + window.tokens.len() > budget {
            runs.push(&windows[start..at]);
            (start, tokens) = (at, 0);
        }
        tokens += window.tokens.len();
    }
    if start < windows.len() {
        runs.push(&windows[start..]);
    }
    runs
}

/// Splits `ids` into the fewest parts of at most `room`. Their sizes differ by at most one. No ids give one empty part.
fn even_parts(ids: &[u32], room: usize) -> impl Iterator<Item = &[u32]> {
    let count = ids.len().div_ceil(room).max(1);
    (0..count).map(move |part| &ids[part * ids.len() / count..(part + 1) * ids.len() / count])
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// The marks of a tokenizer whose last mark has this id, for a model of four words.
    fn marks(last: u32) -> Result<[u32; 2]> {
        let dir = tempfile::tempdir().unwrap();
        let config = json!({
            "model_type": "bert", "hidden_act": "gelu", "hidden_size": 2, "num_hidden_layers": 0,
            "num_attention_heads": 1, "intermediate_size": 2, "max_position_embeddings": 8, "vocab_size": 4,
        });
        let vocab = json!({ "[UNK]": 0, "a": 1, "[CLS]": 2, "[SEP]": 3 });
        let tokenizer = json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
            "pre_tokenizer": null, "decoder": null,
            "post_processor": { "type": "BertProcessing", "cls": ["[CLS]", 2], "sep": ["[SEP]", last] },
            "model": { "type": "WordLevel", "vocab": vocab, "unk_token": "[UNK]" },
        });
        for (name, text) in [("config.json", config), ("tokenizer.json", tokenizer)] {
            fs::write(dir.path().join(name), text.to_string()).unwrap();
        }
        let Marked { first, last, .. } = Marked::load(dir.path(), &Config::load(dir.path())?)?;
        Ok([first, last])
    }

    #[test]
    fn a_mark_that_the_model_has_no_word_for_is_refused() {
        assert_eq!(marks(3).unwrap(), [2, 3]);
        let error = marks(4).unwrap_err();
        assert!(error.is(codes::BAD_FILE) && error.to_string().contains("the id 4"), "{error}");
    }

    proptest! {
        #[test]
        fn parts_lose_nothing_and_are_even(length in 0_usize..2000, room in 1_usize..300) {
            let ids: Vec<u32> = (0..length as u32).collect();
            let parts: Vec<&[u32]> = even_parts(&ids, room).collect();
            prop_assert_eq!(&parts.concat(), &ids);
            let sizes: Vec<usize> = parts.iter().map(|part| part.len()).collect();
            let (least, most) = (*sizes.iter().min().unwrap(), *sizes.iter().max().unwrap());
            prop_assert!(most <= room && most - least <= 1);
            prop_assert_eq!(sizes.len(), length.div_ceil(room).max(1));
        }

        #[test]
        fn batches_keep_order_and_budget(lengths in prop::collection::vec(1_usize..50, 0..60), budget in 1_usize..200) {
            let windows: Vec<Window> = lengths.iter().enumerate()
                .map(|(text, length)| Window { text, tokens: vec![0; *length] }).collect();
            let runs = batches(&windows, budget);
            let order: Vec<usize> = runs.iter().flat_map(|run| run.iter().map(|window| window.text)).collect();
            prop_assert_eq!(order, (0..lengths.len()).collect::<Vec<_>>());
            for run in runs {
                prop_assert!(!run.is_empty());
                prop_assert!(run.len() == 1 || run.iter().map(|window| window.tokens.len()).sum::<usize>() <= budget);
            }
        }
    }
}
