//! Which namespaces a question is about.

/// Which namespaces a question is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// The handle's.
    #[default]
    Own,
    /// This one.
    Namespace(String),
    /// Every one; not for a handle [within a wall](crate::Htm::within).
    All,
}
