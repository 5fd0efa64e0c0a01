//! `/v1/jobs`, `/v1/queues`, `/v1/workers`.

use axum::Json;
use htm_core::NodeId;
use htm_core::error::codes::LIMIT_OUT_OF_RANGE;
use htm_core::job::JobState;
use htm_core::jobs::{Audit, Job, JobFilter, QueueMinute, QueueStats, Retried, Selection, Worker};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::{App, Shared};
use crate::codes;
use crate::extract::{Asked, Body, Named, limit, next};
use crate::problem::{Problem, Result};
use crate::routes::forget::confirmation;

pub(crate) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(retry))
        .routes(routes!(cancel))
        .routes(routes!(audit))
        .routes(routes!(repair))
        .routes(routes!(get))
        .routes(routes!(queues))
        .routes(routes!(history))
        .routes(routes!(pause_queue))
        .routes(routes!(resume_queue))
        .routes(routes!(workers))
}

/// The jobs to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListQuery {
    /// The queue.
    queue: Option<String>,
    /// The state. Default: any but done.
    state: Option<JobState>,
    /// The namespace of their memories.
    namespace: Option<String>,
    /// Their memory.
    #[param(value_type = Option<i64>)]
    node: Option<NodeId>,
    /// A part of their last error, in upper or lower case.
    error: Option<String>,
    /// `next` of the previous page.
    cursor: Option<String>,
    /// The most jobs, 1 to 10,000. Default: 100.
    limit: Option<u32>,
}

/// A page of jobs.
#[derive(Debug, Serialize, ToSchema)]
struct JobPage {
    jobs: Vec<Job>,
    /// The cursor of the next page; null: this is the last.
    next: Option<String>,
}

/// List jobs: dead letters, then parked, then failed ones; the newest first.
#[utoipa::path(get, path = "/v1/jobs", tag = "jobs", params(ListQuery),
    responses((status = 200, body = JobPage)))]
async fn list(app: App, Asked(asked): Asked<ListQuery>) -> Result<Json<JobPage>> {
    let limit = limit(asked.limit, 100, 10_000)?;
    let filter = JobFilter {
        queue: asked.queue,
        state: asked.state,
        namespace: asked.namespace,
        node: asked.node,
        error: asked.error,
    };
    let after = asked.cursor.as_deref().map(str::parse).transpose()?;
    let jobs = app.htm.jobs()?.list(&filter, after.as_ref(), limit).await?;
    let next = next(&jobs, limit as usize, |job| job.cursor().to_string());
    Ok(Json(JobPage { jobs, next }))
}

/// Read a job.
#[utoipa::path(get, path = "/v1/jobs/{id}", tag = "jobs", params(("id" = String, Path)),
    responses((status = 200, body = Job)))]
async fn get(app: App, Named(id): Named<String>) -> Result<Json<Job>> {
    let mut found = app.htm.jobs()?.show(&[id]).await?;
    Ok(Json(found.remove(0)))
}

/// Jobs, by their ids or by conditions.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
struct SelectionBody {
    /// The jobs with these ids; the conditions must be empty then.
    ids: Option<Vec<String>>,
    /// The queue.
    queue: Option<String>,
    /// The state.
    state: Option<JobState>,
    /// The namespace of their memories.
    namespace: Option<String>,
    /// Their memory.
    node: Option<NodeId>,
    /// A part of their last error, in upper or lower case.
    error: Option<String>,
    /// More than one job is cancelled only with it.
    confirm: bool,
}

impl SelectionBody {
    fn read(self) -> Result<(Selection, bool)> {
        let filter = JobFilter {
            queue: self.queue,
            state: self.state,
            namespace: self.namespace,
            node: self.node,
            error: self.error,
        };
        let refused = |problem: &str| Err(Problem::new(codes::BODY_INVALID, problem));
        match (self.ids, filter == JobFilter::default()) {
            (None, _) => Ok((Selection::Filter(filter), self.confirm)),
            (Some(ids), _) if ids.is_empty() => refused("`ids` is empty; name a job"),
            (Some(ids), true) => Ok((Selection::Ids(ids), self.confirm)),
            (Some(_), false) => refused("both ids and conditions are given; give one of the two"),
        }
    }
}

/// Retry waiting, parked or dead jobs as if they were new.
///
/// Without a state, the conditions select dead letters.
#[utoipa::path(post, path = "/v1/jobs/retry", tag = "jobs", request_body = SelectionBody,
    responses((status = 200, body = Retried)))]
