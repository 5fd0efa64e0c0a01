//! The filter of a query by time, and what becomes of it.

use std::str::FromStr;

use chrono::Datelike;

use super::phrase::{phrases, without};
use super::{TimeExpression, Timeframe};
use crate::api::htm::Htm;
use crate::model::error::{Error, Result};
use crate::store::server;

/// When the memories that are looked for were made.
#[derive(Clone, Debug, PartialEq)]
pub enum TimeFilter {
    /// Within these ranges.
    Within(Timeframe),
    /// What an expression means when the query is asked, by the database's clock and the handle's
    /// [`TimeSettings`](super::TimeSettings).
    Said(TimeExpression),
    /// What the query's text says: the phrase is cut from it ("what did we decide last week about billing" asks
    /// "what did we decide about billing"). No phrase, no filter; nor is one taken from within quotes, or one whose
    /// time has not begun.
    Auto,
}

impl Default for TimeFilter {
    fn default() -> Self {
        Self::Within(Timeframe::ALL)
    }
}

impl From<Timeframe> for TimeFilter {
    fn from(timeframe: Timeframe) -> Self {
        Self::Within(timeframe)
    }
}

impl From<TimeExpression> for TimeFilter {
    fn from(expression: TimeExpression) -> Self {
        Self::Said(expression)
    }
}

/// `auto`, or whatever [`TimeExpression`] reads.
impl FromStr for TimeFilter {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.trim() {
            "auto" => Ok(Self::Auto),
            text => text.parse().map(Self::Said),
        }
    }
}

/// A phrase that was taken from a query's text.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct TimePhrase {
    /// As it stood there.
    pub phrase: String,
    /// What was searched for: the query without it; empty when it was a time and no more.
    pub query: String,
}

/// A filter that has met the clock.
#[derive(Default)]
pub(crate) struct Applied {
    pub(crate) timeframe: Timeframe,
    pub(crate) phrase: Option<TimePhrase>,
}

impl Applied {
    /// Whether the text was a time and no more: it asks for everything of that time.
    pub(crate) fn is_only_time(&self) -> bool {
        self.phrase.as_ref().is_some_and(|taken| taken.query.is_empty())
    }
}

impl Htm {
    /// What a filter means now. Only words ask the database for its clock.
    pub(crate) async fn apply_time(&self, filter: &TimeFilter, text: &str) -> Result<Applied> {
        let settings = &self.settings().time;
        match filter {
            TimeFilter::Within(timeframe) => Ok(Applied { timeframe: timeframe.clone(), phrase: None }),
            TimeFilter::Said(expression) => {
                let now = server::now(self.pool()).await?;
                Ok(Applied { timeframe: expression.resolve(now, settings)?, phrase: None })
            }
            TimeFilter::Auto => {
                if phrases(text, i16::MAX).is_empty() {
                    return Ok(Applied { timeframe: Timeframe::ALL, phrase: None });
                }
                let now = server::now(self.pool()).await?;
                let next_year = i16::try_from(now.year() + 1).unwrap_or(i16::MAX);
                for phrase in phrases(text, next_year) {
                    // What no calendar reaches was no time.
                    let Ok(timeframe) = phrase.expression.resolve(now, settings) else { continue };
                    if timeframe.from().is_some_and(|from| from >= now) {
                        continue;
                    }
                    let taken = TimePhrase {
                        phrase: phrase.expression.to_string(),
                        query: without(text, &phrase.span),
                    };
                    return Ok(Applied { timeframe, phrase: Some(taken) });
                }
                Ok(Applied { timeframe: Timeframe::ALL, phrase: None })
            }
        }
    }
}
