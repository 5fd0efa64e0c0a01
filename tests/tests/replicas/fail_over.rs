//! Fail-over: server, workers and commands go to the replica that was promoted, and no acknowledged write is lost.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use htm_core::{Hosts, Htm, Memory, Settings, pool_options};
use htm_tests::{Sandbox, wait_until};

use super::writers::{WRITERS, Writers, assert_kept, count};
use super::{base, both, pair, synchronous};

const PATIENCE: Duration = Duration::from_secs(5);

#[tokio::test]
async fn all_go_to_the_promoted_replica_and_no_acknowledged_write_is_lost() {
    let (primary, replica) = pair().await;
    synchronous(&primary).await;
    let sandbox = Sandbox::on(&both(&primary.url(), &replica.url())).set("HTM_JOBS__LEASE_MS", "3000");
    let server = sandbox.start("htm", &["serve"]);
    let base = base(&server).await;
    let _workers = [sandbox.start("embed-worker", &[]), sandbox.start("tag-worker", &[])];

    // 409: the first request with the key is still in hand.
    let writers = Writers::start(&base, &[503, 409]);
    wait_until(|| async { writers.number() > 150 }).await;
    primary.crash().await;
    let at_crash = writers.number();
    replica.promote().await;
    wait_until(|| async { writers.number() > at_crash + 150 }).await;
    let acknowledged = writers.end().await;

    assert_kept(&replica.pool, &acknowledged).await;
    // A write that was in hand at the end may be there without its acknowledgement.
    let count = async |what: &str| count(&replica.pool, what).await;
    let nodes = count("htm.nodes").await;
    assert_eq!(nodes, count("(select distinct content from htm.nodes)").await, "none is there twice");
    let least = acknowledged.len() as i64;
    assert!((least..=least + WRITERS as i64).contains(&nodes), "{nodes} of {least}");
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
    let url = both(&primary.url(), &replica.url());
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
    let sandbox = Sandbox::on(&both(&primary.url(), &replica.url()));
    primary.crash().await;
    let answer = sandbox.htm(&["remember", "--direct", "nothing"]).await;
    answer.exits(75);
    assert!(answer.stderr.contains("database_no_primary"), "{}", answer.stderr);
    assert!(answer.stderr.contains("(is a replica)"), "{}", answer.stderr);

    // A pool that has begun follows as soon as there is one.
    let hosts = Hosts::of(&both(&primary.url(), &replica.url())).unwrap();
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
