//! Jobs: claimed, finished, failed, rescued. The rows are apalis' (`apalis.jobs`), so its board reads them. *The life of a
//! job* in `ARCHITECTURE.md` draws their states.
//!
//! A lease is (`lock_by`, `lock_at`): the worker's identity, new at each start, and the instant of the claim. It lasts
//! as long as the worker is seen (`apalis.workers.last_seen`). Writes of a stale holder match no row.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Duration;

use chrono::{DateTime, Utc};
use pgvector::HalfVector;
use sqlx::PgConnection;

use super::again::ATTEMPTS;
pub use super::claims::{Claimed, Lease};
use super::claims::{Claims, Wanted};
use super::connections::Connections;
use super::embeddings::RegisteredModel;
use super::named::{Named, sql};
use super::workers::Unseen;
use super::{job_list, server, tags};
use crate::model::error::{Error, Result, chain, codes};
use crate::model::id::NodeId;
use crate::model::jobs::JobState;
use crate::model::tags::TagRules;
use crate::provider::{ModelName, TagOrigin, TagSuggestion};

/// Claims any jobs, without the memory of earlier claims; see [`Claims::next`].
///
/// # Errors
/// As [`Claims::next`].
pub async fn claim(
    pool: &dyn Connections,
    queue: &str,
    model: &str,
    worker: &str,
    limit: usize,
) -> Result<Option<(Lease, Vec<Claimed>)>> {
    Claims::new(queue, Some(model), worker).next(pool, limit, Wanted::Any).await
}

/// An embedded text, ready to be written.
#[derive(Clone, Debug)]
pub struct Embedded {
    /// The job.
    pub job: String,
    /// The node.
    pub node: NodeId,
    /// The revision whose text was embedded.
    pub revision: i32,
    /// The vector: unit length, with the model's dimensions.
    pub embedding: Vec<f32>,
    /// The number of windows that the text was split into; 1 if it fit.
    pub parts: u32,
}

/// Writes embeddings and ends their jobs, in one transaction. Returns the number of jobs that were still held.
///
/// # Errors
/// A database error; then nothing is written and the jobs are still held.
pub async fn ack_embedded(
    pool: &dyn Connections,
    lease: &Lease,
    model: &RegisteredModel,
    results: &[Embedded],
) -> Result<usize> {
    let sql = include_str!("sql/ack_embed.sql").replace("{{store}}", &model.store());
    let held = Named::new(&sql)
        .bind("worker", &lease.worker)?
        .bind("claimed_at", lease.claimed_at)?
        .bind("jobs", results.iter().map(|result| result.job.as_str()).collect::<Vec<_>>())?
        .bind("nodes", results.iter().map(|result| result.node).collect::<Vec<_>>())?
        .bind("revisions", results.iter().map(|result| result.revision).collect::<Vec<_>>())?
        .bind(
            "embeddings",
            results.iter().map(|result| HalfVector::from_f32_slice(&result.embedding)).collect::<Vec<_>>(),
        )?
        .bind("model", &model.label)?
        .bind("parts", results.iter().map(|result| result.parts as i32).collect::<Vec<_>>())?
        .execute(pool)
        .await?;
    Ok(held as usize)
}

/// A tagged text, ready to be written.
#[derive(Clone, Debug)]
pub struct Tagged {
    /// The job.
    pub job: String,
    /// The node.
    pub node: NodeId,
    /// Its namespace.
    pub namespace: String,
    /// The revision whose text was tagged.
    pub revision: i32,
    /// The suggested tags; may be empty.
    pub tags: Vec<TagSuggestion>,
}

/// The most tags that a line of the log names.
const MOST_NAMED: usize = 20;

/// The tagger that the tags are from.
#[derive(Clone, Copy, Debug)]
pub struct TaggedBy<'a> {
    /// The model.
    pub model: &'a ModelName,
    /// The version of its prompt or rules.
    pub version: &'a str,
    /// The kind of evidence that it gives.
    pub origin: TagOrigin,
    /// The rules for the spelling of tags.
    pub rules: &'a TagRules,
}

/// Writes tags and ends their jobs. Returns the number of jobs that were still held. Uses several transactions if the
/// locks of the tags' names do not fit into one: a batch may have as many namespaces as jobs.
///
/// # Errors
/// A database error; then the jobs whose results are not written yet are still held.
pub async fn ack_tagged(
    pool: &dyn Connections,
    lease: &Lease,
    by: TaggedBy<'_>,
    results: &[Tagged],
) -> Result<usize> {
    let names = |result: &Tagged| result.tags.iter().map(|tag| tag.path.depth()).sum();
    let mut acked = 0;
    let mut rest = results;
    while !rest.is_empty() {
        let room = tags::room_in_tx(rest.iter().map(|result| (result.namespace.as_str(), names(result))));
        let (part, later) = rest.split_at(room);
        acked += ack_tagged_part(pool, lease, by, part).await?;
        rest = later;
    }
    Ok(acked)
}

