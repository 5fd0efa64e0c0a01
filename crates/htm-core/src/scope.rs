//! Which namespaces a question is about.

use crate::error::Result;
use crate::htm::Htm;
use crate::memory::{MAX_NAME_BYTES, validate_name};

/// Which namespaces a question is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// The handle's.
    #[default]
    Own,
    /// This one.
    Namespace(String),
    /// Every one.
    All,
}

impl Scope {
    /// The namespace, none for all of them.
    pub(crate) fn namespace<'a>(&'a self, htm: &'a Htm) -> Result<Option<&'a str>> {
        match self {
            Self::Own => Ok(Some(&htm.settings().namespace)),
            Self::All => Ok(None),
            Self::Namespace(namespace) => {
                validate_name("namespace", namespace, MAX_NAME_BYTES)?;
                Ok(Some(namespace))
            }
        }
    }
}
