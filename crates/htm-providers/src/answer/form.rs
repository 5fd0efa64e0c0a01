//! Finding JSON and list items in a model's answer.

use serde_json::Value;

/// The most places where JSON is tried, against an answer full of brackets.
const MAX_TRIES: usize = 200;

/// The outermost JSON objects and arrays in `text`: alone, in a code fence, or within prose.
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

/// Whether a checkbox (`[ ]` or `[x]`) of a list item begins at `start`.
fn is_checkbox(text: &str, start: usize) -> bool {
    let before = text[..start].rsplit('\n').next().unwrap_or_default().trim_start();
    let (_, is_item) = item(&format!("{before}."));
    is_item && CHECKBOXES.iter().any(|checkbox| text[start..].starts_with(checkbox))
}

const CHECKBOXES: [&str; 3] = ["[ ] ", "[x] ", "[X] "];

/// `line` without its bullet (`- `, `* `, `• `, `1. `) and checkbox, and whether it had a bullet.
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
