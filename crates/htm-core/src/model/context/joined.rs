//! A growing text with its exact number of tokens.

use crate::model::tokens::{TokenEncoding, first_boundary, is_boundary, last_boundary};

/// A text joined from parts with known counts. A join may merge or change the tokens on both sides, so the text between
/// the last boundary before it and the first boundary after it is counted again, and no more.
pub(super) struct Joined {
    encoding: TokenEncoding,
    text: String,
    tokens: usize,
    /// The number of characters; only counted for the estimate.
    chars: usize,
    /// A boundary of the text, as a byte offset. Later parts do not change the tokens before it.
    settled: usize,
    settled_tokens: usize,
}

/// A saved state of a [`Joined`].
pub(super) struct Checkpoint {
    length: usize,
    tokens: usize,
    chars: usize,
    settled: usize,
    settled_tokens: usize,
}

impl Joined {
    pub(super) fn new(encoding: TokenEncoding) -> Self {
        Self { encoding, text: String::new(), tokens: 0, chars: 0, settled: 0, settled_tokens: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Saves the state.
    pub(super) fn checkpoint(&self) -> Checkpoint {
        let Self { tokens, chars, settled, settled_tokens, .. } = *self;
        Checkpoint { length: self.text.len(), tokens, chars, settled, settled_tokens }
    }

    /// Restores the state of `checkpoint`.
    pub(super) fn restore(&mut self, checkpoint: Checkpoint) {
        self.text.truncate(checkpoint.length);
        (self.tokens, self.chars) = (checkpoint.tokens, checkpoint.chars);
        (self.settled, self.settled_tokens) = (checkpoint.settled, checkpoint.settled_tokens);
    }

    pub(super) fn into_text(self) -> (String, usize) {
        (self.text, self.tokens)
    }

    /// Appends `joint` and `content`, which has `tokens` tokens by itself. Returns false and appends nothing if the
    /// whole text would have more than `max_tokens`. Another version may have counted fewer tokens in a row than there are.
    pub(super) fn append(&mut self, joint: &str, content: &str, tokens: usize, max_tokens: usize) -> bool {
        match self.encoding {
            TokenEncoding::Estimate => self.append_estimated(joint, content, max_tokens),
            TokenEncoding::O200kBase | TokenEncoding::Cl100kBase => {
                self.append_counted(joint, content, tokens, max_tokens)
            }
        }
    }

    fn append_estimated(&mut self, joint: &str, content: &str, max_tokens: usize) -> bool {
        let chars = self.chars + joint.chars().count() + content.chars().count();
        let tokens = chars.div_ceil(4);
        if tokens > max_tokens {
            return false;
        }
        self.text.push_str(joint);
        self.text.push_str(content);
        (self.chars, self.tokens) = (chars, tokens);
        true
    }

    fn append_counted(&mut self, joint: &str, content: &str, tokens: usize, max_tokens: usize) -> bool {
        let mut seam = [&self.text[self.settled..], joint].concat();
        // The offset in the content from which its known count holds; none: nowhere.
        let known_from = match (seam.chars().next_back(), content.chars().next()) {
            (Some(before), Some(after)) if !is_boundary(before, after) => first_boundary(content),
            _ => Some(0),
        };
        // Content that would not fit by itself needs no counting.
        if known_from == Some(0) && self.settled_tokens + tokens > max_tokens {
            return false;
        }
        seam.push_str(&content[..known_from.unwrap_or(content.len())]);
        let total = self.settled_tokens
            + self.encoding.count(&seam)
            + known_from.map_or(0, |from| tokens.saturating_sub(self.encoding.count(&content[..from])));
        if total > max_tokens {
            return false;
        }
        self.text.push_str(joint);
        let start = self.text.len();
        self.text.push_str(content);
        self.tokens = total;
        if let Some(settled) = known_from.map(|from| last_boundary(content).unwrap_or(from)) {
            self.settled = start + settled;
            let open = if settled == 0 { tokens } else { self.encoding.count(&content[settled..]) };
            self.settled_tokens = total.saturating_sub(open);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::tokens::tests::any_text;

    #[test]
    fn a_count_that_is_too_small_does_no_harm() {
        for content in ["/one, two, three", "one, two, three"] {
            let mut joined = Joined::new(TokenEncoding::O200kBase);
            assert!(joined.append("", content, 1, 100) && joined.append("\n", content, 1, 100), "{content}");
            assert_eq!(joined.text, format!("{content}\n{content}"));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4 * ProptestConfig::default().cases))]
        #[test]
        fn the_count_is_that_of_the_whole_text(
            parts in prop::collection::vec((any_text(), any_text()), 1..6),
            joint in prop_oneof![Just(None), Just(Some("\n\n")), Just(Some("\n---\n")), Just(Some(" ")), Just(Some(""))],
            encoding in prop_oneof![
                Just(TokenEncoding::O200kBase), Just(TokenEncoding::Cl100kBase), Just(TokenEncoding::Estimate)
            ],
            max_tokens in 1..200usize,
        ) {
            let mut joined = Joined::new(encoding);
            for (other, content) in &parts {
                let joint = joint.unwrap_or(other);
                let whole = format!("{}{joint}{content}", joined.text);
                let tokens = encoding.count(&whole);
                let fits = joined.append(joint, content, encoding.count(content), max_tokens);
                prop_assert_eq!(fits, tokens <= max_tokens, "{:?}", whole);
                if fits {
                    prop_assert_eq!(&joined.text, &whole);
                    prop_assert_eq!(joined.tokens, tokens, "{:?}", whole);
                }
            }
        }
    }
}
