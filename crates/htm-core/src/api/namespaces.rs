//! The lookup of unknown namespaces. A namespace is created by its first memory.

use crate::api::htm::Htm;
use crate::model::error::Result;
use crate::model::namespaces::UnknownNamespace;
use crate::store::namespaces;

impl Htm {
    /// The given namespaces without any memory, forgotten ones included: a misspelled namespace looks like an empty
    /// memory.
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
