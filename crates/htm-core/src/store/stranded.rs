//! The audit: checks in the tables whether any node has lost a promised result.

use super::connections::Connections;
use super::named::{Named, sql};
use super::{embeddings, jobs};
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::jobs::{Loss, Stage};
use crate::model::models::ModelState;
use crate::model::settings::Settings;

/// The number of stranded stages that one statement repairs.
const CHUNK: usize = 1_000;

/// The result of an audit.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Audit {
    /// Nodes that lack a result and have no job for it. If there are any, the pipeline has lost something.
    pub stranded: Vec<Stranded>,
    /// Running jobs of workers that have not been seen for their lease; any worker takes them back.
    pub awaiting_rescue: i64,
    /// Running jobs that are assigned to a live worker which does not hold them; the worker gives them back. There are
    /// none, except for a moment after a database error.
    pub unheld: i64,
    /// Dead letters. A dead letter says why a node lacks its result, so the node is not stranded.
    pub dead_letters: i64,
    /// Whether the jobs table refuses jobs in an impossible state.
    pub states_guarded: bool,
}

impl Audit {
    /// Whether nothing is lost and the table guards the states of jobs.
    pub fn is_clean(&self) -> bool {
        self.stranded.is_empty() && self.states_guarded
    }
}

/// A stage of a live node without a result, a job or a dead letter.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, sqlx::FromRow)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Stranded {
    /// The node.
    pub node: NodeId,
    /// Its namespace.
    pub namespace: String,
    /// Its revision.
    pub revision: i32,
    /// The stage without a result.
    pub stage: Stage,
    /// The missing part.
    pub lost: Loss,
}

/// Checks every live node.
///
/// # Errors
/// A database error.
pub(crate) async fn run(pool: &dyn Connections) -> Result<Audit> {
    let active = embeddings::models(pool).await?.into_iter().find(|model| model.state == ModelState::Active);
    // One snapshot: a job that ends between two queries is not lost.
    let mut tx = pool
        .begin_with("begin isolation level repeatable read, read only; set local statement_timeout = 0")
        .await?;
    let mut stranded: Vec<Stranded> = sql!(
        "select node_id as node, namespace, revision, stage, 'job' as lost
           from htm.stranded order by node_id, stage"
    )
    .fetch_all(&mut *tx)
    .await?;
    if let Some(model) = active {
        let sql = include_str!("sql/missing_vectors.sql").replace("{{store}}", &model.store());
        let missing: Vec<Stranded> = Named::new(&sql)
            .bind("label", &model.label)?
            .bind("queue", &model.queue)?
            .fetch_all(&mut *tx)
            .await?;
        stranded.extend(missing);
    }
    let jobs: Jobs = sql!(
        "select (select count(*) from apalis.jobs j
                   join apalis.workers w on w.id = j.lock_by
                   join htm.worker_leases l on l.worker = w.id
                  where j.status = 'Running' and j.job_type like 'htm.%'
                    and w.last_seen < now() - l.lease_ms * interval '1 millisecond') as awaiting_rescue,
                -- A worker without a job in hand may be about to read the answer to a claim.
                (select count(*) from apalis.jobs j
                   join apalis.workers w on w.id = j.lock_by
                   join htm.worker_leases l on l.worker = w.id
                  where j.status = 'Running' and j.job_type like 'htm.%'
                    and w.last_seen >= now() - l.lease_ms * interval '1 millisecond'
                    and j.lock_at < coalesce(l.held_since, w.last_seen - interval '1 minute')) as unheld,
                (select count(*) from apalis.jobs
                  where job_type like 'htm.%' and job_type <> 'htm.learn' and status = 'Killed') as dead_letters,
                exists (select from pg_constraint
                         where conrelid = 'apalis.jobs'::regclass and conname = 'jobs_htm_state_possible'
                           and convalidated) as states_guarded"
    )
    .fetch_one(&mut *tx)
    .await?;
    tx.commit().await?;
    let Jobs { awaiting_rescue, unheld, dead_letters, states_guarded } = jobs;
    Ok(Audit { stranded, awaiting_rescue, unheld, dead_letters, states_guarded })
}

#[derive(sqlx::FromRow)]
struct Jobs {
    awaiting_rescue: i64,
    unheld: i64,
    dead_letters: i64,
    states_guarded: bool,
}

/// Enqueues the missing jobs of stranded nodes, and wakes the workers; returns the number of jobs. A node that was
/// forgotten or edited since the audit gets none.
///
/// # Errors
/// A database error; what was enqueued before it stays.
pub(crate) async fn repair(
    pool: &dyn Connections,
    stranded: &[Stranded],
    settings: &Settings,
) -> Result<u64> {
    let mut enqueued = 0;
    for chunk in stranded.chunks(CHUNK) {
        let inserted = sql!(include_str!("sql/repair_nodes.sql"))
            .bind("nodes", chunk.iter().map(|it| it.node).collect::<Vec<_>>())?
            .bind("revisions", chunk.iter().map(|it| it.revision).collect::<Vec<_>>())?
            .bind("stages", chunk.iter().map(|it| it.stage.as_ref()).collect::<Vec<_>>())?
            .bind("embedding_model", settings.embedding_model.to_string())?
            .bind("tag_model", settings.tag_model.to_string())?
            .bind("max_attempts", settings.max_attempts as i32)?
            .execute(pool)
            .await?;
        enqueued += inserted;
    }
    jobs::ping(pool).await;
    Ok(enqueued)
}
