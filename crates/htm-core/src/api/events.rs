//! Events: what has happened since a cursor.

use crate::api::event_looks::PAGE;
use crate::api::htm::Htm;
use crate::model::error::{Error, Result, codes};
use crate::model::events::{EventCursor, EventPage};

impl Htm {
    /// The cursor after all that has happened by now. A write that is open now is after it.
    ///
    /// # Errors
    /// A database error.
    pub async fn events_from_now(&self) -> Result<EventCursor> {
        Ok(self.event_looks().now(self.shared_pool()).await?.cursor)
    }

    /// The events after a cursor, in these namespaces (none: all that the handle sees), up to 1,000. An event is
    /// there when all transactions that began to write before its own have ended; so a long one holds up those after it.
    /// Jobs that are done are events as long as their rows are kept (`jobs.keep_done_ms`). Callers share a look at the
    /// database, which is at most half a second old.
    ///
    /// # Errors
    /// `namespace_invalid`, `namespace_forbidden`, `cursor_invalid` for a cursor that is ahead of this database (it is
    /// that of another one), or a database error.
    pub async fn events(&self, after: &EventCursor, namespaces: &[String]) -> Result<EventPage> {
        for namespace in namespaces {
            self.admit(namespace)?;
        }
        let asked = (!namespaces.is_empty()).then_some(namespaces).or_else(|| self.namespaces());
        let looks = self.event_looks();
        let look = looks.recent(self.shared_pool(), after).await?;
        if after.transaction > look.next {
            let problem = format!(
                "the cursor is at transaction {}, and this database is at {}",
                after.transaction, look.next
            );
            return Err(Error::new(codes::CURSOR_INVALID, problem).with_hint(
                "the id is of another database, or of this one before it was restored: begin anew without one",
            ));
        }
        let found = looks.events(self.pool(), after, &look, asked).await?;
        let more = found.len() as i64 == PAGE;
        let next = match found.last().filter(|_| more) {
            Some(last) => last.cursor.clone(),
            // A bound for a position also holds for later positions.
            None => EventCursor { since: look.cursor.since.max(after.since), ..look.cursor },
        };
        Ok(EventPage { events: found.to_vec(), next, more })
    }
}
