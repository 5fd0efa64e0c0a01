//! `/v1/import`: memories or an export as a stream of JSON Lines, with a result for each line.

use std::io;
use std::sync::LazyLock;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use futures::{StreamExt, TryStreamExt, stream};
use htm_core::{ImportedLine, LineResult, MAX_LINE_BYTES, Role};
use serde::Serialize;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::timeout;
use tokio_util::codec::{AnyDelimiterCodec, AnyDelimiterCodecError, Decoder, FramedRead};
use tokio_util::io::StreamReader;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::{App, Shared};
use crate::codes;
use crate::extract::plain_only;
use crate::permits::{Permit, Permits};
use crate::problem::{Details, Problem, Result};
use crate::weight;

/// The media type of JSON Lines.
pub(super) const NDJSON: &str = "application/x-ndjson";

/// The most lines of a request. Results that the client has not read yet are kept in memory.
const MAX_LINES: u64 = 100_000;

/// The lines that one transaction writes, and the most bytes of their texts.
const CHUNK: (usize, usize) = (500, 4 << 20);

/// The most bytes that these lines take in memory.
const CHUNK_WEIGHT: usize = 32 << 20;

/// A client that sends nothing for this time has the results of what it has sent.
const PAUSE: Duration = Duration::from_secs(1);

/// Each has a chunk in memory.
static IMPORTS: LazyLock<Permits> = LazyLock::new(|| Permits::new("imports are running", 4, 2));

pub(crate) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(import))
}

/// The result of a line.
#[derive(Debug, Serialize, ToSchema)]
struct LineImported {
    /// The number of the line, from 1.
    line: u64,
    /// Its receipt or its problem.
    #[serde(flatten)]
    result: LineOutcome,
}

/// The receipt or the problem of a line.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
enum LineOutcome {
    /// It is committed.
    Imported(ImportedLine),
    /// It was not written.
    Problem {
        /// Why.
        problem: Details,
    },
}

/// Import memories, or an export, from a stream of JSON Lines.
///
/// The answer is a stream too: a result for each line, in their order. Blank lines, and the first and the last line of
/// an export, have none. A line whose `id` and text exist already is `existing`, so that an interrupted import can be sent
/// again. Importing an export needs the role admin. The fields of a line are `id` (its key), `ns` (its namespace),
/// `text`, `created_at`, `expires_at` or `ttl_seconds`, `speaker`, `session`, `seq`, `tags`, `metadata`, `robot`,
/// `importance`, `source` and `type`; the first three are required. The lines of `/v1/export` say by `kind` what they
/// are. A request has at most 100,000 lines. Four imports run at a time,
/// two of them for a key of some namespaces.
#[utoipa::path(post, path = "/v1/import", tag = "memories",
    request_body(content = String, content_type = "application/x-ndjson"),
    responses((status = 200, body = LineImported, content_type = "application/x-ndjson")))]
async fn import(app: App, request: Request) -> Result<Response> {
    plain_only(request.headers())?;
    let given = request.headers().get(CONTENT_TYPE).map_or("none", |value| value.to_str().unwrap_or("?"));
    if !matches!(given.split(';').next().map(str::trim), Some(NDJSON | "application/jsonl")) {
        let problem = format!("the content type is `{given}`, not {NDJSON}");
        return Err(Problem::new(codes::MEDIA_TYPE_UNFIT, problem));
    }
    let permit = IMPORTS.take(&app.htm)?;
    let (results, answer) = unbounded_channel();
    tokio::spawn(run(app, request.into_body(), permit, Results(results)));
    let lines = stream::unfold(answer, async |mut answer| {
        answer.recv().await.map(|line: Bytes| (Ok::<_, io::Error>(line), answer))
    });
    Ok(([(CONTENT_TYPE, NDJSON)], Body::from_stream(lines)).into_response())
}

/// The results on their way to the client.
struct Results(UnboundedSender<Bytes>);

impl Results {
    /// Sends a result; false if the client has gone.
    fn send(&self, line: u64, result: htm_core::Result<ImportedLine>) -> bool {
        let result = match result {
            Ok(imported) => LineOutcome::Imported(imported),
            Err(error) => LineOutcome::Problem { problem: Problem::from(error).details() },
        };
        let mut text = serde_json::to_vec(&LineImported { line, result }).unwrap_or_default();
        text.push(b'\n');
        self.0.send(text.into()).is_ok()
    }

