//! Scripts that write no spaces between words: Chinese, Japanese, Thai. Full text has pairs of their adjacent letters
//! (`htm.segmented`).

use std::ops::RangeInclusive;

/// The letters of such scripts.
const LETTERS: [RangeInclusive<char>; 11] = [
    '\u{e01}'..='\u{e30}',
    '\u{e32}'..='\u{e33}',
    '\u{e40}'..='\u{e46}',
    '\u{3005}'..='\u{3005}',
    '\u{3041}'..='\u{3096}',
    '\u{30a1}'..='\u{30fa}',
    '\u{30fc}'..='\u{30fc}',
    '\u{3400}'..='\u{4dbf}',
    '\u{4e00}'..='\u{9fff}',
    '\u{f900}'..='\u{faff}',
    '\u{ff66}'..='\u{ff9f}',
];

/// The marks of the letter before them.
const MARKS: [RangeInclusive<char>; 3] =
    ['\u{e31}'..='\u{e31}', '\u{e34}'..='\u{e3a}', '\u{e47}'..='\u{e4e}'];

/// Whether a letter is of such a script.
pub(crate) fn is_unspaced(c: char) -> bool {
    LETTERS.iter().any(|range| range.contains(&c))
}

/// Whether it is a mark of the letter before it.
fn is_mark(c: char) -> bool {
    MARKS.iter().any(|range| range.contains(&c))
}

/// The letters and their marks, as a bracket expression of PostgreSQL's regular expressions.
pub(super) fn bracket() -> String {
    let ranges = LETTERS.iter().chain(&MARKS).map(|range| format!("{}-{}", range.start(), range.end()));
    format!("[{}]", ranges.collect::<String>())
}

/// Whether a text is one letter of such a script, with its marks.
pub(super) fn is_letter(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(is_unspaced) && chars.all(is_mark)
}

/// The letters of such scripts that stand alone in a token. Within longer runs, full text has them in pairs.
pub(super) fn lone_letters(token: &str) -> impl Iterator<Item = &str> {
    token.split(|c: char| !c.is_alphanumeric() && !is_mark(c)).filter(|run| is_letter(run))
}

/// A text with the pairs of adjacent letters in the place of a run of several: `東京都` is `東京 京都`. As a phrase, they find
/// the run also within a longer one. Beside another word, a run has to begin or end, so its letter there is added:
/// `v2の東京都` is `v2 の の東 東京 京都`.
pub(super) fn pairs(text: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let (mut rest, mut is_after_word) = (text, false);
    while !rest.is_empty() {
        let is_run = rest.starts_with(is_unspaced);
        let is_of_piece = |c: char| is_unspaced(c) || (is_run && is_mark(c));
        let end = rest.find(|c: char| is_of_piece(c) != is_run).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        match is_run {
            true => parts.extend(pairs_of(piece, is_after_word, after.contains(char::is_alphanumeric))),
            false => parts.extend(Some(piece.trim()).filter(|piece| !piece.is_empty())),
        }
        is_after_word |= piece.contains(char::is_alphanumeric);
        rest = after;
    }
    parts.join(" ")
}

/// The pairs of a run, with its first and its last letter if it is between words.
fn pairs_of(run: &str, is_after_word: bool, is_before_word: bool) -> Vec<&str> {
    let letters = run.char_indices().filter(|(_, c)| is_unspaced(*c)).map(|(at, _)| at);
    let bounds: Vec<usize> = letters.chain([run.len()]).collect();
    let [_, second, ..] = bounds[..] else { return Vec::new() };
    let last = bounds[bounds.len() - 2];
    let mut parts = Vec::new();
    parts.extend(is_after_word.then_some(&run[..second]));
    parts.extend(bounds.windows(3).map(|at| &run[at[0]..at[2]]));
    parts.extend(is_before_word.then_some(&run[last..]));
    if parts.is_empty() { vec![run] } else { parts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_its_pairs() {
        for (text, expected) in [
            ("plain text", "plain text"),
            ("東", "東"),
            ("東京", "東京"),
            ("ตู้17", "ตู้ 17"),
            ("東京都 x", "東京 京都 都 x"),
            ("v2の東京都", "v2 の の東 東京 京都"),
            ("使用PostgreSQL数据库", "使用 用 PostgreSQL 数 数据 据库"),
            ("2024年5月", "2024 年 年 5 月"),
            ("「東京」、大阪。", "「 東京 京 」、 大 大阪 。"),
            ("ตู้นิ", "ตู้นิ"),
        ] {
            assert_eq!(pairs(text), expected);
        }
    }

    #[test]
    fn letters_stand_alone_between_what_is_no_letter() {
        for (token, expected) in [
            ("猫", &["猫"][..]),
            ("「猫、犬」", &["猫", "犬"]),
            ("ตู้", &["ตู้"]),
            ("東京、v2の", &[]),
            ("word", &[]),
        ] {
            assert_eq!(lone_letters(token).collect::<Vec<_>>(), expected, "{token}");
        }
    }
}
