//! Memories in the order of time: about a topic, within a timeframe, around a memory.

use chrono::{DateTime, Utc};

use crate::api::htm::Htm;
use crate::model::answer;
use crate::model::error::Result;
use crate::model::filter::{Filter, validate_limit, within};
use crate::model::id::NodeId;
use crate::model::memory::validate_text;
use crate::model::nodes::Node;
use crate::model::recall::{AsOf, Hit, MAX_QUERY_BYTES, RecallQuery};
use crate::model::timeframe::{Applied, Timeframe};
use crate::model::timeline::{
    CountBy, MAX_NEIGHBOURS, Neighbours, TimeCount, TimeCursor, TimeStep, Timeline, TimelineEntry,
    TimelineQuery,
};
use crate::store::then::Then;
use crate::store::timeline;

impl Htm {
    /// The memories about a topic, found by recall, in the order of time. Without a topic, the latest memories.
    ///
    /// # Errors
    /// As [`recall`](Self::recall).
    pub async fn conversation_timeline(&self, query: &TimelineQuery) -> Result<Timeline> {
        self.reading(|htm| async move { Box::pin(htm.conversation_timeline_here(query)).await }).await
    }

    async fn conversation_timeline_here(&self, query: &TimelineQuery) -> Result<Timeline> {
        self.admit_as_of(query.as_of).await?;
        let topic = query.topic.as_deref();
        topic.map_or(Ok(()), |topic| validate_text("query", topic, MAX_QUERY_BYTES))?;
        let applied =
            self.apply_time_as_of(&query.filter.timeframe, topic.unwrap_or_default(), query.as_of).await?;
        let mut timeline = match topic {
            // A topic that is only a time phrase asks for everything of that time.
            Some(topic) if !applied.is_only_time() => {
                let recalled = self
                    .recall(&RecallQuery {
                        filter: query.filter.clone(),
                        strategy: query.strategy,
                        correct: query.correct,
                        limit: query.limit,
                        as_of: query.as_of,
                        ..RecallQuery::new(topic)
                    })
                    .await?;
                let entry = |hit: Hit| TimelineEntry { node: hit.node, score: Some(hit.scores.score) };
                Timeline {
                    entries: recalled.hits.into_iter().map(entry).collect(),
                    timeframe: recalled.timeframe,
                    time_phrase: recalled.time_phrase,
                    models: recalled.models,
                    instead_of: recalled.instead_of,
                    corrected: recalled.corrected,
                    relaxed: recalled.relaxed,
                    degraded: recalled.degraded,
                    as_of: recalled.as_of,
                }
            }
            _ => {
                let Applied { timeframe, phrase } = applied;
                let nodes = self.latest_within(&timeframe, &query.filter, query.limit, query.as_of).await?;
                Timeline {
                    entries: nodes.into_iter().map(|node| TimelineEntry { node, score: None }).collect(),
                    timeframe,
                    time_phrase: phrase,
                    models: Vec::new(),
                    instead_of: None,
                    corrected: Vec::new(),
                    relaxed: false,
                    degraded: Vec::new(),
                    as_of: query.as_of.map(|at| AsOf::new(at, 0, false)),
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

    /// The latest memories that pass a filter, the latest first. With a tag, these are the memories of a topic.
    ///
    /// # Errors
    /// As [`conversation_timeline`](Self::conversation_timeline).
    pub async fn latest(&self, filter: &Filter, limit: usize) -> Result<Vec<Node>> {
        let latest = |htm: Htm| async move {
            let timeframe = htm.apply_time(&filter.timeframe, "").await?.timeframe;
            htm.latest_within(&timeframe, filter, limit, None).await
        };
        self.reading(latest).await
    }

    /// The number of memories that pass a filter in each step of time, the earliest first. Steps without any are left
    /// out. `limit` is of rows: a step has one for each robot or tag.
    ///
    /// # Errors
    /// As [`latest`](Self::latest).
    pub async fn count_over_time(
        &self,
        filter: &Filter,
        step: TimeStep,
        by: CountBy,
        limit: usize,
    ) -> Result<Vec<TimeCount>> {
        filter.validate()?;
        validate_limit(limit)?;
        let counts = |htm: Htm| async move {
            let timeframe = htm.apply_time(&filter.timeframe, "").await?.timeframe;
            let namespaces = htm.namespaces_or_own(&filter.namespaces)?;
            let scope = htm.scope(filter, &namespaces, &timeframe);
            timeline::counts(htm.pool(), scope, step, by, limit).await
        };
        self.reading(counts).await
    }

    /// As [`latest`](Self::latest), within a resolved timeframe and as of a time.
    pub(crate) async fn latest_within(
        &self,
        timeframe: &Timeframe,
        filter: &Filter,
        limit: usize,
        as_of: Option<DateTime<Utc>>,
    ) -> Result<Vec<Node>> {
        filter.validate()?;
        validate_limit(limit)?;
        let mut latest = Vec::new();
        // One by one: the index is in order of time within a namespace, not over several.
        let namespaces = self.namespaces_or_own(&filter.namespaces)?;
        let scope = self.scope(filter, &namespaces, timeframe);
        for namespace in &namespaces {
            latest.extend(timeline::latest(self.pool(), namespace, scope, limit, Then::of(as_of)).await?);
            if namespaces.len() > 1 {
                timeline::sort_latest_first(&mut latest);
                latest.truncate(limit);
                answer::check(&latest)?;
            }
        }
        if as_of.is_some() {
            latest.iter_mut().for_each(|node| self.count_tokens_of(node));
        }
        Ok(latest)
    }

    /// A page of the memories of a namespace (default: the handle's), the earliest first, after a cursor. A memory that is
    /// written meanwhile is on a later page if it happened later than the page's last.
    ///
    /// # Errors
    /// `namespace_invalid`, `namespace_forbidden`, `limit_out_of_range`, `answer_too_large`, or a database error.
    pub async fn page(
        &self,
        namespace: Option<&str>,
        after: Option<TimeCursor>,
        limit: usize,
    ) -> Result<Vec<Node>> {
        validate_limit(limit)?;
        timeline::page(self.pool(), self.namespace_or_own(namespace)?, after, limit).await
    }

    /// The memories around a memory, at most `before` and `after` of them. In a conversation they are found by position
    /// if the memory has one, otherwise by time; without a conversation, by time in the namespace.
    ///
    /// # Errors
    /// `node_not_found`, `limit_out_of_range` for more than 1,000 on a side, `answer_too_large`, or a database error.
    pub async fn neighbours(&self, node: NodeId, before: usize, after: usize) -> Result<Neighbours> {
        within("before", before, 0..=MAX_NEIGHBOURS)?;
        within("after", after, 0..=MAX_NEIGHBOURS)?;
        let found = self.get(node).await?;
        let mut around =
            timeline::neighbours(self.pool(), &[node], &[&found.namespace], before, after).await?;
        let (before, after) = around.remove(&node).unwrap_or_default();
        Ok(Neighbours { before, node: found, after })
    }
}
