//! The filter of a query by time, and what becomes of it.

use std::str::FromStr;

use chrono::{DateTime, Datelike, Utc};

use super::phrase::{phrases, without};
use super::{TimeExpression, TimeSettings, Timeframe};
use crate::model::error::{Error, Result};

/// When the memories that are looked for were made.
#[derive(Clone, Debug, PartialEq)]
pub enum TimeFilter {
    /// Within these ranges.
    Within(Timeframe),
    /// What an expression means when the query is asked, by the database's clock and the handle's
    /// [`TimeSettings`].
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

impl TimeFilter {
    /// What it means for a text, whatever the time; none when that depends on it.
    pub(crate) fn fixed(&self, text: &str) -> Option<Applied> {
        match self {
            Self::Within(timeframe) => Some(Applied { timeframe: timeframe.clone(), phrase: None }),
            Self::Auto if phrases(text, i16::MAX).is_empty() => Some(Applied::default()),
            Self::Said(_) | Self::Auto => None,
        }
    }

    /// What it means for a text at this time.
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
            // What no calendar reaches was no time.
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
