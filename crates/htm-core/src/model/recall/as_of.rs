//! An answer as of an earlier time, and its limits.

use chrono::{DateTime, Utc};

use crate::model::error::{Error, Result, codes};

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
            "memories that were purged or erased since are not known any more, and tags, importances and \
                           other fields are as far as they are kept"
                .to_owned();
        match (wants_vectors, former_texts) {
            (false, _) | (_, 0) => {}
            (_, 1) => warning.push_str("; 1 memory had another text then, which was searched by words alone"),
            (_, count) => warning.push_str(&format!(
                "; {count} memories had other texts then, which were searched by words alone"
            )),
        }
        Self { at, former_texts, warning }
    }
}

/// Refuses a time that has not come.
pub(crate) fn refuse_future(at: DateTime<Utc>, now: DateTime<Utc>) -> Result<()> {
    match at > now {
        true => Err(Error::new(
            codes::TIME_IN_FUTURE,
            format!("the memory cannot be read as of {at}: by the database's clock it is {now}"),
        )),
        false => Ok(()),
    }
}
