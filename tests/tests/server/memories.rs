//! Memories: written, read, edited, forgotten, restored, recalled.

use std::time::Duration;

use htm_core::{NewApiKey, Role, Stage};
use htm_server::Limits;
use htm_tests::drain;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Served;

#[tokio::test]
async fn a_memory_lives_over_http() {
    let served = Served::new().await;
    let memory = json!({
        "content": "We chose PostgreSQL for the ledger.", "namespace": "atlas", "robot": "ada", "key": "adr-7",
        "importance": 8, "source": "adr/7.md", "type": "decision", "speaker": "Ada", "session": "s1", "seq": 3,
        "tags": ["Databases:PostgreSQL"], "metadata": {"ticket": 7}, "created_at": "2026-03-01T10:00:00Z",
        "ttl_seconds": 3600, "language": "english"
    });
    let written = served.post("/v1/memories", memory.clone()).await;
    assert_eq!(written.header("location"), "/v1/memories/1");
    assert_eq!(written.is(201), json!({"node": 1, "outcome": "written"}));
    assert_eq!(served.post("/v1/memories", memory.clone()).await.is(200)["outcome"], "existing");

    let read = served.get("/v1/memories/1").await;
    assert_eq!(read.header("etag"), "\"1\"");
    let read = read.is(200);
    for field in
        ["content", "namespace", "robot", "key", "source", "type", "speaker", "session", "seq", "metadata"]
    {
        assert_eq!(read[field], memory[field], "{field}");
    }
    assert_eq!((&read["importance"], &read["ttl_seconds"]), (&json!(8.0), &json!(3600)));
    assert_eq!(read["created_at"], "2026-03-01T10:00:00Z");
    assert_eq!(read["tags"], json!(["database:postgresql"]));
    let tags = served.get("/v1/memories/1/tags").await.is(200);
    assert_eq!((&tags[0]["tag"], &tags[0]["origin"]), (&json!("database:postgresql"), &json!("manual")));
    assert_eq!((&tags[0]["model"], &tags[0]["confidence"]), (&Value::Null, &Value::Null));
    assert_eq!(served.get("/v1/memories/by-key/adr-7?namespace=atlas").await.is(200)["id"], 1);
    assert_eq!(served.get("/v1/memories/by-key/adr-8").await.problem(), (404, "node_not_found"));
    // The revision of the text says nothing about the other fields.
    served
        .patch("/v1/memories/1", json!({"importance": 9, "namespace": "atlas", "robot": "ada"}))
        .await
        .is(200);
    let changed = served.request(Method::GET, "/v1/memories/1").header("if-none-match", "\"1\"");
    assert_eq!(served.send(changed).await.is(200)["importance"], 9.0);

    let edit =
        json!({"content": "We chose PostgreSQL 18.", "key": null, "namespace": "atlas", "robot": "ada"});
    let edited = served.patch("/v1/memories/1", edit).await;
    assert_eq!(edited.header("etag"), "\"2\"");
    assert_eq!(edited.is(200)["changed"], json!(["content", "key"]));
    let history = served.get("/v1/memories/1/history").await.is(200);
    assert_eq!(history.as_array().unwrap().len(), 2);
    assert_eq!(history[0]["content"], memory["content"]);
    assert_eq!(served.post("/v1/memories/1/refresh", json!({})).await.is(200)["refreshed"], 1);
    assert_eq!(served.get("/v1/memories/1/keepers").await.is(200)["robots"][0]["robot"], "ada");

    let of_ada = "/v1/memories/1?namespace=atlas&robot=ada";
    assert_eq!(served.delete(of_ada).await.problem(), (409, "not_confirmed"));
    assert_eq!(served.delete("/v1/memories/1?confirm=true").await.problem(), (403, "not_owner"));
    assert_eq!(served.delete(&format!("{of_ada}&confirm=true")).await.is(200)["forgotten"], json!([1]));
    assert_eq!(served.get("/v1/memories/1").await.problem(), (404, "node_not_found"));
    assert_eq!(served.get("/v1/memories/1/tags").await.problem(), (404, "node_not_found"));
    let forgotten = served.get("/v1/memories/forgotten?namespace=atlas").await.is(200);
    let forgotten = &forgotten["memories"];
    assert_eq!((&forgotten[0]["node"], &forgotten[0]["reason"]), (&json!(1), &json!("asked")));
    let restore = json!({"any_robot": true});
    assert_eq!(served.post("/v1/memories/1/restore", restore.clone()).await.is(200)["node"], 1);
    assert_eq!(served.post("/v1/memories/1/restore", restore).await.problem(), (409, "not_forgotten"));
}

