//! The resolution of time filters by the database's clock.

use chrono::{DateTime, Utc};

use crate::api::htm::Htm;
use crate::model::error::Result;
use crate::model::memory::validate_time;
use crate::model::nodes::Node;
use crate::model::recall::as_of::refuse_future;
use crate::model::timeframe::{Applied, TimeFilter};
use crate::store::server;

impl Htm {
    /// As [`apply_time`](Self::apply_time). Words such as "last week" are meant as of a time, if one is given.
    pub(crate) async fn apply_time_as_of(
        &self,
        filter: &TimeFilter,
        text: &str,
        as_of: Option<DateTime<Utc>>,
    ) -> Result<Applied> {
        match (filter.fixed(text), as_of) {
            (Some(applied), _) => Ok(applied),
            (None, Some(at)) => filter.at(text, at, &self.settings().time),
            (None, None) => self.apply_time(filter, text).await,
        }
    }

    /// Refuses a time that has not come, or that is outside of the years 1 to 9999.
    pub(crate) async fn admit_as_of(&self, as_of: Option<DateTime<Utc>>) -> Result<()> {
        match as_of {
            Some(at) => {
                validate_time(at)?;
                refuse_future(at, server::now(self.pool()).await?, &self.settings().time.zone)
            }
            None => Ok(()),
        }
    }

    /// Counts the tokens of a text that a node had as of a time: those of its current text are stored.
    pub(crate) fn count_tokens_of(&self, node: &mut Node) {
        let encoding = self.settings().token_encoding;
        node.token_count = i32::try_from(encoding.count(&node.content)).unwrap_or(i32::MAX);
        node.token_encoding = encoding.to_string();
    }

    /// The timeframe of a filter, as of now. Reads the database's clock only for a time expression or a time phrase.
    pub(crate) async fn apply_time(&self, filter: &TimeFilter, text: &str) -> Result<Applied> {
        match filter.fixed(text) {
            Some(applied) => Ok(applied),
            None => filter.at(text, server::now(self.pool()).await?, &self.settings().time),
        }
    }
}
