//! The tree as a Mermaid flowchart, for documents.

use std::fmt::Write;

use htm_core::TagTree;

/// `graph LR`: an identifier of its own for each tag, since `end` or `graph` as one breaks the diagram, and its name with
/// the nodes at it and below as a quoted label. Mermaid draws at most 500 edges unless the page allows more.
pub(crate) fn mermaid(title: &str, roots: &[TagTree]) -> String {
    // A JSON string is a YAML string too; the front matter ends where it cannot be broken out of.
    let mut text = format!("---\ntitle: {}\n---\ngraph LR\n", serde_json::Value::from(title));
    let mut next = 0;
    for root in roots {
        add(root, root.tag.as_str(), &mut next, &mut text);
    }
    text
}

/// Writes a tag and what is below it; returns its identifier.
fn add(tree: &TagTree, name: &str, next: &mut usize, text: &mut String) -> usize {
    let id = *next;
    *next += 1;
    // A tag is of a-z, 0-9, - and : alone: nothing in it needs escaping within quotes. Writing to a String cannot fail.
    let _ = writeln!(text, "  t{id}([\"{name} · {}\"])", tree.total);
    for child in &tree.children {
        let to = add(child, tree.name_of(child), next, text);
        let _ = writeln!(text, "  t{id} --- t{to}");
    }
    id
}
