//! A key of the wrong tenant, on every route and every tool: it reads nothing and changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use htm_core::{
    BackfillRequest, Confirmation, Edit, Erase, Htm, JoinOptions, LearningSettings, Memory, NewApiKey,
    NodeId, Quota, Retention, Role,
};
use htm_tests::TestDatabase;
use reqwest::Method;
use serde_json::{Map, Value, json};

use super::{Reply, Served};

/// The namespace of the other tenant, and a word that only its texts have.
const ACME: &str = "acme/notes";
const SECRET: &str = "zeppelin";

/// The things of the other tenant, by the names of the fields that ask for them.
struct Acme {
    fields: BTreeMap<&'static str, Vec<Value>>,
}

impl Acme {
    /// Fills a namespace with some of everything.
    async fn fill(htm: &Htm) -> Self {
        let tags = vec![htm.tag_rules().normalise("vehicle:airship").unwrap()];
        let memory =
            Memory { tags, session: Some("s".into()), ..Memory::new("A zeppelin is due on Friday.") };
        let node = htm.remember(memory.key("k").namespace(ACME).robot("ada")).await.unwrap().node;
        let former = htm.remember(Memory::new("A zeppelin is late.").namespace(ACME)).await.unwrap().node;
        htm.edit(
            former,
            &Edit {
                caller: htm_core::Caller::AnyRobot,
                content: Some("The zeppelin has left.".into()),
                ..Edit::new()
            },
        )
        .await
        .unwrap();
        let forgotten = htm.remember(Memory::new("No zeppelin.").namespace(ACME)).await.unwrap().node;
        htm.forget(forgotten, &htm_core::Caller::AnyRobot, Confirmation::Confirmed).await.unwrap();
        let robot = htm.robot_in(ACME, "ada").await.unwrap();
        robot.add(&[node]).await.unwrap();
        robot.close().await.unwrap();
        let group = htm.group("crew").namespace(ACME);
        let member = group.join("ada", JoinOptions::default()).await.unwrap();
        member.leave().await.unwrap();
        let (member, _) = group.enter("ada", JoinOptions::default()).await.unwrap();
        let membership = serde_json::to_value(member.id()).unwrap();
        let of_acme =
            BackfillRequest { namespace: Some(ACME.into()), ..BackfillRequest::new(htm_core::Stage::Tag) };
        let backfill = htm.start_backfill(&of_acme).await.unwrap().run();
        let ontology = htm.ontology(Some(ACME)).unwrap();
        let erased = htm.remember(Memory::new("A former zeppelin.").namespace(ACME)).await.unwrap().node;
        let erasure =
            htm.erase(&Erase::Memories(vec![erased]), None, Confirmation::Confirmed).await.unwrap().id;
        let change = ontology.rename("vehicle:airship", "vehicle:blimp").await.unwrap().change.unwrap();
        htm.set_quota(Some(ACME), Quota { max_memories: Some(100), ..Quota::default() }).await.unwrap();
        let retention = Retention { forget_after_seconds: Some(86_400 * 365), purge_after_seconds: None };
        htm.set_retention(Some(ACME), retention, Confirmation::Confirmed).await.unwrap();
        let key = htm.create_api_key(&NewApiKey::new(Role::Reader).namespace(ACME)).await.unwrap().key.id;
        let job = htm.jobs().unwrap().list(&Default::default(), None, 1).await.unwrap()[0].id.to_string();
        let files = htm.files(Some(ACME), htm_core::Caller::AnyRobot).unwrap();
        files.create("/memories/due.md", "A zeppelin is due on Friday.").await.unwrap();
        let file =
            htm_documents::read("docs/due.md", b"The zeppelin needs a mast.", &Default::default()).unwrap();
        let (mut document, _) = file.document("docs/due.md", 26, htm.tag_rules(), &[]);
        document.namespace = Some(ACME.into());
        htm.load_document(&document, &htm_core::Caller::AnyRobot).await.unwrap();
        let learning = LearningSettings { is_on: true, ..LearningSettings::default() };
        htm.set_learning(Some(ACME), &learning).await.unwrap();
        let recall = "01M8AGE71K3WB1C51X48ZE4G8H";
        sqlx::query(
            "with ranking as (insert into htm.rankings (namespace, version, learnt, figures, adopted, reason)
                              values ($1, 1, $2, $5, true, 'a zeppelin')),
                  recall as (insert into htm.recalls (id, namespace, author, features, version, shown, keep_until)
                             values ($3, $1, 'ada', 1, 0, 1, now() + interval '1 day') returning number)
             insert into htm.recall_candidates (namespace, recall, node_id, place, shown, features)
             select $1, number, $4, 1, 1, '' from recall",
        )
        .bind(ACME)
        .bind(sqlx::types::Json(htm_core::ranking::Learnt::default_ranking()))
        .bind(recall)
        .bind(node)
        .bind(sqlx::types::Json(htm_core::RankingFigures::default()))
        .execute(htm.database_pool().unwrap())
        .await
        .unwrap();
        let words = |words: &[&str]| words.iter().map(|it| json!(it)).collect::<Vec<_>>();
        let nodes: Vec<i64> = [node, former, forgotten].map(|NodeId(id)| id).to_vec();
        Self {
            fields: BTreeMap::from([
                ("namespace", words(&[ACME])),
                ("namespaces", vec![json!([ACME])]),
                ("prefix", words(&["acme"])),
                ("filter", vec![json!({"namespaces": [ACME]})]),
                ("memories", vec![json!([{"content": "x", "namespace": ACME}])]),
                ("messages", vec![json!([{"role": "user", "content": "x"}])]),
                (
                    "id",
                    [
                        nodes.iter().map(|id| json!(id)).collect(),
                        vec![
                            json!(change),
                            json!(key),
                            json!(job),
                            json!(erasure),
                            json!(backfill),
                            json!(recall),
                        ],
                    ]
                    .concat(),
                ),
                ("ids", vec![json!(nodes)]),
                ("node", vec![json!(nodes[0])]),
                ("nodes", vec![json!(nodes)]),
                ("around", vec![json!(nodes[0])]),
                ("query", words(&[SECRET])),
                ("q", words(&[SECRET])),
                ("text", words(&[SECRET])),
                ("topic", words(&[SECRET])),
                ("content", words(&["y"])),
                ("key", words(&["k"])),
                ("session", words(&["s"])),
                ("membership", vec![membership]),
                ("stage", words(&["embed", "tag"])),
                ("robot", words(&["ada"])),
                ("name", words(&["ada", "crew"])),
                ("tag", words(&["vehicle:blimp"])),
                ("other", words(&["vehicle"])),
                ("tags", vec![json!(["vehicle"])]),
                ("from", vec![json!(["vehicle:blimp"]), json!(["ada"])]),
                ("into", words(&["ship"])),
                ("to", vec![json!("ship"), json!(nodes[0])]),
                ("kind", words(&["shadow", "supersedes"])),
                ("to_group", words(&["crew"])),
                ("role", words(&["reader", "passive"])),
                ("label", words(&["fake/fake-64"])),
                ("model", words(&["fake/fake-64"])),
                ("step", words(&["day"])),
                ("by", words(&["robot", "tag"])),
                ("queue", words(&["htm.tag"])),
                ("reason", words(&["x"])),
                ("before", words(&["2026-01-01T00:00:00Z"])),
                ("document", vec![json!({"version": 1, "tags": []})]),
                ("path", words(&["/memories/due.md", "docs/due.md"])),
                ("old_path", words(&["/memories/due.md"])),
                ("new_path", words(&["/memories/late.md"])),
                ("old_str", words(&["due"])),
                ("new_str", words(&["late"])),
                ("insert_line", vec![json!(0)]),
                ("insert_text", words(&["x"])),
                ("file_text", words(&["x"])),
                ("revision", vec![json!(1)]),
                ("vector", vec![json!([1.0])]),
                ("dimensions", vec![json!(3)]),
                ("is_on", vec![json!(true)]),
                ("used", vec![json!(nodes)]),
                ("version", vec![json!(1)]),
                ("confirm", vec![json!(true)]),
                ("any_robot", vec![json!(true)]),
            ]),
        }
    }

    /// Values for a field, some that make sense and one that does not.
    fn of(&self, field: &str, names_namespace: bool) -> Vec<Value> {
        let names = ["namespace", "namespaces", "prefix", "filter"];
        if !names_namespace && names.contains(&field) {
            return Vec::new();
        }
        if !names_namespace && field == "memories" {
            return vec![json!([{"content": "x"}])];
        }
        self.fields.get(field).cloned().unwrap_or_default()
    }
}

