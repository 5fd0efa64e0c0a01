//! `/v1/learning`, `/v1/recalls/{id}/feedback`, `/v1/rankings`.

use axum::Json;
use htm_core::{
    Feedback, FeedbackReceipt, Learning, LearningSettings, NodeId, RankingComparison, RankingInfo, Rankings,
    Signal, Trial, TrialKind,
};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::{App, Shared};
use crate::extract::{Asked, Body, Named};
use crate::problem::Result;
use crate::routes::memories::InNamespace;

pub(crate) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(feedback))
        .routes(routes!(learning, set_learning))
        .routes(routes!(rankings))
        .routes(routes!(ranking))
        .routes(routes!(compare))
        .routes(routes!(activate))
        .routes(routes!(revert))
        .routes(routes!(try_ranking))
}

/// The memories of a recall that were used, and those that were useless.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct FeedbackBody {
    /// The memories that were used.
    #[serde(default)]
    used: Vec<NodeId>,
    /// The memories that were useless.
    #[serde(default)]
    useless: Vec<NodeId>,
}

/// Judge a recall.
///
/// Recalls have a `recall_id` where learning is on; `last` is the last recall with the same key. A later verdict on a memory replaces the earlier one of the same key.
#[utoipa::path(post, path = "/v1/recalls/{id}/feedback", tag = "learning", request_body = FeedbackBody,
    params(("id" = String, Path)), responses((status = 200, body = FeedbackReceipt)))]
async fn feedback(
    app: App,
    Named(id): Named<String>,
    Body(body): Body<FeedbackBody>,
) -> Result<Json<FeedbackReceipt>> {
    let feedback = Feedback { used: body.used, useless: body.useless };
    Ok(Json(app.htm.feedback(&id, &feedback).await?))
}

/// Read what a namespace keeps of its recalls, and who judges them.
#[utoipa::path(get, path = "/v1/learning", tag = "learning", params(InNamespace),
    responses((status = 200, body = Learning)))]
async fn learning(app: App, Asked(place): Asked<InNamespace>) -> Result<Json<Learning>> {
    Ok(Json(app.htm.learning(place.namespace.as_deref()).await?))
}

/// The settings of learning in a namespace. A field that is not given has its default.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct LearningBody {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// Whether recalls are kept, so that they can be judged.
    is_on: bool,
    /// The namespace whose ranking it shares. Default: its own.
    learns_with: Option<String>,
    /// Whether the texts of queries are kept too. Default: false.
    keeps_text: Option<bool>,
    /// The days for which a judged recall is kept, 1 to 3,650. Default: 90.
    keep_days: Option<i32>,
    /// The number of judged recalls from which a ranking is learnt, 20 to 100,000. Default: 100.
    least: Option<i32>,
    /// The signals that count beside feedback. Default: none.
    signals: Option<Vec<Signal>>,
}

/// Set what a namespace keeps of its recalls.
#[utoipa::path(put, path = "/v1/learning", tag = "learning", request_body = LearningBody,
    responses((status = 200, body = Learning)))]
async fn set_learning(app: App, Body(body): Body<LearningBody>) -> Result<Json<Learning>> {
    let default = LearningSettings::default();
    let settings = LearningSettings {
        is_on: body.is_on,
        learns_with: body.learns_with,
        keeps_text: body.keeps_text.unwrap_or(default.keeps_text),
        keep_days: body.keep_days.unwrap_or(default.keep_days),
        least: body.least.unwrap_or(default.least),
        signals: body.signals.unwrap_or(default.signals),
    };
    Ok(Json(app.htm.set_learning(body.namespace.as_deref(), &settings).await?))
}

/// List the learnt rankings of a namespace, and which one is used.
#[utoipa::path(get, path = "/v1/rankings", tag = "learning", params(InNamespace),
    responses((status = 200, body = Rankings)))]
async fn rankings(app: App, Asked(place): Asked<InNamespace>) -> Result<Json<Rankings>> {
    Ok(Json(app.htm.rankings(place.namespace.as_deref()).await?))
}

/// Show a learnt ranking: what it weighs, from what it was learnt, and how sure it is.
#[utoipa::path(get, path = "/v1/rankings/{version}", tag = "learning", params(("version" = i32, Path), InNamespace),
    responses((status = 200, body = RankingInfo)))]
async fn ranking(
    app: App,
    Named(version): Named<i32>,
    Asked(place): Asked<InNamespace>,
) -> Result<Json<RankingInfo>> {
    Ok(Json(app.htm.ranking(place.namespace.as_deref(), version).await?))
}

/// Compare a ranking that was tried on live recalls with the one that answered.
#[utoipa::path(get, path = "/v1/rankings/{version}/comparison", tag = "learning",
    params(("version" = i32, Path), InNamespace), responses((status = 200, body = RankingComparison)))]
async fn compare(
    app: App,
    Named(version): Named<i32>,
    Asked(place): Asked<InNamespace>,
) -> Result<Json<RankingComparison>> {
    Ok(Json(app.htm.compare_rankings(place.namespace.as_deref(), version).await?))
}

/// The version to use.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ActivateBody {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// The version; 0 is the default ranking.
    version: i32,
}

/// Order the hits of a namespace by a version from now on.
#[utoipa::path(post, path = "/v1/rankings/activate", tag = "learning", request_body = ActivateBody,
    responses((status = 200, body = Rankings)))]
async fn activate(app: App, Body(body): Body<ActivateBody>) -> Result<Json<Rankings>> {
    Ok(Json(app.htm.activate_ranking(body.namespace.as_deref(), body.version).await?))
}

/// The namespace whose ranking is reverted.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RevertBody {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
}

/// Order the hits of a namespace by the version before the present one again.
#[utoipa::path(post, path = "/v1/rankings/revert", tag = "learning", request_body = RevertBody,
    responses((status = 200, body = Rankings)))]
async fn revert(app: App, Body(body): Body<RevertBody>) -> Result<Json<Rankings>> {
    Ok(Json(app.htm.revert_ranking(body.namespace.as_deref()).await?))
}

/// The version to try on live recalls.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct TryBody {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// The version; null ends the trial.
    version: Option<i32>,
    /// The way. Default: shadow.
    kind: Option<TrialKind>,
}

/// Try a version on live recalls, in the shadow or interleaved.
#[utoipa::path(put, path = "/v1/rankings/trial", tag = "learning", request_body = TryBody,
    responses((status = 200, body = Rankings)))]
async fn try_ranking(app: App, Body(body): Body<TryBody>) -> Result<Json<Rankings>> {
    let kind = body.kind.unwrap_or(TrialKind::Shadow);
    let trial = body.version.map(|version| Trial { version, kind });
    Ok(Json(app.htm.try_ranking(body.namespace.as_deref(), trial).await?))
}
