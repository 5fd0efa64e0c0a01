//! How many tags there may be.

/// The most tags of a memory and of a namespace, those above them counted: a program that tags by an id of its own fills
/// no ontology with names that nobody reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagLimits {
    /// What one memory or one edit may bring.
    pub memory: usize,
    /// What a namespace may have. Writers at the same time may get it past that by what each brings.
    pub namespace: usize,
}

impl Default for TagLimits {
    fn default() -> Self {
        Self { memory: 100, namespace: 50_000 }
    }
}
