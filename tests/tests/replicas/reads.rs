//! Where reads run: which replica is fresh enough, what a caller who has written sees, and what a dead replica costs.

use std::time::{Duration, Instant};

use htm_core::{
    Filter, Htm, Memory, NewApiKey, RecallQuery, Replicas, Role, Settings, StatsQuery, TimelineQuery,
    pool_options, tenant_options,
};
use htm_tests::{Proxy, Replica, Sandbox, wait_until};
use serde_json::{Value, json};
use sqlx::postgres::PgPoolOptions;

use super::{base, pair, reading};

const PATIENT: Duration = Duration::from_secs(60);

async fn found(htm: &Htm) -> usize {
    htm.recall(&RecallQuery::new("lighthouse")).await.unwrap().hits.len()
}

#[tokio::test]
async fn reads_are_of_the_replica_and_a_caller_who_asks_sees_what_was_written() {
    let (primary, replica) = pair().await;
    let htm = reading(&primary, &replica, PATIENT).await;
    htm.remember(Memory::new("The lighthouse keeper wakes at four.")).await.unwrap();
    replica.catch_up(&primary.pool).await;
    replica.pause(true).await;
    let node = htm.remember(Memory::new("The lighthouse has a new lamp.")).await.unwrap().node;
    let position = htm.wal_position().await.unwrap();

    // Each of these reads the replica, which does not know the second memory yet.
    assert_eq!(found(&htm).await, 1);
    assert_eq!(htm.latest(&Filter::default(), 10).await.unwrap().len(), 1);
    let timeline = htm.conversation_timeline(&TimelineQuery::about("lighthouse")).await.unwrap();
    assert_eq!(timeline.entries.len(), 1);
    assert_eq!(htm.memory_stats(&StatsQuery::default()).await.unwrap().totals.nodes, 1);
    assert_eq!(htm.map(&Filter::default(), 10).await.unwrap().memories, 1);
    // A node by its id is read at the primary.
    assert_eq!(htm.get(node).await.unwrap().id, node);

    let seeing = htm.clone().reading_after(position);
    assert_eq!(found(&seeing).await, 2);
    assert_eq!(seeing.latest(&Filter::default(), 10).await.unwrap().len(), 2);

    replica.pause(false).await;
    replica.catch_up(&primary.pool).await;
    assert_eq!(found(&htm).await, 2);
    // Once it is there, the replica is asked again.
    let before = reads_of(&replica.pool).await;
    wait_until(|| async {
        assert_eq!(found(&seeing).await, 2);
        reads_of(&replica.pool).await > before
    })
    .await;
    assert_eq!(position.to_string().parse::<htm_core::WalPosition>().unwrap(), position);
}

/// The number of scans of an index of the nodes on a server. Sessions report theirs after a while.
async fn reads_of(pool: &sqlx::PgPool) -> i64 {
    let asked = sqlx::query_scalar(
        "select idx_scan from pg_stat_user_tables where schemaname = 'htm' and relname = 'nodes'",
    );
    asked.fetch_one(pool).await.unwrap()
}

#[tokio::test]
async fn a_replica_that_lags_too_far_is_left_out_and_comes_back() {
    let (primary, replica) = pair().await;
    let htm = reading(&primary, &replica, Duration::from_millis(1_500)).await;
    let state = || htm.replicas().unwrap().states().remove(0);
    replica.pause(true).await;
    htm.remember(Memory::new("The lighthouse keeper wakes at four.")).await.unwrap();
    wait_until(|| async { !state().in_use }).await;
    assert!(state().reason.contains("at most 1.5 s are allowed"), "{}", state().reason);
    assert_eq!(found(&htm).await, 1);
    replica.pause(false).await;
    wait_until(|| async { state().in_use }).await;
    assert_eq!(found(&htm).await, 1);
}

