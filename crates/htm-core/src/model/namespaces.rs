//! Namespaces, as far as they are there: one is made by its first memory.

/// A namespace that no memory was ever written to.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct UnknownNamespace {
    /// As it was named.
    pub namespace: String,
    /// Up to three that there are and that the handle sees, the one that is written most like it first.
    pub nearest: Vec<String>,
}
