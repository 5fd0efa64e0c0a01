//! Exact terms: tokens that are meant as written.

use super::script::is_of_word;

/// The most characters of a term.
const LONGEST: usize = 100;

/// The exact term that a token is, without the punctuation around it; none for a plain word.
pub(super) fn exact(token: &str) -> Option<&str> {
    let term = trimmed(token);
    if term.chars().nth(LONGEST).is_some() || !term.contains(char::is_alphanumeric) {
        return None;
    }
    let chars: Vec<char> = term.chars().collect();
    let has_sign_outside = !is_plain(chars[0]) || !is_plain(chars[chars.len() - 1]);
    let has_letter = chars.iter().any(|c| c.is_alphabetic());
    let is_digit = |at: usize| chars.get(at).is_some_and(char::is_ascii_digit);
    let has_sign_within = (1..chars.len().saturating_sub(1)).any(|at| match chars[at] {
        // `co-occurring`, `don't` and `type-2` are words, 1/2 and 1,000 numbers; `PROJ-17` is a name.
        '-' => chars[at - 1].is_alphanumeric() && is_digit(at + 1) && is_digit(at + 2) && has_letter,
        '/' | '=' => has_letter,
        '_' | '.' | ':' | '\\' | '#' | '@' | '+' | '$' | '%' | '&' | '~' | '^' | '|' => true,
        _ => false,
    });
    (has_sign_outside || has_sign_within).then_some(term)
}

/// A token without the punctuation around it. `--flag`, `#123`, `.env`, `/etc`, `@name` and `$x` keep their first sign,
/// `C++` and `C#` their last.
pub(super) fn trimmed(token: &str) -> &str {
    let end = token.trim_end_matches(|c: char| !is_plain(c) && !matches!(c, '+' | '#' | '_'));
    // A sign that belongs to a name is next to a letter of it, unlike in `yes +`.
    let end = if end.ends_with(is_plain) || end.contains(is_plain) { end } else { "" };
    let Some(first) = end.find(char::is_alphanumeric) else { return "" };
    let lead = &end[..first];
    let kept = if lead.ends_with("--") {
        2
    } else {
        lead.chars().next_back().filter(|c| matches!(c, '#' | '.' | '/' | '@' | '$' | '_' | '~')).map_or(
            0,
            |_| {
                // `__init__`, `~/x`, `../x`
                lead.len() - lead.trim_end_matches(['_', '.', '/', '~', '#', '@', '$']).len()
            },
        )
    };
    &end[first - kept..]
}

/// The prefix of letters and digits that a token has before `*`, and the text after the star.
pub(super) fn prefix(token: &str) -> Option<(&str, &str)> {
    prefix_as_written(token)
        .filter(|(prefix, _)| prefix.starts_with(char::is_alphanumeric) && prefix.chars().all(is_plain))
}

/// As [`prefix`], with any signs: `foo_b*`, `db-0*`.
pub(super) fn prefix_as_written(token: &str) -> Option<(&str, &str)> {
    let (word, after) = token.split_once('*')?;
    let count = word.chars().count();
    ((2..=LONGEST).contains(&count) && !after.contains(|c: char| c.is_alphanumeric() || c == '*'))
        .then_some((word, after))
}

/// The words within a term that full-text search takes for one token, such as a path or a host's name.
pub(super) fn hidden_parts(term: &str) -> String {
    if !term.contains(['/', '.', '@']) {
        return String::new();
    }
    term.split(|c: char| !c.is_alphanumeric())
        .filter(|part| part.chars().nth(1).is_some() && part.contains(char::is_alphabetic))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Whether a term has trigrams. Without them, every lexeme would be read.
pub(super) fn can_be_looked_up(term: &str) -> bool {
    term.split(|c: char| !c.is_alphanumeric()).any(|run| run.chars().nth(2).is_some())
}

fn is_plain(c: char) -> bool {
    is_of_word(c)
}
