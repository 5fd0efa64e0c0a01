//! From texts to the token windows that the model reads.

use std::path::Path;

use serde::Deserialize;
use tokenizers::Tokenizer;
use tokenizers::models::wordpiece::WordPiece;
use tokenizers::normalizers::BertNormalizer;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;

use super::weights::{Config, bad, read};
use crate::SettingsError;

/// sentence-transformers' window when a directory does not state one.
const DEFAULT_WINDOW: usize = 256;

/// A tokenizer and its marks.
pub(super) struct Marked {
    pub(super) tokenizer: Tokenizer,
    /// `[CLS]`.
    pub(super) first: u32,
    /// `[SEP]`.
    pub(super) last: u32,
}

impl Marked {
    /// Reads `tokenizer.json` of `dir`, else `vocab.txt`, the words of a BERT that lower-cases.
    pub(super) fn load(dir: &Path, config: &Config) -> Result<Self, SettingsError> {
        let vocabulary = dir.join("vocab.txt");
        let (path, mut tokenizer) = match read(&dir.join("tokenizer.json")) {
            Err(SettingsError::MissingFile { .. }) if vocabulary.exists() => {
                let tokenizer = word_pieces(&vocabulary)?;
                (vocabulary, tokenizer)
            }
            bytes => {
                let path = dir.join("tokenizer.json");
                let tokenizer = Tokenizer::from_bytes(bytes?).map_err(|error| bad(&path, error))?;
                (path, tokenizer)
            }
        };
        // The file asks for 128 tokens and padding to them; we split and pack instead.
        tokenizer.with_truncation(None).map_err(|error| bad(&path, error))?.with_padding(None);
        if tokenizer.get_vocab_size(true) > config.vocab_size {
            return Err(bad(&path, format!("it has more tokens than the model, {}", config.vocab_size)));
        }
        let mark =
            |name: &str| tokenizer.token_to_id(name).ok_or_else(|| bad(&path, format!("it has no {name}")));
        let (first, last) = (mark("[CLS]")?, mark("[SEP]")?);
        Ok(Self { tokenizer, first, last })
    }
}

/// BERT's tokenizer for a vocabulary with a piece a line.
fn word_pieces(path: &Path) -> Result<Tokenizer, SettingsError> {
    let model = WordPiece::from_file(&path.to_string_lossy()).unk_token("[UNK]".into()).build();
    let mut tokenizer = Tokenizer::new(model.map_err(|error| bad(path, error))?);
    tokenizer.with_normalizer(Some(BertNormalizer::new(true, true, None, true)));
    tokenizer.with_pre_tokenizer(Some(BertPreTokenizer));
    Ok(tokenizer)
}

/// Splits texts into windows of tokens, each with the model's marks around it.
pub(super) struct Windows {
    tokenizer: Tokenizer,
    /// Tokens of text in a window; with the two marks it has `max_seq_length`.
    room: usize,
    first: u32,
    last: u32,
}

/// A part of a text, as the model reads it.
#[derive(Debug, PartialEq)]
pub(super) struct Window {
    /// Which text.
    pub(super) text: usize,
    /// `[CLS]`, tokens, `[SEP]`.
    pub(super) tokens: Vec<u32>,
}

impl Windows {
    /// Reads `tokenizer.json` and `sentence_bert_config.json` (if there is one) of `dir`.
    pub(super) fn load(dir: &Path, config: &Config) -> Result<Self, SettingsError> {
        let Marked { tokenizer, first, last } = Marked::load(dir, config)?;
        let window = max_seq_length(dir)?.min(config.max_position_embeddings);
        if window < 3 {
            return Err(bad(&dir.join("sentence_bert_config.json"), "max_seq_length must be 3 or more"));
        }
        Ok(Self { tokenizer, room: window - 2, first, last })
    }

    /// The windows of `texts`, in their order. A text that needs several is split into equal ones, not into
    /// full ones and a rest: the rest would speak for a few words only. An empty text has one empty window.
    pub(super) fn split(&self, texts: &[String]) -> Result<Vec<Window>, String> {
        let inputs: Vec<&str> = texts.iter().map(String::as_str).collect();
        let encodings = self.tokenizer.encode_batch_fast(inputs, false).map_err(|error| error.to_string())?;
        let mut windows = Vec::with_capacity(texts.len());
        for (text, encoding) in encodings.iter().enumerate() {
            for part in even_parts(encoding.get_ids(), self.room) {
                let mut tokens = Vec::with_capacity(part.len() + 2);
                tokens.push(self.first);
                tokens.extend_from_slice(part);
                tokens.push(self.last);
                windows.push(Window { text, tokens });
            }
        }
        Ok(windows)
    }
}

/// Runs of `windows` with at most `budget` tokens each (a longer window stands alone).
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

/// `ids` in as few parts of at most `room` as hold them, of equal size but for one; one empty part for none.
fn even_parts(ids: &[u32], room: usize) -> impl Iterator<Item = &[u32]> {
    let count = ids.len().div_ceil(room).max(1);
    (0..count).map(move |part| &ids[part * ids.len() / count..(part + 1) * ids.len() / count])
}

fn max_seq_length(dir: &Path) -> Result<usize, SettingsError> {
    #[derive(Deserialize)]
    struct SentenceBert {
        max_seq_length: usize,
    }
    let path = dir.join("sentence_bert_config.json");
    match read(&path) {
        Err(SettingsError::MissingFile { .. }) => Ok(DEFAULT_WINDOW),
        Err(error) => Err(error),
        Ok(bytes) => {
            let file: SentenceBert = serde_json::from_slice(&bytes).map_err(|error| bad(&path, error))?;
            Ok(file.max_seq_length)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
