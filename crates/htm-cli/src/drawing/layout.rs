//! The positions of the tags in the picture. Each root has a tidy tree from left to right, on a card of its own, and
//! the cards are in columns. The unit is a pixel, and y grows downwards.

use htm_core::TagTree;

/// The distance from a row of tags to the next.
pub(super) const ROW: f64 = 24.0;
/// The distance from a tag's centre to the start of its name.
pub(super) const LABEL: f64 = 15.0;
/// The distance from a name to its count, in addition to the space between them.
pub(super) const COUNT: f64 = 6.0;
/// The font size of names. Counts are a little smaller.
pub(super) const FONT: f64 = 13.0;
pub(super) const SMALL: f64 = 11.0;
/// The largest radius of a circle. The smallest is `MIN_RADIUS`.
const MAX_RADIUS: f64 = 9.5;
const MIN_RADIUS: f64 = 3.0;
/// The distance from the longest label of a level to the next level.
const GAP: f64 = 44.0;
/// The distance inside a card's edge, and between cards.
const PADDING: f64 = 16.0;
const BETWEEN: f64 = 18.0;
/// The most columns that are tried. No screen shows more.
const MAX_COLUMNS: usize = 24;
/// The preferred ratio of width to height, about that of a screen.
const ASPECT: f64 = 1.5;

/// A tag with its position.
pub(super) struct Placed<'a> {
    pub(super) tree: &'a TagTree,
    /// The shown name: the root's whole path, else the last level.
    pub(super) name: &'a str,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) radius: f64,
    /// The end of its label.
    pub(super) end: f64,
    /// The end of the longest label of its level.
    pub(super) level_end: f64,
    /// The parent, as an index into the card's tags.
    pub(super) parent: Option<usize>,
}

/// A root with all tags below it. The tags' positions are relative to the picture, too.
pub(super) struct Card<'a> {
    pub(super) tags: Vec<Placed<'a>>,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// The picture: cards beside and below one another, from `top` on.
pub(super) struct Page<'a> {
    pub(super) cards: Vec<Card<'a>>,
    pub(super) width: f64,
    pub(super) height: f64,
}

pub(super) fn page(roots: &[TagTree], top: f64, least_width: f64) -> Page<'_> {
    let most = roots.iter().flat_map(TagTree::iter).map(|tree| tree.total).max().unwrap_or(0);
    let cards: Vec<Card> = roots.iter().map(|root| card(root, most)).collect();
    let shape = |columns: usize| {
        let (_, width, height) = columned(&cards, columns, top);
        (width / height / ASPECT).ln().abs()
    };
    let columns =
        (1..=cards.len().min(MAX_COLUMNS)).min_by(|a, b| shape(*a).total_cmp(&shape(*b))).unwrap_or(1);
    let (corners, width, height) = columned(&cards, columns, top);
    let mut page = Page { cards, width: width.max(least_width), height };
    for (card, (x, y, width)) in page.cards.iter_mut().zip(corners) {
        (card.x, card.y, card.width) = (x, y, width);
        for tag in &mut card.tags {
            tag.x += x;
            tag.y += y;
            tag.end += x;
            tag.level_end += x;
        }
    }
    page
}

/// The corner and the width of each card in `columns` columns, and the width and the height of the page. Cards are
/// placed by height, the tallest first, each in the shortest column so far.
fn columned(cards: &[Card], columns: usize, top: f64) -> (Vec<(f64, f64, f64)>, f64, f64) {
    let mut heights = vec![top; columns];
    let mut widths = vec![0.0f64; columns];
    let mut places = vec![(0, 0.0); cards.len()];
    let mut order: Vec<usize> = (0..cards.len()).collect();
    order.sort_by(|a, b| cards[*b].height.total_cmp(&cards[*a].height));
    for index in order {
        let column = (0..columns).min_by(|a, b| heights[*a].total_cmp(&heights[*b])).unwrap_or(0);
        places[index] = (column, heights[column]);
        heights[column] += cards[index].height + BETWEEN;
        widths[column] = widths[column].max(cards[index].width);
    }
    let left = |column: usize| BETWEEN + widths[..column].iter().map(|width| width + BETWEEN).sum::<f64>();
    let corners = places.iter().map(|&(column, y)| (left(column), y, widths[column])).collect();
    (corners, left(columns), heights.iter().fold(top, |a, b| a.max(*b)))
}

fn card(root: &TagTree, most: i64) -> Card<'_> {
    let mut levels = Vec::new();
    measure(root, root.tag.as_str(), 0, &mut levels);
    let mut starts = vec![PADDING + MAX_RADIUS];
    for width in &levels {
        starts.push(starts[starts.len() - 1] + width + GAP);
    }
    let mut card = Card { tags: Vec::new(), x: 0.0, y: 0.0, width: 0.0, height: 0.0 };
    let mut rows = 0;
    place(root, root.tag.as_str(), None, 0, &mut rows, &mut card.tags);
    for tag in &mut card.tags {
        let level = tag.x as usize;
        tag.radius = radius(tag.tree.total, most);
        tag.x = starts[level];
        tag.y = PADDING + (tag.y + 0.5) * ROW;
        tag.end = tag.x + label_width(tag.tree, tag.name, level == 0);
        tag.level_end = tag.x + levels[level];
    }
    card.width = starts[levels.len() - 1] + levels[levels.len() - 1] + PADDING;
    card.height = rows as f64 * ROW + 2.0 * PADDING;
    card
}

