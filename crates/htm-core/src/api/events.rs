//! Events: what has happened since a place.

use crate::api::htm::Htm;
use crate::model::error::Result;
use crate::model::events::{EventPage, EventPlace};
use crate::store::events;

/// The most events of a page.
const PAGE: i64 = 1_000;

impl Htm {
    /// The place after all that has happened by now. A write that is open now is after it.
    ///
    /// # Errors
    /// A database error.
    pub async fn events_from_now(&self) -> Result<EventPlace> {
        Ok(self.event_marks().place(events::horizon(self.shared_pool()).await?))
    }

    /// What happened after a place, in these namespaces (none: all that the handle sees), up to 1,000 events. An event is
    /// there when all transactions that began to write before its own have ended; so a long one holds up those after it.
    /// Jobs that are done are events as long as their rows are kept (`jobs.keep_done_ms`).
    ///
    /// # Errors
    /// `namespace_invalid`, `namespace_forbidden`, or a database error.
    pub async fn events(&self, after: &EventPlace, namespaces: &[String]) -> Result<EventPage> {
        for namespace in namespaces {
            self.admit(namespace)?;
        }
        let asked = (!namespaces.is_empty()).then_some(namespaces).or_else(|| self.namespaces());
        let horizon = self.events_from_now().await?;
        let found = events::after(self.pool(), after, horizon.transaction, asked, PAGE).await?;
        let more = found.len() as i64 == PAGE;
        let next = match found.last().filter(|_| more) {
            Some(last) => last.place.clone(),
            // What holds for all rows after a place holds for those after a later one.
            None => EventPlace { since: horizon.since.max(after.since), ..horizon },
        };
        Ok(EventPage { events: found, next, more })
    }
}
