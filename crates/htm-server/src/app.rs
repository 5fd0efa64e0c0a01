//! The state that the handlers share.

use std::sync::Arc;

use htm_core::{Htm, Role, TagPath};
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::access::Access;
use crate::bodies::Bodies;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::problem::Result;

/// The state that the handlers share. Cheap to clone.
#[derive(Clone)]
pub(crate) struct App {
    /// The handle. In a handler it is restricted to what the caller may see.
    pub(crate) htm: Htm,
    /// The role of the caller.
    pub(crate) role: Role,
    /// The id of the caller's key, or `oauth:` and the subject of its token; empty if the server is open.
    pub(crate) key: String,
    pub(crate) access: Arc<Access>,
    pub(crate) limits: Limits,
    /// A permit for each request in hand.
    pub(crate) permits: Arc<Semaphore>,
    /// The memory for the bodies of these.
    pub(crate) bodies: Bodies,
    pub(crate) metrics: Arc<Metrics>,
    /// The hosts that requests may name; none: any.
    pub(crate) hosts: Option<Arc<[String]>>,
    /// Whether browsers reach this server by TLS.
    pub(crate) is_tls: bool,
    /// Signals that a backfill was started.
    pub(crate) backfills: Arc<Notify>,
    /// Cancelled when the server stops.
    pub(crate) stop: CancellationToken,
}

impl App {
    /// The given namespace, or the server's.
    pub(crate) fn namespace<'a>(&'a self, namespace: Option<&'a str>) -> &'a str {
        namespace.unwrap_or(&self.htm.settings().namespace)
    }

    /// Tags in their stored form.
    pub(crate) fn tags(&self, tags: &[String]) -> Result<Vec<TagPath>> {
        let stored = |tag: &String| self.htm.tag_rules().normalise(tag).map_err(htm_core::Error::from);
        Ok(tags.iter().map(stored).collect::<htm_core::Result<_>>()?)
    }
}
