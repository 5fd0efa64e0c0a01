//! `/v1/tags`: looking at the ontology of a namespace.

use axum::Json;
use htm_core::NodeId;
use htm_core::ontology::{
    CoOccurrence, DistinctTags, LoggedChange, OntologyDocument, Orphan, SimilarTag, Suggestion, Synonym,
    TagDetails, TagUse, TaggedNode,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::{App, Shared};
use crate::extract::{Asked, Named, cursor, limit, next};
use crate::problem::Result;
use crate::routes::memories::InNamespace;

pub(crate) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(get))
        .routes(routes!(memories))
        .routes(routes!(similar))
        .routes(routes!(cooccurring))
        .routes(routes!(orphans))
        .routes(routes!(suggestions))
        .routes(routes!(distinct))
        .routes(routes!(synonyms))
        .routes(routes!(export))
        .routes(routes!(log))
}

/// The tags to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListQuery {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// Only this tag and those below it.
    below: Option<String>,
    /// `next` of the previous page.
    cursor: Option<String>,
    /// The most tags, 1 to 10,000. Default: 1,000.
    limit: Option<u32>,
}

/// A page of tags, by their paths.
#[derive(Debug, Serialize, ToSchema)]
struct TagPage {
    tags: Vec<TagUse>,
    /// The cursor of the next page; null: this is the last.
    next: Option<String>,
}

/// List tags by their paths, with the number of their memories.
#[utoipa::path(get, path = "/v1/tags", tag = "tags", params(ListQuery),
    responses((status = 200, body = TagPage)))]
async fn list(app: App, Asked(asked): Asked<ListQuery>) -> Result<Json<TagPage>> {
    let limit = limit(asked.limit, 1_000, 10_000)? as usize;
    // The counts of all tags are made at once, for every page.
    let mut tags = app.htm.ontology(asked.namespace.as_deref())?.list(asked.below.as_deref()).await?;
    if let Some(cursor) = asked.cursor {
        let first = tags.partition_point(|tag| tag.tag.as_str().split(':').le(cursor.split(':')));
        tags.drain(..first);
    }
    tags.truncate(limit);
    let next = next(&tags, limit, |tag| tag.tag.to_string());
    Ok(Json(TagPage { tags, next }))
}

/// Read a tag: its description, synonyms, children and newest memories.
#[utoipa::path(get, path = "/v1/tags/show/{tag}", tag = "tags", params(("tag" = String, Path), InNamespace),
    responses((status = 200, body = TagDetails)))]
async fn get(
    app: App,
    Named(tag): Named<String>,
    Asked(place): Asked<InNamespace>,
) -> Result<Json<TagDetails>> {
    Ok(Json(app.htm.ontology(place.namespace.as_deref())?.show(&tag).await?))
}

/// A page of a tag's memories.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct NodesQuery {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// `next` of the previous page.
    #[param(value_type = Option<i64>)]
    cursor: Option<String>,
    /// The most memories. Default: 100, at most 1,000.
    limit: Option<u32>,
}

/// A page of a tag's memories, the newest first.
#[derive(Debug, Serialize, ToSchema)]
struct TaggedNodes {
    nodes: Vec<TaggedNode>,
    /// The cursor of the next page; null: this is the last.
    next: Option<NodeId>,
}

/// List the memories with a tag or one below it.
#[utoipa::path(get, path = "/v1/tags/memories/{tag}", tag = "tags", params(("tag" = String, Path), NodesQuery),
    responses((status = 200, body = TaggedNodes)))]
async fn memories(
    app: App,
    Named(tag): Named<String>,
    Asked(asked): Asked<NodesQuery>,
) -> Result<Json<TaggedNodes>> {
    let limit = limit(asked.limit, 100, 1_000)?;
    let ontology = app.htm.ontology(asked.namespace.as_deref())?;
    let nodes = ontology.nodes(&tag, cursor(asked.cursor.as_deref())?, limit).await?;
    let next = next(&nodes, limit as usize, |it| it.node);
    Ok(Json(TaggedNodes { nodes, next }))
}

/// A text that is like a tag.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct SimilarQuery {
    /// The text.
    q: String,
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// The most tags. Default: 10, at most 1,000.
    limit: Option<u32>,
}

/// List tags with a similar name, the nearest first.
#[utoipa::path(get, path = "/v1/tags/similar", tag = "tags", params(SimilarQuery),
    responses((status = 200, body = Vec<SimilarTag>)))]
async fn similar(app: App, Asked(asked): Asked<SimilarQuery>) -> Result<Json<Vec<SimilarTag>>> {
    let ontology = app.htm.ontology(asked.namespace.as_deref())?;
    Ok(Json(ontology.similar(&asked.q, limit(asked.limit, 10, 1_000)?).await?))
}

