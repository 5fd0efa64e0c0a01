//! `/v1/import`: memories as a stream of JSON Lines, with a result for each line.

use std::io;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use htm_core::{MAX_LINE_BYTES, Memory, Receipt};
use serde::Serialize;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::timeout;
use tokio_util::codec::{AnyDelimiterCodec, AnyDelimiterCodecError, FramedRead};
use tokio_util::io::StreamReader;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::codes;
use crate::extract::plain_only;
use crate::problem::{Details, Problem, Result};

/// The media type of JSON Lines.
const NDJSON: &str = "application/x-ndjson";

/// The most lines of a request. Results that the client has not read yet are kept in memory.
const MAX_LINES: u64 = 100_000;

/// The lines that one transaction writes, and the most bytes of their texts.
const CHUNK: (usize, usize) = (500, 4 << 20);

/// The time for a client to send more.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(import))
}

/// The result of a line.
#[derive(Debug, Serialize, ToSchema)]
struct Imported {
    /// The number of the line, from 1.
    line: u64,
    /// Its receipt or its problem.
    #[serde(flatten)]
    result: Outcome,
}

/// The receipt or the problem of a line.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
enum Outcome {
    /// It is committed.
    Receipt(Receipt),
    /// It was not written.
    Problem {
        /// Why.
        problem: Details,
    },
}

/// Import memories from a stream of JSON Lines.
///
/// The answer is a stream too: a result for each line, in their order, blank lines left out. A line whose `id` and text
/// exist already is `existing`, so that an interrupted import can be sent again. The fields of a line are `id` (its
/// key), `ns` (its namespace), `text`, `created_at`, `expires_at` or `ttl_seconds`, `speaker`, `session`, `seq`, `tags`,
/// `metadata`, `robot`, `importance`, `source` and `type`; the first three are required. A request has at most 100,000
/// lines.
#[utoipa::path(post, path = "/v1/import", tag = "memories",
    request_body(content = String, content_type = "application/x-ndjson"),
    responses((status = 200, body = Imported, content_type = "application/x-ndjson")))]
async fn import(app: App, request: Request) -> Result<Response> {
    plain_only(request.headers())?;
    let given = request.headers().get(CONTENT_TYPE).map_or("none", |value| value.to_str().unwrap_or("?"));
    if !matches!(given.split(';').next().map(str::trim), Some(NDJSON | "application/jsonl")) {
        let problem = format!("the content type is `{given}`, not {NDJSON}");
        return Err(Problem::new(codes::MEDIA_TYPE_UNFIT, problem));
    }
    let (results, answer) = unbounded_channel();
    tokio::spawn(run(app, request.into_body(), Results(results)));
    let lines = stream::unfold(answer, async |mut answer| {
        answer.recv().await.map(|line: Bytes| (Ok::<_, io::Error>(line), answer))
    });
    Ok(([(CONTENT_TYPE, NDJSON)], Body::from_stream(lines)).into_response())
}

/// The results on their way to the client.
struct Results(UnboundedSender<Bytes>);

impl Results {
    /// Sends a result; false if the client has gone.
    fn send(&self, line: u64, result: htm_core::Result<Receipt>) -> bool {
        let result = match result {
            Ok(receipt) => Outcome::Receipt(receipt),
            Err(error) => Outcome::Problem { problem: Problem::from(error).details() },
        };
        let mut text = serde_json::to_vec(&Imported { line, result }).unwrap_or_default();
        text.push(b'\n');
        self.0.send(text.into()).is_ok()
    }
}

/// Lines that are read and not written yet.
#[derive(Default)]
struct Chunk {
    lines: Vec<(u64, htm_core::Result<usize>)>,
    memories: Vec<Memory>,
    bytes: usize,
}

impl Chunk {
    fn add(&mut self, line: u64, read: htm_core::Result<Memory>) {
        let place = read.map(|memory| {
            self.bytes += memory.content.len();
            self.memories.push(memory);
            self.memories.len() - 1
        });
        self.lines.push((line, place));
    }

