//! Keys of the API: roles, robots, rates, expiry, revocation.

use std::time::Duration;

use futures::future::join_all;
use htm_core::{NewApiKey, Quota, Role};
use htm_server::{Limits, Listening, Server, Tls};
use htm_tests::{Certificate, TestDatabase};
use reqwest::Method;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::Served;

#[tokio::test]
async fn the_first_key_closes_the_server() {
    let mut served = Served::new().await;
    served.get("/v1/stats").await.is(200);
    let key = served.post("/v1/keys", json!({"role": "reader", "name": "dashboard"})).await.is(201);
    let secret = key["secret"].as_str().unwrap().to_owned();
    assert!(secret.starts_with(&format!("htm_{}_", key["id"].as_str().unwrap())), "{secret}");
    // Within a second: the server does not ask for each request.
    let mut refused = served.get("/v1/stats").await;
    while refused.status == 200 {
        refused = served.get("/v1/stats").await;
    }
    assert_eq!(refused.problem(), (401, "api_key_missing"));
    assert_eq!(refused.header("www-authenticate"), "Bearer");
    for path in ["/livez", "/readyz", "/docs", "/docs/errors", "/openapi.json"] {
        assert_eq!(served.get(path).await.status, 200, "{path}");
    }
    for path in ["/metrics", "/mcp"] {
        assert_eq!(served.get(path).await.problem(), (401, "api_key_missing"), "{path}");
    }
    let with = async |value: &str| {
        served.send(served.request(Method::GET, "/v1/stats").header("authorization", value)).await
    };
    for other in ["Basic YTpi", "Bearer"] {
        let refused = with(other).await;
        assert_eq!(refused.problem(), (401, "api_key_missing"), "{other}");
        assert_eq!(refused.header("www-authenticate"), "Bearer", "{other}");
    }
    assert_eq!(with("Bearer htm_x").await.problem(), (401, "api_key_invalid"));
    let mut wrong = secret.clone();
    let last = wrong.pop().unwrap();
    wrong.push(if last == '0' { '1' } else { '0' });
    assert_eq!(with(&format!("Bearer {wrong}")).await.problem(), (401, "api_key_invalid"));
    served.use_secret(&secret);
    served.get("/v1/stats").await.is(200);
    assert_eq!(served.get("/metrics").await.status, 200);
    // Its text is kept nowhere.
    let tail = &secret[20..];
    for table in ["api_keys", "audit_log", "operations"] {
        let kept = format!("select count(*) from htm.{table} t where t::text like '%{tail}%'");
        let kept: i64 =
            sqlx::query_scalar(sqlx::AssertSqlSafe(kept)).fetch_one(&served.db.pool).await.unwrap();
        assert_eq!(kept, 0, "{table}");
    }
    assert_eq!(served.db.count("select count(*) from htm.api_keys where last_used_at is not null").await, 1);
}

