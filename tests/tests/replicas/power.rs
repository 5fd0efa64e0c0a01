//! The primary's machine loses its power: nothing answers, and nothing closes its connections.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use htm_core::{ExportOptions, Hosts, Htm, Memory, Settings, pool_options};
use htm_tests::{OwnServer, Proxy, Sandbox, wait_until};
use tokio_util::sync::CancellationToken;

use super::writers::{WRITERS, Writers, assert_kept, count};
use super::{base, both, pair, synchronous};

const PATIENCE: Duration = Duration::from_secs(5);

async fn before(primary: &OwnServer) -> Proxy {
    Proxy::start(htm_core::connect_options(&primary.url()).unwrap()).await
}

/// Remembers by one command after the other, until the end.
struct Commands<'a> {
    sandbox: &'a Sandbox,
    ended: CancellationToken,
    succeeded: AtomicUsize,
    failed: AtomicUsize,
}

impl Commands<'_> {
    /// Returns the texts of the acknowledged memories, by their nodes.
    async fn run(&self) -> BTreeMap<i64, String> {
        let mut acknowledged = BTreeMap::new();
        while !self.ended.is_cancelled() {
            let text = format!("command {}, {} failed", acknowledged.len(), self.failed());
            let answer = self.sandbox.htm_patiently(&["--json", "remember", "--direct", &text]).await;
            if answer.stdout.is_empty() {
                // The memory may be there all the same.
                answer.exits(75);
                self.failed.fetch_add(1, Ordering::SeqCst);
            } else {
                acknowledged.insert(answer.json()["node"].as_i64().unwrap(), text);
                self.succeeded.fetch_add(1, Ordering::SeqCst);
            }
        }
        acknowledged
    }

    fn succeeded(&self) -> usize {
        self.succeeded.load(Ordering::SeqCst)
    }

    fn failed(&self) -> usize {
        self.failed.load(Ordering::SeqCst)
    }
}

#[tokio::test]
async fn what_waits_for_a_primary_without_power_goes_to_the_promoted_replica() {
    let (primary, replica) = pair().await;
    synchronous(&primary).await;
    let proxy = before(&primary).await;
    let sandbox = Sandbox::on(&both(&proxy.url(), &replica.url())).set("HTM_JOBS__LEASE_MS", "3000");
    let server = sandbox.start("htm", &["serve"]);
    let base = base(&server).await;
    let _workers = [sandbox.start("embed-worker", &[]), sandbox.start("tag-worker", &[])];
    // 408: on a busy machine the promotion may take longer than the server's limit of a request.
    let writers = Writers::start(&base, &[503, 409, 408]);
    let commands = Commands {
        sandbox: &sandbox,
        ended: CancellationToken::new(),
        succeeded: AtomicUsize::new(0),
        failed: AtomicUsize::new(0),
    };
    let loss = async {
        wait_until(|| async { writers.number() > 100 && commands.succeeded() > 2 }).await;
        proxy.lose_power();
        primary.crash().await;
        let at_loss = (writers.number(), commands.succeeded());
        replica.promote().await;
        wait_until(|| async { writers.number() > at_loss.0 + 100 && commands.succeeded() > at_loss.1 + 1 })
            .await;
        commands.ended.cancel();
    };
    let (by_command, ()) = tokio::join!(commands.run(), loss);
    let over_http = writers.end().await;

    assert_kept(&replica.pool, &over_http).await;
    assert_kept(&replica.pool, &by_command).await;
    let count = async |what: &str| count(&replica.pool, what).await;
    let nodes = count("htm.nodes").await;
    assert_eq!(nodes, count("(select distinct content from htm.nodes)").await, "none is there twice");
    // A write that was in hand may be there without its acknowledgement.
    let least = over_http.len() + by_command.len();
    let most = least + WRITERS + commands.failed();
    assert!((least as i64..=most as i64).contains(&nodes), "{nodes}, of {least} to {most}");
    // The workers of before do the jobs that are left, and those of the claims that nobody answered.
    wait_until(|| async { count("htm.completions").await == 2 * nodes }).await;
    assert_eq!(count("apalis.jobs where status = 'Killed'").await, 0);

    let ready = reqwest::get(format!("{base}/readyz")).await.unwrap();
    assert_eq!(ready.status(), 200);
    assert!(server.log().contains("another host is the primary"), "{}", server.log());
}

#[tokio::test]
async fn a_statement_and_a_transaction_of_before_the_switch_end_as_on_a_closed_connection() {
    let (primary, replica) = pair().await;
    let proxy = before(&primary).await;
    let hosts = Hosts::of(&both(&proxy.url(), &replica.url())).unwrap();
    let first = hosts.primary(PATIENCE).await.unwrap();
    assert_eq!(first.get_socket(), None, "it is the proxy");
    let pool = pool_options().max_connections(2).acquire_timeout(PATIENCE).connect_lazy_with(first.clone());
    let _follower = hosts.follow(&first, vec![(pool.clone(), |same| same)]).unwrap();
    let htm = Htm::with_pool(pool.clone(), Settings::default(), None);
    htm.remember(Memory::new("Before.")).await.unwrap();
    let mut export = htm.export(ExportOptions::default()).await.unwrap();
    replica.catch_up(&primary.pool).await;

    // The second connection is in use when the power is lost.
    let mut sleeping = pool.begin().await.unwrap();
    proxy.lose_power();
    let unanswered = tokio::spawn({
        let htm = htm.clone();
        async move {
            let remembered = htm.remember_in_tx(&mut sleeping, Memory::new("Unanswered.")).await;
            remembered.map(drop)
        }
    });
    primary.crash().await;
    replica.promote().await;
    wait_until(|| async { unanswered.is_finished() }).await;
    assert_eq!(unanswered.await.unwrap().unwrap_err().code(), "database_unreachable");

    let second = hosts.each()[1].get_socket().cloned();
    wait_until(|| async { pool.connect_options().get_socket() == second.as_ref() }).await;
    // It asks the former primary after the switch only.
    let next = tokio::time::timeout(24 * PATIENCE, export.next()).await.expect("it ends");
    assert_eq!(next.unwrap_err().code(), "database_unreachable");
    drop(export);
    // Both places in the pool are free again.
    wait_until(|| async { htm.remember(Memory::new("After.")).await.is_ok() }).await;
    let export = htm.export(ExportOptions::default()).await.unwrap();
    assert_eq!(export.memories(), count(&replica.pool, "htm.nodes").await as u64);
    assert_eq!(count(&replica.pool, "htm.nodes where content = 'Unanswered.'").await, 0);
}
