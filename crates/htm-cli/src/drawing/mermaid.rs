//! The tree as a Mermaid flowchart, for documents.

use std::fmt::Write;

use htm_core::TagTree;

/// A `graph LR`. Each tag has an identifier of its own, because `end` or `graph` as an identifier breaks the diagram.
/// The quoted label has its name, and the number of nodes at it and below. Mermaid draws at most 500 edges unless the
/// page allows more.
pub(crate) fn mermaid(title: &str, roots: &[TagTree]) -> String {
    // A JSON string is a YAML string too, so that the title cannot end the front matter.
    let mut text = format!("---\ntitle: {}\n---\ngraph LR\n", serde_json::Value::from(title));
    let mut next = 0;
    for root in roots {
        add(root, root.tag.as_str(), &mut next, &mut text);
    }
    text
}

/// Writes a tag and those below it. Returns the tag's identifier.
fn add(tree: &TagTree, name: &str, next: &mut usize, text: &mut String) -> usize {
    let id = *next;
    *next += 1;
    // A tag contains only a-z, 0-9, - and :, which need no escaping within quotes. Writing to a String cannot fail.
    let _ = writeln!(text, "  t{id}([\"{name} · {}\"])", tree.total);
    for child in &tree.children {
        let to = add(child, tree.name_of(child), next, text);
        let _ = writeln!(text, "  t{id} --- t{to}");
    }
    id
}