#[tokio::test]
async fn a_role_does_what_it_may_and_no_more() {
    let mut served = Served::new().await;
    let node = served.remember("Mara prefers tabs.").await;
    served.use_key(&NewApiKey::new(Role::Reader)).await;
    served.get(&format!("/v1/memories/{node}")).await.is(200);
    served.post("/v1/recall", json!({"query": "tabs"})).await.is(200);
    let refused = served.post("/v1/memories", json!({"content": "x"})).await;
    assert_eq!(refused.problem(), (403, "role_insufficient"));
    assert!(refused.text.contains("reader") && refused.text.contains("writer"), "{}", refused.text);
    assert_eq!(served.delete(&format!("/v1/memories/{node}")).await.problem(), (403, "role_insufficient"));
    assert_eq!(served.get("/v1/keys").await.problem(), (403, "role_insufficient"));
    // Nor by a path that reads.
    for (path, body) in [
        ("/v1/recall", json!({"query": "tabs", "robot": "new"})),
        ("/v1/recall", json!({"query": "tabs", "refresh": true})),
        ("/v1/context", json!({"query": "tabs", "robot": "new"})),
    ] {
        assert_eq!(served.post(path, body).await.problem(), (403, "role_insufficient"));
    }
    assert_eq!(served.post("/v1/context", json!({"robot": "new"})).await.problem(), (404, "robot_unknown"));
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "recall", "arguments": {"query": "tabs"}}});
    let recalled = served
        .send(
            served
                .request(Method::POST, "/mcp")
                .header("accept", "application/json, text/event-stream")
                .json(&call),
        )
        .await;
    assert!(recalled.text.contains("Mara prefers tabs."), "{}", recalled.text);
    assert_eq!(served.db.count("select count(*) from htm.robots").await, 1, "the robot that remembered");
    assert_eq!(served.db.count("select count(*) from htm.working_memory").await, 0);

    served.use_key(&NewApiKey::new(Role::Writer)).await;
    served.remember("Mara uses a split keyboard.").await;
    let rename = json!({"tag": "a", "to": "b"});
    assert_eq!(served.post("/v1/tags/rename", rename).await.problem(), (403, "role_insufficient"));
    assert_eq!(served.post("/v1/keys", json!({"role": "admin"})).await.problem(), (403, "role_insufficient"));

    served.use_key(&NewApiKey::new(Role::Admin).namespace("default")).await;
    served.post("/v1/tags/add", json!({"tags": [{"tag": "editor"}]})).await.is(200);
    // An admin of a namespace makes keys for it, and for nothing else.
    let wide = served.post("/v1/keys", json!({"role": "reader"})).await;
    assert_eq!(wide.problem(), (403, "namespace_forbidden"));
    for none in [json!([]), json!(["*"]), json!(["tenant-*"])] {
        let refused = served.post("/v1/keys", json!({"role": "reader", "namespaces": none})).await;
        assert_eq!(refused.problem(), (422, "namespace_invalid"));
    }
    let own = served.post("/v1/keys", json!({"role": "admin", "namespaces": ["default"]})).await.is(201);
    let keys = served.get("/v1/keys").await.is(200);
    let ids: Vec<&str> =
        keys["keys"].as_array().unwrap().iter().map(|key| key["id"].as_str().unwrap()).collect();
    assert_eq!((ids.len(), ids[0]), (2, own["id"].as_str().unwrap()), "{keys}");
    let workers = served.get("/v1/workers").await;
    assert_eq!(workers.problem(), (403, "namespace_forbidden"));
    let said = workers.body["detail"].as_str().unwrap();
    assert!(said.starts_with("this is about all namespaces") && said.ends_with("default"), "{said}");
    assert_eq!(served.get("/metrics").await.problem(), (403, "role_insufficient"));
}

