//! Feedback on recalls: what people and agents tell, and signals of what they do next.

use std::collections::HashSet;

use tokio::task::spawn_blocking;

use crate::api::htm::Htm;
use crate::model::error::{Error, Result, chain, codes};
use crate::model::id::NodeId;
use crate::model::jobs::LEARN_QUEUE;
use crate::model::learning::{
    Feedback, FeedbackReceipt, LAST_RECALL, MAX_RECALLS_A_DAY, Signal, recall_unknown, validate_recall_id,
};
use crate::store::again::{again, met_another};
use crate::store::connections::Connections;
use crate::store::feedback::{self as store, Judged, Settled};
use crate::store::jobs;

/// The words in a row that a text must repeat of a memory to cite it.
const CITED_WORDS: usize = 5;
/// Larger texts together are compared beside the tasks of others.
const AT_ONCE_BYTES: usize = 64 << 10;

impl Htm {
    /// Judges a recall: which memories were used, and which were useless. It is named by its id, or is the `last` one of
    /// the handle's actor, who is the author of the feedback. A later verdict on a memory replaces the author's earlier
    /// one.
    ///
    /// ```no_run
    /// # async fn example(htm: htm_core::Htm) -> htm_core::Result<()> {
    /// # use htm_core::{Feedback, NodeId, RecallQuery};
    /// let recalled = htm.recall(&RecallQuery::new("how do we roll back a migration?")).await?;
    /// if let Some(recall) = &recalled.recall_id {
    ///     htm.feedback(recall, &Feedback { used: vec![NodeId(42)], useless: vec![NodeId(9)] }).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `feedback_invalid`, `recall_unknown`, `feedback_exceeded`, or a database error. Nothing is recorded then.
    pub async fn feedback(&self, recall: &str, feedback: &Feedback) -> Result<FeedbackReceipt> {
        feedback.validate()?;
        self.kept_recalls().flush(self.shared_pool()).await;
        again(met_a_removal, || self.try_feedback(recall, feedback)).await
    }

    async fn try_feedback(&self, recall: &str, feedback: &Feedback) -> Result<FeedbackReceipt> {
        let found = match recall {
            LAST_RECALL => store::last_of(self.pool(), self.actor(), self.namespaces()).await?,
            id => {
                validate_recall_id(id)?;
                store::find(self.pool(), &id.to_ascii_uppercase()).await?
            }
        };
        let found = found.filter(|it| self.admit(&it.namespace).is_ok());
        let judged = found.ok_or_else(|| recall_unknown(recall))?;
        let verdicts: Vec<(NodeId, bool)> = (feedback.used.iter().map(|node| (*node, true)))
            .chain(feedback.useless.iter().map(|node| (*node, false)))
            .collect();
        if recall == LAST_RECALL {
            self.must_have_hit(&judged, &verdicts).await?;
        }
        let (recorded, settled) = self.record_verdicts(&judged, None, &verdicts).await?;
        let considered: HashSet<NodeId> = recorded.iter().map(|(node, _)| *node).collect();
        let used = recorded.iter().filter(|(_, is_used)| *is_used).count();
        let named = verdicts.iter().map(|(node, _)| *node);
        Ok(FeedbackReceipt {
            recall: judged.id,
            used,
            useless: recorded.len() - used,
            not_considered: named.filter(|node| !considered.contains(node)).collect(),
            judged: settled.judged,
            learns: settled.learns,
        })
    }

    /// Refuses verdicts that name none of the recall's hits: they are about a later recall, which was not kept.
    async fn must_have_hit(&self, last: &Judged, verdicts: &[(NodeId, bool)]) -> Result<()> {
        let nodes: Vec<NodeId> = verdicts.iter().map(|(node, _)| *node).collect();
        if store::has_hit(self.pool(), last, &nodes).await? {
            return Ok(());
        }
        let message = format!(
            "none of the named memories was a hit of the last kept recall, {} at {}",
            last.id,
            last.made_at.format("%Y-%m-%d %H:%M:%S UTC")
        );
        Err(Error::new(codes::FEEDBACK_INVALID, message)
            .with_hint("to judge that recall, give its id; a recall without an id is not kept"))
    }

    /// Records that nodes were used or not, after a recall by the same author within half an hour, if the namespace
    /// counts such a signal. A failure costs only the signal.
    pub(crate) async fn signal(&self, namespace: &str, signal: Signal, nodes: &[NodeId]) {
        if !self.counts(namespace, signal).await {
            return;
        }
        self.kept_recalls().flush(self.shared_pool()).await;
        log_lost(self.try_signal(namespace, signal, nodes).await);
    }

