//! Forgetting and restoring, one memory or those that match a text.

use axum::Json;
use htm_core::error::codes::REVISION_CONFLICT;
use htm_core::{Confirmation, Erase, Erasure, ForgetPlan, Forgotten, ForgottenNode, NodeId, Restored, Role};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::enough;
use crate::app::{App, Shared};
use crate::extract::{Asked, Body, IfMatch, Named, next};
use crate::idempotency::{Once, answer_of};
use crate::problem::{Problem, Result, of_request};
use crate::routes::memories::caller;

pub(crate) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(forget))
        .routes(routes!(restore))
        .routes(routes!(forget_matching))
        .routes(routes!(forgotten))
}

/// The robot that forgets, and its confirmation.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Forgetting {
    /// The namespace of the robot that forgets. Default: the server's.
    namespace: Option<String>,
    /// The robot that forgets: it may forget what it remembered. Default: the server's.
    robot: Option<String>,
    /// Whether a memory of any robot may be forgotten.
    #[serde(default)]
    any_robot: bool,
    /// The act is refused without it.
    #[serde(default)]
    confirm: bool,
    /// Whether the memory is erased with every trace, at once and for all robots. It cannot be undone. Needs the role
    /// admin.
    #[serde(default)]
    erase: bool,
}

/// The outcome for a memory.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
enum Deleted {
    /// It is forgotten.
    Forgotten(Forgotten),
    /// It is erased: the receipt.
    Erased(Erasure),
}

pub(crate) fn confirmation(confirm: bool) -> Confirmation {
    if confirm { Confirmation::Confirmed } else { Confirmation::Missing }
}

/// Forget a memory, or erase it.
///
/// Nothing finds a forgotten memory; it can be restored until it is purged. With `If-Match`, it fails if the text has another
/// revision by now (412).
#[utoipa::path(delete, path = "/v1/memories/{id}", tag = "memories",
    params(("id" = i64, Path), Forgetting,
        ("If-Match" = Option<String>, Header, description = "The ETag that was read")),
    responses((status = 200, body = Deleted)))]
async fn forget(
    app: App,
    Named(id): Named<NodeId>,
    IfMatch(revision): IfMatch,
    once: Once,
    Asked(asked): Asked<Forgetting>,
) -> Result<Json<Deleted>> {
    if asked.erase {
        return Ok(Json(Deleted::Erased(erase(&app, id, revision, asked.confirm).await?)));
    }
    let caller = caller(&app, asked.namespace, asked.robot, asked.any_robot);
    let confirmation = confirmation(asked.confirm);
    let forgotten = app.htm.forget_once(id, revision, &caller, confirmation, once.keeps(answer_of)).await;
    Ok(Json(Deleted::Forgotten(of_request(forgotten, revision)?)))
}

fn conflict(id: NodeId, current: i32, revision: i32) -> Problem {
    let problem = format!("memory {id} has revision {current}, not {revision}");
    let error = htm_core::Error::new(REVISION_CONFLICT, problem).with_value("node", id);
    Problem::from(error).of_precondition()
}

/// Erases a memory, if it has the given revision.
async fn erase(app: &App, id: NodeId, revision: Option<i32>, confirm: bool) -> Result<Erasure> {
    enough(app.role, Role::Admin, "`erase`")?;
    let what = Erase::Memories(vec![id]);
    let plan = match revision {
        None => None,
        Some(revision) => {
            let plan = app.htm.plan_erase(&what).await?;
            let current = plan.matches.first().map_or(0, |found| found.revision);
            if current != revision {
                return Err(conflict(id, current, revision));
            }
            Some(plan.plan)
        }
    };
    super::erase::erase(app, &what, plan.as_deref(), confirmation(confirm)).await
}