    /// Sends the results of lines that were written. If they were not, it sends why, for the first of them: nothing from
    /// there on is written, and the lines can be sent again. False if that is the end.
    fn send_all(&self, first: u64, written: htm_core::Result<Vec<LineResult>>) -> bool {
        match written {
            Ok(results) => results.into_iter().all(|(line, result)| self.send(line, result)),
            Err(error) => {
                self.send(first, Err(error));
                false
            }
        }
    }
}

/// Cuts a body into lines; `None` stands for one that is too long. As an error, it would end the stream of lines.
struct Lines(AnyDelimiterCodec);

impl Lines {
    fn new() -> Self {
        Self(AnyDelimiterCodec::new_with_max_length(b"\n".to_vec(), Vec::new(), MAX_LINE_BYTES))
    }
}

impl Decoder for Lines {
    type Item = Option<Bytes>;
    type Error = io::Error;

    fn decode(&mut self, read: &mut BytesMut) -> io::Result<Option<Self::Item>> {
        line_of(self.0.decode(read))
    }

    fn decode_eof(&mut self, read: &mut BytesMut) -> io::Result<Option<Self::Item>> {
        line_of(self.0.decode_eof(read))
    }
}

fn line_of(
    decoded: std::result::Result<Option<Bytes>, AnyDelimiterCodecError>,
) -> io::Result<Option<Option<Bytes>>> {
    match decoded {
        Ok(line) => Ok(line.map(Some)),
        Err(AnyDelimiterCodecError::MaxChunkLengthExceeded) => Ok(Some(None)),
        Err(AnyDelimiterCodecError::Io(cause)) => Err(cause),
    }
}

/// Reads lines and writes them until the end of the body. If the body cannot be read further, the last result says why.
async fn run(app: App, body: Body, _permit: Permit, results: Results) {
    let reader = StreamReader::new(body.into_data_stream().map_err(io::Error::other));
    let mut lines = FramedRead::new(reader, Lines::new());
    let mut import = app.htm.importer(CHUNK.0, CHUNK.1);
    if app.role < Role::Admin {
        import = import.plain_only();
    }
    let stall_time = app.shared.limits.stall_time;
    let (mut number, mut weight) = (0, 0);
    let error = |code, what: String| htm_core::Error::new(code, what);
    let end = loop {
        let next = match timeout(PAUSE, lines.next()).await {
            Ok(next) => Ok(next),
            Err(_elapsed) => {
                let first = import.first_unwritten();
                if !results.send_all(first, import.write().await) {
                    return;
                }
                weight = 0;
                timeout(stall_time, lines.next()).await
            }
        };
        number += 1;
        let line = match next {
            Err(_elapsed) => {
                let what = format!("the client sent nothing for {} s", stall_time.as_secs());
                break error(codes::BODY_INCOMPLETE, what);
            }
            Ok(None) => {
                let last = import.first_unwritten();
                results.send_all(last, import.finish().await);
                return;
            }
            Ok(Some(Ok(line))) => line,
            Ok(Some(Err(cause))) => {
                break error(codes::BODY_INCOMPLETE, format!("the body ended early: {cause}"));
            }
        };
        if number > MAX_LINES {
            break error(codes::BATCH_TOO_LARGE, format!("the request has more than {MAX_LINES} lines"));
        }
        if app.shared.stop.is_cancelled() {
            break error(codes::STOPPING, "the server is stopping".into());
        }
        let weighed = line
            .ok_or_else(|| format!("the line has more than {MAX_LINE_BYTES} bytes"))
            .and_then(|line| Ok((weight::within_limit("line", &line)?, line)));
        let (of_line, line) = match weighed {
            Ok(weighed) => weighed,
            Err(problem) => {
                import.unread(error(htm_core::error::codes::LINE_TOO_LONG, problem));
                continue;
            }
        };
        weight += of_line;
        if weight > CHUNK_WEIGHT {
            let written = import.write().await;
            if !results.send_all(import.first_unwritten(), written) {
                return;
            }
            weight = of_line;
        }
        let written = import.line(&line).await;
        if !results.send_all(import.first_unwritten(), written) {
            return;
        }
    };
    let written = import.write().await;
    if results.send_all(import.first_unwritten(), written) {
        results.send(number, Err(end));
    }
}