#[tokio::test]
async fn a_replica_that_dies_costs_no_error() {
    let (primary, replica) = pair().await;
    let htm = reading(&primary, &replica, PATIENT).await;
    htm.remember(Memory::new("The lighthouse keeper wakes at four.")).await.unwrap();
    replica.catch_up(&primary.pool).await;
    assert!(htm.replicas().unwrap().states()[0].in_use);
    let readers: Vec<_> = (0..4)
        .map(|_| {
            let htm = htm.clone();
            tokio::spawn(async move {
                for _ in 0..200 {
                    assert_eq!(found(&htm).await, 1);
                }
            })
        })
        .collect();
    replica.kill();
    for reader in readers {
        reader.await.unwrap();
    }
    wait_until(|| async { !htm.replicas().unwrap().states()[0].in_use }).await;
    assert_eq!(found(&htm).await, 1);
}

/// Its machine has lost its power: nothing answers, and nothing refuses.
#[tokio::test]
async fn a_read_at_a_replica_that_has_gone_silent_is_repeated_at_the_primary() {
    let (primary, replica) = pair().await;
    let proxy = Proxy::start(htm_core::connect_options(&replica.url()).unwrap()).await;
    let pool = || pool_options().connect_lazy(&proxy.url()).unwrap();
    let replicas = Replicas::start(primary.pool.clone(), vec![(pool(), pool())], PATIENT);
    let htm = Htm::connect(&primary.url(), htm_core::Settings::default(), None).await.unwrap();
    htm.remember(Memory::new("The lighthouse keeper wakes at four.")).await.unwrap();
    replica.catch_up(&primary.pool).await;
    wait_until(|| async { replicas.states()[0].in_use }).await;
    let htm = htm.with_replicas(replicas);
    proxy.silence(|_| true);
    assert_eq!(tokio::time::timeout(PATIENT / 2, found(&htm)).await.expect("an answer"), 1);
    assert!(!htm.replicas().unwrap().states()[0].in_use);
}

#[tokio::test]
async fn a_replica_of_a_former_primary_is_not_read() {
    let (former, replica) = pair().await;
    let promoted = Replica::of(&former, "third").await;
    let primary = pool_options().connect(&former.url()).await.unwrap();
    let pool = || pool_options().connect_lazy(&replica.url()).unwrap();
    let replicas = Replicas::start(primary.clone(), vec![(pool(), pool())], PATIENT);
    wait_until(|| async { replicas.states()[0].in_use }).await;
    // The former primary runs on, with its replica.
    promoted.promote().await;
    primary.set_connect_options(htm_core::connect_options(&promoted.url()).unwrap());
    wait_until(|| async { !replicas.states()[0].in_use }).await;
    assert_eq!(replicas.states()[0].reason, "it does not follow the primary's timeline");
}

#[tokio::test]
async fn a_replica_that_was_promoted_or_is_of_another_database_is_not_read() {
    let (primary, replica) = pair().await;
    let htm = reading(&primary, &replica, PATIENT).await;
    replica.promote().await;
    let reason = || htm.replicas().unwrap().states().remove(0).reason;
    wait_until(|| async { !reason().is_empty() }).await;
    assert_eq!(reason(), "it is no replica");

    let (other, its_replica) = pair().await;
    let pool = || PgPoolOptions::new().connect_lazy(&its_replica.url()).unwrap();
    let foreign = htm_core::Replicas::start(primary.pool.clone(), vec![(pool(), pool())], PATIENT);
    wait_until(|| async { foreign.states()[0].reason == "it is of another database cluster" }).await;
    drop(other);
}

#[tokio::test]
async fn a_tenant_reads_its_own_rows_at_the_replica() {
    let (primary, replica) = pair().await;
    let htm = reading(&primary, &replica, PATIENT).await;
    let tenants = htm_core::connect_options(&primary.url()).unwrap();
    let tenants = PgPoolOptions::new().connect_lazy_with(tenant_options(tenants));
    let htm = htm.with_tenants(tenants);
    for namespace in ["atlas", "other"] {
        let memory = Memory {
            namespace: Some(namespace.into()),
            ..Memory::new(format!("The lighthouse of {namespace}."))
        };
        htm.remember(memory).await.unwrap();
    }
    replica.catch_up(&primary.pool).await;
    replica.pause(true).await;
    let tenant = htm.within(["atlas"]).unwrap();
    assert_eq!(found(&tenant).await, 1);
    tenant.remember(Memory::new("A second lighthouse.")).await.unwrap();
    // Of the replica, which does not know it.
    assert_eq!(found(&tenant).await, 1);
}

