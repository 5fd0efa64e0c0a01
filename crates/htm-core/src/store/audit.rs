//! Whether anything is lost: what every node is promised, looked up in the rows.

use sqlx::PgPool;

use super::embeddings::{self, ModelState};
use super::jobs;
use super::named::{Named, sql};
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::jobs::Stage;
use crate::model::settings::Settings;

/// Stranded stages that are mended by one statement.
const CHUNK: usize = 1_000;

/// What an audit found.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Audit {
    /// Nodes that lack a result which nothing will bring: none, or the pipeline has lost something.
    pub stranded: Vec<Stranded>,
    /// Jobs of workers that have not been seen for their lease; any worker takes them back.
    pub awaiting_rescue: i64,
    /// Jobs that stand in the name of a worker that lives and does not hold them: it gives them back. More than a moment
    /// after an error of the database, there are none.
    pub unheld: i64,
    /// Dead letters: they say why a node lacks its result, so it is not stranded.
    pub dead_letters: i64,
    /// Whether the table refuses jobs in a state that cannot be.
    pub states_guarded: bool,
}

impl Audit {
    /// Nothing is lost.
    pub fn is_clean(&self) -> bool {
        self.stranded.is_empty() && self.states_guarded
    }
}

/// A stage of a live node that has neither its result nor a job that will bring it nor a dead letter.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, sqlx::FromRow)]
pub struct Stranded {
    /// The node.
    pub node: NodeId,
    /// Its namespace.
    pub namespace: String,
    /// Its revision.
    pub revision: i32,
    /// The stage without a result.
    pub stage: Stage,
    /// What is missing, for people.
    pub why: String,
}

/// Looks at every live node.
///
/// # Errors
/// A database error.
pub(crate) async fn run(pool: &PgPool) -> Result<Audit> {
    let active = embeddings::models(pool).await?.into_iter().find(|model| model.state == ModelState::Active);
    // Of one moment: a job that ends between two looks is not lost.
    let mut tx = pool
        .begin_with("begin isolation level repeatable read, read only; set local statement_timeout = 0")
        .await?;
    let mut stranded: Vec<Stranded> = sql!(
        "select node_id as node, namespace, revision, stage, 'no result, no job, no dead letter' as why
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
                (select count(*) from apalis.jobs where job_type like 'htm.%' and status = 'Killed') as dead_letters,
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

/// Enqueues the jobs that stranded nodes lack, and wakes the workers; returns how many. A node that was forgotten or
/// edited since the audit gets none.
///
/// # Errors
/// A database error; what was enqueued before it stays.
pub(crate) async fn repair(pool: &PgPool, stranded: &[Stranded], settings: &Settings) -> Result<u64> {
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
