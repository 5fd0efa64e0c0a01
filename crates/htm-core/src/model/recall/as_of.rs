//! An answer as of an earlier time, and its limits.

use chrono::{DateTime, Utc};

use crate::model::error::{Error, Result, codes};
use crate::model::timeframe::Zone;

/// The time as of which an answer is, and what it lacks.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AsOf {
    /// The time.
    pub at: DateTime<Utc>,
    /// The number of memories in namespace and timeframe that had another text then. Their former texts are found by words
    /// alone: vectors are of current texts.
    pub former_texts: i64,
    /// A warning about the limits of the answer, for people.
    pub warning: String,
}

impl AsOf {
    pub(crate) fn new(at: DateTime<Utc>, former_texts: i64, wants_vectors: bool) -> Self {
        let mut warning =
            "memories that were purged or erased since are not known any more, and fields whose former values \
             are not kept are shown as they are now"
                .to_owned();
        match (wants_vectors, former_texts) {
            (false, _) | (_, 0) => {}
            (_, 1) => warning
                .push_str("; 1 memory of the namespace had another text then, which words alone can find"),
            (_, count) => warning.push_str(&format!(
                "; {count} memories of the namespace had other texts then, which words alone can find"
            )),
        }
        Self { at, former_texts, warning }
    }

    /// Neighbours were asked for. They have their current texts, so the answer has none.
    pub(crate) fn lacks_neighbours(&mut self) {
        self.warning.push_str("; the neighbours of hits are not shown");
    }
}

/// Refuses a time that has not come.
pub(crate) fn refuse_future(at: DateTime<Utc>, now: DateTime<Utc>, zone: &Zone) -> Result<()> {
    if at <= now {
        return Ok(());
    }
    let (at, now) = (zone.tell(at), zone.tell(now));
    let message = format!("the memory cannot be read as of {at}: by the database's clock it is {now}");
    Err(Error::new(codes::TIME_IN_FUTURE, message))
}