    /// Records which hits of the author's last recall a new text cites.
    pub(crate) async fn signal_citations(&self, namespace: &str, text: &str, of: NodeId) {
        if !self.counts(namespace, Signal::Cited).await {
            return;
        }
        self.kept_recalls().flush(self.shared_pool()).await;
        let shown = store::last_shown(self.shared_pool(), namespace, self.actor(), &[of]).await;
        let recorded = match shown {
            Ok(shown) => {
                let bytes = text.len() + shown.iter().map(|(_, content)| content.len()).sum::<usize>();
                let cited = match bytes <= AT_ONCE_BYTES {
                    true => cited(text, &shown),
                    false => {
                        let text = text.to_owned();
                        // A failure costs only the signal.
                        spawn_blocking(move || cited(&text, &shown)).await.unwrap_or_default()
                    }
                };
                self.try_signal(namespace, Signal::Cited, &cited).await
            }
            Err(error) => Err(error),
        };
        log_lost(recorded);
    }

    async fn counts(&self, namespace: &str, signal: Signal) -> bool {
        let ranking = self.ranking_of(&[namespace]).await;
        ranking.keeps && ranking.signals.contains(&signal)
    }

    async fn try_signal(&self, namespace: &str, signal: Signal, nodes: &[NodeId]) -> Result<()> {
        if nodes.is_empty() {
            return Ok(());
        }
        let found = store::last_with(self.shared_pool(), namespace, self.actor(), nodes).await?;
        let Some((recall, nodes)) = found else { return Ok(()) };
        let verdicts: Vec<(NodeId, bool)> = nodes.into_iter().map(|node| (node, signal.is_use())).collect();
        let record = || self.record_verdicts(&recall, Some(signal), &verdicts);
        again(met_a_removal, record).await.map(drop)
    }

    /// Records verdicts, those on candidates, and asks for a ranking if it is time. Told verdicts are bounded.
    async fn record_verdicts(
        &self,
        recall: &Judged,
        signal: Option<Signal>,
        verdicts: &[(NodeId, bool)],
    ) -> Result<(Vec<(NodeId, bool)>, Settled)> {
        let (pool, actor) = (self.shared_pool(), self.actor());
        // The namespaces that learn together may be behind the caller's wall.
        let mut tx = Connections::begin(pool).await?;
        if signal.is_none() && store::judged_in_a_day(&mut tx, recall, actor).await? >= MAX_RECALLS_A_DAY {
            let message = format!(
                "`{actor}` has judged {MAX_RECALLS_A_DAY} recalls of `{}` in a day, as many as one may",
                recall.namespace
            );
            return Err(Error::new(codes::FEEDBACK_EXCEEDED, message));
        }
        let recorded = store::judge_in_tx(&mut tx, recall, actor, signal, verdicts).await?;
        let recorded = recorded.ok_or_else(|| recall_unknown(&recall.id))?;
        let used = |verdicts: &[(NodeId, bool)]| verdicts.iter().filter(|(_, is_used)| *is_used).count();
        let any = (!recorded.is_empty(), used(&recorded) > 0);
        let missed = used(verdicts) - used(&recorded);
        let attempts = self.settings().attempts()?;
        let settled = store::settle_in_tx(&mut tx, recall, any, missed, attempts).await?;
        tx.commit().await?;
        if settled.learns {
            jobs::ping_queue(pool, LEARN_QUEUE).await;
        }
        Ok((recorded, settled))
    }
}

/// Whether a memory or the recall was removed meanwhile, or something waited for each other.
fn met_a_removal(error: &Error) -> bool {
    met_another(error) || error.database().is_some_and(|it| it.sqlstate() == Some("23503"))
}

fn log_lost(recorded: Result<()>) {
    if let Err(error) = recorded {
        tracing::debug!(code = error.code(), error = %chain(&error), "a signal was not recorded");
    }
}

/// The memories of which a text repeats enough words in a row.
fn cited(text: &str, memories: &[(NodeId, String)]) -> Vec<NodeId> {
    let said = words(text);
    let runs: HashSet<&[String]> = said.windows(CITED_WORDS).collect();
    let is_cited = |memory: &str| words(memory).windows(CITED_WORDS).any(|run| runs.contains(run));
    memories.iter().filter(|(_, memory)| is_cited(memory)).map(|(node, _)| *node).collect()
}

fn words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cites_by_five_words_in_a_row() {
        let memories = [
            (NodeId(1), "The Atlas database runs on PostgreSQL 18, port 5433.".to_owned()),
            (NodeId(2), "Nothing of it.".to_owned()),
            (NodeId(3), "The atlas database runs on what it has.".to_owned()),
        ];
        let cited = |text: &str| cited(text, &memories);
        assert_eq!(cited("I know: the Atlas database runs on PostgreSQL."), [1, 3].map(NodeId));
        assert_eq!(cited("Atlas database runs on PostgreSQL"), [NodeId(1)]);
        for other in ["the Atlas database runs fast", "on PostgreSQL 18", "Nothing of it", ""] {
            assert!(cited(other).is_empty(), "{other}");
        }
    }
}
