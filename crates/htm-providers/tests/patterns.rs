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
    split.pre_tokenize(&mut pieces).unwrap();
    let splits = pieces.get_splits(OffsetReferential::Original, OffsetType::Char);
    splits.into_iter().map(|(_, (_, end), _)| end as u64).collect()
}

fn splitter(pattern: &str) -> Split {
    Split::new(SplitPattern::Regex(pattern.into()), Isolated, false).unwrap()
}

#[test]
fn texts_are_split_where_oniguruma_splits_them() {
    let made: Value = serde_json::from_str(include_str!("data/patterns.json")).unwrap();
    let patterns = made["patterns"].as_array().unwrap();
    assert!(patterns.len() >= 10);
    for pattern in patterns {
        let split = splitter(pattern["pattern"].as_str().unwrap());
        for (text, expected) in made["texts"].as_array().unwrap().iter().zip(pattern["ends"].as_array().unwrap()) {
            let expected: Vec<u64> = expected.as_array().unwrap().iter().map(|end| end.as_u64().unwrap()).collect();
            let text = text.as_str().unwrap();
            assert_eq!(ends(&split, text), expected, "{}: {text:?}", pattern["name"]);
        }
    }
}

/// The engine gives up on a search of more than a million steps, and what is left would be one piece.
#[test]
fn the_largest_text_is_split_to_its_end() {
    let made: Value = serde_json::from_str(include_str!("data/patterns.json")).unwrap();
    let pattern = |name: &str| {
        let all = made["patterns"].as_array().unwrap();
        let found = all.iter().find(|pattern| pattern["name"].as_str().unwrap().starts_with(name)).unwrap();
        splitter(found["pattern"].as_str().unwrap())
    };
    for name in ["GPT-2", "Qwen"] {
        let split = pattern(name);
        for part in [" ", "x", "\n ", "!", "日"] {
            let text = format!("{} end", part.repeat((1 << 20) / part.len()));
            let ends = ends(&split, &text);
            let characters = text.chars().count() as u64;
            assert_eq!(ends.last(), Some(&characters), "{name}: {part:?}");
            assert!(ends.contains(&(characters - 4)), "{name}: {part:?} has no piece before the last word");
        }
    }
}
