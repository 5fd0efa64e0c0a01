//! The wall: a handle restricted to some namespaces.

use crate::api::htm::Htm;
use crate::model::error::{Error, Result, codes};
use crate::model::id::NodeId;
use crate::model::memory::validate_namespace;
use crate::model::nodes::not_found;
use crate::model::wall::Wall;
use crate::store::nodes;

impl Htm {
    /// A handle that reads and writes these namespaces and no others. Calls that name another namespace or ask about
    /// all fail; nodes of other namespaces are not found. The default namespace is the handle's own, or the first of
    /// these if it is not among them. A restricted handle can only be restricted further.
    ///
    /// The wall restricts this library's calls. A restricted handle does not return its [pool](Self::database_pool).
    ///
    /// ```no_run
    /// # fn example(htm: htm_core::Htm) -> htm_core::Result<()> {
    /// let tenant = htm.within(["atlas", "atlas-archive"])?;
    /// assert_eq!(tenant.settings().namespace, "atlas");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `namespace_invalid`, also for none at all; `namespace_forbidden` for one that this handle does not see.
    pub fn within(&self, namespaces: impl IntoIterator<Item = impl Into<String>>) -> Result<Htm> {
        let namespaces: Vec<String> = namespaces.into_iter().map(Into::into).collect();
        for namespace in &namespaces {
            self.admit(namespace)?;
        }
        let mut settings = self.settings().clone();
        if !namespaces.contains(&settings.namespace) {
            settings.namespace = namespaces.first().cloned().unwrap_or_default();
            validate_namespace(&settings.namespace)?;
        }
        Ok(self.with_wall(Wall { namespaces, settings }))
    }

    /// The namespaces that the handle is restricted to; none: all.
    pub fn namespaces(&self) -> Option<&[String]> {
        self.wall().map(|wall| &wall.namespaces[..])
    }

    /// The namespace, if it is valid and the handle sees it.
    pub(crate) fn admit<'a>(&self, namespace: &'a str) -> Result<&'a str> {
        validate_namespace(namespace)?;
        match self.namespaces() {
            Some(seen) if !seen.iter().any(|it| it == namespace) => Err(self.forbidden(namespace)),
            _ => Ok(namespace),
        }
    }

    /// The given namespace, or the handle's own.
    pub(crate) fn namespace_or_own<'a>(&'a self, namespace: Option<&'a str>) -> Result<&'a str> {
        namespace.map_or(Ok(&self.settings().namespace), |namespace| self.admit(namespace))
    }

    /// The given namespaces, each once, or the handle's own.
    pub(crate) fn namespaces_or_own<'a>(&'a self, namespaces: &'a [String]) -> Result<Vec<&'a str>> {
        let mut named: Vec<&str> = Vec::new();
        for namespace in namespaces {
            if !named.contains(&namespace.as_str()) {
                named.push(self.admit(namespace)?);
            }
        }
        Ok(if named.is_empty() { vec![&self.settings().namespace] } else { named })
    }

    /// Refuses calls about all namespaces on a restricted handle.
    pub(crate) fn admit_all(&self) -> Result<()> {
        self.namespaces().map_or(Ok(()), |_| Err(self.forbidden("all")))
    }

    /// Fails if a node, forgotten ones included, is in a namespace that the handle does not see. Runs a statement only
    /// on a restricted handle.
    pub(crate) async fn admit_nodes(&self, nodes: &[NodeId]) -> Result<()> {
        let Some(seen) = self.namespaces() else { return Ok(()) };
        match nodes::outside(self.pool(), nodes, seen).await? {
            Some(node) => Err(not_found(node)),
            None => Ok(()),
        }
    }

    fn forbidden(&self, namespace: &str) -> Error {
        let seen = self.namespaces().unwrap_or_default().join(", ");
        let message = format!("namespace `{namespace}` is outside of what this handle sees: {seen}");
        Error::new(codes::NAMESPACE_FORBIDDEN, message)
    }
}
