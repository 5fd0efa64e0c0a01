//! Limits of the number of tags.

/// The most tags of a memory and of a namespace, including parents. They keep a program that uses ids as tags from
/// flooding the ontology.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagLimits {
    /// The most tags of one memory or one edit.
    pub memory: usize,
    /// The most tags of a namespace. Concurrent writers may exceed it by one memory's tags each.
    pub namespace: usize,
}

impl Default for TagLimits {
    fn default() -> Self {
        Self { memory: 1_000, namespace: 50_000 }
    }
}