#[tokio::test]
async fn a_server_says_where_writes_stand_and_which_replicas_it_reads() {
    let (primary, replica) = pair().await;
    let sandbox = Sandbox::on(&primary.url()).set("HTM_DATABASE__REPLICA_URLS", &replica.url());
    let server = sandbox.start("htm", &["serve"]);
    let base = base(&server).await;
    let http = reqwest::Client::new();
    let text =
        async |path: &str| http.get(format!("{base}{path}")).send().await.unwrap().text().await.unwrap();
    wait_until(|| async { text("/readyz").await == "ok\n" }).await;
    let write = async || {
        let request = http.post(format!("{base}/v1/memories"));
        let response = request.json(&json!({"content": "The lighthouse has a lamp."})).send().await.unwrap();
        response.headers()["htm-wal-position"].to_str().unwrap().to_owned()
    };
    let recalled = async |position: Option<&str>| {
        let mut request = http.post(format!("{base}/v1/recall")).json(&json!({"query": "lighthouse"}));
        if let Some(position) = position {
            request = request.header("htm-wal-position", position);
        }
        let response = request.send().await.unwrap();
        assert!(!response.headers().contains_key("htm-wal-position"), "a read has none");
        response.json::<Value>().await.unwrap()
    };
    let hits = |recalled: Value| recalled["hits"].as_array().map(Vec::len);

    replica.pause(true).await;
    let position = write().await;
    assert_eq!(hits(recalled(None).await), Some(0));
    assert_eq!(hits(recalled(Some(&position)).await), Some(1));
    assert_eq!(recalled(Some("yesterday")).await["code"], "header_invalid");
    // The paths that the console reads, too: what the replica has not replayed is not there.
    let paths = [
        ("/v1/timeline", json!({"filter": {}})),
        ("/v1/timeline/counts", json!({"step": "day"})),
        ("/v1/stats", Value::Null),
    ];
    for (path, body) in paths {
        let read = async |position: Option<&str>| {
            let mut request = match body.is_null() {
                true => http.get(format!("{base}{path}")),
                false => http.post(format!("{base}{path}")).json(&body),
            };
            if let Some(position) = position {
                request = request.header("htm-wal-position", position);
            }
            let response = request.send().await.unwrap();
            assert!(response.status().is_success(), "{path}: {}", response.text().await.unwrap());
            let answer = response.json::<Value>().await.unwrap();
            answer.get("totals").unwrap_or(&answer).clone()
        };
        assert_ne!(read(None).await, read(Some(&position)).await, "{path} is read at the replica");
    }

    let metrics = text("/metrics").await;
    let metric = |name: &str| metrics.lines().find(|line| line.starts_with(name)).map(str::to_owned);
    assert!(metric("htm_replica_in_use{host=").unwrap().ends_with("} 1"), "{metrics}");
    assert!(metric("htm_replica_staleness_seconds{host=").is_some(), "{metrics}");
    assert_eq!(metrics.matches("# EOF").count(), 1, "{metrics}");
    let seen = sandbox.htm(&["doctor"]).await;
    assert!(seen.stdout.contains("replica"), "{}", seen.stdout);
    replica.kill();
    wait_until(|| async { text("/readyz").await.contains("is not used: it failed: database_unreachable") })
        .await;
    assert_eq!(hits(recalled(None).await), Some(1));
}

#[tokio::test]
async fn an_open_server_answers_reads_while_the_primary_is_away() {
    reads_while_the_primary_is_away(None).await;
}

/// Its key is looked up, and its requests are counted.
#[tokio::test]
async fn a_server_with_keys_answers_reads_while_the_primary_is_away() {
    let key = NewApiKey {
        namespaces: vec!["atlas".into()],
        requests_per_minute: Some(1_000),
        ..NewApiKey::new(Role::Reader)
    };
    reads_while_the_primary_is_away(Some(key)).await;
}

