//! The tree in a terminal.

use console::style;
use htm_core::TagTree;

/// A line a tag, branches drawn, its counts in two columns: nodes that have this very tag, and nodes that have it or one
/// below it.
pub(crate) fn text(roots: &[TagTree]) -> String {
    let mut lines = Vec::new();
    for root in roots {
        branch(root, "", "", root.tag.as_str(), &mut lines);
    }
    let width = |column: fn(&Line) -> usize, header: &str| {
        lines.iter().map(column).chain([header.chars().count()]).max().unwrap_or(0)
    };
    let tag = width(|line| line.branch.chars().count() + line.name.chars().count(), "tag");
    let own = width(|line| line.own.len(), "own");
    let below = width(|line| line.below.len(), "own and below");
    let header = format!("{:tag$}  {:>own$}  {:>below$}", "tag", "own", "own and below");
    let mut text = style(header).bold().to_string();
    for line in &lines {
        let used = line.branch.chars().count() + line.name.chars().count();
        let name = if line.branch.is_empty() { style(line.name).bold() } else { style(line.name) };
        let counts = format!("{:>own$}  {:>below$}", line.own, line.below);
        let counts = if line.below == "0" { style(counts).dim() } else { style(counts) };
        text.push_str(&format!("\n{}{name}{:2$}  {counts}", style(&line.branch).dim(), "", tag - used));
    }
    text
}

struct Line<'a> {
    branch: String,
    name: &'a str,
    own: String,
    below: String,
}

/// `before` stands before this tag's line, `under` before those of its children.
fn branch<'a>(tree: &'a TagTree, before: &str, under: &str, name: &'a str, lines: &mut Vec<Line<'a>>) {
    lines.push(Line {
        branch: before.to_owned(),
        name,
        own: tree.nodes.to_string(),
        below: tree.total.to_string(),
    });
    for (index, child) in tree.children.iter().enumerate() {
        let (knee, rail) = if index + 1 == tree.children.len() { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        branch(child, &format!("{under}{knee}"), &format!("{under}{rail}"), tree.name_of(child), lines);
    }
}
