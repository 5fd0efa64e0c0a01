//! The ontology: the tags of a namespace, what they mean and how they are called, changed by people.
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
//! A change is one transaction over any number of nodes. It holds the names that it is about: who registers a tag by one of
//! them meanwhile waits, a few seconds at most (`contended`), and gets the new name; who tags by others does not wait. What
//! it made of names and assignments stands in a log, from which [`Ontology::revert`] undoes it.

mod change;
mod exchange;
mod look;
mod revert;
mod suggest;

use crate::api::htm::Htm;
use crate::model::error::Result;
pub use crate::model::ontology::*;
pub use crate::model::tags::Leftover;

/// The tags of a namespace. Tags may be named as people write them, and by any of their names.
#[derive(Clone, Debug)]
pub struct Ontology<'a> {
    htm: &'a Htm,
    namespace: &'a str,
    made_by: Option<&'a str>,
    dry_run: bool,
}

impl Htm {
    /// The ontology of a namespace, the handle's if none is named. What is changed is noted as the handle's robot's.
    ///
    /// # Errors
    /// `namespace_invalid`.
    pub fn ontology<'a>(&'a self, namespace: Option<&'a str>) -> Result<Ontology<'a>> {
        let namespace = self.namespace_or_own(namespace)?;
        Ok(Ontology { htm: self, namespace, made_by: Some(&self.settings().robot), dry_run: false })
    }
}

impl<'a> Ontology<'a> {
    /// Who is noted in the log.
    #[must_use]
    pub fn by(mut self, who: &'a str) -> Self {
        self.made_by = Some(who);
        self
    }

    /// Changes only say what they would do: they are planned and counted, as of one moment, and nobody waits for that.
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
