//! Texts with the statistics of language: the demo's running text, whose rare words are replaced by coined ones.
//!
//! The demo alone has too few words: a million memories made of it would have its 2,400 lexemes. Real vocabularies grow
//! with the text (Heaps' law), and so do coined words here.

use std::collections::HashMap;

use htm_tests::measure::Random;

const DEMO: &str = include_str!("../../../demo/memories.jsonl");
/// A word that the demo has at most so many times is replaced.
const RARE: usize = 3;
/// Coined words are drawn by a power law whose tail makes the vocabulary grow by the power 0.65 of the text.
const TAIL: f64 = 0.54;
/// The rank up to which coined words are about equally frequent.
const HEAD: f64 = 100.0;

/// The demo's words in their order, and the lengths of its texts.
pub(crate) struct Texts {
    words: Vec<Word>,
    lengths: Vec<usize>,
    /// The factor by which texts are longer than the demo's.
    scale: f64,
}

struct Word {
    text: String,
    is_rare: bool,
}

impl Texts {
    /// Texts of `mean` words on average.
    pub(crate) fn new(mean: f64) -> Self {
        let texts: Vec<String> = DEMO
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("the demo's lines are JSON"))
            .map(|memory| memory["text"].as_str().expect("a text").to_owned())
            .collect();
        let mut counts: HashMap<String, usize> = HashMap::new();
        let words = || texts.iter().flat_map(|text| text.split_whitespace());
        for word in words() {
            *counts.entry(bare(word).to_lowercase()).or_default() += 1;
        }
        let is_rare = |word: &str| {
            let bare = bare(word);
            bare.starts_with(char::is_alphabetic) && counts[&bare.to_lowercase()] <= RARE
        };
        let words = words().map(|word| Word { text: word.to_owned(), is_rare: is_rare(word) }).collect();
        let lengths: Vec<usize> = texts.iter().map(|text| text.split_whitespace().count()).collect();
        let demo = lengths.iter().sum::<usize>() as f64 / lengths.len() as f64;
        Self { words, lengths, scale: mean / demo }
    }

    /// The demo's texts as they are.
    pub(crate) fn demo(&self) -> String {
        self.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// The text with this number: a stretch of the demo.
    pub(crate) fn text(&self, number: u64) -> String {
        let mut random = Random(number.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let length = self.lengths[random.below(self.lengths.len())] as f64 * self.scale;
        let start = random.below(self.words.len());
        let stretch = self.words.iter().cycle().skip(start).take(length.round().max(1.0) as usize);
        let words = stretch.map(|word| match word.is_rare {
            true => word.text.replacen(bare(&word.text), &coined(&mut random), 1),
            false => word.text.clone(),
        });
        words.collect::<Vec<_>>().join(" ")
    }
}

/// A word without the punctuation around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|letter: char| !letter.is_alphanumeric())
}

/// A coined word: the more frequent, the shorter.
fn coined(random: &mut Random) -> String {
    let unit = random.unit().max(1e-9);
    let mut rest = ((unit.powf(-1.0 / TAIL) - 1.0) * HEAD) as u64 + 70;
    let mut word = String::new();
    while rest > 0 {
        word.push(char::from(b"bdfgklmnprstvz"[(rest % 14) as usize]));
        rest /= 14;
        word.push(char::from(b"aeiou"[(rest % 5) as usize]));
        rest /= 5;
    }
    word.push('x'); // no ending that a stemmer removes
    word
}
