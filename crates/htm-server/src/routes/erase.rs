//! Erasing: memories, a namespace, the receipts, and the look for traces.

use std::future::Future;

use axum::Json;
use htm_core::{Confirmation, Erase, ErasePlan, Erasure, Htm, NodeId, Verification};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;
use tracing::Instrument;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::{App, Shared};
use crate::codes;
use crate::extract::{Asked, Body, Named, cursor, next};
use crate::problem::{Problem, Result};
use crate::routes::forget::confirmation;

/// A permit for the vacuum after an erasure: it reads whole tables.
static VACUUM: Semaphore = Semaphore::const_new(1);

pub(crate) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(erase_many))
        .routes(routes!(erase_namespace))
        .routes(routes!(list))
        .routes(routes!(get))
        .routes(routes!(resume))
        .routes(routes!(verify))
}

/// The memories to erase: by ids, by a text, or those of a robot.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct EraseMemories {
    /// These memories.
    #[serde(default)]
    ids: Vec<NodeId>,
    /// Those whose text, or a former text, contains this.
    text: Option<String>,
    /// Those that this robot remembered.
    robot: Option<String>,
    /// The namespace of the text or the robot. Default: the server's.
    namespace: Option<String>,
    /// The plan of a dry run, which a text needs. The act is refused if the memories have changed since.
    plan: Option<String>,
    /// Answers with the plan, and erases nothing.
    #[serde(default)]
    dry_run: bool,
    /// The act is refused without it.
    #[serde(default)]
    confirm: bool,
}

impl EraseMemories {
    fn what(&mut self) -> Result<Erase> {
        let namespace = self.namespace.take();
        match (self.ids.is_empty(), self.text.take(), self.robot.take()) {
            (false, None, None) => Ok(Erase::Memories(std::mem::take(&mut self.ids))),
            (true, Some(text), None) => Ok(Erase::Matching { text, namespace }),
            (true, None, Some(robot)) => Ok(Erase::Robot { robot, namespace }),
            _ => Err(Problem::new(codes::BODY_INVALID, "give one of `ids`, `text` and `robot`")),
        }
    }
}

/// The plan, or the receipt.
#[derive(Debug, Serialize, ToSchema)]
struct Erased {
    /// The plan of the removal. Null unless it is a dry run.
    plan: Option<ErasePlan>,
    /// The receipt. Null for a dry run.
    erasure: Option<Erasure>,
}

/// Erase memories with every trace. It cannot be undone.
///
/// The memories are those with these ids, those that contain a text, or those of a robot; forgotten ones too. An erasure
/// whose request takes too long goes on; `/v1/erasures` lists it.
#[utoipa::path(post, path = "/v1/memories/erase", tag = "erasures", request_body = EraseMemories,
    responses((status = 200, body = Erased)))]
async fn erase_many(app: App, Body(mut body): Body<EraseMemories>) -> Result<Json<Erased>> {
    // A namespace that the principal does not see is refused for that, whatever else is wrong.
    app.htm.unknown_namespaces(&body.namespace.as_deref().into_iter().collect::<Vec<_>>()).await?;
    let what = body.what()?;
    let (plan, confirm) = (body.plan.as_deref(), confirmation(body.confirm));
    planned_or_erased(&app, &what, plan, body.dry_run, confirm).await.map(Json)
}

/// The confirmation of an act on a namespace.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct EraseNamespace {
    /// Answers with the plan, and erases nothing.
    #[serde(default)]
    dry_run: bool,
    /// The act is refused without it.
    #[serde(default)]
    confirm: bool,
}

/// Erase a namespace: its memories, robots, groups, ontology, policies and statistics. It cannot be undone.
///
/// In the path, `/` of the namespace is written `%2F`.
#[utoipa::path(post, path = "/v1/namespaces/{namespace}/erase", tag = "erasures",
    params(("namespace" = String, Path)), request_body = EraseNamespace,
    responses((status = 200, body = Erased)))]
async fn erase_namespace(
    app: App,
    Named(namespace): Named<String>,
    Body(body): Body<EraseNamespace>,
) -> Result<Json<Erased>> {
    let confirm = confirmation(body.confirm);
    planned_or_erased(&app, &Erase::Namespace(namespace), None, body.dry_run, confirm).await.map(Json)
}

