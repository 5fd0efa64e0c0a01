//! The tree as an SVG picture, light or dark by the reader's colour scheme.

use htm_core::TagTree;
use svg::Document;
use svg::node::Text;
use svg::node::element::{Circle, Description, Group, Path, Rectangle, Style, TSpan, Text as Label, Title};

use crate::output::count;

use super::layout::{COUNT, Card, FONT, LABEL, Placed, SMALL, page, text_width};

/// The colours of the cards, repeated if there are more cards. Their hues have even steps, and each contrasts with
/// white and with black.
const COLOURS: [&str; 10] = [
    "#3b82c4", "#e07b39", "#3f9c5a", "#c94f6d", "#8f6bc9", "#1f9e9e", "#b8902b", "#c25bb0", "#6b8e23",
    "#7a7f8c",
];

/// The top of the cards, below the headline.
const TOP: f64 = 78.0;
const MARGIN: f64 = 18.0;

/// The style sheet of the dark picture. The attributes give the light one, also in programs without style sheets.
const DARK: &str = "@media (prefers-color-scheme: dark) {
.page { fill: #0f141a } .card { fill: #171e26; stroke: #2b3540 } .name { fill: #e6eaef } .count { fill: #98a3b0 } }";

/// A page with a card for each root. A circle's area and the number behind the name are those of the nodes with the tag
/// or one below it. The circle of a tag without nodes is hollow. The description is shown under the pointer.
pub(crate) fn svg(title: &str, roots: &[TagTree]) -> String {
    // A lone root with many tags is too tall for one card. Then its children have the cards.
    let cards = match roots {
        [only] if only.iter().count() > 60 => &only.children,
        _ => roots,
    };
    let tags = roots.iter().flat_map(TagTree::iter).count();
    let title_width = text_width(title) * 20.0 * 1.1 + 2.0 * MARGIN;
    let page = page(cards, TOP, title_width.max(420.0));
    let mut document = Document::new()
        .set("viewBox", (0, 0, round(page.width), round(page.height)))
        .set("width", round(page.width))
        .set("height", round(page.height))
        .set("role", "img")
        .set("font-family", "system-ui, 'Segoe UI', Roboto, Helvetica, Arial, 'DejaVu Sans', sans-serif")
        .add(Title::new(title))
        .add(Description::new().add(Text::new(format!("{} as a tree", count(tags, "tag")))))
        .add(Style::new(DARK))
        .add(rectangle("page", 0.0, 0.0, page.width, page.height).set("fill", "#ffffff"))
        .add(words("name", MARGIN, 36.0, 20.0, title).set("font-weight", 600))
        .add(words("count", MARGIN, 58.0, 12.0, &legend(tags, roots)));
    for (index, card) in page.cards.iter().enumerate() {
        document = document.add(draw(card, COLOURS[index % COLOURS.len()]));
    }
    format!("{document}\n")
}

fn legend(tags: usize, roots: &[TagTree]) -> String {
    let lone = match roots {
        [only] => format!(" · {} at {} and below", count(only.total, "node"), only.tag),
        _ => String::new(),
    };
    format!("{}{lone} · circle and number: nodes with the tag or one below it", count(tags, "tag"))
}

fn draw(card: &Card, colour: &str) -> Group {
    let edge = rectangle("card", card.x, card.y, card.width, card.height)
        .set("rx", 10)
        .set("fill", "#f7f8fa")
        .set("stroke", "#e1e5ea");
    let mut group = Group::new().add(edge);
    let links = Group::new().set("fill", "none").set("stroke", colour).set("stroke-opacity", 0.5);
    let links = card.tags.iter().fold(links, |links, tag| match tag.parent {
        Some(parent) => links.add(link(&card.tags[parent], tag)),
        None => links,
    });
    group = group.add(links);
    card.tags.iter().fold(group, |group, tag| group.add(mark(tag, colour)))
}

/// The line from a parent to a tag: straight from the end of the parent's label to that of its level, then in a curve.
fn link(parent: &Placed, tag: &Placed) -> Path {
    let (start, turn, end) = (parent.end + 6.0, parent.level_end + 6.0, tag.x - tag.radius);
    let middle = (turn + end) / 2.0;
    let (from, to) = (round(parent.y), round(tag.y));
    let (start, turn, middle, end) = (round(start), round(turn), round(middle), round(end));
    let path = format!("M{start} {from}H{turn}C{middle} {from} {middle} {to} {end} {to}");
    Path::new().set("d", path).set("stroke-width", round(tag.radius / 3.2))
}

fn mark(tag: &Placed, colour: &str) -> Group {
    let tree = tag.tree;
    let circle = Circle::new().set("cx", round(tag.x)).set("cy", round(tag.y)).set("r", round(tag.radius));
    let circle = match tree.total {
        0 => circle.set("fill", "none").set("stroke", colour).set("stroke-width", 1.5),
        _ => circle.set("fill", colour),
    };
    let description = tree.description.as_deref().map(|text| format!("\n{text}")).unwrap_or_default();
    let tip =
        format!("{}: {}, {} with those below{description}", tree.tag, count(tree.nodes, "node"), tree.total);
    // XML allows no other control characters, not even escaped.
    let tip: String = tip.chars().filter(|c| !c.is_control() || *c == '\n').collect();
    let count = TSpan::new(tree.total.to_string()).set("class", "count").set("fill", "#6b7480");
    let label = words("name", tag.x + LABEL, tag.y + FONT * 0.36, FONT, tag.name)
        .set("font-weight", if tag.parent.is_none() { 600 } else { 400 })
        .add(count.set("dx", COUNT).set("font-size", SMALL).set("font-weight", 400));
    Group::new().add(Title::new(tip)).add(circle).add(label)
}

fn words(class: &str, x: f64, y: f64, size: f64, text: &str) -> Label {
    let fill = if class == "name" { "#1d2430" } else { "#6b7480" };
    Label::new(text)
        .set("class", class)
        .set("x", round(x))
        .set("y", round(y))
        .set("font-size", size)
        .set("fill", fill)
}

fn rectangle(class: &str, x: f64, y: f64, width: f64, height: f64) -> Rectangle {
    Rectangle::new()
        .set("class", class)
        .set("x", round(x))
        .set("y", round(y))
        .set("width", round(width))
        .set("height", round(height))
}

/// Rounds to a tenth of a pixel, which halves the file.
fn round(pixels: f64) -> f64 {
    (pixels * 10.0).round() / 10.0
}
