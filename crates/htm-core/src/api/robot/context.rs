//! The context of a robot: the text for a prompt from its working memory.

use std::collections::HashMap;
use std::time::Duration;

use super::{Robot, entry_of};
use crate::model::context::{Context, ContextOptions, LeftOut, LeftOutReason, assemble};
use crate::model::error::Result;
use crate::model::filter::Filter;
use crate::model::id::NodeId;
use crate::model::recall::Recalled;
use crate::model::working_memory::Entry;
use crate::store::relations;
use crate::store::working_memory::{self as store, LiveNode};

/// The longest time that a context waits for its relations.
const RELATIONS_TIMEOUT: Duration = Duration::from_secs(1);
/// The longest time that it then waits for the check whether its nodes were forgotten or edited elsewhere.
const VERIFY_TIMEOUT: Duration = Duration::from_secs(2);

/// A context made from a robot's working memory.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RobotContext {
    /// The text, and the nodes in it.
    #[serde(flatten)]
    pub context: Context,
    /// Set if the database did not answer: the text may have nodes that were forgotten, edited or superseded elsewhere.
    pub unverified: Option<Unverified>,
}

/// The reason why a context could not be compared with long-term memory.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Unverified {
    /// The stable code of the reason.
    pub code: &'static str,
    /// The reason, for people.
    pub reason: String,
}

impl Robot {
    /// The working memory as one text for a prompt. It is checked against long-term memory first: forgotten nodes are
    /// removed, edited ones have their new text, superseded ones come last. What the database does not answer is skipped,
    /// and the answer says so.
    pub async fn context(&self, options: &ContextOptions) -> RobotContext {
        self.context_where(options, |_| true).await
    }

    /// As [`context`](Self::context), with only those nodes of the working memory that pass a filter. The default
    /// namespace is the robot's.
    ///
    /// # Errors
    /// As [`Htm::latest`](crate::Htm::latest).
    pub async fn context_of(&self, filter: &Filter, options: &ContextOptions) -> Result<RobotContext> {
        let nodes: Vec<NodeId> = self.mind.lock().memory.iter().map(|entry| entry.node).collect();
        let conditions = self.htm.conditions(&filter.or_in(&self.mind.namespace)).await?;
        let passing = conditions.passing(self.htm.pool(), &nodes).await?;
        let mut answer = self.context_where(options, |entry| passing.contains(&entry.node)).await;
        let state = self.mind.lock();
        let others = state.memory.iter().filter(|entry| !passing.contains(&entry.node));
        answer.context.left_out.extend(others.map(LeftOut::filtered));
        drop(state);
        Ok(answer)
    }

    /// The context after a recall by the same filter, or without one. The hits come first, and a time phrase that the
    /// recall took from its query limits the context too. A filter of a single namespace only selects the robot, so the
    /// context is of the whole working memory.
    ///
    /// # Errors
    /// As [`context_of`](Self::context_of).
    pub async fn context_after(
        &self,
        recalled: Option<&Recalled>,
        filter: &Filter,
        options: &ContextOptions,
    ) -> Result<RobotContext> {
        let is_whole = filter.selects_at_most_a_namespace();
        let (mut filter, mut options) = (filter.clone(), options.clone());
        if let Some(recalled) = recalled {
            filter = filter.timeframe(recalled.timeframe.clone());
            options = options.first(recalled.nodes());
        }
        match is_whole {
            true => Ok(self.context(&options).await),
            false => self.context_of(&filter, &options).await,
        }
    }

    async fn context_where(
        &self,
        options: &ContextOptions,
        passes: impl Fn(&&Entry) -> bool + Send,
    ) -> RobotContext {
        let known: Vec<(NodeId, i32)> =
            self.mind.lock().memory.iter().map(|entry| (entry.node, entry.revision)).collect();
        let nodes: Vec<NodeId> = known.iter().map(|(node, _)| *node).collect();
        let superseded =
            within_patience(RELATIONS_TIMEOUT, relations::superseded(self.htm.pool(), &nodes)).await;
        // The texts last: they are shown. They do not depend on the relations.
        let live = within_patience(VERIFY_TIMEOUT, store::live_nodes(self.htm.pool(), &known)).await;
        let unverified = live.as_ref().err().or(superseded.as_ref().err()).cloned();
        if let Some(Unverified { code, .. }) = &unverified {
            let robot = self.name();
            tracing::info!(code, %robot, "a context was not verified");
        }
        let superseded = superseded.unwrap_or_default();
        let mut left_out = live.map_or_else(|_| Vec::new(), |live| self.refresh(&known, live));
        let mut context = {
            let mut state = self.mind.lock();
            let now = state.tick();
            let entries = state.memory.iter().filter(passes);
            assemble(entries, &superseded, options, self.encoding(), now)
        };
        left_out.append(&mut context.left_out);
        context.left_out = left_out;
        RobotContext { context, unverified }
    }

    /// Updates the working memory with the state of the checked nodes in long-term memory.
    fn refresh(&self, known: &[(NodeId, i32)], live: Vec<LiveNode>) -> Vec<LeftOut> {
        let mut left_out = Vec::new();
        let mut changed = Vec::new();
        let mut live: HashMap<NodeId, LiveNode> = live.into_iter().map(|node| (node.node, node)).collect();
        let mut state = self.mind.lock();
        for (node, _) in known {
            let Some(old) = state.memory.get(*node).cloned() else { continue };
            let Some(live) = live.remove(node) else {
                state.memory.remove(*node);
                changed.push(*node);
                left_out.push(LeftOut { node: *node, tokens: old.tokens, reason: LeftOutReason::Forgotten });
                continue;
            };
            // An entry that was added since the question is newer than the answer.
            let is_older =
                live.revision < old.revision || live.content.is_none() && live.revision != old.revision;
            let is_same =
                live.content.is_none() && live.importance == old.importance && live.source == old.source;
            if is_older || is_same {
                continue;
            }
            let new = entry_of(live, Some(&old), old.added_at, self.encoding());
            state.memory.remove(*node);
            changed.push(*node);
            let tokens = new.tokens;
            match state.memory.add(new) {
                Ok(evicted) => {
                    changed.extend(evicted.iter().map(|entry| entry.node));
                    left_out.extend(evicted.into_iter().map(|Entry { node, tokens, .. }| LeftOut {
                        node,
                        tokens,
                        reason: LeftOutReason::Evicted,
                    }));
                }
                Err(_oversized) => {
                    left_out.push(LeftOut { node: *node, tokens, reason: LeftOutReason::Oversized });
                }
            }
        }
        drop(state);
        self.mind.note_changed(changed);
        left_out
    }
}

/// The answer of the database, unless it fails or takes too long.
async fn within_patience<T>(
    limit: Duration,
    answer: impl Future<Output = Result<T>> + Send,
) -> Result<T, Unverified> {
    match tokio::time::timeout(limit, answer).await {
        Ok(answer) => answer
            .map_err(|error| Unverified { code: error.code(), reason: format!("{error}; {}", error.hint()) }),
        Err(_elapsed) => Err(Unverified {
            code: "database_unreachable",
            reason: format!("no answer within {} s", limit.as_secs()),
        }),
    }
}