/// Writes tags, and begins anew without those of texts that are not there any more: a tag of such a text would stay. A text
/// may be restored meanwhile: then it begins anew with them.
async fn ack_tagged_part(
    pool: &dyn Connections,
    lease: &Lease,
    by: TaggedBy<'_>,
    results: &[Tagged],
) -> Result<usize> {
    let mut gone: HashSet<&str> = HashSet::new();
    for _ in 0..ATTEMPTS {
        let mut tx = pool.begin().await?;
        let ended = ack_tagged_in_tx(&mut tx, lease, by, results, &gone).await?;
        let with_tags = results.iter().filter(|result| !result.tags.is_empty());
        let lost = with_tags.filter(|result| ended.get(&result.job) != Some(&true));
        let now: HashSet<&str> = lost.map(|result| &*result.job).collect();
        if now == gone {
            tx.commit().await?;
            return Ok(ended.len());
        }
        tx.rollback().await?;
        gone = now;
    }
    Err(Error::contended())
}

/// Writes tags, but none of the jobs whose texts are gone. Returns the jobs that were still held, and whether the text of
/// each is still there.
async fn ack_tagged_in_tx(
    tx: &mut PgConnection,
    lease: &Lease,
    by: TaggedBy<'_>,
    results: &[Tagged],
    gone: &HashSet<&str>,
) -> Result<HashMap<String, bool>> {
    let present = || results.iter().filter(|result| !gone.contains(&*result.job));
    let all = || present().flat_map(|result| result.tags.iter().map(move |tag| (result, tag)));
    // A result without tags may remove tags all the same.
    let (namespaces, paths) = (results.iter().map(|result| (result.namespace.as_str(), None)))
        .chain(all().map(|(result, tag)| (result.namespace.as_str(), Some(tag.path.as_str()))))
        .unzip();
    let names = tags::hold_in_tx(tx, namespaces, paths, by.rules).await?;
    let mut left_out: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    // Existing tags can be assigned although a new one is refused.
    let assignments: Vec<(&str, &str, Option<f32>)> = all()
        .filter_map(|(result, tag)| match names.of(&result.namespace, tag.path.as_str()) {
            Ok(name) => Some((result.job.as_str(), name, tag.confidence)),
            Err(_) => {
                left_out.entry(&result.namespace).or_default().insert(tag.path.as_str());
                None
            }
        })
        .collect();
    for (namespace, tags) in left_out {
        let code = codes::NAMESPACE_FULL.name;
        let first: Vec<&str> = tags.iter().copied().take(MOST_NAMED).collect();
        let (count, limit) = (tags.len(), by.rules.limits.namespace);
        tracing::warn!(code, namespace, limit, count, tags = ?first, "new tags are left out: the namespace is full");
    }
    let ended: Vec<(String, bool)> = sql!(include_str!("sql/ack_tag.sql"))
        .bind("worker", &lease.worker)?
        .bind("claimed_at", lease.claimed_at)?
        .bind("jobs", results.iter().map(|result| result.job.as_str()).collect::<Vec<_>>())?
        .bind("nodes", results.iter().map(|result| result.node).collect::<Vec<_>>())?
        .bind("revisions", results.iter().map(|result| result.revision).collect::<Vec<_>>())?
        .bind("model", by.model.to_string())?
        .bind("version", by.version)?
        .bind("origin", by.origin.as_ref())?
        .bind("tag_jobs", assignments.iter().map(|tag| tag.0).collect::<Vec<_>>())?
        .bind("tags", assignments.iter().map(|tag| tag.1).collect::<Vec<_>>())?
        .bind("confidences", assignments.iter().map(|tag| tag.2).collect::<Vec<_>>())?
        .fetch_all(tx)
        .await?;
    Ok(ended.into_iter().collect())
}

/// The end of a job's attempt that did not succeed.
#[derive(Clone, Debug)]
pub struct Failed {
    /// The job.
    pub job: String,
    /// The reason, for people. Lines after the first may hold content: they are kept and never logged.
    pub reason: String,
    /// The consequence for the job.
    pub verdict: Verdict,
}

