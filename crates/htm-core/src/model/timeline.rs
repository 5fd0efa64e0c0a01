//! Timelines: memories in chronological order.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};

use crate::model::error::{Error, codes};
use crate::model::filter::{Filter, TagFilter};
use crate::model::memory::time_of_micros;
use crate::model::nodes::Node;
use crate::model::recall::{AsOf, Correction, Degraded, Strategy};
use crate::model::timeframe::{TimeFilter, TimePhrase, Timeframe, Zone};

/// The most neighbours on either side.
pub(crate) const MAX_NEIGHBOURS: usize = 1_000;

/// The cursor of a page of a list by time: the place of an entry in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeCursor {
    /// When it happened.
    pub time: DateTime<Utc>,
    /// The number of the memory, or of another entry, among those of the same time.
    pub number: i64,
}

impl TimeCursor {
    /// The cursor of the page after a memory.
    pub fn of(node: &Node) -> Self {
        Self { time: node.created_at, number: node.id.0 }
    }
}

impl fmt::Display for TimeCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.time.timestamp_micros(), self.number)
    }
}

impl FromStr for TimeCursor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let cursor = || {
            let (time, number) = text.split_once('.')?;
            Some(Self { time: time_of_micros(time)?, number: number.parse().ok()? })
        };
        cursor().ok_or_else(|| Error::new(codes::CURSOR_INVALID, format!("`{text}` is not a cursor")))
    }
}

/// The steps of a count over time, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[derive(strum::AsRefStr, strum::Display, strum::EnumString)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum TimeStep {
    /// From 1 January.
    Year,
    /// From the first day of a month.
    Month,
    /// From Monday.
    Week,
    /// From midnight.
    Day,
    /// A full hour.
    Hour,
    /// A full minute.
    Minute,
}

/// The division of a count over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum CountBy {
    /// Nothing.
    #[default]
    Time,
    /// The robot that remembered them.
    Robot,
    /// The first part of each of their tags. A memory with several of these counts for each.
    Tag,
}

/// The number of memories in one step of time.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TimeCount {
    /// The start of the step.
    pub start: DateTime<Utc>,
    /// The robot or the tag; none: not divided.
    pub name: Option<String>,
    /// The memories.
    pub memories: i64,
}

/// The query of a timeline.
#[derive(Clone, Debug)]
pub struct TimelineQuery {
    /// The topic; none: everything.
    pub topic: Option<String>,
    /// The filter of its memories.
    pub filter: Filter,
    /// The strategy of the topic's search.
    pub strategy: Strategy,
    /// Whether to spell-correct unknown words of the topic.
    pub correct: bool,
    /// The number of memories, 1 to 10,000: the most relevant to the topic, or the latest without one.
    pub limit: usize,
    /// The time as of which it is; none: now.
    pub as_of: Option<DateTime<Utc>>,
}

impl TimelineQuery {
    /// A timeline of a topic, with defaults for the rest: hybrid, 20 memories, no filter.
    pub fn about(topic: impl Into<String>) -> Self {
        Self { topic: Some(topic.into()), ..Self::everything() }
    }

    /// A timeline of everything, with defaults for the rest.
    pub fn everything() -> Self {
        Self {
            topic: None,
            filter: Filter::default(),
            strategy: Strategy::default(),
            correct: true,
            limit: 20,
            as_of: None,
        }
    }

    /// Sets the filter.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Adds a namespace to the filter.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.filter = self.filter.namespace(namespace);
        self
    }

    /// Sets the filter's timeframe.
    pub fn timeframe(mut self, timeframe: impl Into<TimeFilter>) -> Self {
        self.filter = self.filter.timeframe(timeframe);
        self
    }

    /// Adds a required tag to the filter.
    pub fn tag(mut self, tag: TagFilter) -> Self {
        self.filter = self.filter.tag(tag);
        self
    }

    /// Sets the filter's conversation.
    pub fn session(mut self, session: impl Into<String>) -> Self {
        self.filter = self.filter.session(session);
        self
    }

    /// Sets the number of memories.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }
}

/// Memories in chronological order.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Timeline {
    /// The memories, the earliest first; those of one instant by session and position.
    pub entries: Vec<TimelineEntry>,
    /// The resolved timeframe.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::model::timeframe::TimeRange>))]
    pub timeframe: Timeframe,
    /// The time phrase that was taken from the topic, if any.
    pub time_phrase: Option<TimePhrase>,
    /// As [`Recalled::models`](crate::Recalled::models); empty without a topic.
    pub models: Vec<String>,
    /// As [`Recalled::instead_of`](crate::Recalled::instead_of).
    pub instead_of: Option<String>,
    /// As [`Recalled::corrected`](crate::Recalled::corrected); empty without a topic.
    pub corrected: Vec<Correction>,
    /// As [`Recalled::relaxed`](crate::Recalled::relaxed).
    pub relaxed: bool,
    /// As [`Recalled::degraded`](crate::Recalled::degraded); empty without a topic.
    pub degraded: Vec<Degraded>,
    /// As [`Recalled::as_of`](crate::Recalled::as_of).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// A memory of a timeline.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TimelineEntry {
    /// The memory.
    #[serde(flatten)]
    pub node: Node,
    /// Its score for the topic. Larger is better; none without a topic.
    pub score: Option<f64>,
}

/// The grouping of a timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "lowercase", parse_err_ty = Error, parse_err_fn = no_grouping)]
pub enum Grouping {
    /// The memories of a conversation.
    Session,
    /// The memories of a day.
    #[default]
    Day,
}

fn no_grouping(name: &str) -> Error {
    Error::new(codes::GROUPING_UNKNOWN, format!("a timeline is not grouped by `{name}`"))
}

/// A group of a timeline.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TimelineGroup {
    /// The day, such as `2026-03-01`, or the conversation; none without a conversation.
    pub name: Option<String>,
    /// The time of its first memory.
    pub first_at: DateTime<Utc>,
    /// The time of its last memory.
    pub last_at: DateTime<Utc>,
    /// Its memories, the earliest first.
    pub entries: Vec<TimelineEntry>,
}

impl Timeline {
    /// The memories in groups, in the order of their beginnings. Days are those of `zone`.
    pub fn into_groups(self, grouping: Grouping, zone: &Zone) -> Vec<TimelineGroup> {
        let mut groups: Vec<TimelineGroup> = Vec::new();
        let mut places = std::collections::HashMap::new();
        for entry in self.entries {
            let name = match grouping {
                Grouping::Session => entry.node.session.clone(),
                Grouping::Day => Some(zone.day(entry.node.created_at).to_string()),
            };
            let at = entry.node.created_at;
            let place = *places.entry(name.clone()).or_insert(groups.len());
            match groups.get_mut(place) {
                Some(group) => {
                    group.last_at = at;
                    group.entries.push(entry);
                }
                None => groups.push(TimelineGroup { name, first_at: at, last_at: at, entries: vec![entry] }),
            }
        }
        groups
    }
}

/// A memory and its neighbours.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Neighbours {
    /// The memories before it, the earliest first.
    pub before: Vec<Node>,
    /// The memory.
    pub node: Node,
    /// The memories after it, the earliest first.
    pub after: Vec<Node>,
}
