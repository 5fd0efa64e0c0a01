//! The state that all requests share, and the part of it that a principal may use.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use htm_core::{Htm, Role, TagPath, read_instant};
use htm_documents::PdfReader;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::access::Access;
use crate::bodies::Bodies;
use crate::hosts::Hosts;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::parameters::Parameters;
use crate::permits::Permits;
use crate::problem::Result;

/// The state that all requests share. Routes and layers clone it many times a request.
pub(crate) type Shared = Arc<Common>;

/// See [`Shared`].
pub(crate) struct Common {
    /// The handle, not restricted.
    pub(crate) htm: Htm,
    pub(crate) access: Access,
    /// The parameters of each path.
    pub(crate) parameters: Parameters,
    pub(crate) limits: Limits,
    pub(crate) pdfs: PdfReader,
    /// A permit for each request in hand.
    pub(crate) permits: Permits,
    /// A permit for each sign-in in hand. Nobody knows who asks for one.
    pub(crate) sign_ins: Semaphore,
    /// The memory for the bodies of these.
    pub(crate) bodies: Bodies,
    pub(crate) metrics: Metrics,
    pub(crate) hosts: Hosts,
    /// Whether browsers reach this server by TLS.
    pub(crate) is_tls: bool,
    /// Signals that a backfill was started.
    pub(crate) backfills: Arc<Notify>,
    /// Cancelled when the server stops.
    pub(crate) stop: CancellationToken,
}

/// The application as the principal of a request may use it.
#[derive(Clone)]
pub(crate) struct App {
    /// The handle, restricted to what the principal may see.
    pub(crate) htm: Htm,
    /// The role of the principal.
    pub(crate) role: Role,
    pub(crate) shared: Shared,
}

impl App {
    /// The given namespace, or the server's.
    pub(crate) fn namespace<'a>(&'a self, namespace: Option<&'a str>) -> &'a str {
        namespace.unwrap_or(&self.htm.settings().namespace)
    }

    /// A time as of which a request reads: a time, or the beginning of a day or of words such as `last Monday`.
    pub(crate) fn as_of(&self, text: Option<&str>) -> Result<Option<DateTime<Utc>>> {
        let read = |text| read_instant(text, Utc::now(), &self.htm.settings().time);
        Ok(text.map(read).transpose()?)
    }

    /// Tags in their stored form.
    pub(crate) fn tags(&self, tags: &[String]) -> Result<Vec<TagPath>> {
        let stored = |tag: &String| self.htm.tag_rules().normalise(tag).map_err(htm_core::Error::from);
        Ok(tags.iter().map(stored).collect::<htm_core::Result<_>>()?)
    }
}
