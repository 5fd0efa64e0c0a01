//! Which namespaces a question is about.

use crate::api::htm::Htm;
use crate::model::error::Result;

/// Which namespaces a question is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// The handle's.
    #[default]
    Own,
    /// This one.
    Namespace(String),
    /// Every one; not for a handle [within a wall](Htm::within).
    All,
}

impl Scope {
    /// The namespace, none for all of them.
    pub(crate) fn namespace<'a>(&'a self, htm: &'a Htm) -> Result<Option<&'a str>> {
        match self {
            Self::Own => Ok(Some(&htm.settings().namespace)),
            Self::All => htm.admit_all().map(|()| None),
            Self::Namespace(namespace) => htm.admit(namespace).map(Some),
        }
    }
}
