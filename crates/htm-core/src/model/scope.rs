//! The namespaces of a query.

/// The namespaces of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// The handle's namespace.
    #[default]
    Own,
    /// This namespace.
    Namespace(String),
    /// All namespaces; an error for a handle [within a wall](crate::Htm::within).
    All,
}