/// All that the tenant has, as text. Times of its robots' activity are not its own doing.
async fn all_of_acme(db: &TestDatabase) -> Vec<String> {
    let tables: Vec<String> = sqlx::query_scalar(
        "select format('%I.%I', table_schema, table_name) from information_schema.columns
          where table_schema = 'htm' and column_name = 'namespace' order by 1",
    )
    .fetch_all(&db.pool)
    .await
    .unwrap();
    assert!(tables.len() > 10, "{tables:?}");
    let mut all = Vec::new();
    for table in tables {
        let text = format!("select t::text from {table} t where t.namespace like 'acme%' order by 1");
        all.extend(
            sqlx::query_scalar::<_, String>(sqlx::AssertSqlSafe(text)).fetch_all(&db.pool).await.unwrap(),
        );
    }
    let jobs = "select id || status || attempts from apalis.jobs where metadata -> 'namespace' like 'acme%' order by 1";
    all.extend(sqlx::query_scalar::<_, String>(jobs).fetch_all(&db.pool).await.unwrap());
    all
}

/// A schema of the document, without references.
fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(reference) => {
            let name = reference.trim_start_matches("#/components/schemas/");
            resolved(document, &document["components"]["schemas"][name])
        }
        None => schema,
    }
}

/// A field of a body.
struct Field {
    is_required: bool,
    is_list: bool,
    is_of_tags: bool,
}

