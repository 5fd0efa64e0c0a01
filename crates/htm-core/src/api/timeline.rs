//! What happened, in the order of time: about a topic, within a timeframe, around a memory.

use std::cmp::Reverse;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use crate::api::htm::Htm;
use crate::model::error::{Error, Result};
use crate::model::id::NodeId;
use crate::model::memory::{validate_metadata, validate_text};
use crate::model::node::Node;
use crate::model::recall::{Degraded, MAX_QUERY_BYTES, RecallQuery, Strategy, TagFilter, validate_scope};
use crate::model::timeframe::{Applied, TimeFilter, TimePhrase, Timeframe, Zone};
use crate::store::timeline;

/// The most neighbours that may be asked for on either side.
pub const MAX_NEIGHBOURS: usize = 1_000;

/// What a timeline is to show.
#[derive(Clone, Debug)]
pub struct TimelineQuery {
    /// What it is about; none is everything.
    pub topic: Option<String>,
    /// Where: in any of these; none is the handle's namespace.
    pub namespaces: Vec<String>,
    /// When.
    pub timeframe: TimeFilter,
    /// Tags that a memory must have.
    pub tags: Vec<TagFilter>,
    /// One of the tags is enough; else all are needed.
    pub any_tag: bool,
    /// Only what any of these robots remembered.
    pub robots: Vec<String>,
    /// Only what was said in this conversation.
    pub session: Option<String>,
    /// What a memory's metadata must contain, as [`RecallQuery::metadata`].
    pub metadata: Map<String, Value>,
    /// How the topic is searched for.
    pub strategy: Strategy,
    /// How many memories, 1 to 10,000: the most relevant to the topic, or the latest without one.
    pub limit: usize,
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
            namespaces: Vec::new(),
            timeframe: TimeFilter::default(),
            tags: Vec::new(),
            any_tag: false,
            robots: Vec::new(),
            session: None,
            metadata: Map::new(),
            strategy: Strategy::default(),
            limit: 20,
        }
    }

    /// What a recall asks for, without its text.
    pub(crate) fn of(query: &RecallQuery) -> Self {
        let RecallQuery { namespaces, timeframe, tags, any_tag, robots, session, metadata, limit, .. } =
            query.clone();
        let everything = Self::everything();
        Self { namespaces, timeframe, tags, any_tag, robots, session, metadata, limit, ..everything }
    }

    /// Looks in a namespace, beside those that were named before.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespaces.push(namespace.into());
        self
    }

    /// Takes what a robot remembered, beside those that were named before.
    pub fn robot(mut self, robot: impl Into<String>) -> Self {
        self.robots.push(robot.into());
        self
    }

    /// Sets the timeframe.
    pub fn timeframe(mut self, timeframe: impl Into<TimeFilter>) -> Self {
        self.timeframe = timeframe.into();
        self
    }

    /// Asks for a tag.
    pub fn tag(mut self, tag: TagFilter) -> Self {
        self.tags.push(tag);
        self
    }

    /// Sets the conversation.
    pub fn session(mut self, session: impl Into<String>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Sets how many memories.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }
}

/// Memories in the order of time.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Timeline {
    /// The memories, the earliest first; those of one instant by session and place in it.
    pub entries: Vec<TimelineEntry>,
    /// When they were made: what the query's filter meant.
    pub timeframe: Timeframe,
    /// The phrase that was taken from the topic; none unless that was asked for, and one was found.
    pub time_phrase: Option<TimePhrase>,
    /// As [`Recalled::models`](crate::Recalled::models); empty without a topic.
    pub models: Vec<String>,
    /// As [`Recalled::instead_of`](crate::Recalled::instead_of).
    pub instead_of: Option<String>,
    /// As [`Recalled::degraded`](crate::Recalled::degraded); empty without a topic.
    pub degraded: Vec<Degraded>,
}

/// A memory of a timeline.
#[derive(Clone, Debug, serde::Serialize)]
pub struct TimelineEntry {
    /// The memory.
    #[serde(flatten)]
    pub node: Node,
    /// How well it answers the topic, larger is better; none without a topic.
    pub score: Option<f64>,
}

/// What belongs together in a timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// The memories of a conversation.
    Session,
    /// The memories of a day.
    #[default]
    Day,
}

impl FromStr for Grouping {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "session" => Ok(Grouping::Session),
            "day" => Ok(Grouping::Day),
            _ => Err(Error::GroupingUnknown { value: name.into() }),
        }
    }
}

/// Memories that belong together.
#[derive(Clone, Debug, serde::Serialize)]
pub struct TimelineGroup {
    /// The day, as `2026-03-01`, or the conversation; none for what was said in no conversation.
    pub name: Option<String>,
    /// The time of its first memory.
    pub first_at: DateTime<Utc>,
    /// The time of its last memory.
    pub last_at: DateTime<Utc>,
    /// Its memories, the earliest first.
    pub entries: Vec<TimelineEntry>,
}

