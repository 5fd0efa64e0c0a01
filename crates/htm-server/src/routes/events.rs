//! `/v1/events`: what happens, as server-sent events.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::LazyLock;
use std::time::Duration;

use axum::http::{HeaderMap, Method};
use axum::response::sse::{Event as Sent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream;
use htm_core::jobs::QueueGauges;
use htm_core::{Event, EventCursor};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::{App, Shared};
use crate::codes;
use crate::extract::Asked;
use crate::permits::{Permit, Permits};
use crate::problem::{Problem, Result};

/// Each looks for events every second, and each asks for its key.
static STREAMS: LazyLock<Permits> = LazyLock::new(|| Permits::new("streams of events are open", 64, 16));

/// The interval of the looks for events.
const LOOK: Duration = Duration::from_secs(1);

/// The interval of the looks at queues.
const LOOK_AT_QUEUES: Duration = Duration::from_secs(5);

/// The interval in which a client is told its cursor although nothing happens.
const TOLD: Duration = Duration::from_secs(30);

/// The header with the id of the last event that a client has read.
const LAST_EVENT_ID: &str = "last-event-id";

/// The path, as the audience of a token may name it.
const PATH: &str = "/v1/events";

pub(crate) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(events))
}

/// Events, as a stream of server-sent events.
///
/// The kinds are `memory.embedded`, `memory.tagged`, `job.dead`, `ontology.changed`, `group.changed` and `relation.set`; a
/// caller that sees all namespaces also gets `queue.depth`. The data of an event is JSON. A client that comes back with
/// the id of its last event gets what happened since, as long as the jobs are kept (`jobs.keep_done_ms`, one hour by
/// default). An event may come twice, with another id, if its row was changed. It comes after the transactions that began
/// to write before it have ended.
#[utoipa::path(get, path = "/v1/events", tag = "events",
    params(
        ("namespace" = Option<Vec<String>>, Query, description = "The namespaces; repeated for several. Default: all that the caller sees."),
        ("after" = Option<String>, Query, description = "The id of the last event that was read, as in `Last-Event-ID`."),
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event that was read. Default: events from now on."),
    ),
    responses((status = 200, body = Event, content_type = "text/event-stream")))]
async fn events(
    app: App,
    headers: HeaderMap,
    Asked(asked): Asked<Vec<(String, String)>>,
) -> Result<Response> {
    let mut namespaces = Vec::new();
    let mut after = headers.get(LAST_EVENT_ID).map(|id| String::from_utf8_lossy(id.as_bytes()).into_owned());
    for (name, value) in asked {
        match name.as_str() {
            "namespace" => namespaces.push(value),
            "after" => after = after.or(Some(value)),
            _ => {
                let problem = format!("`{name}` is no parameter; there are namespace and after");
                return Err(Problem::new(codes::QUERY_INVALID, problem));
            }
        }
    }
    let cursor = match after.filter(|id| !id.is_empty()) {
        Some(id) => id.parse()?,
        None => app.htm.events_from_now().await?,
    };
    // Refuses what the principal may not see before the stream begins.
    app.htm.events(&cursor, &namespaces).await?;
    let permit = STREAMS.take(&app.htm)?;
    let (to, sent) = mpsc::channel(16);
    let sender = Sender { app, headers, namespaces, to, _permit: permit };
    tokio::spawn(sender.run(cursor));
    let events = stream::unfold(sent, async |mut sent| {
        let event = sent.recv().await?;
        Some((Ok::<_, Infallible>(event), sent))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))).into_response())
}

/// Sends the events until the server stops, the key is revoked, the token expires, the connection ends, or the database
/// fails. A client then comes back with its last id.
struct Sender {
    app: App,
    headers: HeaderMap,
    namespaces: Vec<String>,
    to: mpsc::Sender<Sent>,
    _permit: Permit,
}

/// The end of a stream.
struct Ended;

impl Sender {
    async fn run(self, mut cursor: EventCursor) -> Result<Infallible, Ended> {
        // From the start, so that a client whose connection breaks before an event misses nothing.
        self.send(Ok(at(&cursor))).await?;
        let (mut told, mut depths, mut looked) = (Instant::now(), HashMap::new(), None::<Instant>);
        loop {
            let page = self.app.htm.events(&cursor, &self.namespaces).await.map_err(|_| Ended)?;
            for event in &page.events {
                let id = event.cursor.to_string();
                self.send(Sent::default().id(id).event(event.kind.to_string()).json_data(event)).await?;
            }
            if !page.events.is_empty() || told.elapsed() >= TOLD {
                told = Instant::now();
                self.send(Ok(at(&page.next))).await?;
            }
            cursor = page.next;
            if page.more {
                continue;
            }
            if looked.is_none_or(|at| at.elapsed() >= LOOK_AT_QUEUES) {
                looked = Some(Instant::now());
                self.send_depths(&mut depths).await?;
            }
            tokio::select! {
                () = self.app.shared.stop.cancelled() => return Err(Ended),
                () = self.to.closed() => return Err(Ended),
                () = sleep(LOOK) => {}
            }
            self.app
                .shared
                .access
                .sender(&self.app.htm, &Method::GET, &self.headers, PATH)
                .await
                .map_err(|_| Ended)?;
        }
    }

    /// Sends the depth of each queue that has changed, to a principal that sees all namespaces.
    async fn send_depths(&self, known: &mut HashMap<String, QueueGauges>) -> Result<(), Ended> {
        let Ok(jobs) = self.app.htm.jobs() else { return Ok(()) };
        for (queue, now) in jobs.gauges().await.map_err(|_| Ended)? {
            let former = known.insert(queue.clone(), now);
            let counts = |it: QueueGauges| (it.due, it.waiting, it.parked, it.running, it.dead);
            if former.map(counts) != Some(counts(now)) {
                let depth = Depth {
                    queue,
                    due: now.due,
                    waiting: now.waiting,
                    parked: now.parked,
                    running: now.running,
                    dead: now.dead,
                };
                self.send(Sent::default().event("queue.depth").json_data(depth)).await?;
            }
        }
        Ok(())
    }

    async fn send(&self, event: Result<Sent, axum::Error>) -> Result<(), Ended> {
        let event = event.map_err(|_| Ended)?;
        self.to.send(event).await.map_err(|_| Ended)
    }
}

/// Tells a client a cursor, without an event.
fn at(cursor: &EventCursor) -> Sent {
    Sent::default().id(cursor.to_string())
}

/// The jobs of a queue by state; each count stops at 10,000.
#[derive(Serialize)]
struct Depth {
    queue: String,
    due: i64,
    waiting: i64,
    parked: i64,
    running: i64,
    dead: i64,
}