/// The fields of an object's schema, and whether each is required and a list.
fn fields(document: &Value, schema: &Value, found: &mut BTreeMap<String, Field>) {
    let schema = resolved(document, schema);
    for part in schema["allOf"].as_array().into_iter().flatten() {
        fields(document, part, found);
    }
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let is_list = field["type"] == "array" || field["type"][0] == "array";
        let is_of_tags = field["items"]["$ref"] == "#/components/schemas/TermBody";
        let is_required = required.contains(&json!(name));
        found.insert(name.clone(), Field { is_required, is_list, is_of_tags });
    }
}

/// A request.
type Ask = (Method, String, Option<Value>);

/// One request for each value of the field with the most values.
fn requests(document: &Value, acme: &Acme, names_namespace: bool) -> Vec<(String, Ask)> {
    let mut all = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let what = format!("{method} {path}");
            for turn in 0..9 {
                let pick = |field: &str| {
                    let values = acme.of(field, names_namespace);
                    (!values.is_empty()).then(|| values[turn % values.len()].clone())
                };
                let plain = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let mut url = path.clone();
                let mut query = Vec::new();
                for parameter in operation["parameters"].as_array().into_iter().flatten() {
                    let name = parameter["name"].as_str().unwrap();
                    let value = pick(name).map(plain);
                    match parameter["in"].as_str().unwrap() {
                        "path" => {
                            let own = (name == "namespace").then(|| "other/x".to_owned());
                            let value = value.or(own);
                            let value = value.unwrap_or_else(|| panic!("{what}: no value for {name}"));
                            url = url.replace(&format!("{{{name}}}"), &value.replace('/', "%2F"));
                        }
                        "query" if name != "before" => query.extend(value.map(|it| format!("{name}={it}"))),
                        _ => {}
                    }
                }
                if !query.is_empty() {
                    url = format!("{url}?{}", query.join("&"));
                }
                let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
                let body = (!schema.is_null()).then(|| {
                    let mut of_body = BTreeMap::new();
                    fields(document, schema, &mut of_body);
                    let mut body = Map::new();
                    for (name, Field { is_required, is_list, is_of_tags }) in of_body {
                        match pick(&name) {
                            // Jobs are chosen by ids, or by conditions.
                            _ if name == "ids" => None,
                            Some(_) if is_of_tags => {
                                body.insert(name, json!([{"tag": "ship"}, {"tag": "boat"}]))
                            }
                            Some(value) if is_list && !value.is_array() => {
                                body.insert(name, json!([value, "b"]))
                            }
                            Some(value) => body.insert(name, value),
                            None if name == "namespace" && is_required => body.insert(name, json!("other/x")),
                            None if is_required => panic!("{what}: no value for {name}"),
                            None => None,
                        };
                    }
                    Value::Object(body)
                });
                all.push((what.clone(), (method.to_uppercase().parse().unwrap(), url, body)));
                let is_import = path == "/v1/import";
                if is_import {
                    break;
                }
            }
        }
    }
    all
}

