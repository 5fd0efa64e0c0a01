//! The regular expressions of tokenizers: the pure Rust engine splits texts where Oniguruma does (`data/patterns.py`),
//! with which models were trained.
#![cfg(feature = "local")]

use serde_json::Value;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::tokenizer::SplitDelimiterBehavior::Isolated;
use tokenizers::{OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer};

/// Where the pieces of a text end, in characters.
fn ends(split: &Split, text: &str) -> Vec<u64> {
    let mut pieces = PreTokenizedString::from(text);
    split.pre_tokenize(&mut pieces).expect("the pattern splits");
    let splits = pieces.get_splits(OffsetReferential::Original, OffsetType::Char);
    splits.into_iter().map(|(_, (_, end), _)| end as u64).collect()
}

fn splitter(pattern: &str) -> Split {
    Split::new(SplitPattern::Regex(pattern.into()), Isolated, false).expect("the pattern is read")
}

#[test]
fn texts_are_split_where_oniguruma_splits_them() {
    let made: Value = serde_json::from_str(include_str!("data/patterns.json")).unwrap();
    let patterns = made["patterns"].as_array().unwrap();
    assert!(patterns.len() >= 9);
    for pattern in patterns {
        let split = splitter(pattern["pattern"].as_str().unwrap());
        for (text, expected) in
            made["texts"].as_array().unwrap().iter().zip(pattern["ends"].as_array().unwrap())
        {
            let expected: Vec<u64> =
                expected.as_array().unwrap().iter().map(|end| end.as_u64().unwrap()).collect();
            let text = text.as_str().unwrap();
            assert_eq!(ends(&split, text), expected, "{}: {text:?}", pattern["name"]);
        }
    }
}

/// The engine's stack ends at a million characters of white space in a row; what follows would be one piece.
#[test]
fn a_long_run_is_split_to_its_end() {
    let made: Value = serde_json::from_str(include_str!("data/patterns.json")).unwrap();
    for pattern in &made["patterns"].as_array().unwrap()[..3] {
        let split = splitter(pattern["pattern"].as_str().unwrap());
        for part in [" ", "\n ", "x", "日"] {
            let text = format!("{} end", part.repeat((1 << 19) / part.len()));
            let characters = text.chars().count() as u64;
            let ends = ends(&split, &text);
            assert_eq!(ends.last(), Some(&characters), "{}: {part:?}", pattern["name"]);
            assert!(ends.contains(&(characters - 4)), "{}: {part:?}: {ends:?}", pattern["name"]);
        }
    }
}