#[tokio::test]
async fn a_key_of_a_robot_acts_as_no_other() {
    let mut served = Served::new().await;
    let of_bea = json!({"content": "Bea counts trains.", "robot": "bea"});
    let of_bea = served.post("/v1/memories", of_bea).await.is(201)["node"].as_i64().unwrap();
    served.use_key(&NewApiKey::new(Role::Admin).robot("ada")).await;
    let own = served.remember("Ada counts ships.").await;
    assert_eq!(served.get(&format!("/v1/memories/{own}")).await.is(200)["robot"], "ada");
    // It reads what others remembered.
    served.get(&format!("/v1/memories/{of_bea}")).await.is(200);
    let as_bea = json!({"content": "x", "robot": "bea"});
    let refused = served.post("/v1/memories", as_bea).await;
    assert_eq!(refused.problem(), (403, "robot_forbidden"));
    assert_eq!(refused.body["hint"], "name no robot, or that of your key");
    let path = format!("/v1/memories/{of_bea}?confirm=true");
    assert_eq!(served.delete(&path).await.problem(), (403, "not_owner"));
    for who in ["robot=bea", "any_robot=true"] {
        assert_eq!(
            served.delete(&format!("{path}&{who}")).await.problem(),
            (403, "robot_forbidden"),
            "{who}"
        );
    }
    let edit = json!({"content": "y", "any_robot": true});
    let edited = served.patch(&format!("/v1/memories/{of_bea}"), edit).await;
    assert_eq!(edited.problem(), (403, "robot_forbidden"));
    // Clients learn as whom they may ask.
    assert_eq!(edited.body["values"]["robot"], "ada");
    let merge = json!({"from": ["bea"], "into": "ada"});
    assert_eq!(served.post("/v1/robots/merge", merge).await.problem(), (403, "robot_forbidden"));
    let add = served.post("/v1/robots/bea/working-memory", json!({"nodes": [own]})).await;
    assert_eq!(add.problem(), (403, "robot_forbidden"));
    // The memories of a robot go with its name.
    let rename = served.patch("/v1/robots/bea", json!({"name": "ada"})).await;
    assert_eq!(rename.problem(), (403, "robot_forbidden"));
    // A key for another robot would be a way around.
    let other = served.post("/v1/keys", json!({"role": "reader", "robot": "bea"})).await;
    assert_eq!(other.problem(), (403, "robot_forbidden"));
    let refused = served.post("/v1/keys", json!({"role": "reader"})).await;
    assert_eq!(refused.problem(), (403, "robot_forbidden"));
    let hint = refused.body["hint"].as_str().unwrap();
    assert!(hint.starts_with("use a key that is bound to no robot"), "{hint}");
    served.delete(&format!("/v1/memories/{own}?confirm=true")).await.is(200);
}

#[tokio::test]
async fn an_admin_that_is_a_robot_changes_nothing_of_others() {
    let mut served = Served::new().await;
    let of_bea = json!({"content": "Bea counts trains.", "robot": "bea", "tags": ["train"]});
    served.post("/v1/memories", of_bea).await.is(201);
    let other = served.db.htm().create_api_key(&NewApiKey::new(Role::Reader)).await.unwrap().key.id;
    served.use_key(&NewApiKey::new(Role::Admin).robot("ada")).await;
    let forbidden = (403, "robot_forbidden");
    let policy = json!({"forget_after_seconds": 1, "confirm": true});
    assert_eq!(served.patch("/v1/retention", policy).await.problem(), forbidden);
    let remove = json!({"tag": "train", "assigned": true});
    assert_eq!(served.post("/v1/tags/remove", remove).await.problem(), forbidden);
    let rename = json!({"tag": "train", "to": "ship"});
    assert_eq!(served.post("/v1/tags/rename", rename.clone()).await.problem(), forbidden);
    // It may ask what would change, and describe a tag.
    let dry_run = json!({"tag": "train", "to": "ship", "dry_run": true});
    served.post("/v1/tags/rename", dry_run).await.is(200);
    let described = json!({"tags": [{"tag": "train", "description": "On rails"}]});
    served.post("/v1/tags/add", described).await.is(200);
    // Another one's key is none of its keys.
    assert_eq!(served.delete(&format!("/v1/keys/{other}")).await.problem(), (404, "api_key_unknown"));
    let keys = served.get("/v1/keys").await.is(200)["keys"].clone();
    assert_eq!(keys.as_array().unwrap().len(), 1, "{keys}");
}