async fn retry(app: App, Body(body): Body<SelectionBody>) -> Result<Json<Retried>> {
    let (selection, _) = body.read()?;
    Ok(Json(app.htm.jobs()?.retry(&selection).await?))
}

/// The number of changed jobs.
#[derive(Debug, Serialize, ToSchema)]
struct ChangedJobs {
    jobs: u64,
}

/// Turn pending or running jobs into dead letters.
#[utoipa::path(post, path = "/v1/jobs/cancel", tag = "jobs", request_body = SelectionBody,
    responses((status = 200, body = ChangedJobs)))]
async fn cancel(app: App, Body(body): Body<SelectionBody>) -> Result<Json<ChangedJobs>> {
    let (selection, confirm) = body.read()?;
    Ok(Json(ChangedJobs { jobs: app.htm.jobs()?.cancel(&selection, confirmation(confirm)).await? }))
}

/// Find memories without a result, a job or a dead letter. Reads every memory.
#[utoipa::path(get, path = "/v1/jobs/audit", tag = "jobs", responses((status = 200, body = Audit)))]
async fn audit(app: App) -> Result<Json<Audit>> {
    Ok(Json(app.htm.jobs()?.audit().await?))
}

/// Enqueue the jobs that the audit finds missing.
#[utoipa::path(post, path = "/v1/jobs/repair", tag = "jobs", responses((status = 200, body = ChangedJobs)))]
async fn repair(app: App) -> Result<Json<ChangedJobs>> {
    let jobs = app.htm.jobs()?;
    let found = jobs.audit().await?;
    Ok(Json(ChangedJobs { jobs: jobs.repair(&found.stranded).await? }))
}

/// List queues with the number of their jobs by state.
#[utoipa::path(get, path = "/v1/queues", tag = "jobs", responses((status = 200, body = Vec<QueueStats>)))]
async fn queues(app: App) -> Result<Json<Vec<QueueStats>>> {
    Ok(Json(app.htm.jobs()?.queues().await?))
}

/// The time of a history.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct HistoryQuery {
    /// The last minutes, 1 to 1,440. Default: 60.
    minutes: Option<u32>,
}

/// List the jobs that ended lately, by queue and minute. Minutes without any are left out.
#[utoipa::path(get, path = "/v1/queues/history", tag = "jobs", params(HistoryQuery),
    responses((status = 200, body = Vec<QueueMinute>)))]
async fn history(app: App, Asked(asked): Asked<HistoryQuery>) -> Result<Json<Vec<QueueMinute>>> {
    let minutes = asked.minutes.unwrap_or(60);
    if !(1..=1_440).contains(&minutes) {
        let problem = format!("minutes {minutes} is outside 1 to 1,440");
        return Err(Problem::new(LIMIT_OUT_OF_RANGE, problem));
    }
    Ok(Json(app.htm.jobs()?.history(minutes).await?))
}

/// Why a queue is paused.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Pause {
    /// The reason, for people.
    reason: String,
}

/// Whether a queue is paused.
#[derive(Debug, Serialize, ToSchema)]
struct Paused {
    queue: String,
    paused: bool,
    /// Whether this call changed it.
    changed: bool,
}

/// Pause a queue: no job is claimed until it is resumed; running jobs finish.
#[utoipa::path(post, path = "/v1/queues/{queue}/pause", tag = "jobs", params(("queue" = String, Path)),
    request_body = Pause, responses((status = 200, body = Paused)))]
async fn pause_queue(app: App, Named(queue): Named<String>, Body(body): Body<Pause>) -> Result<Json<Paused>> {
    app.htm.jobs()?.pause(&queue, &body.reason).await?;
    Ok(Json(Paused { queue, paused: true, changed: true }))
}

/// Resume a queue.
#[utoipa::path(post, path = "/v1/queues/{queue}/resume", tag = "jobs", params(("queue" = String, Path)),
    responses((status = 200, body = Paused)))]
async fn resume_queue(app: App, Named(queue): Named<String>) -> Result<Json<Paused>> {
    let changed = app.htm.jobs()?.resume(&queue).await?;
    Ok(Json(Paused { queue, paused: false, changed }))
}

/// List workers, those alive first.
#[utoipa::path(get, path = "/v1/workers", tag = "jobs", responses((status = 200, body = Vec<Worker>)))]
async fn workers(app: App) -> Result<Json<Vec<Worker>>> {
    Ok(Json(app.htm.jobs()?.workers().await?))
}
