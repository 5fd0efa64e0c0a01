//! The resolution of scopes.

use crate::api::htm::Htm;
use crate::model::error::Result;
use crate::model::scope::Scope;

impl Scope {
    /// The namespace; none means all of them.
    pub(crate) fn namespace<'a>(&'a self, htm: &'a Htm) -> Result<Option<&'a str>> {
        match self {
            Self::Own => Ok(Some(&htm.settings().namespace)),
            Self::All => htm.admit_all().map(|()| None),
            Self::Namespace(namespace) => htm.admit(namespace).map(Some),
        }
    }
}
