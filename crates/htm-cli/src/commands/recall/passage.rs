//! Passages of documents among hits, for people.

use std::ops::Range;

use console::style;
use htm_core::{Hit, Node, Snippet};

use crate::output::{one_line, plain};

/// The text of a node, without the line of headings that the text of a passage begins with: they are shown with its place.
pub(crate) fn text(node: &Node) -> &str {
    let behind = node.passage().and_then(|_| node.content.split_once("\n\n"));
    behind.map_or(node.content.as_str(), |(_, text)| text)
}

/// The key of a node in brackets. The key of a passage is a digest, which says nothing.
pub(crate) fn key(node: &Node) -> String {
    let key = node.key.as_ref().filter(|_| node.passage().is_none());
    key.map(|key| format!(" ({})", one_line(key, 40))).unwrap_or_default()
}

/// A passage of a hit on one line, with the query's words in bold. Where nothing is bold, they are as in the text.
pub(super) fn marked(snippet: &Snippet) -> String {
    let text = |range: Range<usize>| {
        let mut line = String::new();
        for character in plain(&snippet.text[range]).chars() {
            match character.is_whitespace() {
                true if line.ends_with(' ') => {}
                true => line.push(' '),
                false => line.push(character),
            }
        }
        line
    };
    let (mut shown, mut at) = (String::new(), 0);
    for mark in &snippet.marks {
        shown.push_str(&text(at..mark.start));
        shown.push_str(&style(text(mark.clone())).bold().to_string());
        at = mark.end;
    }
    shown.push_str(&text(at..snippet.text.len()));
    shown
}

/// The neighbours of a hit, a line each.
pub(super) fn around(hit: &Hit) -> String {
    let line =
        |mark: &str, node: &Node| format!("     {mark} node {}: {}\n", node.id, one_line(text(node), 100));
    let before = hit.before.iter().map(|node| line("before", node));
    before.chain(hit.after.iter().map(|node| line("after ", node))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_escaped() {
        let snippet =
            Snippet { text: "<b>& the\n\tnight\u{1b}[31m watch</b>".into(), marks: vec![10..15, 21..26] };
        assert_eq!(console::strip_ansi_codes(&marked(&snippet)), "<b>& the night[31m watch</b>");
    }
}