/// Pairs of tags on the same memories.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct CooccurringQuery {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// Only pairs with this tag.
    tag: Option<String>,
    /// The fewest memories with both. Default: 2.
    min_memories: Option<u32>,
    /// The most pairs. Default: 20, at most 1,000.
    limit: Option<u32>,
}

/// List pairs of tags that are on the same memories.
#[utoipa::path(get, path = "/v1/tags/cooccurring", tag = "tags", params(CooccurringQuery),
    responses((status = 200, body = Vec<CoOccurrence>)))]
async fn cooccurring(app: App, Asked(asked): Asked<CooccurringQuery>) -> Result<Json<Vec<CoOccurrence>>> {
    let ontology = app.htm.ontology(asked.namespace.as_deref())?;
    let (least, limit) = (asked.min_memories.unwrap_or(2), limit(asked.limit, 20, 1_000)?);
    let all = htm_core::Filter::default();
    Ok(Json(ontology.cooccurring(asked.tag.as_deref(), &all, least, limit).await?))
}

/// Tags that few memories have.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct OrphansQuery {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// The most memories of such a tag. Default: 0.
    max_memories: Option<u32>,
}

/// List tags that no or few memories have.
#[utoipa::path(get, path = "/v1/tags/orphans", tag = "tags", params(OrphansQuery),
    responses((status = 200, body = Vec<Orphan>)))]
async fn orphans(app: App, Asked(asked): Asked<OrphansQuery>) -> Result<Json<Vec<Orphan>>> {
    let ontology = app.htm.ontology(asked.namespace.as_deref())?;
    Ok(Json(ontology.orphans(asked.max_memories.unwrap_or_default()).await?))
}

/// The most entries of a list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Top {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// The most entries. Default: 20, at most 1,000.
    limit: Option<u32>,
}

/// List merges of tags that mean the same, by their names and their memories.
#[utoipa::path(get, path = "/v1/tags/suggestions", tag = "tags", params(Top),
    responses((status = 200, body = Vec<Suggestion>)))]
async fn suggestions(app: App, Asked(asked): Asked<Top>) -> Result<Json<Vec<Suggestion>>> {
    let ontology = app.htm.ontology(asked.namespace.as_deref())?;
    Ok(Json(ontology.suggest(None, limit(asked.limit, 20, 1_000)?).await?))
}

/// List pairs of tags declared distinct, by their names.
#[utoipa::path(get, path = "/v1/tags/distinct", tag = "tags", params(InNamespace),
    responses((status = 200, body = Vec<DistinctTags>)))]
async fn distinct(app: App, Asked(place): Asked<InNamespace>) -> Result<Json<Vec<DistinctTags>>> {
    Ok(Json(app.htm.ontology(place.namespace.as_deref())?.distinct().await?))
}

/// List synonyms by tag.
#[utoipa::path(get, path = "/v1/tags/synonyms", tag = "tags", params(InNamespace),
    responses((status = 200, body = Vec<Synonym>)))]
async fn synonyms(app: App, Asked(place): Asked<InNamespace>) -> Result<Json<Vec<Synonym>>> {
    Ok(Json(app.htm.ontology(place.namespace.as_deref())?.synonyms().await?))
}

/// Export the ontology as a document.
#[utoipa::path(get, path = "/v1/tags/export", tag = "tags", params(InNamespace),
    responses((status = 200, body = OntologyDocument)))]
async fn export(app: App, Asked(place): Asked<InNamespace>) -> Result<Json<OntologyDocument>> {
    Ok(Json(app.htm.ontology(place.namespace.as_deref())?.export().await?))
}

/// The changes to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct LogQuery {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// `next` of the previous page.
    #[param(value_type = Option<i64>)]
    cursor: Option<String>,
    /// The most changes, 1 to 1,000. Default: 20.
    limit: Option<u32>,
}

/// A page of changes.
#[derive(Debug, Serialize, ToSchema)]
struct Changes {
    changes: Vec<LoggedChange>,
    /// The cursor of the next page; null: this is the last.
    next: Option<i64>,
}

/// List changes of the ontology, the latest first.
#[utoipa::path(get, path = "/v1/tags/log", tag = "tags", params(LogQuery),
    responses((status = 200, body = Changes)))]
async fn log(app: App, Asked(asked): Asked<LogQuery>) -> Result<Json<Changes>> {
    let limit = limit(asked.limit, 20, 1_000)?;
    let before = cursor(asked.cursor.as_deref())?;
    let changes = app.htm.ontology(asked.namespace.as_deref())?.log(before, limit).await?;
    let next = next(&changes, limit as usize, |it| it.change);
    Ok(Json(Changes { changes, next }))
}
