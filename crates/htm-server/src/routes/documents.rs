//! `/v1/documents`: files whose text is remembered as passages.

use axum::Json;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use htm_core::{DocumentInfo, LoadedDocument, Node, UnloadedDocuments};
use htm_documents::{Cutting, Unreadable, read_with};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::{App, Shared};
use crate::codes;
use crate::extract::{Asked, Body, cursor, next};
use crate::problem::{Problem, Result};
use crate::routes::memories::caller;

pub(crate) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(list, load, unload)).routes(routes!(passages))
}

/// Documents of a namespace.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct DocumentsQuery {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// Only documents at or below this path.
    below: Option<String>,
    /// `next` of the previous page.
    cursor: Option<String>,
    /// The most documents, 1 to 10,000. Default: 100.
    limit: Option<usize>,
}

/// A page of documents, in the order of their paths.
#[derive(Debug, Serialize, ToSchema)]
struct DocumentPage {
    documents: Vec<DocumentInfo>,
    /// The cursor of the next page; null: this is the last.
    next: Option<String>,
}

/// List the documents of a namespace.
#[utoipa::path(get, path = "/v1/documents", tag = "documents", params(DocumentsQuery),
    responses((status = 200, body = DocumentPage)))]
async fn list(app: App, Asked(asked): Asked<DocumentsQuery>) -> Result<Json<DocumentPage>> {
    let limit = asked.limit.unwrap_or(100);
    let (namespace, below) = (asked.namespace.as_deref(), asked.below.as_deref());
    let documents = app.htm.documents(namespace, below, asked.cursor.as_deref(), limit).await?;
    let next = next(&documents, limit, |document| document.path.clone());
    Ok(Json(DocumentPage { documents, next }))
}

/// A document to load.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct DocumentBody {
    /// Its path, which identifies it in its namespace. Its extension tells the kind of the file.
    path: String,
    /// The text of the file. Instead: `bytes`.
    text: Option<String>,
    /// The bytes of the file in base64, such as those of a PDF.
    bytes: Option<String>,
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// The robot that loads: it may change the documents that it loaded. Default: the server's.
    robot: Option<String>,
    /// Whether a document of any robot may be changed.
    #[serde(default)]
    any_robot: bool,
    /// Tags of each passage, beside those of the front matter.
    #[serde(default)]
    tags: Vec<String>,
    /// The most characters of a passage, 200 to 100,000. Default: 1,000.
    #[schema(minimum = 200, maximum = 100_000)]
    size: Option<u32>,
    /// The characters that a passage repeats of the one before it, up to half of the size. Default: 100.
    #[schema(maximum = 50_000)]
    overlap: Option<u32>,
}

/// The loaded document.
#[derive(Debug, Serialize, ToSchema)]
struct DocumentAnswer {
    #[serde(flatten)]
    loaded: LoadedDocument,
    /// The tags of the front matter that are not valid.
    tags_left_out: Vec<String>,
    /// The pages of a PDF that cannot be read.
    pages_left_out: Vec<u32>,
    /// The date of the front matter, if it cannot be read.
    date_left_out: Option<String>,
    /// Why the front matter cannot be read, if it cannot. It is no part of the text then.
    front_matter_left_out: Option<String>,
}

impl DocumentBody {
    fn file(&mut self) -> Result<Vec<u8>> {
        match (self.text.take(), self.bytes.take()) {
            (Some(text), None) => Ok(text.into_bytes()),
            (None, Some(bytes)) => STANDARD.decode(bytes).map_err(|error| {
                Problem::new(codes::BODY_INVALID, format!("`bytes` is not base64: {error}"))
            }),
            _ => Err(Problem::new(
                codes::BODY_INVALID,
                "give the file as `text` or as `bytes`, and not as both",
            )),
        }
    }

    fn cutting(&self) -> Result<Cutting> {
        let plain = Cutting::default();
        let size = self.size.map_or(plain.size, |size| size as usize);
        let overlap = self.overlap.map_or(plain.overlap, |overlap| overlap as usize);
        if !(200..=100_000).contains(&size) || overlap > size / 2 {
            let problem = format!(
                "size {size} is outside 200 to 100,000, or overlap {overlap} is more than half of the size"
            );
            return Err(Problem::new(codes::BODY_INVALID, problem));
        }
        Ok(Cutting { size, overlap, ..plain })
    }
}