async fn reads_while_the_primary_is_away(key: Option<NewApiKey>) {
    let (primary, replica) = pair().await;
    let settings = Settings { namespace: "atlas".into(), ..Settings::default() };
    let htm = Htm::connect(&primary.url(), settings, None).await.unwrap();
    htm.remember(Memory::new("The lighthouse has a lamp.")).await.unwrap();
    let secret = match &key {
        Some(key) => Some(htm.create_api_key(key).await.unwrap().secret),
        None => None,
    };
    replica.catch_up(&primary.pool).await;
    let sandbox = Sandbox::on(&primary.url())
        .set("HTM_DATABASE__REPLICA_URLS", &replica.url())
        .set("HTM_DATABASE__MAX_STALENESS_MS", &PATIENT.as_millis().to_string());
    let server = sandbox.start("htm", &["serve"]);
    let base = base(&server).await;
    let http = reqwest::Client::new();
    let ready = async || reqwest::get(format!("{base}/readyz")).await.unwrap().text().await.unwrap();
    wait_until(|| async { ready().await == "ok\n" }).await;
    let recalled = async || {
        let body = json!({"query": "lighthouse", "filter": {"namespaces": ["atlas"]}});
        let request = http.post(format!("{base}/v1/recall")).json(&body);
        let request = match &secret {
            Some(secret) => request.bearer_auth(secret.expose()),
            None => request,
        };
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200, "{}", response.text().await.unwrap());
        assert_eq!(response.json::<Value>().await.unwrap()["hits"].as_array().unwrap().len(), 1);
    };
    recalled().await;
    primary.crash().await;
    // What was known of the caller a second ago has to be looked up again several times meanwhile.
    let since = Instant::now();
    while since.elapsed() < Duration::from_secs(6) {
        recalled().await;
    }
}

#[tokio::test]
async fn a_server_says_that_a_replica_lags() {
    let (primary, replica) = pair().await;
    let sandbox = Sandbox::on(&primary.url())
        .set("HTM_DATABASE__REPLICA_URLS", &replica.url())
        .set("HTM_DATABASE__MAX_STALENESS_MS", "1500");
    let server = sandbox.start("htm", &["serve"]);
    let base = base(&server).await;
    let http = reqwest::Client::new();
    let text =
        async |path: &str| http.get(format!("{base}{path}")).send().await.unwrap().text().await.unwrap();
    let metric = async |name: &str| -> f64 {
        let metrics = text("/metrics").await;
        let line = metrics.lines().find(|line| line.starts_with(name)).unwrap();
        line.rsplit(' ').next().unwrap().parse().unwrap()
    };
    wait_until(|| async { text("/readyz").await == "ok\n" }).await;
    replica.pause(true).await;
    sandbox.remember(&["The lighthouse has a lamp."]).await;
    wait_until(|| async { text("/readyz").await.contains("at most 1.5 s are allowed") }).await;
    assert_eq!(metric("htm_replica_in_use{host=").await, 0.0);
    assert!(metric("htm_replica_staleness_seconds{host=").await > 1.5);
    replica.pause(false).await;
    wait_until(|| async { text("/readyz").await == "ok\n" }).await;
    assert_eq!(metric("htm_replica_in_use{host=").await, 1.0);
}

#[tokio::test]
async fn a_replica_with_a_busy_pool_is_still_asked() {
    let (primary, replica) = pair().await;
    let pool = || {
        let options = pool_options().max_connections(1).acquire_timeout(Duration::from_millis(200));
        options.connect_lazy(&replica.url()).unwrap()
    };
    let busy = pool();
    let replicas = Replicas::start(primary.pool.clone(), vec![(busy.clone(), pool())], PATIENT);
    let htm = Htm::connect(&primary.url(), htm_core::Settings::default(), None).await.unwrap();
    htm.remember(Memory::new("The lighthouse keeper wakes at four.")).await.unwrap();
    replica.catch_up(&primary.pool).await;
    wait_until(|| async { replicas.states()[0].in_use }).await;
    let htm = htm.with_replicas(replicas);
    let _only = busy.acquire().await.unwrap();
    assert_eq!(found(&htm).await, 1);
    let state = htm.replicas().unwrap().states().remove(0);
    assert!(state.in_use, "{}", state.reason);
}
