//! Namespaces, as far as they are there: one is made by its first memory.

use crate::api::htm::Htm;
use crate::model::error::Result;
use crate::model::namespaces::UnknownNamespace;
use crate::store::namespaces;

impl Htm {
    /// Those of these namespaces that no memory was ever written to: a slip of the pen finds nothing, and looks like an
    /// empty memory.
    ///
    /// # Errors
    /// `namespace_invalid`, `namespace_forbidden`, or a database error.
    pub async fn unknown_namespaces(&self, namespaces: &[&str]) -> Result<Vec<UnknownNamespace>> {
        for namespace in namespaces {
            self.admit(namespace)?;
        }
        namespaces::unknown(self.pool(), namespaces, self.namespaces()).await
    }
}
