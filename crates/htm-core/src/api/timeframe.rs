//! What a filter by time means at the database's time.

use crate::api::htm::Htm;
use crate::model::error::Result;
use crate::model::timeframe::{Applied, TimeFilter};
use crate::store::server;

impl Htm {
    /// What a filter means now. Only words ask the database for its clock.
    pub(crate) async fn apply_time(&self, filter: &TimeFilter, text: &str) -> Result<Applied> {
        match filter.fixed(text) {
            Some(applied) => Ok(applied),
            None => filter.at(text, server::now(self.pool()).await?, &self.settings().time),
        }
    }
}