    fn is_full(&self) -> bool {
        self.lines.len() >= CHUNK.0 || self.bytes >= CHUNK.1
    }

    /// Writes the memories and sends the results; false if that is the end.
    async fn write(&mut self, app: &App, results: &Results) -> bool {
        let chunk = std::mem::take(self);
        let mut written: Vec<Option<htm_core::Result<Receipt>>> =
            match app.htm.remember_many(&chunk.memories).await {
                Ok(written) => written.into_iter().map(Some).collect(),
                Err(error) => {
                    // Nothing of the chunk is written: it is sent again from its first line.
                    let line = chunk.lines.first().map_or(0, |(line, _)| *line);
                    results.send(line, Err(error));
                    return false;
                }
            };
        chunk.lines.into_iter().all(|(line, place)| {
            let result = place.map(|place| written.get_mut(place).and_then(Option::take));
            match result {
                Ok(Some(result)) => results.send(line, result),
                Ok(None) => true,
                Err(error) => results.send(line, Err(error)),
            }
        })
    }
}

/// Reads lines and writes them until the end of the body. If the body cannot be read further, the last result says why.
async fn run(app: App, body: Body, results: Results) {
    let reader = StreamReader::new(body.into_data_stream().map_err(io::Error::other));
    let codec = AnyDelimiterCodec::new_with_max_length(b"\n".to_vec(), Vec::new(), MAX_LINE_BYTES);
    let mut lines = FramedRead::new(reader, codec);
    let (mut chunk, mut number) = (Chunk::default(), 0);
    let error = |code, what: String| htm_core::Error::new(code, what);
    loop {
        let next = timeout(PATIENCE, lines.next()).await;
        number += 1;
        let read = match next {
            Err(_elapsed) => {
                let what = format!("the client sent nothing for {} s", PATIENCE.as_secs());
                break finish(&app, chunk, &results, Some((number, error(codes::BODY_INCOMPLETE, what))))
                    .await;
            }
            Ok(None) => break finish(&app, chunk, &results, None).await,
            Ok(Some(Ok(line))) => Memory::from_line(&line, app.htm.tag_rules()),
            Ok(Some(Err(AnyDelimiterCodecError::MaxChunkLengthExceeded))) => {
                let what = format!("the line has more than {MAX_LINE_BYTES} bytes");
                let too_long = error(htm_core::error::codes::LINE_TOO_LONG, what);
                // Where the next line begins is not known without reading to the end of this one.
                break finish(&app, chunk, &results, Some((number, too_long))).await;
            }
            Ok(Some(Err(AnyDelimiterCodecError::Io(cause)))) => {
                let broken = error(codes::BODY_INCOMPLETE, format!("the body ended early: {cause}"));
                break finish(&app, chunk, &results, Some((number, broken))).await;
            }
        };
        if number > MAX_LINES {
            let what = format!("the request has more than {MAX_LINES} lines");
            break finish(&app, chunk, &results, Some((number, error(codes::BATCH_TOO_LARGE, what)))).await;
        }
        if app.stop.is_cancelled() {
            let stopping = error(codes::STOPPING, "the server is stopping".into());
            break finish(&app, chunk, &results, Some((number, stopping))).await;
        }
        match read {
            Ok(None) => {}
            Ok(Some(memory)) => chunk.add(number, Ok(memory)),
            Err(error) => chunk.add(number, Err(error)),
        }
        if chunk.is_full() && !chunk.write(&app, &results).await {
            break;
        }
    }
}

/// Writes what is left, and sends why there is no more.
async fn finish(app: &App, mut chunk: Chunk, results: &Results, last: Option<(u64, htm_core::Error)>) {
    if chunk.write(app, results).await
        && let Some((line, error)) = last
    {
        results.send(line, Err(error));
    }
}
