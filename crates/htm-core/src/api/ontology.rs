//! The ontology: a namespace's tags, their descriptions and synonyms, changed by people.
//!
//! ```no_run
//! # async fn example(htm: &htm_core::Htm) -> htm_core::Result<()> {
//! let ontology = htm.ontology(None)?;
//! let would = ontology.clone().dry_run().merge(&["postgres", "psql"], "database:postgresql").await?;
//! println!("{} nodes would be tagged otherwise", would.nodes);
//! let merged = ontology.merge(&["postgres", "psql"], "database:postgresql").await?;
//! if let Some(change) = merged.change {
//!     ontology.revert(change).await?;
//! }
//! # Ok(()) }
//! ```
//!
//! A change is one transaction over any number of nodes. It locks the names that it concerns. Writers of these tags
//! wait up to five seconds (then `contended`) and get the new name. Writers of other tags are not blocked. A log
//! records the changes of names and assignments; [`Ontology::revert`] undoes a change from it.

mod change;
mod exchange;
mod look;
mod revert;
mod suggest;

use crate::api::htm::Htm;
use crate::model::error::Result;
pub use crate::model::ontology::*;
pub use crate::model::tags::Leftover;

/// The tags of a namespace. Calls accept tags in any spelling that can be normalised, and by any of their names.
#[derive(Clone, Debug)]
pub struct Ontology<'a> {
    htm: &'a Htm,
    namespace: &'a str,
    made_by: Option<&'a str>,
    dry_run: bool,
}

impl Htm {
    /// The ontology of a namespace (default: the handle's). The log names the handle's robot as the author of changes.
    ///
    /// # Errors
    /// `namespace_invalid`.
    pub fn ontology<'a>(&'a self, namespace: Option<&'a str>) -> Result<Ontology<'a>> {
        let namespace = self.namespace_or_own(namespace)?;
        Ok(Ontology { htm: self, namespace, made_by: Some(self.actor()), dry_run: false })
    }
}

impl<'a> Ontology<'a> {
    /// Sets the author of changes in the log. A handle that acts [on behalf of](Htm::on_behalf_of) somebody keeps its own.
    #[must_use]
    pub fn by(mut self, who: &'a str) -> Self {
        if !self.htm.is_on_behalf() {
            self.made_by = Some(who);
        }
        self
    }

    /// Changes are only planned and counted: nothing is written, nobody is blocked.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }

    /// The namespace.
    pub fn namespace(&self) -> &str {
        self.namespace
    }
}