#[tokio::test]
async fn a_revoked_or_expired_key_is_refused() {
    let mut served = Served::new().await;
    let admin = served.use_key(&NewApiKey::new(Role::Admin)).await;
    let other = served.db.htm().create_api_key(&NewApiKey::new(Role::Reader)).await.unwrap();
    let as_other = async || {
        let request = served.http.get(format!("{}/v1/stats", served.base));
        served.send(request.bearer_auth(other.secret.expose())).await
    };
    // The default header is replaced by the one of the request.
    as_other().await.is(200);
    let revoked = served.delete(&format!("/v1/keys/{}", other.key.id)).await.is(200);
    assert!(revoked["revoked_at"].is_string());
    assert_eq!(as_other().await.problem(), (401, "api_key_revoked"));
    // Again it is the same, and the log has it once.
    assert_eq!(served.delete(&format!("/v1/keys/{}", other.key.id)).await.is(200), revoked);
    assert_eq!(served.delete("/v1/keys/0123456789ab").await.problem(), (404, "api_key_unknown"));
    let log = served.get("/v1/audit").await.is(200);
    let what: Vec<(&str, &str)> = log["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (entry["action"].as_str().unwrap(), entry["actor"].as_str().unwrap()))
        .collect();
    let by_admin = format!("key {}", admin.id);
    assert_eq!(what, [("key.revoke", &*by_admin), ("key.create", "htm"), ("key.create", "htm")]);
    sqlx::query("update htm.api_keys set expires_at = now() - interval '1 second'")
        .execute(&served.db.pool)
        .await
        .unwrap();
    let mut refused = served.get("/v1/stats").await;
    while refused.status == 200 {
        refused = served.get("/v1/stats").await;
    }
    assert_eq!(refused.problem(), (401, "api_key_expired"));
}

/// Who sees a namespace sees which keys open it, and not which other namespaces they open.
#[tokio::test]
async fn a_key_for_two_namespaces_is_in_the_log_of_both() {
    let mut served = Served::new().await;
    let hour = Some(Duration::from_secs(3_600));
    let two = ["tenant-7/*", "atlas"].map(str::to_owned).to_vec();
    let admin = NewApiKey { namespaces: two, expires_in: hour, ..NewApiKey::new(Role::Admin) };
    let maker = served.use_key(&admin).await;
    let key = json!({"role": "admin", "namespaces": ["tenant-7/notes", "atlas"], "expires_in_seconds": 60});
    let made = served.post("/v1/keys", key).await.is(201)["id"].clone();
    served.delete(&format!("/v1/keys/{}", made.as_str().unwrap())).await.is(200);
    let entries = |log: serde_json::Value| -> Vec<(String, serde_json::Value, serde_json::Value)> {
        let entries = log["entries"].as_array().unwrap().iter();
        let told = entries.map(|it| {
            (it["action"].as_str().unwrap().to_owned(), it["namespace"].clone(), it["subject"].clone())
        });
        told.collect()
    };
    let of = |action: &str, namespace: &str, id: &serde_json::Value| {
        (action.to_owned(), json!(namespace), id.clone())
    };
    let own = json!(maker.id);
    let all = [
        of("key.revoke", "atlas", &made),
        of("key.revoke", "tenant-7/notes", &made),
        of("key.create", "atlas", &made),
        of("key.create", "tenant-7/notes", &made),
        of("key.create", "atlas", &own),
        of("key.create", "tenant-7/*", &own),
    ];
    assert_eq!(entries(served.get("/v1/audit").await.is(200)), all);
    served.use_key(&NewApiKey { namespaces: vec!["atlas".into()], ..admin }).await;
    let log = served.get("/v1/audit").await.is(200);
    assert!(!log.to_string().contains("tenant-7"), "{log}");
    let of_atlas: Vec<_> = all.into_iter().filter(|(_, namespace, _)| namespace == "atlas").collect();
    assert_eq!(entries(log)[1..], of_atlas);
}

#[tokio::test]
async fn a_mistyped_namespace_does_not_tell_of_those_that_the_key_does_not_see() {
    let mut served = Served::new().await;
    for namespace in ["home", "tenant-7/home", "tenant-7/homes", "tenant-70/home"] {
        let memory = json!({"content": "Ada drinks tea.", "namespace": namespace});
        served.post("/v1/memories", memory).await.is(201);
    }
    let seen = ["tenant-7/*", "atlas"].map(str::to_owned).to_vec();
    served.use_key(&NewApiKey { namespaces: seen, ..NewApiKey::new(Role::Reader) }).await;
    let filter = json!({"namespaces": ["tenant-7/hom", "atlas"]});
    let found = served.post("/v1/timeline", json!({"filter": filter})).await.is(200);
    let unknown = |name: &str| json!({"kind": "namespace", "name": name, "nearest": ["tenant-7/home", "tenant-7/homes"]});
    assert_eq!(found["unknown_names"], json!([unknown("atlas"), unknown("tenant-7/hom")]));
}

#[tokio::test]
async fn a_key_creates_no_stronger_key_and_is_revoked_by_its_text() {
    let mut served = Served::new().await;
    let operator = served.db.htm();
    let hour = Some(Duration::from_secs(3_600));
    let bound = NewApiKey { expires_in: hour, requests_per_minute: Some(500), ..NewApiKey::new(Role::Admin) };
    served.use_key(&bound).await;
    let make = async |seconds: Option<u64>, rate: Option<i32>| {
        let namespaces = ["x", "x/*", "x"];
        let key = json!({"role": "admin", "namespaces": namespaces, "expires_in_seconds": seconds,
            "requests_per_minute": rate});
        served.post("/v1/keys", key).await
    };
    assert_eq!(make(None, Some(5)).await.problem(), (422, "expiry_out_of_range"));
    assert_eq!(make(Some(7_200), Some(5)).await.problem(), (422, "expiry_out_of_range"));
    assert_eq!(make(Some(60), None).await.problem(), (422, "limit_out_of_range"));
    assert_eq!(make(Some(60), Some(501)).await.problem(), (422, "limit_out_of_range"));
    let made = make(Some(60), Some(500)).await.is(201);
    assert_eq!(made["namespaces"], json!(["x", "x/*"]));
    assert_eq!(served.db.count("select count(*) from htm.api_keys").await, 2);
    let (id, whole) = (made["id"].as_str().unwrap(), made["secret"].as_str().unwrap());
    // What follows the id is told to nobody, and does not matter.
    let secret = whole.rsplit('_').next().unwrap();
    for unknown in [format!("htm_0123456789ab_{secret}"), format!("htm_{secret}"), secret.to_owned()] {
        let refused = served.delete(&format!("/v1/keys/{unknown}")).await;
        assert_eq!(refused.problem(), (404, "api_key_unknown"));
        assert!(!refused.text.contains(secret), "{}", refused.text);
        let error = operator.revoke_api_key(&unknown).await.unwrap_err();
        assert!(!format!("{error:?} {error} {}", error.hint()).contains(secret), "{error}");
    }
    for text in [id.to_owned(), format!("htm_{id}"), whole.to_owned()] {
        let revoked = served.delete(&format!("/v1/keys/{text}")).await.is(200);
        assert_eq!(revoked["id"], id);
    }
}

#[tokio::test]
async fn what_cannot_be_undone_or_costs_money_is_on_record() {
    let mut served = Served::new().await;
    for robot in ["ada", "bea"] {
        let memory = json!({"content": format!("{robot} counts zeppelins."), "robot": robot});
        served.post("/v1/memories", memory).await.is(201);
    }
    for name in ["former", "new"] {
        served.post("/v1/models", json!({"name": name, "dimensions": 3})).await.is(200);
    }
    let ada = json!(served.get("/v1/robots/ada").await.is(200)["id"].to_string());
    let key = served.use_key(&NewApiKey::new(Role::Admin)).await;
    for (method, path, body, action, subject) in [
        (
            Method::POST,
            "/v1/robots/merge",
            json!({"from": ["bea"], "into": "ada"}),
            "robot.merge",
            ada.clone(),
        ),
        (Method::PATCH, "/v1/robots/ada", json!({"name": "eve"}), "robot.rename", ada),
        (
            Method::PUT,
            "/v1/budgets",
            json!({"namespace": "default", "tokens_per_day": 1000}),
            "budget.set",
            json!(null),
        ),
        (
            Method::PATCH,
            "/v1/providers",
            json!({"model": "openai/small", "requests_per_minute": 60}),
            "provider.set",
            json!("openai/small"),
        ),
        (
            Method::POST,
            "/v1/models/activate",
            json!({"label": "caller/new"}),
            "model.activate",
            json!("caller/new"),
        ),
        (
            Method::POST,
            "/v1/models/retire",
            json!({"label": "caller/former"}),
            "model.retire",
            json!("caller/former"),
        ),
        (Method::PUT, "/v1/learning", json!({"is_on": true}), "learning.set", json!(null)),
        (
            Method::POST,
            "/v1/memories/forget",
            json!({"text": "zeppelins", "any_robot": true, "confirm": true}),
            "forget",
            json!(null),
        ),
    ] {
        let done = served.send(served.request(method, path).json(&body)).await;
        assert_eq!(done.status, 200, "{path}: {}", done.text);
        let entry = served.get("/v1/audit?limit=1").await.is(200)["entries"][0].clone();
        assert_eq!((&entry["action"], &entry["subject"]), (&json!(action), &subject), "{path}");
        assert_eq!(entry["actor"], format!("key {}", key.id), "{path}");
        let details = entry["details"].to_string();
        assert!(["zeppelin", "\"bea\"", "\"eve\""].iter().all(|text| !details.contains(text)), "{entry}");
    }
}

#[tokio::test]
async fn all_servers_share_the_rate_of_a_key() {
    let mut served = Served::new().await;
    let address = "127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap();
    let second = Server::bind(address, served.db.htm(), Limits::default()).await.unwrap();
    let bases = [served.base.clone(), format!("http://{}", second.address())];
    tokio::spawn(second.serve(served.stop.clone()));
    served.use_key(&NewApiKey { requests_per_minute: Some(40), ..NewApiKey::new(Role::Reader) }).await;
    let (mut answered, mut refused) = (0, None);
    // The minute may end in between, but not twice.
    for at in 0..130 {
        let url = format!("{}/v1/namespaces", bases[at % 2]);
        let reply = served.send(served.http.get(url)).await;
        match reply.status {
            200 => answered += 1,
            _ => refused = Some(reply),
        }
    }
    let refused = refused.expect("130 requests are more than the limit of two minutes");
    assert_eq!(refused.problem(), (429, "too_many_requests"));
    let wait: u64 = refused.header("retry-after").parse().unwrap();
    assert!((1..=61).contains(&wait), "{wait}");
    assert!(refused.text.contains("40"), "{}", refused.text);
    assert!((40..=80).contains(&answered), "{answered}");
}

#[tokio::test]
async fn all_servers_share_the_requests_of_a_namespace() {
    let served = Served::new().await;
    let address = "127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap();
    let second = Server::bind(address, served.db.htm(), Limits::default()).await.unwrap();
    let bases = [served.base.clone(), format!("http://{}", second.address())];
    tokio::spawn(second.serve(served.stop.clone()));
    let htm = served.db.htm();
    let quota = Quota { requests_per_minute: Some(40), ..Quota::default() };
    htm.set_quota(Some("tenant-7/*"), quota).await.unwrap();
    // Each of a namespace below, of another one, or of all. The first two count together.
    let mut secrets = Vec::new();
    for namespaces in [&["tenant-7/notes"][..], &["tenant-7/*", "home"], &["tenant-70/notes"], &[]] {
        let key = NewApiKey {
            namespaces: namespaces.iter().map(|it| (*it).into()).collect(),
            ..NewApiKey::new(Role::Reader)
        };
        secrets.push(htm.create_api_key(&key).await.unwrap().secret);
    }
    let ask = async |at: usize, secret: &htm_core::KeyText| {
        let request = served.http.get(format!("{}/v1/namespaces", bases[at / 2 % 2]));
        served.send(request.bearer_auth(secret.expose())).await
    };
    let (mut answered, mut refused) = (0, None);
    // The minute may end in between, but not twice.
    for at in 0..130 {
        let reply = ask(at, &secrets[at % 2]).await;
        match reply.status {
            200 => answered += 1,
            _ => refused = Some(reply),
        }
    }
    let refused = refused.expect("130 requests are more than the limit of two minutes");
    assert_eq!(refused.problem(), (429, "too_many_requests"));
    let wait: u64 = refused.header("retry-after").parse().unwrap();
    assert!((1..=61).contains(&wait), "{wait}");
    assert!(refused.text.contains("`tenant-7/*` may make 40"), "{}", refused.text);
    assert!((40..=80).contains(&answered), "{answered}");
    for other in &secrets[2..] {
        ask(0, other).await.is(200);
    }
    // The server that is asked to raise it does so at once.
    let admin = htm.create_api_key(&NewApiKey::new(Role::Admin)).await.unwrap().secret;
    let set = async |quota: serde_json::Value| {
        let request = served.request(Method::PATCH, "/v1/quotas").bearer_auth(admin.expose());
        served.send(request.json(&quota)).await
    };
    for raised in [json!(4_000), json!(null)] {
        set(json!({"namespace": "tenant-7/*", "requests_per_minute": raised})).await.is(200);
        ask(0, &secrets[0]).await.is(200);
    }
    let memories = set(json!({"namespace": "tenant-7/*", "max_memories": 1})).await;
    assert_eq!(memories.problem(), (422, "limit_out_of_range"));
    // A tenant's own admin may not.
    let tenant = NewApiKey { namespaces: vec!["tenant-7/*".into()], ..NewApiKey::new(Role::Admin) };
    let tenant = htm.create_api_key(&tenant).await.unwrap().secret;
    let request = served.request(Method::PATCH, "/v1/quotas").bearer_auth(tenant.expose());
    let own = served.send(request.json(&json!({"namespace": "tenant-7/notes", "max_memories": 1}))).await;
    assert_eq!(own.problem(), (403, "role_insufficient"));
    assert!(own.body["hint"].as_str().unwrap().contains("all namespaces"), "{}", own.text);
}

#[tokio::test]
async fn a_quota_refuses_what_is_beyond_it() {
    let served = Served::new().await;
    let set = json!({"max_memories": 2, "max_bytes": 30});
    assert_eq!(served.patch("/v1/quotas", set).await.is(200)["used"]["memories"], 0);
    served.remember("ten bytes!").await;
    let too_large = served.post("/v1/memories", json!({"content": "this text has more than twenty"})).await;
    assert_eq!(too_large.problem(), (507, "quota_exceeded"));
    assert!(too_large.text.contains("30"), "{}", too_large.text);
    let node = served.remember("five!").await;
    let batch = json!({"memories": [{"content": "a"}, {"content": "b", "namespace": "roomy"}]});
    let results = served.post("/v1/memories/batch", batch).await.is(200);
    assert_eq!(results["results"][0]["code"], "quota_exceeded", "{results}");
    assert!(results["results"][1]["node"].is_i64(), "{results}");
    let edit =
        served.patch(&format!("/v1/memories/{node}"), json!({"content": "now it is much longer"})).await;
    assert_eq!(edit.problem(), (507, "quota_exceeded"));
    let used = served.get("/v1/quotas").await.is(200);
    assert_eq!(used["used"], json!({"memories": 2, "bytes": 15}));
    let of_pattern = served.get("/v1/quotas?namespace=load/*").await.is(200);
    assert_eq!(of_pattern["used"], json!(null), "a quota of several namespaces is of requests alone");
    // Only what is named changes.
    for named in [json!({}), json!({"max_bytes": 30})] {
        let quota = served.patch("/v1/quotas", named).await.is(200)["quota"].clone();
        assert_eq!(quota, json!({"max_memories": 2, "max_bytes": 30, "requests_per_minute": null}));
    }
    served.patch("/v1/quotas", json!({"max_memories": null, "max_bytes": null})).await.is(200);
    served.remember("there is room again").await;
    assert_eq!(served.db.count("select count(*) from htm.quotas").await, 0);
    assert_eq!(served.db.count("select count(*) from htm.audit_log where action = 'quota.set'").await, 2);
}

#[tokio::test]
async fn with_a_key_it_may_listen_elsewhere_and_under_other_names() {
    let db = TestDatabase::new().await;
    let key = db.htm().create_api_key(&NewApiKey::new(Role::Reader)).await.unwrap();
    let listening = Listening {
        hosts: vec!["memory.example.com".into()],
        ..Listening::from("0.0.0.0:0".parse::<std::net::SocketAddr>().unwrap())
    };
    let server = Server::bind(listening, db.htm(), Limits::default()).await.unwrap();
    assert!(!server.is_open());
    let port = server.address().port();
    let stop = CancellationToken::new();
    let serving = tokio::spawn(server.serve(stop.clone()));
    let http = reqwest::Client::new();
    let by = async |host: &str, origin: &str| {
        let request = http.get(format!("http://127.0.0.1:{port}/v1/stats")).bearer_auth(key.secret.expose());
        let request = request.header("host", host);
        let request = if origin.is_empty() { request } else { request.header("origin", origin) };
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(by("memory.example.com", "").await, 200);
    assert_eq!(by("memory.example.com", "https://memory.example.com").await, 200);
    assert_eq!(by("memory.example.com", "https://evil.example").await, 403);
    assert_eq!(by("evil.example", "").await, 403);
    stop.cancel();
    serving.await.unwrap();
}

#[tokio::test]
async fn it_speaks_tls_with_its_certificate() {
    let db = TestDatabase::new().await;
    let folder = tempfile::tempdir().unwrap();
    let made = Certificate::new("localhost");
    let (certificate, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    std::fs::write(&certificate, made.pem()).unwrap();
    std::fs::write(&key, made.key_pem()).unwrap();
    for (first, second) in
        [(&key, &key), (&certificate, &certificate), (&certificate, &folder.path().join("no"))]
    {
        assert_eq!(Tls::from_files(first, second).unwrap_err().code(), "tls_unusable");
    }
    let tls = Some(Tls::from_files(&certificate, &key).unwrap());
    let address = "127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap();
    let limits = Limits { header_time: Duration::from_millis(500), ..Limits::default() };
    let server = Server::bind(Listening { tls, ..Listening::from(address) }, db.htm(), limits).await.unwrap();
    let (port, stop) = (server.address().port(), CancellationToken::new());
    assert!(server.url().starts_with("https://"));
    let serving = tokio::spawn(server.serve(stop.clone()));
    // A client that says nothing holds up nobody.
    let silent = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let trusted = reqwest::Certificate::from_pem(&std::fs::read(made.authority()).unwrap()).unwrap();
    let http = reqwest::Client::builder().add_root_certificate(trusted).build().unwrap();
    let answer = http.get(format!("https://localhost:{port}/v1/stats")).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert!(reqwest::Client::new().get(format!("https://localhost:{port}/livez")).send().await.is_err());
    assert!(http.get(format!("http://localhost:{port}/livez")).send().await.is_err());
    stop.cancel();
    serving.await.unwrap();
    drop(silent);
}

#[tokio::test]
async fn limits_that_are_changed_at_once_are_all_changed() {
    let served = Served::new().await;
    for limit in 1..=10 {
        let fields = ["max_memories", "max_bytes", "requests_per_minute"];
        let times = ["forget_after_seconds", "purge_after_seconds"];
        let changes = fields.map(|field| ("/v1/quotas", json!({field: 1_000 * limit}))).into_iter();
        let changes = changes
            .chain(times.map(|time| ("/v1/retention", json!({time: 100_000 * limit, "confirm": true}))));
        for changed in join_all(changes.map(|(path, change)| served.patch(path, change))).await {
            changed.is(200);
        }
        let (quota, retention) = (served.get("/v1/quotas").await, served.get("/v1/retention").await);
        let quota = quota.is(200)["quota"].clone();
        assert!(fields.iter().all(|field| quota[field] == 1_000 * limit), "{quota}");
        let retention = retention.is(200).clone();
        assert!(times.iter().all(|time| retention[time] == 100_000 * limit), "{retention}");
    }
}