#[tokio::test]
async fn a_lost_update_is_a_failed_precondition() {
    let served = Served::new().await;
    let node = served.remember("one").await;
    let path = format!("/v1/memories/{node}");
    let edit = |etag: &'static str, text: &str| {
        let request = served.request(Method::PATCH, &path).header("if-match", etag);
        served.send(request.json(&json!({"content": text})))
    };
    edit("\"1\"", "two").await.is(200);
    let lost = edit("\"1\"", "three").await;
    assert_eq!(lost.problem(), (412, "revision_conflict"));
    assert!(lost.body["hint"].as_str().unwrap().contains(&path), "{}", lost.text);
    edit("*", "four").await.is(200);
    // A proxy that compresses an answer makes its ETag a weak one.
    assert_eq!(edit("W/\"2\"", "five").await.problem(), (412, "revision_conflict"));
    edit("W/\"3\"", "four").await.is(200);
    for other in ["3", "\"x\"", "\"3\", \"4\""] {
        assert_eq!(edit(other, "five").await.problem(), (400, "header_invalid"), "{other}");
    }
    let forget = |etag: &'static str| {
        served.send(served.request(Method::DELETE, &format!("{path}?confirm=true")).header("if-match", etag))
    };
    assert_eq!(forget("\"2\"").await.problem(), (412, "revision_conflict"));
    forget("\"3\"").await.is(200);
    let restore = |etag: &'static str| {
        let request = served.request(Method::POST, &format!("{path}/restore")).header("if-match", etag);
        served.send(request.json(&json!({})))
    };
    let lost = restore("\"2\"").await;
    assert_eq!(lost.problem(), (412, "revision_conflict"));
    assert!(!lost.body["hint"].as_str().unwrap().contains("GET"), "it cannot be read: {}", lost.text);
    assert_eq!(served.get(&path).await.problem(), (404, "node_not_found"));
    restore("\"3\"").await.is(200);
    assert_eq!(restore("\"3\"").await.problem(), (409, "not_forgotten"));
}

#[tokio::test]
async fn a_taken_key_names_what_has_it() {
    let served = Served::new().await;
    let first = served.post("/v1/memories", json!({"content": "one", "key": "k"})).await.is(201);
    let path = format!("/v1/memories/{}", first["node"]);
    served.patch(&path, json!({"content": "two"})).await.is(200);
    let taken = served.post("/v1/memories", json!({"content": "three", "key": "k"})).await;
    assert_eq!(taken.problem(), (409, "key_taken"));
    assert_eq!(taken.body["values"], json!({"node": first["node"].to_string(), "revision": "2"}));
    let same = served.post("/v1/memories", json!({"content": "two", "key": "k"})).await.is(200);
    assert_eq!(same, json!({"node": first["node"], "outcome": "existing"}));
}

#[tokio::test]
async fn a_batch_says_what_became_of_each() {
    let served = Served::new().await;
    let batch = json!({"memories": [{"content": "one"}, {"content": " "}, {"content": "two", "key": "k"}]});
    let results = served.post("/v1/memories/batch", batch).await.is(200)["results"].clone();
    assert_eq!(results[0]["outcome"], "written");
    assert_eq!((&results[1]["code"], &results[1]["status"]), (&json!("content_empty"), &json!(422)));
    assert_eq!(results[2]["outcome"], "written");
    let many: Vec<Value> = (0..1_001).map(|n| json!({"content": format!("{n}")})).collect();
    let refused = served.post("/v1/memories/batch", json!({"memories": many})).await;
    assert_eq!(refused.problem(), (413, "batch_too_large"));
    assert!(refused.body["detail"].as_str().unwrap().contains("1000"), "{}", refused.text);
}

