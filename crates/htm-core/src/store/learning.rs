//! Learning: the evidence for a job, and its result.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use sqlx::PgPool;
use sqlx::types::Json;

use super::claims::Lease;
use super::connections::Connections;
use super::entity::learning;
use super::kept_recalls::unpacked;
use super::named::sql;
use super::orm::on;
use super::rankings;
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::rank::{FEATURE_VERSION, FeatureVector, Learnt};
use crate::model::rankings::RankingFigures;

/// The most recalls that a ranking is learnt from: those in which each author last found something.
const MOST_RECALLS: i64 = 3_000;

/// Recalls that one statement of a sweep deletes.
const SWEEP: i64 = 1_000;

/// Judged recalls of the namespaces that learn together.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// The namespace whose ranking it is.
    pub namespace: String,
    /// The judgements, the earliest recalls first.
    pub recalls: Vec<JudgedRecall>,
}

/// An author's judgement of a recall.
#[derive(Clone, Debug, serde::Serialize)]
pub struct JudgedRecall {
    /// The number of the recall.
    pub recall: i64,
    /// The author of the judgement.
    pub author: String,
    /// When the recall was made.
    pub at: DateTime<Utc>,
    /// The number of used memories that were no candidates.
    pub missed: usize,
    /// The candidates, in the order of the ranking that answered.
    pub candidates: Vec<JudgedCandidate>,
}

/// A candidate of a judged recall.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct JudgedCandidate {
    /// The node.
    pub node: NodeId,
    /// Its place among the hits, from 1; none: it was no hit.
    pub shown: Option<u32>,
    /// Whether it was used, or useless; none: nothing was said.
    pub is_used: Option<bool>,
    /// Its features.
    pub features: FeatureVector,
}

/// A recall: its time, its number, and the used memories that were no candidates.
type Recall = (DateTime<Utc>, i64, i16);

#[derive(sqlx::FromRow)]
struct CandidateRow {
    recall: i64,
    at: DateTime<Utc>,
    missed: i16,
    node: NodeId,
    shown: Option<i16>,
    features: Vec<u8>,
}

/// The evidence for the ranking of a namespace.
///
/// # Errors
/// A database error.
pub async fn evidence(pool: &dyn Connections, namespace: &str) -> Result<Evidence> {
    let rows: Vec<CandidateRow> = sql!(include_str!("sql/evidence_candidates.sql"))
        .bind("namespace", namespace)?
        .bind("features", FEATURE_VERSION)?
        .bind("most", MOST_RECALLS)?
        .fetch_all(pool)
        .await?;
    let mut recalls: BTreeMap<Recall, Vec<JudgedCandidate>> = BTreeMap::new();
    for row in rows {
        if let Some(features) = unpacked(&row.features) {
            let shown = row.shown.and_then(|shown| u32::try_from(shown).ok());
            let candidate = JudgedCandidate { node: row.node, shown, is_used: None, features };
            recalls.entry((row.at, row.recall, row.missed)).or_default().push(candidate);
        }
    }
    let numbers: Vec<i64> = recalls.keys().map(|(_, number, _)| *number).collect();
    let verdicts: Vec<(i64, String, NodeId, bool)> = sql!(include_str!("sql/evidence_verdicts.sql"))
        .bind("namespace", namespace)?
        .bind("recalls", numbers)?
        .fetch_all(pool)
        .await?;
    let mut by_recall: HashMap<i64, BTreeMap<String, HashMap<NodeId, bool>>> = HashMap::new();
    for (recall, author, node, is_used) in verdicts {
        by_recall.entry(recall).or_default().entry(author).or_default().insert(node, is_used);
    }
    let mut evidence = Evidence { namespace: namespace.into(), recalls: Vec::new() };
    for ((at, recall, missed), candidates) in recalls {
        for (author, said) in by_recall.remove(&recall).unwrap_or_default() {
            let judged = |candidate: &JudgedCandidate| JudgedCandidate {
                is_used: said.get(&candidate.node).copied(),
                ..*candidate
            };
            let candidates = candidates.iter().map(judged).collect();
            evidence.recalls.push(JudgedRecall {
                recall,
                author,
                at,
                missed: missed.max(0) as usize,
                candidates,
            });
        }
    }
    Ok(evidence)
}

/// The result of a fit.
#[derive(Clone, Debug)]
pub struct LearntRanking {
    /// The ranking.
    pub ranking: Learnt,
    /// Its evaluation.
    pub figures: RankingFigures,
    /// Whether it is used from now on.
    pub adopted: bool,
    /// The reason, for people.
    pub reason: String,
}

/// Ends a job in a transaction with its ranking, the next version of its namespace; none: nothing could be learnt. False
/// if the lease was lost: then nothing is written.
///
/// # Errors
/// A database error. Nothing is written, and the job is still held.
pub async fn ack(
    pool: &PgPool,
    lease: &Lease,
    job: &str,
    namespace: &str,
    learnt: Option<&LearntRanking>,
) -> Result<bool> {
    let mut tx = Connections::begin(pool).await?;
    // In the order of feedback: the settings, then the job.
    let settings = learning::Entity::find_by_id(namespace).lock_exclusive().one(&on(&mut tx)).await?;
    let ended = sql!(include_str!("sql/ack_learn.sql"))
        .bind("job", job)?
        .bind("worker", &lease.worker)?
        .bind("claimed_at", lease.claimed_at)?
        .execute(&mut *tx)
        .await?;
    if ended == 0 {
        return Ok(false);
    }
    if let Some(learnt) = learnt {
        // Learning may have been switched off meanwhile, which keeps the ranking.
        let is_on = learning::Entity::find()
            .filter(learning::Column::LearnsWith.eq(namespace))
            .filter(learning::Column::IsOn.eq(true))
            .one(&on(&mut tx))
            .await?
            .is_some();
        // Another ranking beside the tried one would begin its trial anew.
        let trial = settings.and_then(|settings| settings.trial);
        let adopted = learnt.adopted && is_on && trial.is_none();
        let reason = match trial {
            Some(tried) if learnt.adopted => {
                format!("{}; not used while version {tried} is tried", learnt.reason)
            }
            _ => learnt.reason.clone(),
        };
        let version: i32 = sql!(
            "insert into htm.rankings (namespace, version, learnt, figures, adopted, reason)
             select l.namespace, coalesce((select max(version) from htm.rankings where namespace = l.namespace), 0) + 1,
                    :learnt, :figures, :adopted, :reason
               from htm.learning l where l.namespace = :namespace
             returning version"
        )
        .bind("namespace", namespace)?
        .bind("learnt", Json(&learnt.ranking))?
        .bind("figures", Json(&learnt.figures))?
        .bind("adopted", adopted)?
        .bind("reason", &reason)?
        .fetch_optional_scalar(&mut *tx)
        .await?
        .unwrap_or_default();
        if adopted && version > 0 {
            rankings::choose_in_tx(&mut tx, namespace, version, "learn-worker", &reason).await?;
        }
    }
    tx.commit().await?;
    Ok(true)
}

/// Deletes the recalls whose time has passed. Returns how many.
///
/// # Errors
/// A database error. Earlier deletions stay.
pub async fn sweep(pool: &dyn Connections) -> Result<u64> {
    let mut deleted = 0;
    loop {
        let now = sql!(
            "delete from htm.recalls where number in
             (select number from htm.recalls where keep_until < now()
               order by keep_until limit :limit for update skip locked)"
        )
        .bind("limit", SWEEP)?
        .execute(pool)
        .await?;
        deleted += now;
        if now < SWEEP as u64 {
            return Ok(deleted);
        }
    }
}
