//! `/v1/backfills`: runs that enqueue missing jobs. The servers go on with them in the background.

use axum::Json;
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use htm_core::{BackfillProgress, BackfillRequest, BackfillRun, Stage};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::{App, Shared};
use crate::codes;
use crate::extract::{Asked, Body, Named, cursor, limit, next};
use crate::problem::{Problem, Result};

pub(crate) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(list, start)).routes(routes!(get)).routes(routes!(cancel))
}

/// The jobs to enqueue.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewBackfill {
    /// The stage: `embed` or `tag`.
    stage: Stage,
    /// The label of the embedding model. Default: the active one.
    model: Option<String>,
    /// Only memories of this namespace. Default: all.
    namespace: Option<String>,
    /// Only memories since this time.
    since: Option<DateTime<Utc>>,
    /// Also memories whose stage is done.
    #[serde(default)]
    force: bool,
    /// Only memories that another version of the prompt or the rules, or another model, has tagged.
    prompt_version: Option<String>,
    /// The most backfill jobs that wait in the queue, at least 1. Default: 100,000.
    max_queued: Option<u64>,
    /// Answers with the number of jobs, and enqueues none.
    #[serde(default)]
    dry_run: bool,
}

/// The result of a dry run.
#[derive(Debug, Serialize, ToSchema)]
struct WouldEnqueue {
    /// Jobs that would be enqueued now.
    would_enqueue: u64,
}

/// Start a backfill, or go on with the unfinished one of the same request.
///
/// It is behind every live job, and goes on after a restart of the server. `Location` has its path. A dry run is answered
/// with the number of jobs.
#[utoipa::path(post, path = "/v1/backfills", tag = "backfills", request_body = NewBackfill,
    responses((status = 202, body = BackfillRun), (status = 200, description = "A dry run.", body = WouldEnqueue)))]
async fn start(app: App, Body(body): Body<NewBackfill>) -> Result<Response> {
    if body.max_queued == Some(0) {
        return Err(Problem::new(codes::BODY_INVALID, "max_queued is at least 1"));
    }
    let plain = BackfillRequest::new(body.stage);
    let request = BackfillRequest {
        model: body.model,
        namespace: body.namespace,
        since: body.since,
        forced: body.force,
        prompt_version: body.prompt_version,
        max_queued: body.max_queued.unwrap_or(plain.max_queued),
        ..plain
    };
    if body.dry_run {
        let would_enqueue = app.htm.count_backfill(&request).await?;
        return Ok(Json(WouldEnqueue { would_enqueue }).into_response());
    }
    let run = app.htm.submit_backfill(&request).await?;
    app.shared.backfills.notify_one();
    let location = format!("/v1/backfills/{}", run.id);
    Ok((StatusCode::ACCEPTED, [(LOCATION, location)], Json(run)).into_response())
}

/// The runs to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListQuery {
    /// `next` of the previous page.
    #[param(value_type = Option<i64>)]
    cursor: Option<String>,
    /// The most runs, 1 to 10,000. Default: 100.
    limit: Option<u32>,
}

/// Runs of backfills.
#[derive(Debug, Serialize, ToSchema)]
struct Backfills {
    /// The newest first.
    backfills: Vec<BackfillRun>,
    /// The cursor of the next page; null: this is the last.
    next: Option<i64>,
}

/// List backfills, those of the command `htm backfill` too.
#[utoipa::path(get, path = "/v1/backfills", tag = "backfills", params(ListQuery),
    responses((status = 200, body = Backfills)))]
async fn list(app: App, Asked(asked): Asked<ListQuery>) -> Result<Json<Backfills>> {
    let limit = limit(asked.limit, 100, 10_000)?;
    let backfills = app.htm.backfills(cursor(asked.cursor.as_deref())?, limit).await?;
    let next = next(&backfills, limit as usize, |run| run.id);
    Ok(Json(Backfills { backfills, next }))
}

/// A run and its progress.
#[derive(Debug, Serialize, ToSchema)]
struct Shown {
    #[serde(flatten)]
    run: BackfillRun,
    /// The jobs of the queue and the namespace, with those of earlier runs.
    jobs: BackfillProgress,
}

impl From<(BackfillRun, BackfillProgress)> for Shown {
    fn from((run, jobs): (BackfillRun, BackfillProgress)) -> Self {
        Self { run, jobs }
    }
}

/// Read a backfill with its progress.
#[utoipa::path(get, path = "/v1/backfills/{id}", tag = "backfills", params(("id" = i64, Path)),
    responses((status = 200, body = Shown)))]
async fn get(app: App, Named(id): Named<i64>) -> Result<Json<Shown>> {
    Ok(Json(app.htm.backfill(id).await?.into()))
}

/// End a backfill where it is. The jobs that it has enqueued stay.
#[utoipa::path(post, path = "/v1/backfills/{id}/cancel", tag = "backfills", params(("id" = i64, Path)),
    responses((status = 200, body = Shown)))]
async fn cancel(app: App, Named(id): Named<i64>) -> Result<Json<Shown>> {
    Ok(Json(app.htm.cancel_backfill(id).await?.into()))
}
