//! Splitting of texts into parts that fit a model's window.

use std::ops::Range;

use htm_core::TokenEncoding;
use unicode_segmentation::UnicodeSegmentation;

/// The tokens that most tokenizers put around a text: `[CLS]` and `[SEP]`, or the marks of a sentence's ends.
const MARKS: usize = 2;

/// A model's window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// 1 or more.
    tokens: usize,
    counter: Counter,
}

/// The counting of a text's tokens.
#[derive(Clone, Copy, Debug)]
enum Counter {
    /// By the model's own encoding.
    Exact(TokenEncoding),
    /// By another encoding, with a margin.
    Generous,
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part<'a> {
    pub(crate) text: &'a str,
    /// An upper bound of its tokens: the number of its bytes, if these fit into the window.
    pub(crate) tokens: usize,
}

/// The message about a prefix of so many `tokens`, for a model with this `window`.
pub(crate) fn too_long(tokens: usize, window: usize) -> String {
    format!("has {tokens} tokens: more than half of the model's window of {window}")
}

impl Window {
    /// The window of a model with a known encoding.
    pub(crate) fn exact(tokens: usize, encoding: TokenEncoding) -> Self {
        Self { tokens: tokens.max(1), counter: Counter::Exact(encoding) }
    }

    /// The window of a model with an unknown tokenizer.
    pub(crate) fn generous(tokens: usize) -> Self {
        Self { tokens: tokens.saturating_sub(MARKS).max(1), counter: Counter::Generous }
    }

    /// This window less the room for `prefix`.
    pub(crate) fn without(self, prefix: &str) -> Self {
        Self { tokens: self.tokens.saturating_sub(self.tokens_of(prefix)).max(1), ..self }
    }

    /// Checks that `prefix` takes at most half of the window: the vector would be the prefix's, and not the text's.
    pub(crate) fn check_prefix(&self, prefix: &str) -> Result<(), String> {
        let tokens = self.tokens_of(prefix);
        match tokens <= self.tokens / 2 {
            true => Ok(()),
            false => Err(format!("{} (`embedding.window`)", too_long(tokens, self.tokens))),
        }
    }

    /// The tokens of a prefix. Of a short one it is the number of its bytes, which needs no vocabulary.
    fn tokens_of(&self, prefix: &str) -> usize {
        match prefix.len() <= self.tokens / 2 {
            true => prefix.len(),
            false => self.count(prefix),
        }
    }

    /// Splits `text` into parts of about the same size that fit. Cuts are at the ends of sentences, else of words, else
    /// between characters. The concatenated parts are `text`. A single character that does not fit is a part of its
    /// own.
    pub(crate) fn split<'a>(&self, text: &'a str) -> Vec<Part<'a>> {
        // No tokenizer gives more tokens than bytes, so most texts need neither a count nor a vocabulary.
        if text.len() <= self.tokens {
            return vec![Part { text, tokens: text.len() }];
        }
        let mut parts = Vec::new();
        let mut waiting = vec![self.part(text)];
        while let Some(part) = waiting.pop() {
            if part.tokens <= self.tokens {
                parts.push(part);
                continue;
            }
            // A fifth is reserved, because a cut may be up to an eighth of a part away from an even division.
            let room = self.tokens - self.tokens / 5;
            match self.divide(&part, part.tokens.div_ceil(room)) {
                Some(smaller) => waiting.extend(smaller.into_iter().rev()),
                None => parts.push(part),
            }
        }
        parts
    }

    /// Divides `part` into `count` parts (2 or more) of about the same size, or into fewer if it has too few
    /// characters. None for a single character.
    pub(crate) fn divide<'a>(&self, part: &Part<'a>, count: usize) -> Option<Vec<Part<'a>>> {
        let text = part.text;
        let reach = text.len() / count / 8;
        let mut ends: Vec<usize> =
            (1..count).filter_map(|index| cut(text, text.len() * index / count, reach)).collect();
        ends.push(text.len());
        ends.sort_unstable();
        ends.dedup();
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let parts: Vec<_> = starts.zip(&ends).map(|(start, end)| self.part(&text[start..*end])).collect();
        (parts.len() > 1).then_some(parts)
    }

    fn part<'a>(&self, text: &'a str) -> Part<'a> {
        Part { text, tokens: self.count(text) }
    }

    fn count(&self, text: &str) -> usize {
        match self.counter {
            Counter::Exact(encoding) => encoding.count(text),
            Counter::Generous => generous(text),
        }
    }
}