/// The consequence of a failed attempt for its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Retry after a delay; a dead letter if its attempts are used up.
    Retry {
        /// The delay in milliseconds.
        delay_ms: u64,
    },
    /// Retry after a delay, and the attempt does not count: the job was not at fault.
    Defer {
        /// The delay in milliseconds.
        delay_ms: u64,
    },
    /// Parked, no attempt counted: its namespace has spent its budget.
    OverBudget {
        /// The start of the next budget, as of the refusal: the day may have changed when this is written.
        until: DateTime<Utc>,
        /// The tokens that it would have spent. If the budget has room for them by now, the job is due at once.
        tokens: u32,
    },
    /// A dead letter at once.
    Dead,
}

impl Verdict {
    fn over_budget(self) -> (Option<DateTime<Utc>>, i64) {
        match self {
            Verdict::OverBudget { until, tokens } => (Some(until), tokens.into()),
            _ => (None, 0),
        }
    }
}

/// The longest patience: PostgreSQL's intervals are bounded.
const LONGEST_PATIENCE: Duration = Duration::from_secs(3_650 * 24 * 3_600);

/// Ends the failed attempts of jobs that are still held; returns these with their states. A job that has been deferred
/// for longer than `patience` is parked: it waits, visibly, for a retry by an operator.
///
/// # Errors
/// A database error; then the jobs are still held.
pub async fn fail(
    pool: &dyn Connections,
    lease: &Lease,
    failures: &[Failed],
    patience: Duration,
) -> Result<HashMap<String, JobState>> {
    let delays = failures.iter().map(|failure| match failure.verdict {
        Verdict::Retry { delay_ms } | Verdict::Defer { delay_ms } => delay_ms as i64,
        Verdict::OverBudget { .. } | Verdict::Dead => 0,
    });
    let (parked_until, tokens): (Vec<_>, Vec<_>) =
        failures.iter().map(|failure| failure.verdict.over_budget()).unzip();
    let sql = include_str!("sql/fail_jobs.sql").replace("{{state}}", job_list::STATE);
    let held: Vec<(String, JobState)> = Named::new(&sql)
        .bind("worker", &lease.worker)?
        .bind("claimed_at", lease.claimed_at)?
        .bind("jobs", failures.iter().map(|failure| failure.job.as_str()).collect::<Vec<_>>())?
        .bind("delays_ms", delays.collect::<Vec<_>>())?
        .bind(
            "charged",
            failures
                .iter()
                .map(|failure| !matches!(failure.verdict, Verdict::Defer { .. } | Verdict::OverBudget { .. }))
                .collect::<Vec<_>>(),
        )?
        .bind("dead", failures.iter().map(|failure| failure.verdict == Verdict::Dead).collect::<Vec<_>>())?
        .bind("parked_until", parked_until)?
        .bind("tokens", tokens)?
        .bind(
            "reasons",
            failures.iter().map(|failure| failure.reason.replace('\0', " ")).collect::<Vec<_>>(),
        )?
        .bind("patience_ms", patience.min(LONGEST_PATIENCE).as_millis() as i64)?
        .fetch_all(pool)
        .await?;
    Ok(held.into_iter().collect())
}

/// The wait of a job that was lost with its worker: a random time up to `base` after the first attempt. The bound
/// doubles with each further attempt, up to `cap`.
#[derive(Clone, Copy, Debug)]
pub struct RescueWait {
    /// The longest wait after the first attempt.
    pub base: Duration,
    /// The longest wait after any attempt.
    pub cap: Duration,
}

/// Takes back the jobs of lost workers, except of those that were seen again since. Returns the number of jobs, which
/// are [suspects](Claimed::suspect) from now on.
///
/// # Errors
/// A database error.
pub async fn rescue(pool: &dyn Connections, lost: &[Unseen], wait: RescueWait) -> Result<usize> {
    let released = sql!(include_str!("sql/rescue_jobs.sql"))
        .bind("workers", lost.iter().map(|unseen| unseen.worker.as_str()).collect::<Vec<_>>())?
        .bind("last_seen", lost.iter().map(|unseen| unseen.last_seen).collect::<Vec<_>>())?
        .bind("base_ms", wait.base.as_millis() as i64)?
        .bind("cap_ms", wait.cap.as_millis() as i64)?
        .execute(pool)
        .await?;
    Ok(released as usize)
}

/// The running jobs that are assigned to a worker, each with the instant of its claim.
///
/// # Errors
/// A database error.
pub async fn standing(pool: &dyn Connections, worker: &str) -> Result<Vec<(String, DateTime<Utc>)>> {
    sql!("select id, lock_at from apalis.jobs where lock_by = :worker and status = 'Running'")
        .bind("worker", worker)?
        .fetch_all(pool)
        .await
}

