//! Looks for events, which streams share: those of the same namespaces that have seen all ask for the same.

use std::sync::Arc;
use std::time::Duration;

use moka::future::Cache;

use crate::api::event_marks::Marks;
use crate::model::error::{Error, Result};
use crate::model::events::{Event, EventCursor};
use crate::store::connections::Connections;
use crate::store::events;

/// The most events of a page.
pub(crate) const PAGE: i64 = 1_000;

/// The time for which a look at the transactions serves all. It is the longest delay of an event beside that of the stream.
const LOOK_LASTS: Duration = Duration::from_millis(500);

/// The time for which a page of a look is kept, and the most pages.
const PAGES_LAST: Duration = Duration::from_secs(1);
const MAX_PAGES: u64 = 64;

/// The latest looks.
pub(crate) struct Looks {
    marks: Marks,
    latest: Cache<(), Look>,
    pages: Cache<Asked, Arc<[Event]>>,
}

/// A look at the transactions.
#[derive(Clone)]
pub(crate) struct Look {
    /// After all events that it shows.
    pub(crate) cursor: EventCursor,
    /// No transaction had this id or a larger one.
    pub(crate) next: i64,
}

/// A cursor, the transaction of a look, and namespaces (none: all).
type Asked = (String, i64, Option<Vec<String>>);

impl Default for Looks {
    fn default() -> Self {
        Self {
            marks: Marks::default(),
            latest: Cache::builder().max_capacity(1).time_to_live(LOOK_LASTS).build(),
            pages: Cache::builder().max_capacity(MAX_PAGES).time_to_live(PAGES_LAST).build(),
        }
    }
}

impl Looks {
    /// A look of now.
    pub(crate) async fn now(&self, pool: &dyn Connections) -> Result<Look> {
        let seen = events::horizon(pool).await?;
        Ok(Look { next: seen.next, cursor: self.marks.cursor(seen) })
    }

    /// A look of now or a moment ago, at this cursor or after it if there is one: another program may have looked since.
    pub(crate) async fn recent(&self, pool: &dyn Connections, after: &EventCursor) -> Result<Look> {
        let look = self.latest.try_get_with((), self.now(pool)).await.map_err(Error::of_all)?;
        if look.cursor.transaction >= after.transaction { Ok(look) } else { self.now(pool).await }
    }

    /// The events after a cursor that a look shows, up to a page.
    pub(crate) async fn events(
        &self,
        pool: &dyn Connections,
        after: &EventCursor,
        look: &Look,
        namespaces: Option<&[String]>,
    ) -> Result<Arc<[Event]>> {
        let horizon = look.cursor.transaction;
        if after.transaction >= horizon {
            return Ok(Arc::default());
        }
        let asked = (after.to_string(), horizon, namespaces.map(<[String]>::to_vec));
        let read =
            async { events::after(pool, after, horizon, namespaces, PAGE).await.map(Arc::<[Event]>::from) };
        self.pages.try_get_with(asked, read).await.map_err(Error::of_all)
    }

    /// Forgets the pages: they may tell of erased memories.
    pub(crate) fn forget(&self) {
        self.pages.invalidate_all();
    }
}
