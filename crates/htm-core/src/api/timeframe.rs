//! The resolution of time filters by the database's clock.

use crate::api::htm::Htm;
use crate::model::error::Result;
use crate::model::timeframe::{Applied, TimeFilter};
use crate::store::server;

impl Htm {
    /// The timeframe of a filter, as of now. Reads the database's clock only for a time expression or a time phrase.
    pub(crate) async fn apply_time(&self, filter: &TimeFilter, text: &str) -> Result<Applied> {
        match filter.fixed(text) {
            Some(applied) => Ok(applied),
            None => filter.at(text, server::now(self.pool()).await?, &self.settings().time),
        }
    }
}
