//! `/livez` and `/readyz`, and the port that they are on.

use std::net::TcpListener;
use std::time::Duration;

use htm_tests::{Sandbox, TestDatabase, wait_until};
use nix::sys::signal::Signal;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::{Served, accept, hold, refuse, remember};

#[tokio::test]
async fn a_worker_answers_on_its_port() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    for program in ["embed-worker", "tag-worker", "learn-worker"] {
        let worker = Served::ready(&sandbox, program).await;
        for path in ["/livez", "/readyz"] {
            assert_eq!(worker.get(path).await, (200, "ok\n".into()), "{program} {path}");
        }
        for path in ["/", "/metricsx", "/livez/x", "/health"] {
            assert_eq!(worker.get(path).await.0, 404, "{program} {path}");
        }
        let metrics = reqwest::get(format!("{}/metrics", worker.base)).await.unwrap();
        assert_eq!(
            metrics.headers()["content-type"],
            "application/openmetrics-text; version=1.0.0; charset=utf-8"
        );
        assert!(metrics.text().await.unwrap().ends_with("\n# EOF\n"));
    }
}

#[tokio::test]
async fn readiness_falls_while_postgresql_refuses_and_comes_back() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db).set("HTM_JOBS__LEASE_MS", "1000");
    let worker = Served::ready(&sandbox, "embed-worker").await;
    refuse(&db).await;
    wait_until(|| async { worker.get("/readyz").await.0 == 503 }).await;
    let (_, reason) = worker.get("/readyz").await;
    assert!(reason.starts_with("database_") && reason.trim_end().lines().count() == 1, "{reason}");
    assert_eq!(worker.get("/livez").await, (200, "ok\n".into()));
    // What the worker counts itself is still told; what only the database knows is not made up.
    let (status, metrics) = worker.get("/metrics").await;
    assert!(status == 200 && metrics.contains("htm_job_attempts_total"), "{metrics}");
    assert!(!metrics.contains("\nhtm_queue_jobs{"), "{metrics}");
    accept(&db).await;
    wait_until(|| async { worker.get("/readyz").await.0 == 200 }).await;
    remember(&db, 1).await;
    wait_until(|| async { db.count("select count(*) from htm.embeddings_1").await == 1 }).await;
}

#[tokio::test]
async fn a_worker_that_stops_is_not_ready_and_lives() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let mut worker = Served::ready(&sandbox, "embed-worker").await;
    let mut blocker = hold(&db, 2).await;
    worker.process.signal(Signal::SIGTERM);
    wait_until(|| async { worker.get("/readyz").await.0 == 503 }).await;
    assert_eq!(worker.get("/readyz").await, (503, "stopping\n".into()));
    assert_eq!(worker.get("/livez").await, (200, "ok\n".into()));
    sqlx::raw_sql("rollback").execute(&mut blocker).await.unwrap();
    assert_eq!(worker.process.end().await.code(), Some(0));
}

#[tokio::test]
async fn a_port_that_is_taken_is_said_at_the_start() {
    let db = TestDatabase::new().await;
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let sandbox = Sandbox::new(&db);
    for program in ["embed-worker", "tag-worker", "learn-worker"] {
        let answer = sandbox.run(program, &["--drain", "--listen", &address], b"").await;
        let said = answer.fails(1, "address_in_use");
        assert!(said.contains(&address) && said.contains("--listen"), "{said}");
    }
    let by_environment = Sandbox::new(&db).set("HTM_WORKER__LISTEN", &address);
    by_environment.run("embed-worker", &["--drain"], b"").await.fails(1, "address_in_use");
    // The command line wins over the environment.
    by_environment.run("embed-worker", &["--drain", "--listen", "127.0.0.1:0"], b"").await.succeeds();
    // An address of documentation, which no machine has.
    sandbox.run("embed-worker", &["--listen", "192.0.2.1:9464"], b"").await.fails(1, "address_unusable");
}

#[tokio::test]
async fn what_is_no_address_is_refused() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db).set("HTM_WORKER__LISTEN", "9464");
    let answer = sandbox.run("embed-worker", &["--drain"], b"").await;
    let said = answer.fails(2, "config_bad_value");
    assert!(said.contains("`worker.listen`") && said.contains("127.0.0.1:9464"), "{said}");
    Sandbox::new(&db).run("embed-worker", &["--listen", "here"], b"").await.exits(2);
}

#[tokio::test]
async fn nothing_listens_unless_asked_to() {
    let db = TestDatabase::new().await;
    let answer = Sandbox::new(&db).run("embed-worker", &["--drain"], b"").await;
    answer.succeeds();
    assert!(!answer.stderr.contains("/livez"), "{answer:?}");
    let up = Sandbox::new(&db).set("HTM_WORKER__LISTEN", "127.0.0.1:0").htm(&["up", "--drain"]).await;
    up.succeeds();
    assert!(!up.stderr.contains("/livez"), "{up:?}");
}

#[tokio::test]
async fn clients_that_say_nothing_are_hung_up_on_and_hold_up_no_probe() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let worker = Served::ready(&sandbox, "embed-worker").await;
    let address = worker.base.trim_start_matches("http://");
    let before = worker.process.sockets();
    let mut silent = Vec::new();
    for n in 0..150 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        if n % 2 == 0 {
            stream.write_all(b"GET /livez HTTP/1.1\r\nHost: h\r\nX-Slow: ").await.unwrap();
        }
        silent.push(stream);
    }
    // At most 64 of them at once; the rest is for the database.
    let (answer, most) = tokio::join!(worker.get("/livez"), async {
        let mut most = 0;
        for mut stream in silent {
            most = most.max(worker.process.sockets());
            // The end, after what is said of a request that never came.
            let end = timeout(Duration::from_secs(60), stream.read_to_end(&mut Vec::new())).await;
            end.expect("it is hung up on").ok();
        }
        most
    });
    assert_eq!(answer, (200, "ok\n".into()));
    assert!((before + 32..=before + 64 + 16).contains(&most), "{most} sockets after {before}");
}

#[tokio::test]
async fn a_servers_port_that_is_taken_is_changed_where_it_was_given() {
    let db = TestDatabase::new().await;
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for command in ["up", "serve"] {
        let answer = Sandbox::new(&db).htm(&[command, "--listen", &address]).await;
        let said = answer.fails(1, "listen_unusable");
        assert!(said.contains("give `--listen`"), "{said}");
    }
}