async fn ask(served: &Served, (method, url, body): &Ask) -> Reply {
    let request = served.request(method.clone(), url);
    served
        .send(match body {
            Some(body) => request.json(body),
            None => request,
        })
        .await
}

#[tokio::test]
async fn no_route_shows_or_changes_what_another_tenant_has() {
    let mut served = Served::new().await;
    let acme = Acme::fill(&served.db.htm()).await;
    let document = htm_server::openapi();
    served.use_key(&NewApiKey::new(Role::Admin).namespace("other/*")).await;
    served.remember("Own.").await;
    let before = all_of_acme(&served.db).await;
    assert!(before.iter().any(|row| row.contains(SECRET)));
    // Its own lists are all that is answered, whatever is asked. Everything else has to be refused for what it names, not
    // for its shape.
    let own = [
        "/v1/namespaces",
        "/v1/keys",
        "/v1/audit",
        "/v1/erasures",
        "/v1/backfills",
        "/v1/memories/batch",
        "/v1/import",
    ];
    let mut codes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (operation, request) in requests(document, &acme, true) {
        let reply = ask(&served, &request).await;
        let (method, url, body) = &request;
        let what = format!("{method} {url} {body:?}: {} {}", reply.status, reply.text);
        assert!(!reply.text.contains("Friday") && !reply.text.contains("has left"), "{what}");
        assert!(reply.status < 500, "{what}");
        let is_own = own.iter().any(|path| url.split('?').next() == Some(path));
        assert!(is_own || reply.status >= 400, "{what}");
        let code = if is_own { "own" } else { reply.body["code"].as_str().unwrap_or("none") };
        codes.entry(operation).or_default().insert(code.to_owned());
    }
    let tells = |code: &String| {
        // An admin's role is too low only for what needs all namespaces.
        matches!(code.as_str(), "own" | "namespace_forbidden" | "role_insufficient")
            || ["_unknown", "_not_found"].iter().any(|it| code.ends_with(it))
    };
    let not_refused: Vec<_> = codes.iter().filter(|(_, codes)| !codes.iter().any(tells)).collect();
    assert!(not_refused.is_empty(), "{not_refused:#?}");
    for (_, request) in requests(document, &acme, false) {
        let reply = ask(&served, &request).await;
        let (method, url, body) = &request;
        let what = format!("{method} {url} {body:?}: {} {}", reply.status, reply.text);
        assert!(reply.status < 500, "{what}");
        // What was asked for may come back in an error or as the text of the query.
        let text = reply.text.replace(&format!("`{SECRET}`"), "");
        assert!(!text.contains("Friday") && !text.contains("has left") && !text.contains("acme"), "{what}");
    }
    assert_eq!(all_of_acme(&served.db).await, before);
}

