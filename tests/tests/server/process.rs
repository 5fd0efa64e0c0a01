//! The server as a process: `htm serve`, its stop, its death, and the database's.

use htm_tests::{Running, Sandbox, TestDatabase, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::Served;

/// Where `htm serve` listens.
fn base(process: &Running) -> Option<String> {
    let log = process.log();
    let after = log.split("HTM serves ").nth(1)?;
    Some(after.split(';').next()?.to_owned())
}

async fn start(sandbox: &Sandbox) -> (Running, String) {
    let process = sandbox.start("htm", &["serve"]);
    wait_until(|| async { base(&process).is_some() }).await;
    let base = base(&process).unwrap();
    (process, base)
}

async fn remember(base: &str, key: usize) -> Option<Value> {
    let body = json!({"content": format!("memory {key}"), "session": "s"});
    let request =
        reqwest::Client::new().post(format!("{base}/v1/memories")).header("idempotency-key", key.to_string());
    let response = request.json(&body).send().await.ok()?;
    if response.status() == 201 { response.json().await.ok() } else { None }
}

#[tokio::test]
async fn what_was_acknowledged_survives_a_kill() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let (mut process, first) = start(&sandbox).await;
    let writes: Vec<_> = (0..4)
        .map(|writer| {
            let base = first.clone();
            tokio::spawn(async move {
                let mut acknowledged = Vec::new();
                for key in (writer..4_000).step_by(4) {
                    let Some(receipt) = remember(&base, key).await else { break };
                    acknowledged.push((key, receipt));
                }
                acknowledged
            })
        })
        .collect();
    wait_until(|| async { db.count("select count(*) from htm.nodes").await > 100 }).await;
    process.signal(Signal::SIGKILL);
    process.end().await;
    let mut acknowledged = Vec::new();
    for write in writes {
        acknowledged.extend(write.await.unwrap());
    }
    assert!(acknowledged.len() > 90 && acknowledged.len() < 4_000, "{}", acknowledged.len());
    let (_process, second) = start(&sandbox).await;
    for (key, receipt) in &acknowledged {
        let again = remember(&second, *key).await;
        assert_eq!(again.as_ref(), Some(receipt), "a retry has the first answer");
    }
    let largest = acknowledged.iter().map(|(key, _)| *key).max().unwrap();
    // What was in hand at the kill was written or was not; its retry settles it.
    for key in 0..=largest + 4 {
        remember(&second, key).await.unwrap();
    }
    assert_eq!(db.count("select count(*) from htm.nodes").await, largest as i64 + 5);
}

#[tokio::test]
async fn a_stop_lets_requests_in_hand_end() {
    let served = Served::new().await;
    let mut blocker = served.db.pool.begin().await.unwrap();
    sqlx::raw_sql("lock table htm.robots in access exclusive mode").execute(&mut *blocker).await.unwrap();
    let in_hand = {
        let (http, url) = (served.http.clone(), format!("{}/v1/robots", served.base));
        tokio::spawn(async move { http.get(url).send().await.unwrap().status().as_u16() })
    };
    wait_until(|| async { served.get("/metrics").await.text.contains("htm_http_requests_in_flight 2") })
        .await;
    served.stop.cancel();
    let address = served.base.strip_prefix("http://").unwrap();
    wait_until(|| async { tokio::net::TcpStream::connect(address).await.is_err() }).await;
    blocker.rollback().await.unwrap();
    assert_eq!(in_hand.await.unwrap(), 200);
    served.serving.await.unwrap();
}

#[tokio::test]
async fn two_servers_over_one_database_are_one() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let ((_one, first), (_two, second)) = (start(&sandbox).await, start(&sandbox).await);
    let written = remember(&first, 1).await.unwrap();
    assert_eq!(remember(&second, 1).await.unwrap(), written);
    let read = reqwest::get(format!("{second}/v1/memories/{}", written["node"])).await.unwrap();
    assert_eq!(read.status(), 200);
}

#[tokio::test]
async fn a_database_that_is_away_is_said_and_comes_back() {
    let served = Served::new().await;
    let name = served.db.options().get_database().unwrap().to_owned();
    let admin = async |statement: String| {
        use sqlx::Connection as _;
        let options = served.db.options().database("postgres");
        let mut connection = sqlx::PgConnection::connect_with(&options).await.unwrap();
        sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(&mut connection).await.unwrap();
    };
    admin(format!("alter database {name} allow_connections false")).await;
    admin(format!("select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'")).await;
    let away = served.post("/v1/memories", json!({"content": "one"})).await;
    assert_eq!((away.status, away.header("retry-after")), (503, "1"), "{}", away.text);
    assert_eq!(served.get("/readyz").await.status, 503);
    assert_eq!(served.get("/livez").await.status, 200);
    admin(format!("alter database {name} allow_connections true")).await;
    wait_until(|| async { served.get("/readyz").await.status == 200 }).await;
    served.remember("one").await;
}
