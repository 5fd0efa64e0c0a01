//! Fail-over: server, workers and commands go to the replica that was promoted, and no acknowledged write is lost.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use htm_core::{Hosts, Htm, Memory, Settings, pool_options};
use htm_tests::{OwnServer, Replica, Sandbox, wait_until};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{base, pair};

const PATIENCE: Duration = Duration::from_secs(5);

/// The URL with both hosts.
fn both(primary: &OwnServer, replica: &Replica) -> String {
    let host = |url: &str| url.split(['@', '/']).nth(3).unwrap().to_owned();
    let (first, second) = (primary.url(), replica.url());
    first.replace(&host(&first), &format!("{},{}", host(&first), host(&second)))
}

/// Lets commits wait until the replica has them.
async fn synchronous(primary: &OwnServer) {
    sqlx::raw_sql("alter system set synchronous_standby_names = 'second'")
        .execute(&primary.pool)
        .await
        .unwrap();
    sqlx::raw_sql("select pg_reload_conf()").execute(&primary.pool).await.unwrap();
    wait_until(|| async {
        let asked = sqlx::query_scalar("select count(*) from pg_stat_replication where sync_state = 'sync'");
        asked.fetch_one::<_>(&primary.pool).await.unwrap_or(0_i64) == 1
    })
    .await;
}

