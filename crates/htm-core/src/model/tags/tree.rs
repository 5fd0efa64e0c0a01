//! The tags of a namespace as trees.

use super::TagPath;

/// A tag with the tags below it. A namespace has one tree per root.
///
/// Children are ordered by name, so `database` with its subtree comes before `database-design`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TagTree {
    /// Its path, the root's name first.
    pub tag: TagPath,
    /// Its description.
    pub description: Option<String>,
    /// Live nodes with exactly this tag.
    pub nodes: i64,
    /// Live nodes with this tag or one below it. A node with several of them counts once.
    pub total: i64,
    /// The tags one level below, by name.
    pub children: Vec<TagTree>,
}

impl TagTree {
    /// A tag without children.
    pub fn new(tag: TagPath, description: Option<String>, nodes: i64, total: i64) -> Self {
        Self { tag, description, nodes, total, children: Vec::new() }
    }

    /// Builds the trees of tags in any order. Each tag is placed below its nearest given ancestor.
    ///
    /// ```
    /// use htm_core::tag::TagTree;
    /// let tag = |path: &str, nodes, total| TagTree::new(path.parse().unwrap(), None, nodes, total);
    /// let roots = TagTree::grow([tag("a-b", 1, 1), tag("a:c", 2, 2), tag("a", 1, 3)]);
    /// assert_eq!((roots.len(), roots[0].children[0].tag.as_str()), (2, "a:c"));
    /// ```
    pub fn grow(tags: impl IntoIterator<Item = TagTree>) -> Vec<TagTree> {
        let mut tags: Vec<TagTree> = tags.into_iter().collect();
        // By levels: as text, `a-b` is between `a` and `a:c`.
        tags.sort_by(|a, b| a.tag.levels().cmp(b.tag.levels()));
        let (mut roots, mut open): (Vec<TagTree>, Vec<TagTree>) = (Vec::new(), Vec::new());
        for tag in tags {
            while open.last().is_some_and(|top| !tag.tag.is_below(&top.tag)) {
                close(&mut open, &mut roots);
            }
            open.push(tag);
        }
        while !open.is_empty() {
            close(&mut open, &mut roots);
        }
        roots
    }

    /// The subtree of a tag, if it is in one of `roots`.
    pub fn find<'a>(roots: &'a [TagTree], tag: &TagPath) -> Option<&'a TagTree> {
        let next = roots.iter().find(|root| root.tag == *tag || tag.is_below(&root.tag))?;
        if next.tag == *tag { Some(next) } else { Self::find(&next.children, tag) }
    }

    /// Removes tags below `depth` levels, including the first, and tags with fewer than `min_nodes` nodes. The other
    /// tags keep their counts.
    pub fn trim(roots: &mut Vec<TagTree>, depth: usize, min_nodes: i64) {
        if depth == 0 {
            roots.clear();
        }
        roots.retain(|root| root.total >= min_nodes);
        for root in roots {
            Self::trim(&mut root.children, depth - 1, min_nodes);
        }
    }

    /// The name of a child relative to it: usually the last level.
    pub fn name_of<'a>(&self, child: &'a TagTree) -> &'a str {
        let path = child.tag.as_str();
        path.get(self.tag.as_str().len() + 1..).unwrap_or(path)
    }

    /// The tag and its subtree, in order.
    pub fn iter(&self) -> impl Iterator<Item = &TagTree> {
        let mut open = vec![self];
        std::iter::from_fn(move || {
            let next = open.pop()?;
            open.extend(next.children.iter().rev());
            Some(next)
        })
    }
}

/// Closes the last opened tag, which has all its children.
fn close(open: &mut Vec<TagTree>, roots: &mut Vec<TagTree>) {
    if let Some(done) = open.pop() {
        open.last_mut().map_or(roots, |parent| &mut parent.children).push(done);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tag(path: &str) -> TagTree {
        TagTree::new(path.parse().unwrap(), None, 1, 1)
    }

    fn paths(roots: &[TagTree]) -> Vec<&str> {
        roots.iter().flat_map(TagTree::iter).map(|tag| tag.tag.as_str()).collect()
    }

    #[test]
    fn a_subtree_is_found_by_whole_levels() {
        let roots = TagTree::grow(["data", "database", "database:x", "database:x:y"].map(tag));
        let found = |path: &str| TagTree::find(&roots, &path.parse().unwrap()).map(|it| it.children.len());
        assert_eq!(found("database"), Some(1));
        assert_eq!(found("database:x:y"), Some(0));
        assert_eq!((found("database:y"), found("data:x"), found("databases")), (None, None, None));
    }

    #[test]
    fn what_is_deep_or_rare_is_taken_off() {
        let with = |path: &str, total| TagTree::new(path.parse().unwrap(), None, 0, total);
        let all = [with("a", 9), with("a:b", 4), with("a:b:c", 3), with("a:d", 1), with("e", 0)];
        let trimmed = |depth, min| {
            let mut roots = TagTree::grow(all.clone());
            TagTree::trim(&mut roots, depth, min);
            paths(&roots).join(" ")
        };
        assert_eq!(trimmed(5, 0), "a a:b a:b:c a:d e");
        assert_eq!(trimmed(2, 0), "a a:b a:d e");
        assert_eq!(trimmed(5, 2), "a a:b a:b:c");
        assert_eq!((trimmed(0, 0).as_str(), trimmed(1, 10).as_str()), ("", ""));
    }

    proptest! {
        #[test]
        fn every_tag_has_its_place_whatever_the_order(
            mut given in proptest::collection::btree_set("[a-c-]{1,2}(:[a-c-]{1,2}){0,4}", 0..40)
                .prop_map(|set| set.into_iter().collect::<Vec<_>>()).prop_shuffle()
        ) {
            let roots = TagTree::grow(given.iter().map(|path| tag(path)));
            for tree in roots.iter().flat_map(TagTree::iter) {
                for child in &tree.children {
                    prop_assert!(child.tag.is_below(&tree.tag));
                    prop_assert!(child.tag.as_str().ends_with(tree.name_of(child)));
                }
            }
            for root in &roots {
                prop_assert!(root.tag.ancestors().iter().all(|above| !given.contains(&above.to_string())));
            }
            let mut grown = paths(&roots);
            prop_assert!(grown.is_sorted_by(|a, b| a.split(':').lt(b.split(':'))));
            grown.sort_unstable();
            given.sort_unstable();
            prop_assert_eq!(grown, given);
        }
    }
}
