//! `/v1/tags`: changes of the ontology of a namespace. Each can be rehearsed, is logged, and can be reverted.

use axum::Json;
use htm_core::ontology::{
    ChangeKind, Changed, Descriptions, Imported, Leftover, Ontology, OntologyDocument, Removal, Term,
};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::{App, Shared};
use crate::extract::Body;
use crate::problem::Result;

pub(crate) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(add))
        .routes(routes!(remove))
        .routes(routes!(rename))
        .routes(routes!(merge))
        .routes(routes!(split))
        .routes(routes!(add_synonym))
        .routes(routes!(remove_synonym))
        .routes(routes!(mark_distinct))
        .routes(routes!(unmark_distinct))
        .routes(routes!(import))
        .routes(routes!(revert))
}

/// The namespace and the author of a change, and whether it is a dry run.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default)]
struct Change {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// The author in the log. Default: the server's robot.
    by: Option<String>,
    /// Answers with the plan, and changes nothing.
    dry_run: bool,
}

impl Change {
    fn ontology<'a>(&'a self, app: &'a App) -> Result<Ontology<'a>> {
        let ontology = app.htm.ontology(self.namespace.as_deref())?;
        let ontology = match &self.by {
            Some(by) => ontology.by(by),
            None => ontology,
        };
        Ok(if self.dry_run { ontology.dry_run() } else { ontology })
    }
}

/// A tag.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct TermBody {
    /// The tag, in any spelling.
    tag: String,
    /// Its description. Not given: it stays; empty: it is removed.
    description: Option<String>,
    /// Its synonyms.
    #[serde(default)]
    synonyms: Vec<String>,
}

fn terms(terms: Vec<TermBody>) -> Vec<Term> {
    let term = |it: TermBody| Term { tag: it.tag, description: it.description, synonyms: it.synonyms };
    terms.into_iter().map(term).collect()
}

/// Tags to add or to describe.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AddTags {
    #[serde(flatten)]
    change: Change,
    /// The tags.
    tags: Vec<TermBody>,
}

/// Add tags, or change their descriptions and synonyms.
#[utoipa::path(post, path = "/v1/tags/add", tag = "tags", request_body = AddTags,
    responses((status = 200, body = Changed)))]
async fn add(app: App, Body(body): Body<AddTags>) -> Result<Json<Changed>> {
    Ok(Json(body.change.ontology(&app)?.define(ChangeKind::Add, &terms(body.tags)).await?))
}

/// A tag to remove.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RemoveTag {
    #[serde(flatten)]
    change: Change,
    /// The tag.
    tag: String,
    /// Whether the memories that have it lose it. Otherwise such a tag is kept.
    #[serde(default)]
    assigned: bool,
}

/// Remove a tag.
#[utoipa::path(post, path = "/v1/tags/remove", tag = "tags", request_body = RemoveTag,
    responses((status = 200, body = Changed)))]
async fn remove(app: App, Body(body): Body<RemoveTag>) -> Result<Json<Changed>> {
    let removal = if body.assigned { Removal::Assigned } else { Removal::Unused };
    Ok(Json(body.change.ontology(&app)?.remove(&body.tag, removal).await?))
}

/// A new name of a tag.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RenameTag {
    #[serde(flatten)]
    change: Change,
    /// The tag.
    tag: String,
    /// Its new name.
    to: String,
}

/// Rename a tag, with all tags below it.
#[utoipa::path(post, path = "/v1/tags/rename", tag = "tags", request_body = RenameTag,
    responses((status = 200, body = Changed)))]
async fn rename(app: App, Body(body): Body<RenameTag>) -> Result<Json<Changed>> {
    Ok(Json(body.change.ontology(&app)?.rename(&body.tag, &body.to).await?))
}

/// A merge of tags.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct MergeTags {
    #[serde(flatten)]
    change: Change,
    /// The tags that go. Their names become synonyms.
    from: Vec<String>,
    /// The tag that stays.
    into: String,
}

/// Merge tags into one.
#[utoipa::path(post, path = "/v1/tags/merge", tag = "tags", request_body = MergeTags,
    responses((status = 200, body = Changed)))]
async fn merge(app: App, Body(body): Body<MergeTags>) -> Result<Json<Changed>> {
    let from: Vec<&str> = body.from.iter().map(String::as_str).collect();
    Ok(Json(body.change.ontology(&app)?.merge(&from, &body.into).await?))
}

