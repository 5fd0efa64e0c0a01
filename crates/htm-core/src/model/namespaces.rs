//! Unknown namespaces. A namespace is created by its first memory.

/// A namespace that no memory was ever written to.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct UnknownNamespace {
    /// The name as given.
    pub namespace: String,
    /// Up to three existing namespaces that the handle sees, the most similar name first.
    pub nearest: Vec<String>,
}