/// What else is wrong with a request must not be told of the one and not of the other.
#[tokio::test]
async fn an_id_of_another_tenant_is_answered_as_one_that_nobody_has() {
    let mut served = Served::new().await;
    let all = served.db.htm();
    let theirs = all.remember(Memory::new("A zeppelin.").namespace(ACME)).await.unwrap().node;
    let forgotten = all.remember(Memory::new("No zeppelin.").namespace(ACME)).await.unwrap().node;
    all.forget(forgotten, &htm_core::Caller::AnyRobot, Confirmation::Confirmed).await.unwrap();
    served.use_key(&NewApiKey::new(Role::Admin).namespace("other/*")).await;
    let own = served.remember("Own.").await;
    let requests = |id: i64| -> Vec<Ask> {
        let (path, of_own) = (format!("/v1/memories/{id}"), format!("/v1/memories/{own}"));
        let to = |id: i64| Some(json!({"kind": "supersedes", "to": id}));
        let vector = json!({"model": "caller/none", "revision": 7, "vector": [1.0]});
        vec![
            (Method::GET, path.clone(), None),
            (Method::GET, format!("{path}?as_of=2099-01-01"), None),
            (Method::GET, format!("{path}/history"), None),
            (Method::GET, format!("{path}/status"), None),
            (Method::GET, format!("{path}/tags"), None),
            (Method::GET, format!("{path}/keepers"), None),
            (Method::GET, format!("{path}/neighbours"), None),
            (Method::GET, format!("{path}/relations"), None),
            (Method::PATCH, path.clone(), Some(json!({"expires_at": "2020-01-01T00:00:00Z"}))),
            (Method::POST, format!("{path}/refresh"), None),
            (Method::POST, format!("{path}/restore"), Some(json!({}))),
            (Method::PUT, format!("{path}/vector"), Some(vector)),
            (Method::POST, format!("{path}/relations"), to(own)),
            (Method::POST, format!("{of_own}/relations"), to(id)),
            (Method::DELETE, format!("{path}/relations?kind=supersedes&to={own}"), None),
            (Method::DELETE, format!("{of_own}/relations?kind=supersedes&to={id}"), None),
            (Method::DELETE, format!("{path}?confirm=true"), None),
            (Method::DELETE, format!("{path}?confirm=true&erase=true"), None),
            (Method::POST, "/v1/memories/erase".into(), Some(json!({"ids": [own, id], "dry_run": true}))),
            (Method::POST, "/v1/robots/htm/working-memory".into(), Some(json!({"nodes": [own, id]}))),
        ]
    };
    let nobodys = own + 1_000;
    for NodeId(id) in [theirs, forgotten] {
        for (theirs, missing) in requests(id).iter().zip(&requests(nobodys)) {
            let reply = ask(&served, theirs).await;
            let what = format!("{theirs:?}: {}", reply.text);
            assert_eq!(reply.problem(), (404, "node_not_found"), "{what}");
            let missing = ask(&served, missing).await.text.replace(&nobodys.to_string(), &id.to_string());
            assert_eq!(reply.text, missing, "{what}");
        }
    }
}

#[tokio::test]
async fn no_tool_shows_or_changes_what_another_tenant_has() {
    let mut served = Served::new().await;
    let acme = Acme::fill(&served.db.htm()).await;
    served.use_key(&NewApiKey::new(Role::Admin).namespace("other")).await;
    let before = all_of_acme(&served.db).await;
    let send = async |path: &str, method: &str, params: Value| {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let request =
            served.request(Method::POST, path).header("accept", "application/json, text/event-stream");
        served.send(request.json(&message)).await
    };
    let mut called = 0;
    for set in ["ops", "chatgpt"] {
        let path = format!("/mcp?tools={set}");
        let list = send(&path, "tools/list", json!({})).await.is(200);
        for tool in list["result"]["tools"].as_array().unwrap() {
            let schema = &tool["inputSchema"];
            for names_namespace in [true, false] {
                for turn in 0..4 {
                    let mut arguments = Map::new();
                    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
                        let values = match name.as_str() {
                            // Those of HTTP are in other shapes.
                            "filter" | "name" | "from" => Vec::new(),
                            "id" if field["type"] == "string" => vec![json!("1")],
                            _ => acme.of(name, names_namespace),
                        };
                        if let Some(value) = values.get(turn % values.len().max(1)) {
                            arguments.insert(name.clone(), value.clone());
                        }
                    }
                    let params = json!({"name": tool["name"], "arguments": arguments});
                    let reply = send(&path, "tools/call", params.clone()).await;
                    let what = format!("{params}: {}", reply.text);
                    assert!(!reply.text.contains("Friday") && !reply.text.contains("has left"), "{what}");
                    called += 1;
                }
            }
        }
    }
    assert!(called > 50, "{called}");
    for uri in [
        "htm://memories/1",
        "htm://memories/recent",
        "htm://groups",
        "htm://tags/hierarchy",
        "htm://statistics",
    ] {
        let reply = send("/mcp", "resources/read", json!({"uri": uri})).await;
        assert!(
            !reply.text.contains("Friday") && !reply.text.contains(ACME) && !reply.text.contains("blimp"),
            "{uri}: {}",
            reply.text
        );
    }
    for name in ["what_do_we_know", "remember_conversation"] {
        let prompt = json!({"name": name, "arguments": {"topic": "blimp Friday"}});
        let reply = send("/mcp", "prompts/get", prompt).await;
        let text = reply.text.clone();
        assert!(reply.is(200)["result"]["messages"].is_array(), "{text}");
        assert!(!text.contains("has left") && !text.contains(ACME), "{text}");
    }
    assert_eq!(
        send("/mcp/acme/notes", "tools/list", json!({})).await.problem(),
        (403, "namespace_forbidden")
    );
    assert_eq!(all_of_acme(&served.db).await, before);
}