/// A split of a tag.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct SplitTag {
    #[serde(flatten)]
    change: Change,
    /// The tag.
    tag: String,
    /// The tags in its place. A worker chooses for each memory.
    into: Vec<TermBody>,
    /// The tag of memories that fit none of them. Default: they keep the tag.
    #[serde(default)]
    leftover: Leftover,
}

/// Split a tag into several.
#[utoipa::path(post, path = "/v1/tags/split", tag = "tags", request_body = SplitTag,
    responses((status = 200, body = Changed)))]
async fn split(app: App, Body(body): Body<SplitTag>) -> Result<Json<Changed>> {
    let ontology = body.change.ontology(&app)?;
    Ok(Json(ontology.split(&body.tag, &terms(body.into), body.leftover).await?))
}

/// A synonym of a tag.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AddSynonym {
    #[serde(flatten)]
    change: Change,
    /// The other name.
    name: String,
    /// The tag.
    tag: String,
}

/// Add a synonym of a tag.
#[utoipa::path(post, path = "/v1/tags/synonyms/add", tag = "tags", request_body = AddSynonym,
    responses((status = 200, body = Changed)))]
async fn add_synonym(app: App, Body(body): Body<AddSynonym>) -> Result<Json<Changed>> {
    Ok(Json(body.change.ontology(&app)?.add_synonym(&body.name, &body.tag).await?))
}

/// A synonym to remove.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RemoveSynonym {
    #[serde(flatten)]
    change: Change,
    /// The other name.
    name: String,
}

/// Remove a synonym.
#[utoipa::path(post, path = "/v1/tags/synonyms/remove", tag = "tags", request_body = RemoveSynonym,
    responses((status = 200, body = Changed)))]
async fn remove_synonym(app: App, Body(body): Body<RemoveSynonym>) -> Result<Json<Changed>> {
    Ok(Json(body.change.ontology(&app)?.remove_synonym(&body.name).await?))
}

/// Two tags that are marked as distinct, or no longer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct TagPair {
    #[serde(flatten)]
    change: Change,
    /// One of them.
    tag: String,
    /// The other one.
    other: String,
}

/// Tell two tags apart: no merge of them is suggested.
#[utoipa::path(post, path = "/v1/tags/distinct/add", tag = "tags", request_body = TagPair,
    responses((status = 200, body = Changed)))]
async fn mark_distinct(app: App, Body(body): Body<TagPair>) -> Result<Json<Changed>> {
    Ok(Json(body.change.ontology(&app)?.mark_distinct(&body.tag, &body.other).await?))
}

/// Tell two tags apart no longer.
#[utoipa::path(post, path = "/v1/tags/distinct/remove", tag = "tags", request_body = TagPair,
    responses((status = 200, body = Changed)))]
async fn unmark_distinct(app: App, Body(body): Body<TagPair>) -> Result<Json<Changed>> {
    Ok(Json(body.change.ontology(&app)?.unmark_distinct(&body.tag, &body.other).await?))
}

/// An ontology to import.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ImportOntology {
    #[serde(flatten)]
    change: Change,
    /// The document, as the export makes it.
    document: OntologyDocument,
    /// Its source, for the log. Default: `http`.
    source: Option<String>,
    /// Whether its descriptions replace existing ones.
    #[serde(default)]
    overwrite_descriptions: bool,
}

/// Import an ontology document.
#[utoipa::path(post, path = "/v1/tags/import", tag = "tags", request_body = ImportOntology,
    responses((status = 200, body = Imported)))]
async fn import(app: App, Body(body): Body<ImportOntology>) -> Result<Json<Imported>> {
    let descriptions = if body.overwrite_descriptions { Descriptions::Overwrite } else { Descriptions::Keep };
    let source = body.source.as_deref().unwrap_or("http");
    let ontology = body.change.ontology(&app)?;
    Ok(Json(ontology.import(ChangeKind::Import, source, &body.document, descriptions).await?))
}

/// A change to revert.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RevertChange {
    #[serde(flatten)]
    change: Change,
    /// Its number in the log.
    id: i64,
}

/// Revert a change of the log.
#[utoipa::path(post, path = "/v1/tags/revert", tag = "tags", request_body = RevertChange,
    responses((status = 200, body = Changed)))]
async fn revert(app: App, Body(body): Body<RevertChange>) -> Result<Json<Changed>> {
    Ok(Json(body.change.ontology(&app)?.revert(body.id).await?))
}
