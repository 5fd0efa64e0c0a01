//! Passages of documents among hits, for people.

use htm_core::{Hit, Node};

use crate::output::one_line;

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

/// The neighbours of a hit, a line each.
pub(super) fn around(hit: &Hit) -> String {
    let line =
        |mark: &str, node: &Node| format!("     {mark} node {}: {}\n", node.id, one_line(text(node), 100));
    let before = hit.before.iter().map(|node| line("before", node));
    before.chain(hit.after.iter().map(|node| line("after ", node))).collect()
}
