//! Scripts that write no spaces between words: Thai, Lao, Burmese, Khmer, Chinese, Japanese. Full text has pairs of their
//! adjacent letters (`htm.segmented`).

use std::ops::RangeInclusive;

use unicode_normalization::char::is_combining_mark;

/// The letters of such scripts, as `htm.unspaced_letters`.
const LETTERS: [RangeInclusive<char>; 28] = [
    '\u{e01}'..='\u{e30}',
    '\u{e32}'..='\u{e33}',
    '\u{e40}'..='\u{e46}',
    '\u{e81}'..='\u{eb0}',
    '\u{eb2}'..='\u{eb3}',
    '\u{ebd}'..='\u{ebd}',
    '\u{ec0}'..='\u{ec6}',
    '\u{edc}'..='\u{edf}',
    '\u{1000}'..='\u{102a}',
    '\u{103f}'..='\u{103f}',
    '\u{1050}'..='\u{1055}',
    '\u{105a}'..='\u{105d}',
    '\u{1061}'..='\u{1061}',
    '\u{1065}'..='\u{1066}',
    '\u{106e}'..='\u{1070}',
    '\u{1075}'..='\u{1081}',
    '\u{108e}'..='\u{108e}',
    '\u{1780}'..='\u{17b3}',
    '\u{17d7}'..='\u{17d7}',
    '\u{17dc}'..='\u{17dc}',
    '\u{3005}'..='\u{3005}',
    '\u{3041}'..='\u{3096}',
    '\u{30a1}'..='\u{30fa}',
    '\u{30fc}'..='\u{30fc}',
    '\u{3400}'..='\u{4dbf}',
    '\u{4e00}'..='\u{9fff}',
    '\u{f900}'..='\u{faff}',
    '\u{ff66}'..='\u{ff9f}',
];

/// The marks of the letter before them, as `htm.unspaced_marks`.
const MARKS: [RangeInclusive<char>; 17] = [
    '\u{e31}'..='\u{e31}',
    '\u{e34}'..='\u{e3a}',
    '\u{e47}'..='\u{e4e}',
    '\u{eb1}'..='\u{eb1}',
    '\u{eb4}'..='\u{ebc}',
    '\u{ec8}'..='\u{ece}',
    '\u{102b}'..='\u{103e}',
    '\u{1056}'..='\u{1059}',
    '\u{105e}'..='\u{1060}',
    '\u{1062}'..='\u{1064}',
    '\u{1067}'..='\u{106d}',
    '\u{1071}'..='\u{1074}',
    '\u{1082}'..='\u{108d}',
    '\u{108f}'..='\u{108f}',
    '\u{109a}'..='\u{109d}',
    '\u{17b4}'..='\u{17d3}',
    '\u{17dd}'..='\u{17dd}',
];

/// Whether a letter is of such a script.
pub(crate) fn is_unspaced(c: char) -> bool {
    LETTERS.iter().any(|range| range.contains(&c))
}

/// Whether it is a mark of the letter before it.
fn is_mark(c: char) -> bool {
    MARKS.iter().any(|range| range.contains(&c))
}

/// Whether it is of a word: a letter, a digit, or a mark of the letter before it, such as a virama.
pub(super) fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

/// The words of Hangul in a text, of two letters or more.
pub(super) fn hangul(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| is_hangul(word))
}

/// Whether a text is one word of Hangul, of two letters or more.
pub(super) fn is_hangul(text: &str) -> bool {
    text.chars().nth(1).is_some() && text.chars().all(|c| matches!(c, '\u{ac00}'..='\u{d7a3}'))
}

/// A word of Hangul with each particle that Korean writes after a noun, without a space. Some particles depend on whether the
/// word ends with a consonant: `음악이` is music as a subject, `음악가` a musician.
pub(super) fn with_particles(word: &str) -> Vec<String> {
    let ends_with_consonant =
        word.chars().next_back().is_some_and(|c| !(u32::from(c) - 0xac00).is_multiple_of(28));
    let particles = match ends_with_consonant {
        true => ["은", "이", "을", "과", "으로", "이나", "이다"].as_slice(),
        false => &["는", "가", "를", "와", "나", "다"],
    };
    let any =
        ["의", "에", "에서", "에게", "께", "로", "도", "만", "부터", "까지", "보다", "처럼", "입니다", "들"];
    particles.iter().chain(&any).map(|particle| format!("{word}{particle}")).collect()
}

