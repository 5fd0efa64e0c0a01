//! Finding JSON and list items in what a model wrote.

use serde_json::Value;

/// Places where JSON may begin that are tried; a page of brackets is no answer.
const MAX_TRIES: usize = 200;

/// The objects and arrays in `text`, outermost first, wherever they stand: alone, in a fence, in prose.
pub(crate) fn json_values(text: &str) -> impl Iterator<Item = Value> {
    let mut from = 0;
    let mut tries = 0;
    std::iter::from_fn(move || {
        while let Some(at) = text[from..].find(['{', '[']) {
            let start = from + at;
            if is_checkbox(text, start) {
                from = start + 1;
                continue;
            }
            tries += 1;
            if tries > MAX_TRIES {
                return None;
            }
            let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
            if let Some(Ok(value)) = values.next() {
                from = start + values.byte_offset();
                return Some(value);
            }
            from = start + 1;
        }
        None
    })
}

/// Whether `[ ]` or `[x]` stands at `start`, after a bullet: something to be ticked off.
fn is_checkbox(text: &str, start: usize) -> bool {
    let before = text[..start].rsplit('\n').next().unwrap_or_default().trim_start();
    let (_, is_item) = item(&format!("{before}."));
    is_item && CHECKBOXES.iter().any(|checkbox| text[start..].starts_with(checkbox))
}

const CHECKBOXES: [&str; 3] = ["[ ] ", "[x] ", "[X] "];

/// `line` without `- `, `* `, `• ` or `1. ` before it, and without a checkbox; and whether one was there.
pub(crate) fn item(line: &str) -> (&str, bool) {
    let line = line.trim();
    let bullet = ["- ", "* ", "• ", "+ "].iter().find_map(|bullet| line.strip_prefix(bullet));
    let number = || {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        (rest.len() < line.len()).then_some(())?;
        rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))
    };
    match bullet.or_else(number) {
        Some(rest) => {
            let rest = rest.trim_start();
            let checked = CHECKBOXES.iter().find_map(|checkbox| rest.strip_prefix(checkbox));
            (checked.unwrap_or(rest).trim(), true)
        }
        None => (line, false),
    }
}
