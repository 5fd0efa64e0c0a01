//! The passage of a hit that contains most of the query.

use std::borrow::Cow;
use std::ops::Range;

use unicode_normalization::{UnicodeNormalization, is_nfc};

use crate::model::words::is_unspaced;

/// The mark before a word of the query, in the database's passage.
const START: char = '\u{2}';
/// The mark after it.
const STOP: char = '\u{3}';
/// The replacement of a `<`.
const LESS: char = '\u{4}';
/// A mark of a place where a word may be parted. Passages have none.
const SOFT_HYPHEN: char = '\u{ad}';
/// The sign that the text goes on.
const CUT: char = '…';
/// The most characters of a passage, because words may be long.
const LONGEST: usize = 600;

/// A passage with the positions of the query's words. It is serialised as [`html`](Snippet::html).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The passage as in the text, at most 600 characters, with `…` where the text goes on. It is not escaped for HTML.
    pub text: String,
    /// The byte ranges of the query's words in the passage.
    pub marks: Vec<Range<usize>>,
}

impl Snippet {
    /// Reads a passage of `content` with a control character on either side of each word of the query.
    pub(crate) fn read(marked: &str, content: &str) -> Self {
        let mut snippet = Self::default();
        let marked = marked.trim();
        // `htm.parted` has given the passage composed letters.
        let composed = if is_nfc(content) { Cow::Borrowed(content) } else { content.nfc().collect() };
        let content = composed.as_ref();
        if !starts_with(plain(content.trim_start()), plain(marked)) {
            snippet.text.push(CUT);
        }
        let mut start = None;
        for c in marked.chars() {
            match c {
                START => start = Some(snippet.text.len()),
                STOP => snippet.marks.extend(start.take().map(|start| start..snippet.text.len())),
                LESS => snippet.text.push('<'),
                _ => snippet.text.push(c),
            }
        }
        let ends = starts_with(plain(content.trim_end()).rev(), plain(marked).rev());
        // With room for the sign at the end.
        let longer = snippet.text.char_indices().nth(if ends { LONGEST } else { LONGEST - 1 }).is_some();
        if let Some((end, _)) = snippet.text.char_indices().nth(LONGEST - 1)
            && longer
        {
            snippet.text.truncate(end);
            snippet.marks.retain(|mark| mark.end <= end);
        }
        if longer || !ends {
            snippet.text.push(CUT);
        }
        snippet
    }

    /// Marks these runs of letters of scripts without spaces. The database has marked such letters one by one, wherever they
    /// are.
    pub(crate) fn with_runs(mut self, runs: &[&str]) -> Self {
        self.marks.retain(|mark| !self.text[mark.clone()].starts_with(is_unspaced));
        for run in runs {
            self.marks.extend(self.text.match_indices(run).map(|(at, _)| at..at + run.len()));
        }
        self.marks.sort_by_key(|mark| (mark.start, mark.end));
        self.marks.dedup_by(|next, mark| {
            let is_of_it = next.start <= mark.end && self.text[next.clone()].starts_with(is_unspaced);
            if is_of_it {
                mark.end = mark.end.max(next.end);
            }
            is_of_it
        });
        self
    }

    /// The passage as HTML: `&`, `<`, `>` and quotes are escaped, the words of the query are in `<mark>`.
    pub fn html(&self) -> String {
        let mut html = String::with_capacity(self.text.len() + 13 * self.marks.len());
        let mut at = 0;
        for mark in &self.marks {
            escape(&self.text[at..mark.start], &mut html);
            html.push_str("<mark>");
            escape(&self.text[mark.clone()], &mut html);
            html.push_str("</mark>");
            at = mark.end;
        }
        escape(&self.text[at..], &mut html);
        html
    }
}

impl serde::Serialize for Snippet {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.html())
    }
}

/// The characters that a passage and its text have in common.
fn plain(text: &str) -> impl DoubleEndedIterator<Item = char> {
    text.chars()
        .filter(|c| !matches!(*c, START | STOP | SOFT_HYPHEN))
        .map(|c| if c == LESS { '<' } else { c })
}

fn starts_with(mut text: impl Iterator<Item = char>, start: impl Iterator<Item = char>) -> bool {
    start.into_iter().all(|c| text.next() == Some(c))
}

fn escape(text: &str, html: &mut String) {
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            _ => html.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_marked_and_the_text_is_escaped() {
        let content = "\n the night <b>& \"watch\" ";
        let snippet = Snippet::read(" the \u{2}night\u{3} <b>& \u{2}\"watch\"\u{3}\u{2}", content);
        assert_eq!(snippet.text, "the night <b>& \"watch\"");
        assert_eq!(snippet.marks, [4..9, 15..22]);
        let html = "the <mark>night</mark> &lt;b&gt;&amp; <mark>&quot;watch&quot;</mark>";
        assert_eq!(snippet.html(), html);
        assert_eq!(serde_json::to_value(&snippet).unwrap(), html);
        let text = "的\u{2}数\u{3}\u{2}据\u{3}\u{2}库\u{3}根\u{2}据\u{3} \u{2}x\u{3}";
        let snippet = Snippet::read(text, "的数据库根据 x").with_runs(&["数据", "据库"]);
        assert_eq!(snippet.html(), "的<mark>数据库</mark>根据 <mark>x</mark>");
        let long = format!("{}\u{2}word\u{3}", "ä".repeat(598));
        let snippet = Snippet::read(&long, &long);
        assert_eq!((snippet.text.chars().count(), snippet.marks.len()), (LONGEST, 0));
    }

    #[test]
    fn where_the_text_goes_on_is_shown() {
        let of = |passage: &str| Snippet::read(passage, " who goes < there ").text;
        assert_eq!(of("who \u{2}goes\u{3} \u{4} there"), "who goes < there");
        assert_eq!(of("\u{2}goes\u{3}"), "…goes…");
        assert_eq!(of("who \u{2}goes\u{3}"), "who goes…");
        assert_eq!(of("\u{4} there"), "…< there");
        let marked = Snippet::read("\u{2}goes\u{3}", " who goes < there ");
        assert_eq!(&marked.text[marked.marks[0].clone()], "goes");
    }

    proptest! {
        #[test]
        fn any_text_is_shown_as_it_is(text in "[a-c<>&\"' ä\u{2}\u{3}]{0,40}") {
            let snippet = Snippet::read(&text, &text);
            let back = snippet.html().replace("<mark>", "").replace("</mark>", "");
            prop_assert!(!back.contains(['<', '>', '"']));
            let back = back.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
            prop_assert_eq!(back.replace("&amp;", "&"), snippet.text);
        }
    }
}