#[tokio::test]
async fn a_batch_replaces_what_its_writer_has_read_and_nothing_else() {
    let served = Served::new().await;
    let replace = async |content: &str, expected: Value| {
        let replaces = json!([{"session": "plan", "expected": expected}]);
        let memories = json!([{"content": content, "session": "plan"}]);
        served.post("/v1/memories/batch", json!({"memories": memories, "replaces": replaces})).await
    };
    let first = replace("first plan", json!([])).await.is(200)["results"][0]["node"].clone();
    assert_eq!(replace("of another writer", json!([])).await.problem(), (409, "revision_conflict"));
    replace("second plan", json!([first])).await.is(200);
    let late = replace("too late", json!([first])).await;
    assert_eq!(late.problem(), (409, "revision_conflict"));
    assert!(late.body["hint"].as_str().unwrap().contains("conversation"), "{}", late.text);
    let there = served.post("/v1/timeline", json!({"filter": {"session": "plan"}})).await.is(200);
    assert_eq!(there["entries"].as_array().unwrap().len(), 1);
    assert_eq!(there["entries"][0]["content"], "second plan");
}

#[tokio::test]
async fn a_batch_that_replaces_says_which_memory_is_refused() {
    let served = Served::new().await;
    served.post("/v1/memories", json!({"content": "one", "key": "taken"})).await.is(201);
    for (wrong, problem) in [
        (json!({"content": "x", "importance": 77}), (422, "importance_out_of_range")),
        (json!({"content": "x", "key": "taken"}), (409, "key_taken")),
    ] {
        for key in [None, Some("k")] {
            let memories = json!([{"content": "a", "session": "plan"}, {"content": "b"}, wrong]);
            let body = json!({"memories": memories, "replaces": [{"session": "plan"}]});
            let request = served.request(Method::POST, "/v1/memories/batch").json(&body);
            let request =
                key.into_iter().fold(request, |request, key| request.header("idempotency-key", key));
            let refused = served.send(request).await;
            assert_eq!(refused.problem(), problem);
            assert!(
                refused.body["detail"].as_str().unwrap().starts_with("`memories[2]`"),
                "{}",
                refused.text
            );
            assert_eq!(refused.body["values"]["place"], "2");
        }
    }
    assert_eq!(served.db.count("select count(*) from htm.nodes").await, 1);
}

