//! The cut of a section into passages of a limited size: each is filled with whole blocks. A block that is larger is cut at
//! the end of a part, a line, a sentence, a word or a letter. A passage that has room left repeats the end of the one before it.

use std::ops::Range;

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use crate::outline::{Outline, Section, Strength};

/// The size of passages, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cutting {
    /// The most characters of a passage, 200 to 100,000.
    pub size: usize,
    /// The most characters that a passage repeats of the one before it in the same section, up to half of the size.
    pub overlap: usize,
    /// Sections with fewer characters are put together with their neighbours. The rest of a section has as many where the
    /// ends of its blocks allow it.
    pub least: usize,
}

impl Default for Cutting {
    fn default() -> Self {
        Self { size: 1_000, overlap: 100, least: 200 }
    }
}

impl Cutting {
    /// The same with values that are possible.
    pub(crate) fn clamped(self) -> Self {
        let size = self.size.clamp(200, 100_000);
        Self { size, overlap: self.overlap.min(size / 2), least: self.least.min(size) }
    }
}

/// A part of a text: a section, or some of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The section, by its place.
    pub(crate) section: usize,
    pub(crate) range: Range<usize>,
}

/// Cuts every section of a text.
pub(crate) fn pieces(text: &str, outline: &Outline, cutting: &Cutting) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (place, section) in outline.sections.iter().enumerate() {
        let ranges = ranges(text, section, outline, cutting);
        pieces.extend(ranges.into_iter().map(|range| Piece { section: place, range }));
    }
    pieces
}

fn ranges(text: &str, section: &Section, outline: &Outline, cutting: &Cutting) -> Vec<Range<usize>> {
    let end = section.range.start + text[section.range.clone()].trim_end().len();
    let mut ranges: Vec<Range<usize>> = Vec::new();
    // The text that no passage has yet.
    let mut fresh = after_blank_lines(text, section.range.start, end);
    let mut left = text[fresh..end].chars().count();
    while fresh < end {
        let cut = match left <= cutting.size {
            true => end,
            false => filled(text, (fresh, section.body), left, cutting, &outline.breaks),
        };
        let said = text[fresh..cut].trim_end().len();
        let room = cutting.size - text[fresh..fresh + said].chars().count();
        let start = match ranges.last() {
            Some(before) => {
                let most = cutting.overlap.min(room);
                repeat_from(text, before.start + 1, fresh, most, &outline.fences)
            }
            None => fresh,
        };
        left -= text[fresh..cut].chars().count();
        let next = after_blank_lines(text, cut, end);
        left -= text[cut..next].chars().count();
        // A line may begin with more white space than a passage has room for.
        if said > 0 {
            ranges.push(start..fresh + said);
        }
        fresh = next;
    }
    ranges
}

/// The end of the passage that begins at `fresh`, of a section of which `left` characters are left: more than one passage
/// takes. It is behind `body`, where the text behind the heading begins: a heading alone would answer nothing.
fn filled(
    text: &str,
    (fresh, body): (usize, usize),
    left: usize,
    cutting: &Cutting,
    breaks: &[(usize, Strength)],
) -> usize {
    let at = |characters: usize| forward(text, fresh, characters);
    let (half, full) = (at(cutting.size / 2), at(cutting.size));
    // As much as leaves no very short rest.
    let most = at(cutting.size.min(left - cutting.least.min(cutting.size / 2)));
    let last = |strength: Strength, least: usize, most: usize| {
        let from = breaks.partition_point(|(at, _)| *at <= least);
        let to = breaks.partition_point(|(at, _)| *at <= most);
        let ends = breaks[from..to].iter().rev().filter(|it| it.1 == strength).map(|(at, _)| *at);
        // White space alone is no passage, nor is a heading.
        ends.into_iter().find(|end| *end > body && !text[fresh.max(body)..*end].trim().is_empty())
    };
    let window = &text[fresh..most];
    let inside = |at: &usize| *at > half.max(body) && *at <= most;
    let lines = || window.match_indices('\n').map(|(at, _)| fresh + at + 1).rfind(inside);
    let sentences = || {
        let ends = window.split_sentence_bound_indices().map(|(at, it)| fresh + at + it.len());
        // The window's own end is no end of a sentence.
        ends.filter(inside).filter(|at| *at < most).last()
    };
    let words = || {
        let starts = window.split_word_bound_indices().filter(|(_, it)| it.trim().is_empty());
        starts.map(|(at, it)| fresh + at + it.len()).rfind(inside)
    };
    last(Strength::Block, fresh, most)
        // A short rest is better than a torn block.
        .or_else(|| last(Strength::Block, fresh, full))
        .or_else(|| last(Strength::Part, half, most))
        .or_else(lines)
        .or_else(sentences)
        .or_else(words)
        .or_else(|| letters_end(&text[fresh..], most - fresh).map(|at| fresh + at).filter(inside))
        .unwrap_or(most)
}

/// The last place up to `most` that is not within a letter with its marks, a flag or another emoji of several characters.
fn letters_end(text: &str, most: usize) -> Option<usize> {
    let mut cursor = GraphemeCursor::new(most, text.len(), true);
    match cursor.is_boundary(text, 0) {
        Ok(true) => Some(most),
        _ => cursor.prev_boundary(text, 0).ok().flatten(),
    }
}

/// Where the passage begins whose new text begins at `fresh`: at a line, a sentence or a word of the text before it, from
/// `least` on, and not within a block of code.
fn repeat_from(text: &str, least: usize, fresh: usize, overlap: usize, fences: &[Range<usize>]) -> usize {
    if overlap == 0 {
        return fresh;
    }
    let before = text[..fresh].char_indices().rev().nth(overlap.saturating_sub(1)).map_or(0, |(at, _)| at);
    let from = (before.max(least)..=fresh).find(|at| text.is_char_boundary(*at)).unwrap_or(fresh);
    let window = &text[from..fresh];
    // A line break ends a sentence, too.
    let says = |at: &usize| *at > from && !text[*at..fresh].trim().is_empty();
    let sentences = || window.split_sentence_bound_indices().map(|(at, _)| from + at).find(says);
    let words = || {
        let blank = window.split_word_bound_indices().find(|(_, it)| it.trim().is_empty());
        blank.map(|(at, it)| from + at + it.len())
    };
    let mut start = sentences().or_else(words).unwrap_or(fresh);
    // Without its opening fence, code would read as prose, and what follows as code.
    let torn = fences.get(fences.partition_point(|fence| fence.end <= start));
    if let Some(fence) = torn.filter(|fence| fence.start < start) {
        start = match fence.start >= from {
            true => fence.start,
            false => after_blank_lines(text, fence.end.min(fresh), fresh),
        };
    }
    // White space alone repeats nothing.
    if text[start..fresh].trim().is_empty() { fresh } else { start }
}

/// The place that is so many characters behind another one.
fn forward(text: &str, from: usize, characters: usize) -> usize {
    text[from..].char_indices().nth(characters).map_or(text.len(), |(at, _)| from + at)
}

/// The start of the first line that is not blank. The indentation of a line is a part of it.
fn after_blank_lines(text: &str, from: usize, end: usize) -> usize {
    let rest = &text[from..end];
    let blank = rest.len() - rest.trim_start().len();
    let line = rest[..blank].rfind('\n').map_or(0, |at| at + 1);
    from + line
}