impl Timeline {
    /// The memories in groups, those first that began first. Days are those of `zone`.
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

/// A memory and what was said around it.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Neighbours {
    /// Those before it, the earliest first.
    pub before: Vec<Node>,
    /// The memory.
    pub node: Node,
    /// Those after it, the earliest first.
    pub after: Vec<Node>,
}

impl Htm {
    /// What was said about a topic, found by recall and put in the order of time; without a topic, what happened.
    ///
    /// # Errors
    /// As [`recall`](Self::recall).
    pub async fn conversation_timeline(&self, query: &TimelineQuery) -> Result<Timeline> {
        // A topic that is a time phrase and no more asks for everything of that time.
        let only_time = match &query.topic {
            Some(topic) => {
                validate_text("query", topic, MAX_QUERY_BYTES)?;
                let applied = self.apply_time(&query.timeframe, topic).await?;
                applied.is_only_time().then_some(applied)
            }
            None => Some(self.apply_time(&query.timeframe, "").await?),
        };
        let mut timeline = match (&query.topic, only_time) {
            (Some(topic), None) => {
                let recalled = self
                    .recall(&RecallQuery {
                        namespaces: query.namespaces.clone(),
                        timeframe: query.timeframe.clone(),
                        tags: query.tags.clone(),
                        any_tag: query.any_tag,
                        robots: query.robots.clone(),
                        session: query.session.clone(),
                        metadata: query.metadata.clone(),
                        strategy: query.strategy,
                        limit: query.limit,
                        ..RecallQuery::new(topic)
                    })
                    .await?;
                let entry = |hit: crate::Hit| TimelineEntry { node: hit.node, score: Some(hit.scores.score) };
                Timeline {
                    entries: recalled.hits.into_iter().map(entry).collect(),
                    timeframe: recalled.timeframe,
                    time_phrase: recalled.time_phrase,
                    models: recalled.models,
                    instead_of: recalled.instead_of,
                    degraded: recalled.degraded,
                }
            }
            (_, applied) => {
                let Applied { timeframe, phrase } = applied.unwrap_or_default();
                let nodes = self.latest(query, &timeframe).await?;
                let entries = nodes.into_iter().map(|node| TimelineEntry { node, score: None }).collect();
                Timeline {
                    entries,
                    timeframe,
                    time_phrase: phrase,
                    models: Vec::new(),
                    instead_of: None,
                    degraded: Vec::new(),
                }
            }
        };
        timeline.entries.sort_by(|a, b| {
            let place =
                |entry: &TimelineEntry| (entry.node.created_at, entry.node.session.clone(), entry.node.seq);
            place(a).cmp(&place(b)).then(a.node.id.cmp(&b.node.id))
        });
        Ok(timeline)
    }

    /// The memories with a tag, the latest first.
    ///
    /// # Errors
    /// `limit_out_of_range`, `namespace_invalid`, or a database error.
    pub async fn find_by_topic(
        &self,
        tag: TagFilter,
        namespace: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Node>> {
        let namespaces = namespace.map(Into::into).into_iter().collect();
        let query = TimelineQuery { namespaces, limit, ..TimelineQuery::everything().tag(tag) };
        self.latest(&query, &Timeframe::default()).await
    }

    /// The latest that passes a query's filters within a time, the latest first.
    pub(crate) async fn latest(&self, query: &TimelineQuery, timeframe: &Timeframe) -> Result<Vec<Node>> {
        validate_scope(&query.namespaces, &query.robots, query.session.as_deref(), query.limit)?;
        validate_metadata(&query.metadata)?;
        let mut latest = Vec::new();
        // One by one: the index has the times of a namespace in order, not those of several.
        let namespaces = self.namespaces_or_own(&query.namespaces)?;
        let tags = self.filters_in_use(&namespaces, &query.tags).await?;
        let query = &TimelineQuery { tags, ..query.clone() };
        for namespace in &namespaces {
            latest.extend(timeline::latest(self.pool(), namespace, query, timeframe).await?);
        }
        if namespaces.len() > 1 {
            latest.sort_by_key(|node| Reverse((node.created_at, node.id)));
            latest.truncate(query.limit);
        }
        Ok(latest)
    }

    /// What was said around a memory, at most so many before it and after it. In a conversation by the place in it
    /// when the memory has one (and of those that have one), else by time; for a memory of no conversation whatever
    /// was remembered in its namespace, by time.
    ///
    /// # Errors
    /// `node_not_found`, `limit_out_of_range` for more than 1,000 on a side, or a database error.
    pub async fn neighbours(&self, node: NodeId, before: usize, after: usize) -> Result<Neighbours> {
        if let Some(value) = [before, after].into_iter().find(|count| *count > MAX_NEIGHBOURS) {
            return Err(Error::NeighboursOutOfRange { value: value as u64 });
        }
        let found = self.get(node).await?;
        let (before, after) = timeline::neighbours(self.pool(), node, before, after).await?;
        Ok(Neighbours { before, node: found, after })
    }
}
