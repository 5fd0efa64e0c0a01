//! The time filter of a query, and its resolution.

use std::str::FromStr;

use chrono::{DateTime, Datelike, Utc};

use super::phrase::{phrases, without};
use super::{TimeExpression, TimeSettings, Timeframe};
use crate::model::error::{Error, Result};

/// The time filter of a query.
#[derive(Clone, Debug, PartialEq)]
pub enum TimeFilter {
    /// Within these ranges.
    Within(Timeframe),
    /// An expression, resolved when the query is asked, by the database's clock and the handle's [`TimeSettings`].
    Said(TimeExpression),
    /// The time phrase in the query's text, which is removed from it: "what did we decide last week about billing"
    /// becomes "what did we decide about billing". Without a phrase there is no filter. Phrases in quotes and future
    /// times are ignored.
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

/// `auto`, or an expression for [`TimeExpression`].
impl FromStr for TimeFilter {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.trim() {
            "auto" => Ok(Self::Auto),
            text => text.parse().map(Self::Said),
        }
    }
}

/// A time phrase that was taken from a query's text.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TimePhrase {
    /// The phrase.
    pub phrase: String,
    /// The query without it; empty if the query was only a time.
    pub query: String,
}

/// A resolved filter.
#[derive(Default)]
pub(crate) struct Applied {
    pub(crate) timeframe: Timeframe,
    pub(crate) phrase: Option<TimePhrase>,
}

impl Applied {
    /// Whether the text was only a time: it asks for everything of that time.
    pub(crate) fn is_only_time(&self) -> bool {
        self.phrase.as_ref().is_some_and(|taken| taken.query.is_empty())
    }
}

impl TimeFilter {
    /// The filter for a text if it does not depend on the time; otherwise none.
    pub(crate) fn fixed(&self, text: &str) -> Option<Applied> {
        match self {
            Self::Within(timeframe) => Some(Applied { timeframe: timeframe.clone(), phrase: None }),
            Self::Auto if phrases(text, i16::MAX).is_empty() => Some(Applied::default()),
            Self::Said(_) | Self::Auto => None,
        }
    }

    /// The filter for a text at this time.
    pub(crate) fn at(&self, text: &str, now: DateTime<Utc>, settings: &TimeSettings) -> Result<Applied> {
        match self {
            Self::Within(timeframe) => Ok(Applied { timeframe: timeframe.clone(), phrase: None }),
            Self::Said(expression) => {
                Ok(Applied { timeframe: expression.resolve(now, settings)?, phrase: None })
            }
            Self::Auto => Ok(Applied::to_phrase(text, now, settings).unwrap_or_default()),
        }
    }
}

impl Applied {
    /// The first phrase of the text whose time has begun.
    fn to_phrase(text: &str, now: DateTime<Utc>, settings: &TimeSettings) -> Option<Self> {
        let next_year = i16::try_from(now.year() + 1).unwrap_or(i16::MAX);
        phrases(text, next_year).into_iter().find_map(|phrase| {
            // A phrase that the calendar does not reach is not a time.
            let timeframe = phrase.expression.resolve(now, settings).ok()?;
            if timeframe.from().is_some_and(|from| from >= now) {
                return None;
            }
            let query = without(text, &phrase.span);
            Some(Self {
                timeframe,
                phrase: Some(TimePhrase { phrase: phrase.expression.to_string(), query }),
            })
        })
    }
}
