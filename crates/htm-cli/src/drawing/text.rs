//! The tree in a terminal.

use console::style;
use htm_core::TagTree;

/// A line per tag, with branches, and with its counts in two columns: the nodes with this very tag, and the nodes with
/// it or one below it.
pub(crate) fn text(roots: &[TagTree], colours: bool) -> String {
    let mut lines = Vec::new();
    for root in roots {
        branch(root, "", "", root.tag.as_str(), &mut lines);
    }
    let width = |column: fn(&Line) -> usize, header: &str| {
        lines.iter().map(column).chain([header.len()]).max().unwrap_or(0)
    };
    let tag = width(|it| it.width(), "TAG");
    let (nodes, total) = (width(|it| it.nodes.len(), "NODES"), width(|it| it.total.len(), "TOTAL"));
    let mut text = format!("{:tag$}  {:>nodes$}  {:>total$}", "TAG", "NODES", "TOTAL");
    for line in &lines {
        let name = style(line.name).force_styling(colours);
        let name = if line.branch.is_empty() { name.bold() } else { name };
        let branch = style(&line.branch).force_styling(colours).dim();
        let counts = style(format!("{:>nodes$}  {:>total$}", line.nodes, line.total)).force_styling(colours);
        let counts = if line.total == "0" { counts.dim() } else { counts };
        text.push_str(&format!("\n{branch}{name}{:1$}  {counts}", "", tag - line.width()));
    }
    text
}

struct Line<'a> {
    branch: String,
    name: &'a str,
    nodes: String,
    total: String,
}

impl Line<'_> {
    /// The number of characters before the counts.
    fn width(&self) -> usize {
        self.branch.chars().count() + self.name.len()
    }
}

/// Appends the tag and those below it. `before` precedes this tag's name, and `under` those of its children.
fn branch<'a>(tree: &'a TagTree, before: &str, under: &str, name: &'a str, lines: &mut Vec<Line<'a>>) {
    let (nodes, total) = (tree.nodes.to_string(), tree.total.to_string());
    lines.push(Line { branch: before.to_owned(), name, nodes, total });
    for (index, child) in tree.children.iter().enumerate() {
        let (knee, rail) =
            if index + 1 == tree.children.len() { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        branch(child, &format!("{under}{knee}"), &format!("{under}{rail}"), tree.name_of(child), lines);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_terminals() {
        let roots = TagTree::grow([TagTree::new("a".parse().unwrap(), None, 1, 1)]);
        assert_eq!(text(&roots, false), "TAG  NODES  TOTAL\na        1      1");
        assert!(text(&roots, true).contains("\u{1b}["));
    }
}