/// An estimate of the tokens of a model with a smaller vocabulary, almost always an upper bound. It is the number of
/// o200k's tokens and of characters other than ASCII letters and white space, plus a fifth of that, and at most the
/// bytes.
///
/// BERT's 30,522 word pieces (all-MiniLM, nomic-embed-text, mxbai-embed-large) give up to 3.3 times as many tokens as
/// o200k alone (Russian, Arabic; punctuation 2.1, French 1.7, code 1.3), because BERT takes rare words character by
/// character. With the other characters added, they give up to 1.18 times as many (French), hence the fifth.
pub(crate) fn generous(text: &str) -> usize {
    let others = text.chars().filter(|c| !c.is_ascii_alphabetic() && !c.is_whitespace()).count();
    ((TokenEncoding::O200kBase.count(text) + others) * 6 / 5).min(text.len())
}

/// The best place to cut `text` within `reach` bytes of `target`: the nearest end of a sentence, else of a word, else
/// of a grapheme, else of a character. None in a single character.
fn cut(text: &str, target: usize, reach: usize) -> Option<usize> {
    // At least a character on both sides.
    let reach = reach.max(4);
    let near: Range<usize> = text.floor_char_boundary(target.saturating_sub(reach))
        ..text.ceil_char_boundary((target + reach).min(text.len()));
    let inside = &text[near.clone()];
    let nearest = |places: &mut dyn Iterator<Item = usize>| {
        let places = places.filter(|place| *place > 0).map(|place| near.start + place);
        places.min_by_key(|place| place.abs_diff(target))
    };
    nearest(&mut inside.split_sentence_bound_indices().map(|(at, _)| at))
        .or_else(|| nearest(&mut inside.split_word_bound_indices().map(|(at, _)| at)))
        .or_else(|| nearest(&mut inside.grapheme_indices(true).map(|(at, _)| at)))
        .or_else(|| nearest(&mut inside.char_indices().map(|(at, _)| at)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(parts: &[Part<'_>]) -> Vec<String> {
        parts.iter().map(|part| part.text.to_owned()).collect()
    }

    #[test]
    fn what_fits_is_one_part() {
        for window in [Window::exact(8, TokenEncoding::Cl100kBase), Window::generous(10)] {
            for text in ["", "a", "eight by", "one two"] {
                assert_eq!(texts(&window.split(text)), [text]);
            }
        }
        // It has more bytes than the window has tokens, so its tokens are counted.
        let window = Window::exact(8, TokenEncoding::Cl100kBase);
        let text = "the committee met in the morning";
        assert_eq!(window.split(text), [Part { text, tokens: 6 }]);
    }

    #[test]
    fn cuts_are_at_sentences_then_words_then_characters() {
        let window = Window::exact(200, TokenEncoding::Estimate);
        let sentences = "The committee met. ".repeat(200);
        let parts = window.split(&sentences);
        assert!(parts.len() > 4 && parts.iter().all(|part| part.text.ends_with(". ")), "{parts:?}");
        let words = "committee ".repeat(400);
        let parts = window.split(&words);
        let whole = |part: &Part<'_>| part.text.split_whitespace().all(|word| word == "committee");
        assert!(parts.len() > 4 && parts.iter().all(whole), "{parts:?}");
        let families = "👩‍👩‍👧".repeat(800);
        let parts = window.split(&families);
        assert!(parts.len() > 4 && parts.iter().all(|part| part.text.starts_with('👩')), "{parts:?}");
    }

    #[test]
    fn a_prefix_takes_its_room() {
        let room =
            |tokens| Window::exact(tokens, TokenEncoding::Estimate).without("search_document: ").tokens;
        assert_eq!((room(100), room(20)), (100 - 17, 20 - 5), "by its bytes, else by its tokens");
        // A prefix that leaves no room must not cause an endless loop.
        assert_eq!(Window::generous(2).without("a long one").split("ab").len(), 1);
        assert_eq!(Window::generous(2).without("a long one").split("a: b").len(), 4);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_every_part_fits(
            text in prop_oneof!["\\PC{0,300}", "[a-z .]{0,600}", "[あ-ん。🦀]{0,200}", "(x|\\.|\n| ){0,400}"],
            tokens in 1_usize..60,
            generous in any::<bool>(),
        ) {
            let window = if generous {
                Window::generous(tokens)
            } else {
                Window::exact(tokens, TokenEncoding::Cl100kBase)
            };
            let parts = window.split(&text);
            prop_assert_eq!(parts.iter().map(|part| part.text).collect::<String>(), text.clone());
            prop_assert!(text.is_empty() || parts.iter().all(|part| !part.text.is_empty()));
            for part in &parts {
                let alone = part.text.chars().count() <= 1;
                prop_assert!(alone || window.count(part.text) <= window.tokens, "{:?} of {:?}", part, window);
            }
        }

        #[test]
        fn a_half_is_smaller(text in "\\PC{0,40}") {
            let window = Window::generous(512);
            match window.divide(&window.part(&text), 2) {
                None => prop_assert!(text.chars().count() <= 1),
                Some(halves) => {
                    prop_assert_eq!(texts(&halves).concat(), text.as_str());
                    prop_assert!(halves.len() == 2 && halves.iter().all(|half| !half.text.is_empty()));
                }
            }
        }
    }
}