#[tokio::test]
async fn a_conversation_is_remembered_in_its_order() {
    let served = Served::new().await;
    let conversation = json!({
        "session": "standup", "robot": "ada", "first_seq": 4, "tags": ["meeting"], "ttl_seconds": 60,
        "messages": [
            {"role": "user", "name": "Mara", "content": "Where is staging?", "created_at": "2026-03-01T10:00:00Z"},
            {"role": "assistant", "content": "On port 5433.", "created_at": "2026-03-01T10:00:05Z"},
        ]
    });
    let results = served.post("/v1/conversations", conversation).await.is(200)["results"].clone();
    let first = results[0]["node"].as_i64().unwrap();
    let neighbours = served.get(&format!("/v1/memories/{first}/neighbours")).await.is(200);
    assert_eq!(neighbours["after"][0]["content"], "On port 5433.");
    let said = served.get(&format!("/v1/memories/{first}")).await.is(200);
    assert_eq!((&said["speaker"], &said["metadata"]["role"]), (&json!("Mara"), &json!("user")));
    let second = served.get(&format!("/v1/memories/{}", results[1]["node"])).await.is(200);
    assert_eq!((&second["speaker"], &second["session"]), (&json!("assistant"), &json!("standup")));
    assert_eq!((&second["seq"], &second["tags"]), (&json!(5), &json!(["meeting"])));
    let timeline = json!({"filter": {"session": "standup"}});
    let entries = served.post("/v1/timeline", timeline).await.is(200)["entries"].clone();
    assert_eq!(entries.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_conversation_continues_after_its_last_message() {
    let served = Served::new().await;
    let say = async |texts: [&str; 2]| {
        let messages = texts.map(|text| json!({"role": "user", "content": text}));
        let body = json!({"session": "s", "messages": messages});
        served.post("/v1/conversations", body).await.is(200)["results"].clone()
    };
    let mut places = Vec::new();
    for texts in [["Hi.", "Hello."], ["My cat is called Mochi.", "Nice name."], ["She is 5.", "So young."]] {
        places.extend(say(texts).await.as_array().unwrap().clone());
    }
    assert_eq!(places.iter().map(|it| it["seq"].as_i64().unwrap()).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    let cat = &places[2]["node"];
    let near = served.get(&format!("/v1/memories/{cat}/neighbours?before=2&after=2")).await.is(200);
    let texts = |side: &str| {
        let side = near[side].as_array().unwrap();
        side.iter().map(|it| it["content"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!((&*texts("before"), &*texts("after")), ("Hi. Hello.", "Nice name. She is 5."));
}

#[tokio::test]
async fn a_conversation_is_remembered_completely_or_not_at_all() {
    let served = Served::new().await;
    let say = async |texts: &[&str], session: Value| {
        let messages: Vec<Value> =
            texts.iter().map(|text| json!({"role": "user", "content": text})).collect();
        served.post("/v1/conversations", json!({"messages": messages, "session": session})).await
    };
    let empty = say(&["hello", " "], json!("s")).await;
    assert_eq!(empty.problem(), (422, "content_empty"));
    assert!(empty.body["detail"].as_str().unwrap().starts_with("`messages[1]`"), "{}", empty.text);
    assert_eq!(empty.body["values"]["place"], "1");
    assert_eq!(say(&["hello"], json!("")).await.problem(), (400, "body_invalid"));
    served.patch("/v1/quotas", json!({"max_memories": 2})).await.is(200);
    assert_eq!(say(&["one", "two", "three"], json!("s")).await.problem(), (507, "quota_exceeded"));
    assert_eq!(served.db.count("select count(*) from htm.nodes").await, 0);
    // What was refused has taken no room.
    let written = say(&["one", "two"], json!(null)).await.is(200);
    assert_eq!(written["results"].as_array().unwrap().len(), 2);
    let first = served.get(&format!("/v1/memories/{}", written["results"][0]["node"])).await.is(200);
    assert!(written["session"].is_string() && first["session"] == written["session"], "{written} {first}");
}

#[tokio::test]
async fn memories_are_recalled_by_words_and_by_vectors() {
    let served = Served::new().await;
    let node = served.remember("Mara prefers tabs over spaces.").await;
    served.remember("The staging database listens on port 5433.").await;
    drain(&served.db, Stage::Embed).await;
    let query = json!({"query": "tabs or spaces?", "limit": 1, "snippets": true, "explain": true});
    let found = served.post("/v1/recall", query).await.is(200);
    assert_eq!((&found["hits"][0]["id"], &found["hits"][0]["matched_by"]), (&json!(node), &json!("both")));
    assert!(found["hits"][0]["snippet"].as_str().unwrap().contains("<mark>"), "{found}");
    assert_eq!(served.get("/v1/recall?q=tabs&strategy=fulltext").await.is(200)["hits"][0]["id"], node);
    let narrow = json!({"query": "tabs", "filter": {"timeframe": "2020-01-01"}});
    assert_eq!(served.post("/v1/recall", narrow).await.is(200)["hits"], json!([]));
    for (wrong, code) in [
        (json!({"query": "x", "limit": 0}), "limit_out_of_range"),
        (json!({"query": "x", "filter": {"timeframe": "whenever"}}), "timeframe_invalid"),
        (json!({"query": "x", "filter": {"tags": ["a::b"]}}), "tag_invalid"),
        (json!({"query": "x", "order_by": "beauty"}), "order_by_invalid"),
        (json!({"query": " "}), "content_empty"),
    ] {
        assert_eq!(served.post("/v1/recall", wrong).await.problem(), (422, code));
    }
    assert_eq!(served.post("/v1/recall", json!({"query": "x", "strategy": "luck"})).await.problem().0, 400);

    let asked = json!({"query": "tabs", "robot": "ada", "limit": 1});
    let found = served.post("/v1/recall", asked).await.is(200);
    assert_eq!(found["working_memory"]["evicted"], json!([]));
    let context = served.post("/v1/context", json!({"robot": "ada", "max_tokens": 100})).await.is(200);
    assert_eq!(context["text"], "Mara prefers tabs over spaces.");
    assert_eq!(served.post("/v1/context", json!({"robot": "adda"})).await.problem(), (404, "robot_unknown"));
    // What is asked about comes first, also if it is in the working memory already.
    for (query, first) in [("staging port", "The staging"), ("tabs", "Mara"), ("staging port", "The staging")]
    {
        let asked = json!({"robot": "ben", "query": query});
        let context = served.post("/v1/context", asked).await.is(200);
        assert!(context["text"].as_str().unwrap().starts_with(first), "{context}");
    }
}

#[tokio::test]
async fn a_write_waits_for_its_stages() {
    let served = Served::new().await;
    served.remember("first").await;
    drain(&served.db, Stage::Embed).await;
    // Nobody works: the memory is there, and the answer says what is missing.
    let late = served.post("/v1/memories?wait=all&wait_ms=50", json!({"content": "second"})).await.is(201);
    assert_eq!(late["status"]["stages"][0]["state"], "pending", "{late}");
    let working = async { drain(&served.db, Stage::Embed).await };
    let (written, _) =
        tokio::join!(served.post("/v1/memories?wait=embed", json!({"content": "second"})), working);
    assert_eq!(written.is(200)["status"]["stages"][0]["state"], "done");
}

#[tokio::test]
async fn every_write_of_a_text_waits_if_asked() {
    let served = Served::new().await;
    let state = |answer: &Value| answer["status"]["stages"][0]["state"].clone();
    let batch = json!({"memories": [{"content": "one"}, {"content": " "}, {"content": "two"}]});
    let late = served.post("/v1/memories/batch?wait=embed&wait_ms=0", batch.clone()).await.is(200);
    let results = late["results"].as_array().unwrap();
    assert_eq!(
        results.iter().map(state).collect::<Vec<_>>(),
        [json!("pending"), json!(null), json!("pending")]
    );
    assert_eq!(results[1]["code"], "content_empty");
    let talk = json!({"messages": [{"role": "user", "content": "Hello."}]});
    let late = served.post("/v1/conversations?wait=all&wait_ms=0", talk).await.is(200);
    assert_eq!(state(&late["results"][0]), "pending");
    drain(&served.db, Stage::Embed).await;
    let done = served.post("/v1/memories/batch?wait=embed", batch).await.is(200);
    assert_eq!(state(&done["results"][2]), "done");
    let node = &results[0]["node"];
    let edit = served.request(Method::PATCH, &format!("/v1/memories/{node}?wait=embed&wait_ms=0"));
    let edited = served.send(edit.json(&json!({"content": "three"}))).await.is(200);
    assert_eq!((&edited["revision"], state(&edited)), (&json!(2), json!("pending")));
}

#[tokio::test]
async fn a_memory_that_cannot_be_read_does_not_hold_back_the_others() {
    let served = Served::new().await;
    let memories = |turn: &str| {
        json!({"memories": [
            {"content": format!("first {turn}")},
            {"content": "two words", "tags": ["a::b"]},
            {"content": "two ends", "ttl_seconds": 60, "expires_at": "2100-01-01T00:00:00Z"},
            {"content": "too important", "importance": 77},
            {"content": format!("last {turn}")},
        ]})
    };
    let codes = [None, Some("tag_invalid"), Some("body_invalid"), Some("importance_out_of_range"), None];
    let once = || {
        let request = served.request(Method::POST, "/v1/memories/batch").header("idempotency-key", "k");
        served.send(request.json(&memories("with a key")))
    };
    let kept = once().await;
    for reply in [served.post("/v1/memories/batch", memories("without")).await, once().await, kept] {
        let results = reply.is(200)["results"].as_array().unwrap().clone();
        assert_eq!(results.iter().map(|it| it["code"].as_str()).collect::<Vec<_>>(), codes);
        assert!(results[0]["node"].is_number() && results[4]["node"].is_number(), "{results:?}");
    }
    assert_eq!(served.db.count("select count(*) from htm.nodes").await, 4);
    // All is written or nothing in the place of a conversation, and the place is told.
    let mut batch = memories("replaces");
    batch["replaces"] = json!([{"session": "s"}]);
    let refused = served.post("/v1/memories/batch", batch).await;
    assert_eq!(refused.problem(), (422, "tag_invalid"));
    assert!(refused.body["detail"].as_str().unwrap().starts_with("`memories[1]`"), "{}", refused.text);
    assert_eq!(refused.body["values"]["place"], "1");
    assert_eq!(served.db.count("select count(*) from htm.nodes").await, 4);
}

#[tokio::test]
async fn a_batch_whose_every_memory_is_refused_has_each_problem_in_its_place() {
    let served = Served::new().await;
    let unreadable = json!({"content": "two words", "tags": ["a::b"]});
    let invalid = json!({"content": "too important", "importance": 77});
    let batches = [
        (json!([unreadable, unreadable]), ["tag_invalid", "tag_invalid"]),
        (json!([invalid, unreadable]), ["importance_out_of_range", "tag_invalid"]),
    ];
    for (place, (memories, codes)) in batches.into_iter().enumerate() {
        let batch = json!({"memories": memories});
        let once = || {
            let request = served.request(Method::POST, "/v1/memories/batch?wait=all&wait_ms=0");
            served.send(request.header("idempotency-key", format!("k{place}")).json(&batch))
        };
        let first = once().await;
        for reply in [served.post("/v1/memories/batch", batch.clone()).await, once().await, first] {
            let results = reply.is(200)["results"].as_array().unwrap().clone();
            assert_eq!(results.iter().map(|it| it["code"].as_str().unwrap()).collect::<Vec<_>>(), codes);
        }
    }
    assert_eq!(served.db.count("select count(*) from htm.nodes").await, 0);
}

#[tokio::test]
async fn a_time_to_live_that_cannot_start_again_is_an_error() {
    let mut served = Served::new().await;
    let refresh = async |served: &Served, node: &Value| {
        served.post(&format!("/v1/memories/{node}/refresh"), json!({})).await
    };
    let node = json!(served.remember("one").await);
    assert_eq!(refresh(&served, &node).await.is(200)["refreshed"], 0);
    served.delete(&format!("/v1/memories/{node}?confirm=true")).await.is(200);
    for gone in [node, json!(999_999)] {
        assert_eq!(refresh(&served, &gone).await.problem(), (404, "node_not_found"));
    }
    let of_bea = json!({"content": "two", "robot": "bea", "ttl_seconds": 60});
    let of_bea = served.post("/v1/memories", of_bea).await.is(201)["node"].clone();
    served.use_key(&NewApiKey::new(Role::Writer).robot("ada")).await;
    assert_eq!(refresh(&served, &of_bea).await.problem(), (403, "not_owner"));
}

#[tokio::test]
async fn a_parameter_that_a_path_does_not_have_is_refused() {
    let served = Served::new().await;
    for path in ["/v1/memories/batch?wiat=all", "/v1/recall?limt=3", "/v1/memories?wait=embed&x"] {
        let reply = served.post(path, json!({"content": "one", "query": "one", "memories": []})).await;
        assert_eq!(reply.problem(), (400, "query_invalid"), "{path}");
    }
    let reply = served.get("/v1/keys?limit=3").await;
    assert_eq!(reply.problem(), (400, "query_invalid"));
    assert!(reply.body["detail"].as_str().unwrap().contains("`limit`"), "{}", reply.text);
    for path in ["/v1/tags/log?limit=1001", "/v1/tags/similar?q=a&limit=0", "/v1/backfills?limit=10001"] {
        assert_eq!(served.get(path).await.problem(), (422, "limit_out_of_range"), "{path}");
    }
    let reply = served.post("/v1/memories?wait=embed&wait_ms=30001", json!({"content": "one"})).await;
    assert_eq!(reply.problem(), (422, "limit_out_of_range"));
    assert_eq!(served.db.count("select count(*) from htm.nodes").await, 0);
}

#[tokio::test]
async fn matching_memories_are_forgotten_by_a_plan() {
    let served = Served::new().await;
    let node = served.remember("The old staging port is 5432.").await;
    served.remember("Mara prefers tabs.").await;
    let body =
        |more: &str| serde_json::from_str::<Value>(&format!("{{\"text\": \"staging port\"{more}}}")).unwrap();
    let plan = served.post("/v1/memories/forget", body(", \"dry_run\": true")).await.is(200);
    assert_eq!((&plan["plan"]["matches"][0]["node"], &plan["forgotten"]), (&json!(node), &Value::Null));
    assert_eq!(served.post("/v1/memories/forget", body("")).await.problem(), (409, "not_confirmed"));
    let done = served.post("/v1/memories/forget", body(", \"confirm\": true")).await.is(200);
    assert_eq!(done["forgotten"]["forgotten"], json!([node]));
    let purge = json!({"before": "2020-01-01T00:00:00Z", "dry_run": true});
    assert_eq!(served.post("/v1/purge", purge).await.is(200)["nodes"], 0);
}

#[tokio::test]
async fn memories_are_listed_by_pages_in_order_of_time() {
    let served = Served::new().await;
    for (text, time) in [("b", "2026-03-02"), ("a", "2026-03-01"), ("c", "2026-03-02"), ("d", "2026-03-03")] {
        let memory = json!({"content": text, "created_at": format!("{time}T00:00:00Z")});
        served.post("/v1/memories", memory).await.is(201);
    }
    let (mut path, mut texts) = ("/v1/memories?limit=2".to_owned(), Vec::new());
    loop {
        let page = served.get(&path).await.is(200);
        texts.extend(
            page["memories"].as_array().unwrap().iter().map(|it| it["content"].as_str().unwrap().to_owned()),
        );
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/v1/memories?limit=2&cursor={next}");
    }
    assert_eq!(texts, ["a", "b", "c", "d"]);
    assert_eq!(served.get("/v1/memories?cursor=x").await.problem(), (422, "cursor_invalid"));
}

#[tokio::test]
async fn a_stream_is_imported_with_a_result_a_line() {
    let served = Served::new().await;
    let lines = "{\"id\": \"a\", \"ns\": \"n\", \"text\": \"one\"}\n\nnot json\n{\"id\": \"b\", \"ns\": \"n\", \"text\": \" \"}\n\
                 {\"id\": \"a\", \"ns\": \"n\", \"text\": \"one\"}\n{\"id\": \"c\", \"ns\": \"n\", \"text\": \"three\"}";
    let import = |body: String| {
        let request =
            served.request(Method::POST, "/v1/import").header("content-type", "application/x-ndjson");
        served.send(request.body(body))
    };
    let reply = import(lines.into()).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    let results: Vec<Value> = reply.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let said: Vec<(i64, &str)> = results
        .iter()
        .map(|it| {
            (it["line"].as_i64().unwrap(), it["outcome"].as_str().or(it["problem"]["code"].as_str()).unwrap())
        })
        .collect();
    assert_eq!(
        said,
        [(1, "written"), (3, "line_invalid"), (4, "content_empty"), (5, "existing"), (6, "written")]
    );
    assert_eq!(served.db.count("select count(*) from htm.nodes").await, 2);
    // More than one chunk; sent again, nothing is written.
    let many: String =
        (0..1_200).map(|n| format!("{{\"id\":\"k{n}\",\"ns\":\"n\",\"text\":\"text {n}\"}}\n")).collect();
    for outcome in ["written", "existing"] {
        let reply = import(many.clone()).await;
        assert_eq!(reply.text.matches(outcome).count(), 1_200, "{}", &reply.text[..200]);
    }
    // Two lines are too long, and one of them is the last.
    let line = |id: &str| format!("{{\"id\":\"{id}\",\"ns\":\"n\",\"text\":\"text {id}\"}}\n");
    let long = "y".repeat(9 << 20);
    let reply = import(format!("{}{long}\n{}{}{long}", line("x"), line("y"), line("z"))).await;
    let told = |it: &str| reply.text.matches(it).count();
    assert_eq!(
        (told("\"outcome\":\"written\""), told("\"code\":\"line_too_long\""), reply.text.lines().count()),
        (3, 2, 5),
        "{}",
        reply.text
    );
    assert_eq!(served.post("/v1/import", json!({})).await.problem(), (415, "media_type_unfit"));
    let keyed = served.request(Method::POST, "/v1/import").header("idempotency-key", "k");
    assert_eq!(served.send(keyed.body("")).await.problem(), (400, "idempotency_unfit"));
}

/// A source of lines may be slow, and its program waits for what became of them.
#[tokio::test]
async fn an_import_that_pauses_has_the_results_so_far() {
    let served = Served::new().await;
    let (lines, body) = futures::channel::mpsc::unbounded();
    let send = |id: &str| {
        let line = format!("{{\"id\": \"{id}\", \"ns\": \"atlas\", \"text\": \"memory {id}\"}}\n");
        lines.unbounded_send(Ok::<_, std::io::Error>(line)).unwrap();
    };
    let request = served.request(Method::POST, "/v1/import").header("content-type", "application/x-ndjson");
    send("a");
    let mut response = request.body(reqwest::Body::wrap_stream(body)).send().await.unwrap();
    for (number, id) in [(1, "a"), (2, "b")] {
        let result: Value = serde_json::from_slice(&response.chunk().await.unwrap().unwrap()).unwrap();
        assert_eq!((&result["line"], &result["outcome"]), (&number.into(), &"written".into()), "{id}");
        send("b");
    }
    drop(lines);
    assert!(response.text().await.unwrap().contains("\"existing\""));
}

#[tokio::test]
async fn a_line_with_too_many_values_costs_itself_alone() {
    let served = Served::new().await;
    let line = |id: &str, metadata: &str| {
        format!(r#"{{"id": "{id}", "ns": "n", "text": "memory {id}", "metadata": {metadata}}}"#)
    };
    let heavy = format!("{{\"a\": [{}]}}", vec![r#"{"a":1}"#; 200_000].join(","));
    let body = [line("a", "{}"), line("b", &heavy), line("c", "{}")].join("\n");
    let request = served.request(Method::POST, "/v1/import").header("content-type", "application/x-ndjson");
    let reply = served.send(request.body(body)).await;
    let results: Vec<Value> = reply.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(results.len(), 3, "{}", reply.text);
    assert_eq!(results[1]["problem"]["code"], "line_too_long", "{}", reply.text);
    assert!(results[1]["problem"]["detail"].as_str().unwrap().ends_with("at most 64 MiB"), "{}", reply.text);
    assert_eq!(served.db.count("select count(*) from htm.nodes").await, 2);
}

#[tokio::test]
async fn an_import_that_is_cut_off_keeps_what_it_answered() {
    let served = Served::new().await;
    let line = |n: usize| format!("{{\"id\":\"k{n}\",\"ns\":\"n\",\"text\":\"text {n}\"}}\n");
    let lines: String = (0..600).map(line).collect();
    let head = "POST /v1/import HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-ndjson\r\n\
                content-length: 1000000\r\n\r\n";
    let mut client = TcpStream::connect(served.base.strip_prefix("http://").unwrap()).await.unwrap();
    client.write_all(format!("{head}{lines}").as_bytes()).await.unwrap();
    // The results of the first chunk come while the body is still open. Then the client dies.
    let mut answer = String::new();
    while !answer.contains("\"line\":500,") {
        let mut part = [0; 4096];
        let read = client.read(&mut part).await.unwrap();
        assert!(read > 0, "{answer}");
        answer.push_str(&String::from_utf8_lossy(&part[..read]));
    }
    drop(client);
    let nodes = served.db.count("select count(*) from htm.nodes").await;
    assert!(nodes >= 500, "{nodes}");
}

#[tokio::test]
async fn an_import_whose_client_falls_silent_ends_with_a_problem() {
    let served = Served::with(Limits { stall_time: Duration::from_millis(300), ..Limits::default() }).await;
    let mut client = TcpStream::connect(served.base.strip_prefix("http://").unwrap()).await.unwrap();
    let request = "POST /v1/import HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-ndjson\r\n\
                   content-length: 1000\r\n\r\n{\"id\":\"a\",\"ns\":\"n\",\"text\":\"one\"}\n";
    client.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    let (written, problem) = (answer.find("written").unwrap(), answer.find("body_incomplete").unwrap());
    assert!(written < problem, "{answer}");
    assert_eq!(served.db.count("select count(*) from htm.nodes").await, 1);
}

/// A client would repeat a write that is reported as failed.
#[tokio::test]
async fn a_write_whose_state_cannot_be_read_is_no_failed_write() {
    let served = Served::new().await;
    let rename = "alter table htm.completions rename to gone";
    sqlx::raw_sql(rename).execute(&served.db.pool).await.unwrap();
    let written = served.post("/v1/memories?wait=all&wait_ms=0", json!({"content": "one"})).await.is(201);
    assert!(written["node"].is_number() && written["status"].is_null(), "{written}");
    let batch = json!({"memories": [{"content": "two"}, {"content": "three"}]});
    let written = served.post("/v1/memories/batch?wait=all&wait_ms=0", batch).await.is(200);
    assert!(written["results"][1]["node"].is_number(), "{written}");
}