async fn planned_or_erased(
    app: &App,
    what: &Erase,
    plan: Option<&str>,
    dry_run: bool,
    confirmation: Confirmation,
) -> Result<Erased> {
    if dry_run {
        return Ok(Erased { plan: Some(app.htm.plan_erase(what).await?), erasure: None });
    }
    Ok(Erased { plan: None, erasure: Some(erase(app, what, plan, confirmation).await?) })
}

/// Erases, in a task of its own: a client that goes away does not stop it. The vacuum comes after the answer.
pub(crate) async fn erase(
    app: &App,
    what: &Erase,
    plan: Option<&str>,
    confirmation: Confirmation,
) -> Result<Erasure> {
    let begun = app.htm.begin_erasure(what, plan, confirmation).await?;
    finish(app.htm.clone(), begun.id).await
}

async fn finish(htm: Htm, erasure: i64) -> Result<Erasure> {
    let resumed = apart({
        let htm = htm.clone();
        async move { htm.resume_erasure(erasure, |_| {}).await }
    })
    .await??;
    tokio::spawn(
        async move {
            let _permit = VACUUM.acquire().await;
            if let Err(error) = htm.vacuum_erased(erasure).await {
                tracing::warn!(code = error.code(), erasure, "the tables of an erasure are not vacuumed yet");
            }
        }
        .in_current_span(),
    );
    Ok(resumed)
}

async fn apart<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Result<T> {
    let done = tokio::spawn(work.in_current_span()).await;
    done.map_err(|_| Problem::new(codes::INTERNAL_ERROR, "the server failed"))
}

/// The receipts to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListQuery {
    /// `next` of the previous page.
    #[param(value_type = Option<i64>)]
    cursor: Option<String>,
    /// The most receipts, 1 to 10,000. Default: 100.
    limit: Option<usize>,
}

/// Receipts of erasures.
#[derive(Debug, Serialize, ToSchema)]
struct Erasures {
    /// The newest first.
    erasures: Vec<Erasure>,
    /// The cursor of the next page; null: this is the last.
    next: Option<i64>,
}

/// List the receipts of erasures.
#[utoipa::path(get, path = "/v1/erasures", tag = "erasures", params(ListQuery),
    responses((status = 200, body = Erasures)))]
async fn list(app: App, Asked(asked): Asked<ListQuery>) -> Result<Json<Erasures>> {
    let limit = asked.limit.unwrap_or(100);
    let erasures = app.htm.erasures(cursor(asked.cursor.as_deref())?, limit).await?;
    let next = next(&erasures, limit, |it| it.id);
    Ok(Json(Erasures { erasures, next }))
}

/// Read the receipt of an erasure.
#[utoipa::path(get, path = "/v1/erasures/{id}", tag = "erasures", params(("id" = i64, Path)),
    responses((status = 200, body = Erasure)))]
async fn get(app: App, Named(id): Named<i64>) -> Result<Json<Erasure>> {
    Ok(Json(app.htm.erasure(id).await?))
}

/// Go on with an interrupted erasure. One that has ended is done again for what came back since.
#[utoipa::path(post, path = "/v1/erasures/{id}/resume", tag = "erasures", params(("id" = i64, Path)),
    responses((status = 200, body = Erasure)))]
async fn resume(app: App, Named(id): Named<i64>) -> Result<Json<Erasure>> {
    app.htm.erasure(id).await?;
    Ok(Json(finish(app.htm, id).await?))
}

/// A text to look for besides the numbers of the erased memories.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
struct Verifying {
    /// A text, looked for in every column of every table. It is kept nowhere. Only with a key for all namespaces.
    text: Option<String>,
}

/// Look for traces of an erasure in every table.
#[utoipa::path(post, path = "/v1/erasures/{id}/verify", tag = "erasures", params(("id" = i64, Path)),
    request_body = Verifying, responses((status = 200, body = Verification)))]
async fn verify(app: App, Named(id): Named<i64>, Body(body): Body<Verifying>) -> Result<Json<Verification>> {
    Ok(Json(app.htm.verify_erasure(id, body.text.as_deref()).await?))
}
