//! `/v1/export`: everything that is stored, as a stream of JSON Lines.

use std::io;
use std::sync::LazyLock;

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::stream;
use htm_core::{ExportOptions, Exporter};
use tokio::sync::mpsc::{Sender, channel};
use tokio_util::sync::CancellationToken;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::import::NDJSON;
use crate::app::{App, Shared};
use crate::codes;
use crate::extract::Asked;
use crate::permits::{Permit, Permits};
use crate::problem::{Problem, Result};

/// Each holds a connection and a snapshot.
static EXPORTS: LazyLock<Permits> = LazyLock::new(|| Permits::new("exports are running", 2, 1));

pub(crate) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(export))
}

/// Export everything that is stored as a stream of JSON Lines.
///
/// The first line says what the export has, the last one, of the kind `end`, how many lines of each kind it has: a
/// stream without it was cut. `/v1/import` restores it. The export is one snapshot. Two exports run at a time, one
/// of them for a key of some namespaces.
#[utoipa::path(get, path = "/v1/export", tag = "memories",
    params(
        ("namespace" = Option<Vec<String>>, Query, description = "The namespaces; repeated for several. Default: all."),
        ("forgotten" = Option<bool>, Query, description = "Also forgotten memories."),
        ("vectors" = Option<bool>, Query, description = "Also the vectors of the embedding models."),
    ),
    responses((status = 200, body = String, content_type = "application/x-ndjson")))]
async fn export(app: App, Asked(asked): Asked<Vec<(String, String)>>) -> Result<Response> {
    let options = options(asked)?;
    let permit = EXPORTS.take(&app.htm)?;
    let export = app.htm.export(options).await?;
    let (blocks, answer) = channel(1);
    tokio::spawn(run(export, permit, app.shared.stop.clone(), blocks));
    let lines = stream::try_unfold(answer, async |mut answer| match answer.recv().await {
        Some(Some(block)) => Ok(Some((block, answer))),
        Some(None) => Ok(None),
        // The connection is closed without an end, so that the client sees it.
        None => Err(io::Error::other("the export ended early")),
    });
    Ok(([(CONTENT_TYPE, NDJSON)], Body::from_stream(lines)).into_response())
}

fn options(asked: Vec<(String, String)>) -> Result<ExportOptions> {
    let mut options = ExportOptions::default();
    for (name, value) in asked {
        let refused = |what: &str| Err(Problem::new(codes::QUERY_INVALID, format!("`{name}` {what}")));
        let flag = match value.as_str() {
            "true" | "" => Some(true),
            "false" => Some(false),
            _ => None,
        };
        match (name.as_str(), flag) {
            ("namespace", _) => options.namespaces.push(value),
            ("forgotten", Some(flag)) => options.forgotten = flag,
            ("vectors", Some(flag)) => options.vectors = flag,
            ("forgotten" | "vectors", None) => return refused("is neither true nor false"),
            _ => return refused("is no parameter; there are namespace, forgotten and vectors"),
        }
    }
    Ok(options)
}

/// Sends the blocks of an export, and nothing as its end. The end of the connection ends it, and so does the stop of the
/// server.
async fn run(mut export: Exporter, _permit: Permit, stop: CancellationToken, blocks: Sender<Option<Bytes>>) {
    loop {
        let next = tokio::select! {
            () = stop.cancelled() => return,
            () = blocks.closed() => return,
            next = export.next() => next,
        };
        let block = match next {
            Ok(block) => block.map(Bytes::from),
            Err(error) => return tracing::warn!(code = error.code(), "an export ended early"),
        };
        let is_end = block.is_none();
        if blocks.send(block).await.is_err() || is_end {
            return;
        }
    }
}
