//! `/v1/events`: the stream, where it goes on, and when it ends.

use htm_core::{NewApiKey, Role, Stage};
use htm_tests::drain;
use reqwest::{Method, Response};
use serde_json::Value;

use super::Served;

/// A stream of server-sent events.
struct Events {
    response: Response,
    text: String,
}

impl Events {
    async fn open(served: &Served, after: Option<&str>) -> Self {
        let mut request = served.request(Method::GET, "/v1/events");
        if let Some(id) = after {
            request = request.header("last-event-id", id);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, text: String::new() }
    }

    /// The fields of the next block; none at the end of the stream.
    async fn block(&mut self) -> Option<Vec<(String, String)>> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let fields = block.lines().filter_map(|line| line.split_once(':'));
                let fields: Vec<_> =
                    fields.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect();
                self.text = rest.to_owned();
                return Some(fields);
            }
            let chunk = self.response.chunk().await.ok().flatten()?;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// The id and the data of the next event of a kind.
    async fn next(&mut self, kind: &str) -> (String, Value) {
        loop {
            let block = self.block().await.expect("an event");
            let field = |name: &str| block.iter().find(|it| it.0 == name).map(|it| it.1.clone());
            if field("event").as_deref() == Some(kind) {
                let data = serde_json::from_str(&field("data").unwrap()).unwrap();
                return (field("id").unwrap_or_default(), data);
            }
        }
    }
}

#[tokio::test]
async fn events_are_streamed_and_a_client_that_comes_back_misses_nothing() {
    let served = Served::new().await;
    let mut events = Events::open(&served, None).await;
    let first = events.block().await.unwrap();
    assert_eq!(first[0].0, "id", "the client has a cursor from the start");
    let node = served.remember("Mara prefers tabs.").await;
    drain(&served.db, Stage::Embed).await;
    let (id, embedded) = events.next("memory.embedded").await;
    assert_eq!((&embedded["node"], &embedded["namespace"]), (&node.into(), &"default".into()));
    drop(events);
    // A stream begins with the depth of each queue.
    let (_, depth) = Events::open(&served, None).await.next("queue.depth").await;
    assert!(depth["queue"].as_str().unwrap().starts_with("htm."), "{depth}");

    drain(&served.db, Stage::Tag).await;
    let mut again = Events::open(&served, Some(&id)).await;
    let (_, tagged) = again.next("memory.tagged").await;
    assert_eq!((&tagged["node"], &tagged["kind"]), (&node.into(), &"memory.tagged".into()));
    // The beginning is read again from the first cursor.
    let mut all = Events::open(&served, Some(&first[0].1)).await;
    assert_eq!(all.next("memory.embedded").await.1, embedded);

    // A cursor of another database, such as this one before it was restored, would otherwise wait for ever.
    let ahead = served.get("/v1/events?after=999999999999-0-").await;
    assert_eq!(ahead.problem(), (422, "cursor_invalid"));

    served.stop.cancel();
    while all.block().await.is_some() {}
}

#[tokio::test]
async fn a_stream_is_of_the_namespaces_of_its_key_and_ends_with_it() {
    let mut served = Served::new().await;
    let secret =
        served.post("/v1/memories", serde_json::json!({"content": "a", "namespace": "secret"})).await;
    secret.is(201);
    let key = served.use_key(&NewApiKey::new(Role::Reader).namespace("default")).await;
    let other = served.get("/v1/events?namespace=secret").await;
    assert_eq!(other.problem(), (403, "namespace_forbidden"));
    assert_eq!(served.get("/v1/events?after=x").await.problem(), (422, "cursor_invalid"));
    assert_eq!(served.get("/v1/events?since=x").await.problem(), (400, "query_invalid"));
    let mut events = Events::open(&served, None).await;
    let own = served.db.htm().remember(htm_core::Memory::new("own")).await.unwrap().node;
    drain(&served.db, Stage::Embed).await;
    let (_, embedded) = events.next("memory.embedded").await;
    assert_eq!(embedded["node"], own.0);
    served.db.htm().revoke_api_key(&key.id).await.unwrap();
    while let Some(block) = events.block().await {
        assert!(
            !block.iter().any(|(_, value)| value.contains("secret") || value == "queue.depth"),
            "{block:?}"
        );
    }
}