/// The widest label of each level.
fn measure(tree: &TagTree, name: &str, level: usize, levels: &mut Vec<f64>) {
    if levels.len() == level {
        levels.push(0.0);
    }
    levels[level] = levels[level].max(label_width(tree, name, level == 0));
    for child in &tree.children {
        measure(child, tree.name_of(child), level + 1, levels);
    }
}

/// Appends the tag and those below it. A leaf has a row of its own, and other tags are in the middle of their children.
/// Here x is the level and y the row. Returns the tag's row.
fn place<'a>(
    tree: &'a TagTree,
    name: &'a str,
    parent: Option<usize>,
    level: usize,
    rows: &mut usize,
    tags: &mut Vec<Placed<'a>>,
) -> f64 {
    let index = tags.len();
    tags.push(Placed { tree, name, x: level as f64, y: 0.0, radius: 0.0, end: 0.0, level_end: 0.0, parent });
    let children: Vec<f64> = tree
        .children
        .iter()
        .map(|child| place(child, tree.name_of(child), Some(index), level + 1, rows, tags))
        .collect();
    let row = match (children.first(), children.last()) {
        (Some(first), Some(last)) => (first + last) / 2.0,
        _ => {
            *rows += 1;
            (*rows - 1) as f64
        }
    };
    tags[index].y = row;
    row
}

/// The radius of a circle. Its area grows with the nodes.
fn radius(nodes: i64, most: i64) -> f64 {
    let (nodes, most) = (nodes.max(0) as f64, most.max(1) as f64);
    (MIN_RADIUS.powi(2) + (MAX_RADIUS.powi(2) - MIN_RADIUS.powi(2)) * nodes / most).sqrt()
}

/// The distance from the tag's centre to the end of its count.
fn label_width(tree: &TagTree, name: &str, bold: bool) -> f64 {
    let weight = if bold { 1.1 } else { 1.0 };
    LABEL + text_width(name) * FONT * weight + COUNT + 4.0 + text_width(&tree.total.to_string()) * SMALL
}

/// The width of a text in units of the font size, by DejaVu Sans, which is wider than the other fonts of browsers.
pub(super) fn text_width(text: &str) -> f64 {
    text.chars()
        .map(|c| match c {
            'm' => 0.98,
            'w' => 0.82,
            'i' | 'j' | 'l' => 0.28,
            'f' | 't' | '-' | ':' => 0.39,
            'r' | 's' | 'z' | 'c' => 0.56,
            _ => 0.64,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The left, top, right and bottom of a tag with its label.
    fn area(tag: &Placed) -> (f64, f64, f64, f64) {
        (tag.x - tag.radius, tag.y - ROW / 2.0, tag.end, tag.y + ROW / 2.0)
    }

    fn are_apart(a: (f64, f64, f64, f64), b: (f64, f64, f64, f64)) -> bool {
        a.2 < b.0 || b.2 < a.0 || a.3 <= b.1 || b.3 <= a.1
    }

    proptest! {
        #[test]
        fn nothing_lies_on_anything_else(
            tags in proptest::collection::btree_map("[a-cm-]{1,9}(:[a-cw-]{1,9}){0,4}", 0i64..2_000_000, 0..60)
        ) {
            let tree = |(path, nodes): (&String, &i64)| TagTree::new(path.parse().unwrap(), None, *nodes, *nodes);
            let roots = TagTree::grow(tags.iter().map(tree));
            let page = page(&roots, 50.0, 100.0);
            let placed: Vec<&Placed> = page.cards.iter().flat_map(|card| &card.tags).collect();
            prop_assert_eq!(placed.len(), tags.len());
            for (index, tag) in placed.iter().enumerate() {
                prop_assert!((MIN_RADIUS..=MAX_RADIUS).contains(&tag.radius));
                for other in &placed[index + 1..] {
                    prop_assert!(are_apart(area(tag), area(other)), "{} and {}", tag.tree.tag, other.tree.tag);
                }
            }
            for card in &page.cards {
                let edge = (card.x, card.y, card.x + card.width, card.y + card.height);
                for tag in &card.tags {
                    let (left, top, right, bottom) = area(tag);
                    prop_assert!(left >= edge.0 && top >= edge.1 && right <= edge.2 && bottom <= edge.3);
                    let parent = tag.parent.map(|index| &card.tags[index]);
                    prop_assert!(parent.is_none_or(|parent| parent.level_end < tag.x));
                }
                prop_assert!(edge.1 >= 50.0 && edge.2 <= page.width && edge.3 <= page.height);
            }
        }
    }
}