/// Load a document.
///
/// Its passages take the place of those that it had. A passage with the same text keeps its memory. A document without a
/// change is not written.
#[utoipa::path(put, path = "/v1/documents", tag = "documents", request_body = DocumentBody,
    responses((status = 200, body = DocumentAnswer)))]
async fn load(app: App, Body(mut body): Body<DocumentBody>) -> Result<Json<DocumentAnswer>> {
    let (file, cutting, tags) = (body.file()?, body.cutting()?, app.tags(&body.tags)?);
    let (path, size) = (body.path.clone(), file.len() as u64);
    let unreadable = |reason: Unreadable| {
        Problem::new(
            codes::DOCUMENT_UNREADABLE,
            format!("`{}` cannot be loaded: {}", body.path, reason.describe()),
        )
    };
    let pdfs = app.shared.pdfs.clone();
    let cut = tokio::task::spawn_blocking(move || read_with(&path, &file, &cutting, &pdfs)).await;
    let mut cut = cut.unwrap_or(Err(Unreadable::Damaged)).map_err(unreadable)?;
    let (pages_left_out, date_left_out) = (std::mem::take(&mut cut.pages_left_out), cut.date_left_out.take());
    let front_matter_left_out = cut.front_matter_left_out.take();
    let (mut document, tags_left_out) = cut.document(&body.path, size, app.htm.tag_rules(), &tags);
    document.namespace = body.namespace.clone();
    let caller = caller(&app, body.namespace, body.robot, body.any_robot);
    let loaded = app.htm.load_document(&document, &caller).await?;
    let answer =
        DocumentAnswer { loaded, tags_left_out, pages_left_out, date_left_out, front_matter_left_out };
    Ok(Json(answer))
}

/// A document to unload, and who unloads it.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Unloading {
    /// Its path, or a directory for all documents below it.
    path: String,
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// The robot that asks: it may unload the documents that it loaded. Default: the server's.
    robot: Option<String>,
    /// Whether documents of any robot may be unloaded.
    #[serde(default)]
    any_robot: bool,
}

/// Unload a document, or all documents below a directory.
///
/// Their passages are forgotten. Each can be restored until it is purged.
#[utoipa::path(delete, path = "/v1/documents", tag = "documents", params(Unloading),
    responses((status = 200, body = UnloadedDocuments)))]
async fn unload(app: App, Asked(asked): Asked<Unloading>) -> Result<Json<UnloadedDocuments>> {
    let caller = caller(&app, asked.namespace.clone(), asked.robot, asked.any_robot);
    Ok(Json(app.htm.unload_documents(asked.namespace.as_deref(), &asked.path, &caller).await?))
}

/// The passages of a document.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct PassagesQuery {
    /// The path of the document.
    path: String,
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// `next` of the previous page.
    #[param(value_type = Option<i32>)]
    cursor: Option<String>,
    /// The most passages, 1 to 10,000. Default: 100.
    limit: Option<usize>,
}

/// A document, and a page of its passages in their order.
#[derive(Debug, Serialize, ToSchema)]
struct PassagePage {
    document: DocumentInfo,
    passages: Vec<Node>,
    /// The cursor of the next page; null: this is the last.
    next: Option<i32>,
}

/// Read a document: its passages in their order.
#[utoipa::path(get, path = "/v1/documents/passages", tag = "documents", params(PassagesQuery),
    responses((status = 200, body = PassagePage)))]
async fn passages(app: App, Asked(asked): Asked<PassagesQuery>) -> Result<Json<PassagePage>> {
    let (namespace, limit) = (asked.namespace.as_deref(), asked.limit.unwrap_or(100));
    let after = cursor(asked.cursor.as_deref())?;
    let document = app.htm.document(namespace, &asked.path).await?;
    let passages = app.htm.passages(namespace, &asked.path, after, limit).await?;
    let next = next(&passages, limit, |passage| passage.seq.unwrap_or_default());
    Ok(Json(PassagePage { document, passages, next }))
}