/// Remembers memories, each until it is acknowledged, and keeps their nodes by their keys.
async fn write(
    base: String,
    keys: impl Iterator<Item = usize>,
    ended: CancellationToken,
    acknowledged: Acknowledged,
) {
    let http = reqwest::Client::builder().timeout(Duration::from_secs(20)).build().unwrap();
    for key in keys {
        loop {
            if ended.is_cancelled() {
                return;
            }
            let request = http.post(format!("{base}/v1/memories")).header("idempotency-key", key.to_string());
            let response = request.json(&json!({"content": format!("memory {key}")})).send().await;
            match response {
                Ok(response) if response.status() == 201 => {
                    let receipt: Value = response.json().await.unwrap();
                    acknowledged.lock().unwrap().insert(key, receipt["node"].as_i64().unwrap());
                    break;
                }
                Ok(response) => {
                    let (status, problem) = (response.status(), response.text().await.unwrap());
                    // 409: the first request with the key is still in hand.
                    assert!(status == 503 || status == 409, "{status} {problem}");
                }
                Err(error) => panic!("the server answers: {error}"),
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

type Acknowledged = Arc<Mutex<BTreeMap<usize, i64>>>;

#[tokio::test]
async fn all_go_to_the_promoted_replica_and_no_acknowledged_write_is_lost() {
    let (primary, replica) = pair().await;
    synchronous(&primary).await;
    let sandbox = Sandbox::on(&both(&primary, &replica)).set("HTM_JOBS__LEASE_MS", "3000");
    let server = sandbox.start("htm", &["serve"]);
    let base = base(&server).await;
    let _workers = [sandbox.start("embed-worker", &[]), sandbox.start("tag-worker", &[])];

    let (ended, acknowledged) = (CancellationToken::new(), Acknowledged::default());
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let keys = (writer..).step_by(4);
            tokio::spawn(write(base.clone(), keys, ended.clone(), acknowledged.clone()))
        })
        .collect();
    let number = || acknowledged.lock().unwrap().len();
    wait_until(|| async { number() > 150 }).await;
    primary.crash().await;
    let at_crash = number();
    replica.promote().await;
    wait_until(|| async { number() > at_crash + 150 }).await;
    ended.cancel();
    for writer in writers {
        writer.await.unwrap();
    }

    let acknowledged = std::mem::take(&mut *acknowledged.lock().unwrap());
    for (key, node) in &acknowledged {
        let content = sqlx::query_scalar::<_, String>("select content from htm.nodes where id = $1");
        let content = content.bind(node).fetch_optional(&replica.pool).await.unwrap();
        assert_eq!(content.as_deref(), Some(&*format!("memory {key}")), "an acknowledged write is there");
    }
    // A write that was in hand at the end may be there without its acknowledgement.
    let count = async |what: &str| -> i64 {
        sqlx::query_scalar(sqlx::AssertSqlSafe(format!("select count(*) from {what}")))
            .fetch_one(&replica.pool)
            .await
            .unwrap()
    };
    let nodes = count("htm.nodes").await;
    assert_eq!(nodes, count("(select distinct content from htm.nodes)").await, "none is there twice");
    assert!((acknowledged.len() as i64..=acknowledged.len() as i64 + 4).contains(&nodes), "{nodes}");
    // The workers of before do the jobs that are left, and those of a claim that the crash has ended.
    wait_until(|| async { count("htm.completions").await == 2 * nodes }).await;
    assert_eq!(count("apalis.jobs where status = 'Killed'").await, 0);

    let answer = sandbox.htm(&["--json", "recall", "--direct", "memory 7"]).await.json();
    assert!(!answer["hits"].as_array().unwrap().is_empty(), "{answer}");
    sandbox.remember(&["--direct", "written after the fail-over"]).await;
    assert_eq!(count("htm.nodes").await, nodes + 1);
    let ready = reqwest::get(format!("{base}/readyz")).await.unwrap();
    assert_eq!(ready.status(), 200);
    assert!(server.log().contains("another host is the primary"), "{}", server.log());
}

#[tokio::test]
async fn a_former_primary_that_runs_again_is_not_followed() {
    let (primary, replica) = pair().await;
    let url = both(&primary, &replica);
    let hosts = Hosts::of(&url).unwrap();
    let first = hosts.primary(PATIENCE).await.unwrap();
    assert_eq!(first.get_socket(), hosts.each()[0].get_socket());
    let pool = pool_options().max_connections(4).acquire_timeout(PATIENCE).connect_lazy_with(first.clone());
    let _follower = hosts.follow(&first, vec![(pool.clone(), |same| same)]).unwrap();
    let htm = Htm::with_pool(pool.clone(), Settings::default(), None);
    htm.remember(Memory::new("Before.")).await.unwrap();
    replica.catch_up(&primary.pool).await;

    // Both are primaries now, and the pool's connections to the former one still work.
    replica.promote().await;
    let second = hosts.each()[1].get_socket().cloned();
    wait_until(|| async { pool.connect_options().get_socket() == second.as_ref() }).await;
    htm.remember(Memory::new("After.")).await.unwrap();
    let there: i64 =
        sqlx::query_scalar("select count(*) from htm.nodes").fetch_one(&replica.pool).await.unwrap();
    assert_eq!(there, 2);
    assert_eq!(hosts.primary(PATIENCE).await.unwrap().get_socket(), second.as_ref());
}

#[tokio::test]
async fn a_database_without_a_primary_is_said_and_waited_for() {
    let (primary, replica) = pair().await;
    let sandbox = Sandbox::on(&both(&primary, &replica));
    primary.crash().await;
    let answer = sandbox.htm(&["remember", "--direct", "nothing"]).await;
    answer.exits(75);
    assert!(answer.stderr.contains("database_no_primary"), "{}", answer.stderr);
    assert!(answer.stderr.contains("(is a replica)"), "{}", answer.stderr);

    // A pool that has begun follows as soon as there is one.
    let hosts = Hosts::of(&both(&primary, &replica)).unwrap();
    let first = hosts.each()[0].clone();
    let pool = pool_options().acquire_timeout(Duration::from_secs(1)).connect_lazy_with(first.clone());
    let _follower = hosts.follow(&first, vec![(pool.clone(), |same| same)]).unwrap();
    let htm = Htm::with_pool(pool, Settings::default(), None);
    let error = htm.remember(Memory::new("Too early.")).await.unwrap_err();
    assert_eq!(error.code(), "database_unreachable");
    replica.promote().await;
    let attempts = AtomicUsize::new(0);
    wait_until(|| async {
        attempts.fetch_add(1, Ordering::Relaxed);
        htm.remember(Memory::new("In time.")).await.is_ok()
    })
    .await;
    println!("{} attempts", attempts.into_inner());
}
