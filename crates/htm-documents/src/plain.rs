//! The structure of plain text: paragraphs, and headings that are underlined, as in reStructuredText.

use crate::outline::{Heading, Outline, Strength, one_line, sections};
use crate::unreadable::Unreadable;

/// The characters that underline a heading.
const UNDERLINES: &str = "=-~^\"'`#*+.:_";

/// The structure of the text that begins at `start`.
pub(crate) fn outline(text: &str, start: usize) -> Result<Outline, Unreadable> {
    let mut headings = Vec::new();
    let mut breaks = Vec::new();
    // Which level a character stands for is up to each text: the first one is the outermost.
    let mut levels: Vec<char> = Vec::new();
    let mut before: Option<(usize, &str)> = None;
    let mut at = start;
    for line in text[start..].split_inclusive('\n') {
        let bare = line.trim_end();
        if bare.is_empty() {
            breaks.push((at + line.len(), Strength::Block));
        } else if let (Some((from, title)), Some(mark)) = (before, underline(bare)) {
            let letters = title.chars().count();
            if title.chars().any(char::is_alphanumeric) && bare.chars().count() + 2 >= letters {
                let level = levels.iter().position(|it| *it == mark).unwrap_or_else(|| {
                    levels.push(mark);
                    levels.len() - 1
                });
                let range = from..at + line.len();
                headings.push(Heading { level: level + 1, text: one_line(title).into(), range });
            }
        }
        before = (!bare.is_empty() && !line.starts_with([' ', '\t'])).then_some((at, bare));
        at += line.len();
    }
    Ok(Outline { sections: sections(text, start, &headings)?, breaks, fences: Vec::new() })
}

/// The character that a line repeats at least three times, if it has no other.
fn underline(line: &str) -> Option<char> {
    let first = line.chars().next().filter(|mark| UNDERLINES.contains(*mark))?;
    (line.len() >= 3 && line.chars().all(|c| c == first)).then_some(first)
}