/// Gives back the jobs of exactly these claims, which their worker does not hold; returns their number.
///
/// # Errors
/// A database error.
pub async fn release(
    pool: &dyn Connections,
    worker: &str,
    claims: &[(String, DateTime<Utc>)],
) -> Result<usize> {
    let (ids, claimed_at): (Vec<&str>, Vec<DateTime<Utc>>) =
        claims.iter().map(|(id, at)| (id.as_str(), *at)).unzip();
    // Jobs are locked in the order of their ids, so that no two statements deadlock.
    let released = sql!(
        "update apalis.jobs
            set status = 'Pending', attempts = greatest(attempts - 1, 0), lock_by = null, lock_at = null
          where id = any (array(select j.id
                                  from unnest(:jobs::text[], :claimed_at::timestamptz[]) as c(id, lock_at)
                                  join apalis.jobs j on j.id = c.id and j.lock_at = c.lock_at
                                 where j.id = any (:jobs) and j.lock_by || '' = :worker and j.status = 'Running'
                                 order by j.id
                                   for update of j))"
    )
    .bind("worker", worker)?
    .bind("jobs", ids)?
    .bind("claimed_at", claimed_at)?
    .execute(pool)
    .await?;
    Ok(released as usize)
}

/// Gives back the jobs that are assigned to a worker although it does not hold them; returns their number.
///
/// # Errors
/// A database error.
pub async fn release_unheld(pool: &dyn Connections, worker: &str, held: &[String]) -> Result<usize> {
    let released = sql!(include_str!("sql/release_unheld.sql"))
        .bind("worker", worker)?
        .bind("held", held)?
        .execute(pool)
        .await?;
    Ok(released as usize)
}

/// Enqueues the missing jobs of live nodes, for every model in use and for tags; returns their number. `models` are
/// the embedding model, for as long as none is registered, and the tag model.
pub(crate) async fn enqueue_lacking_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    nodes: &[NodeId],
    models: (&str, &str),
    max_attempts: u32,
    priority: i32,
) -> Result<u64> {
    let enqueued = sql!(concat!(include_str!("sql/targets.sql"), include_str!("sql/enqueue_lacking.sql")))
        .bind("namespace", namespace)?
        .bind("nodes", nodes)?
        .bind("embedding_model", models.0)?
        .bind("tag_model", models.1)?
        .bind("max_attempts", max_attempts as i32)?
        .bind("priority", priority)?
        .execute(connection)
        .await?;
    Ok(enqueued)
}

/// Notifies the workers of all queues of new jobs. Call it after the commit, never inside the write. A lost
/// notification is no failure: workers poll as well.
pub(crate) async fn ping(pool: &dyn Connections) {
    // The commit is not flushed: writers would wait for that flush before theirs.
    let all = sql!(concat!(
        "select pg_notify(queue, ''), set_config('synchronous_commit', 'off', true) from (\n",
        include_str!("sql/queues.sql"),
        ") q"
    ));
    log_lost(all.execute(pool).await.map(drop));
}

/// Notifies the workers of one queue of new jobs, as `ping`. They listen on the channel with the queue's name.
pub async fn ping_queue(pool: &dyn Connections, queue: &str) {
    log_lost(server::notify(pool, queue, "").await);
}

fn log_lost(sent: Result<()>) {
    if let Err(error) = sent {
        tracing::debug!(error = %chain(&error), "a ping was not sent; workers find the jobs when they poll");
    }
}

/// A job whose text no longer existed when it was read.
#[derive(Clone, Debug)]
pub struct Superseded {
    /// The job.
    pub job: String,
    /// The node.
    pub node: NodeId,
    /// The revision that the job is for.
    pub revision: i32,
}

/// The result of ending superseded jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SupersededAck {
    /// Jobs that ended: their node was edited or forgotten.
    pub ended: usize,
    /// Jobs that wait again, no attempt counted: their node was restored while they were read.
    pub released: usize,
}

/// Ends jobs whose node was edited or forgotten meanwhile: there is nothing to write. A node that was restored at the
/// same time keeps its job.
///
/// # Errors
/// A database error; then the jobs are still held.
pub async fn ack_superseded(
    pool: &dyn Connections,
    lease: &Lease,
    jobs: &[Superseded],
) -> Result<SupersededAck> {
    let lives: Vec<bool> = sql!(include_str!("sql/ack_superseded.sql"))
        .bind("worker", &lease.worker)?
        .bind("claimed_at", lease.claimed_at)?
        .bind("jobs", jobs.iter().map(|it| it.job.as_str()).collect::<Vec<_>>())?
        .bind("nodes", jobs.iter().map(|it| it.node).collect::<Vec<_>>())?
        .bind("revisions", jobs.iter().map(|it| it.revision).collect::<Vec<_>>())?
        .fetch_scalars(pool)
        .await?;
    let released = lives.iter().filter(|lives| **lives).count();
    Ok(SupersededAck { ended: lives.len() - released, released })
}