/// The letters and their marks, as a bracket expression of PostgreSQL's regular expressions.
pub(super) fn bracket() -> String {
    format!("[{}{}]", class(&LETTERS), class(&MARKS))
}

/// The inside of a bracket expression.
fn class(ranges: &[RangeInclusive<char>]) -> String {
    ranges.iter().map(|range| format!("{}-{}", range.start(), range.end())).collect()
}

/// One letter with its marks, as a regular expression of PostgreSQL.
pub(crate) fn letter() -> String {
    format!("([{}][{}]*)", class(&LETTERS), class(&MARKS))
}

/// A `tsquery` of pairs for a text in which each letter is a word: each pair is its two letters, one behind the other. As pairs of
/// a phrase have letters in common, the phrase is the pairs in any place.
pub(crate) fn of_letters(query: &str) -> String {
    if !query.contains(is_unspaced) {
        return query.to_owned();
    }
    // Lexemes are between quotation marks.
    let parts = query.split('\'').enumerate().map(|(place, part)| match place % 2 {
        0 => in_any_place(part),
        _ => {
            let starts = part.char_indices().filter(|(_, c)| is_unspaced(*c)).map(|(at, _)| at);
            let bounds: Vec<usize> = starts.chain([part.len()]).collect();
            let letters: Vec<&str> = bounds.windows(2).map(|at| &part[at[0]..at[1]]).collect();
            if bounds[0] == 0 && !letters.is_empty() { letters.join("' <-> '") } else { part.to_owned() }
        }
    });
    parts.collect::<Vec<_>>().join("'")
}

/// The runs of letters of such scripts that a `tsquery` asks for. A letter at the end of a longer one is there with it.
pub(crate) fn asked_runs(query: &str) -> Vec<&str> {
    let lexemes = || query.split('\'').skip(1).step_by(2).filter(|lexeme| lexeme.starts_with(is_unspaced));
    let is_end = |letter: &str| {
        is_letter(letter)
            && lexemes().any(|it| it != letter && (it.starts_with(letter) || it.ends_with(letter)))
    };
    lexemes().filter(|lexeme| !is_end(lexeme)).collect()
}

/// The operators between two lexemes, with "and" for "followed by".
fn in_any_place(operators: &str) -> String {
    match operators.split_once('<') {
        Some((before, rest)) => {
            let after = rest.split_once('>').map_or("", |(_, after)| after);
            format!("{before}&{}", in_any_place(after))
        }
        None => operators.to_owned(),
    }
}

/// Whether a text is one letter of such a script, with its marks.
pub(super) fn is_letter(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(is_unspaced) && chars.all(is_mark)
}

/// The letters of such scripts that stand alone in a token. Within longer runs, full text has them in pairs.
pub(super) fn lone_letters(token: &str) -> impl Iterator<Item = &str> {
    token.split(|c: char| !is_of_word(c)).filter(|run| is_letter(run))
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
    fn a_query_of_pairs_is_one_of_letters() {
        for (query, expected) in [
            ("'plain' <-> 'text'", "'plain' <-> 'text'"),
            ("'数据' | 'don''t' | '猫':*", "'数' <-> '据' | 'don''t' | '猫':*"),
            ("('東京' <-> '京都' <2> 'v2')", "('東' <-> '京' & '京' <-> '都' & 'v2')"),
            ("'ปร' | 'ตู้17'", "'ป' <-> 'ร' | 'ตู้17'"),
        ] {
            assert_eq!(of_letters(query), expected);
        }
        assert_eq!(asked_runs("'数' | '数据' | '据库' | 'x' | '猫':*"), ["数据", "据库", "猫"]);
        assert!(letter().starts_with("([ก-ะ") && letter().ends_with("]*)"));
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
