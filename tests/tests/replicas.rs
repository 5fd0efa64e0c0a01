//! Several servers of one database: reads at streaming replicas, and the way to a promoted one.

#[path = "replicas/fail_over.rs"]
mod fail_over;
#[path = "replicas/power.rs"]
mod power;
#[path = "replicas/reads.rs"]
mod reads;
#[path = "replicas/writers.rs"]
mod writers;

use std::time::Duration;

use htm_core::{Htm, Replicas, pool_options, tenant_options};
use htm_tests::{OwnServer, Replica, Running, wait_until};

/// A primary and its replica.
async fn pair() -> (OwnServer, Replica) {
    let primary = OwnServer::start().await;
    primary.serve_replicas().await;
    let replica = Replica::of(&primary, "second").await;
    (primary, replica)
}

/// A URL with the hosts of two others.
fn both(first: &str, second: &str) -> String {
    let host = |url: &str| url.split(['@', '/']).nth(3).unwrap().to_owned();
    first.replace(&host(first), &format!("{},{}", host(first), host(second)))
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

/// A handle on the primary that reads at the replica, once the replica is in use.
async fn reading(primary: &OwnServer, replica: &Replica, max_staleness: Duration) -> Htm {
    let options = htm_core::connect_options(&replica.url()).unwrap();
    let pool = |options| {
        pool_options().max_connections(4).acquire_timeout(Duration::from_secs(2)).connect_lazy_with(options)
    };
    let pools = (pool(options.clone()), pool(tenant_options(options)));
    let replicas = Replicas::start(primary.pool.clone(), vec![pools], max_staleness);
    let htm = Htm::connect(&primary.url(), htm_core::Settings::default(), None).await.unwrap();
    wait_until(|| async { replicas.states()[0].in_use }).await;
    htm.with_replicas(replicas)
}

/// Where `htm serve` listens.
async fn base(process: &Running) -> String {
    let of = || Some(process.log().split("HTM serves ").nth(1)?.split(';').next()?.to_owned());
    wait_until(|| async { of().is_some() }).await;
    of().unwrap()
}