/// The memories to forget: those that match a text.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ForgetMatching {
    /// The words that they contain.
    text: String,
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// The robot that forgets: it may forget what it remembered. Default: the server's.
    robot: Option<String>,
    /// Whether memories of any robot may be forgotten.
    #[serde(default)]
    any_robot: bool,
    /// Answers with the plan, and forgets nothing.
    #[serde(default)]
    dry_run: bool,
    /// The act is refused without it.
    #[serde(default)]
    confirm: bool,
}

/// The plan, and what was forgotten.
#[derive(Debug, Serialize, ToSchema)]
struct MatchingForgotten {
    /// The matches.
    plan: ForgetPlan,
    /// The forgotten memories. Null for a dry run.
    forgotten: Option<Forgotten>,
}

/// Forget the memories that match a text.
#[utoipa::path(post, path = "/v1/memories/forget", tag = "memories", request_body = ForgetMatching,
    responses((status = 200, body = MatchingForgotten)))]
async fn forget_matching(app: App, Body(body): Body<ForgetMatching>) -> Result<Json<MatchingForgotten>> {
    let namespace = app.namespace(body.namespace.as_deref()).to_owned();
    let caller = caller(&app, body.namespace, body.robot, body.any_robot);
    let plan = app.htm.plan_forget(&body.text, Some(&namespace), &caller).await?;
    let forgotten = match body.dry_run {
        true => None,
        false => Some(app.htm.forget_planned(&plan, &caller, confirmation(body.confirm)).await?),
    };
    Ok(Json(MatchingForgotten { plan, forgotten }))
}

/// The forgotten memories of a namespace.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ForgottenQuery {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// `next` of the previous page.
    cursor: Option<String>,
    /// The most memories, 1 to 10,000. Default: 20.
    limit: Option<usize>,
}

/// A page of forgotten memories.
#[derive(Debug, Serialize, ToSchema)]
struct ForgottenPage {
    memories: Vec<ForgottenNode>,
    /// The cursor of the next page; null: this is the last.
    next: Option<String>,
}

/// List forgotten memories, the latest first.
#[utoipa::path(get, path = "/v1/memories/forgotten", tag = "memories", params(ForgottenQuery),
    responses((status = 200, body = ForgottenPage)))]
async fn forgotten(app: App, Asked(asked): Asked<ForgottenQuery>) -> Result<Json<ForgottenPage>> {
    let namespace = app.namespace(asked.namespace.as_deref());
    let before = asked.cursor.as_deref().map(str::parse).transpose()?;
    let limit = asked.limit.unwrap_or(20);
    let memories = app.htm.forgotten(Some(namespace), before, limit).await?;
    let next = next(&memories, limit, |it| it.cursor().to_string());
    Ok(Json(ForgottenPage { memories, next }))
}

/// The robot that restores.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
struct Restoring {
    /// The namespace of the robot that restores. Default: the server's.
    namespace: Option<String>,
    /// The robot that restores: it may restore what it remembered. Default: the server's.
    robot: Option<String>,
    /// Whether a memory of any robot may be restored.
    any_robot: bool,
}

/// Restore a forgotten memory.
///
/// With `If-Match`, it fails if the text has another revision by now (412).
#[utoipa::path(post, path = "/v1/memories/{id}/restore", tag = "memories",
    params(("id" = i64, Path), ("If-Match" = Option<String>, Header, description = "The ETag that was read")),
    request_body = Restoring, responses((status = 200, body = Restored)))]
async fn restore(
    app: App,
    Named(id): Named<NodeId>,
    IfMatch(revision): IfMatch,
    once: Once,
    Body(body): Body<Restoring>,
) -> Result<Json<Restored>> {
    let caller = caller(&app, body.namespace, body.robot, body.any_robot);
    let restored = app.htm.restore_once(id, revision, &caller, once.keeps(answer_of)).await;
    of_request(restored, revision).map(Json).map_err(|problem| match problem.is(REVISION_CONFLICT) {
        // A forgotten memory is read by no path.
        true => problem.with_hint("send the revision that it has as If-Match, or send none"),
        false => problem,
    })
}
