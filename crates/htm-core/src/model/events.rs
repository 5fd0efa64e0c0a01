//! Events: a memory was embedded or tagged, a job became a dead letter, an ontology or a group changed, a relation was set.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};

use crate::model::error::{Error, codes};
use crate::model::id::NodeId;
use crate::model::memory::time_of_micros;
use crate::model::relations::RelationKind;

/// The most bytes of an event's id.
const MAX_ID_BYTES: usize = 200;

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, strum::Display, strum::EnumString)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum EventKind {
    /// A memory has its embedding by a model.
    #[serde(rename = "memory.embedded")]
    #[strum(serialize = "memory.embedded")]
    MemoryEmbedded,
    /// A memory has its tags.
    #[serde(rename = "memory.tagged")]
    #[strum(serialize = "memory.tagged")]
    MemoryTagged,
    /// A job is not retried any more.
    #[serde(rename = "job.dead")]
    #[strum(serialize = "job.dead")]
    JobDead,
    /// A change of tags is in the log of the ontology.
    #[serde(rename = "ontology.changed")]
    #[strum(serialize = "ontology.changed")]
    OntologyChanged,
    /// The working memory of a group has a new version.
    #[serde(rename = "group.changed")]
    #[strum(serialize = "group.changed")]
    GroupChanged,
    /// A memory supersedes or contradicts another one.
    #[serde(rename = "relation.set")]
    #[strum(serialize = "relation.set")]
    RelationSet,
}

/// An event. Fields that do not concern its kind are left out of the JSON.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Event {
    /// Its cursor. Asked for what is after it, [`Htm::events`](crate::Htm::events) gives the next one.
    #[serde(skip)]
    pub cursor: EventCursor,
    /// Its kind.
    pub kind: EventKind,
    /// When it happened, or for a group when it was seen.
    pub at: DateTime<Utc>,
    /// Where it happened.
    pub namespace: String,
    /// The memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// The revision of its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<i32>,
    /// The label of the embedding model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// The queue of the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// Why the job is not retried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The number of the change in the log of the ontology.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<i64>,
    /// The kind of change: `rename`, `merge` and so on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// The group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The version of its working memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    /// The memory that [`node`](Self::node) supersedes or contradicts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<NodeId>,
    /// The kind of the relation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation: Option<RelationKind>,
}

/// The cursor of events, a place among them all. They are in the order of the ids that PostgreSQL gave their transactions,
/// and an event is given only when no transaction with a smaller id is open, so none is skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventCursor {
    /// The id of its transaction, with the epoch.
    pub(crate) transaction: i64,
    /// No row of this transaction or of a later one is older.
    pub(crate) since: DateTime<Utc>,
    /// Its row; empty: before all rows of the transaction.
    pub(crate) row: String,
}

impl fmt::Display for EventCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.transaction, self.since.timestamp_micros(), self.row)
    }
}

impl FromStr for EventCursor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let is_plain = |row: &str| row.bytes().all(|it| it.is_ascii_alphanumeric() || b"/-_.".contains(&it));
        let cursor = || {
            let (transaction, rest) = text.split_once('-')?;
            let (since, row) = rest.split_once('-')?;
            let since = time_of_micros(since)?;
            let transaction = transaction.parse().ok().filter(|it| *it >= 0)?;
            (text.len() <= MAX_ID_BYTES && is_plain(row)).then(|| Self {
                transaction,
                since,
                row: row.into(),
            })
        };
        cursor().ok_or_else(|| {
            Error::new(codes::CURSOR_INVALID, "the text is not the id of an event")
                .with_hint("give the id of the last event that was read, or none to begin now")
        })
    }
}

/// Some events, in their order.
#[derive(Clone, Debug)]
pub struct EventPage {
    /// The events.
    pub events: Vec<Event>,
    /// Where to go on.
    pub next: EventCursor,
    /// Whether there are more already.
    pub more: bool,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_cursor_is_read_as_it_was_written(
            transaction in 0i64..,
            micros in -1_000_000_000_000_000i64..9_000_000_000_000_000,
            row in "(job/[0-9A-Z]{26}|change/[0-9]{1,9}|relation/[0-9]{1,9}-supersedes-[0-9]{1,9}|)",
        ) {
            let since = DateTime::from_timestamp_micros(micros).unwrap();
            let cursor = EventCursor { transaction, since, row };
            // A time before 1970 has a sign, which is never written by a database.
            if micros >= 0 {
                prop_assert_eq!(cursor.to_string().parse::<EventCursor>().unwrap(), cursor);
            }
        }
    }

    #[test]
    fn another_text_is_no_cursor() {
        for text in ["", "1", "1-2", "-1-2-", "1-x-", "1-2-a b", "1-2-'", "99999999999999999999-1-"] {
            assert_eq!(text.parse::<EventCursor>().unwrap_err().code(), "cursor_invalid", "{text}");
        }
    }
}
