//! `htm db`, and what a database that is not as it should be makes of every command.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use htm_tests::{Certificate, Proxy, Sandbox, TestDatabase, cluster_dir};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Nobody listens on port 1.
const NOBODY: &str = "postgres://nobody@127.0.0.1:1/nothing";

#[tokio::test]
async fn a_refused_connection_may_be_tried_again_and_says_where_to_look() {
    let sandbox = Sandbox::on(NOBODY).set("HTM_DATABASE__CONNECT_TIMEOUT_MS", "200");
    for arguments in [
        &["recall", "x"][..],
        &["remember", "x"],
        &["status", "1"],
        &["db", "status"],
        &["db", "migrate"],
        &["up"],
    ] {
        let answer = sandbox.htm(arguments).await;
        let said = answer.fails(75, "database_unreachable");
        assert!(said.contains("htm config show") && said.contains("htm db status"), "{said}");
        assert!(said.contains("the server at 127.0.0.1:1 runs"), "{said}");
    }
    // The doctor names it as a finding, among the others.
    let answer = sandbox.htm(&["doctor"]).await;
    let said = &answer.exits(1).stdout;
    assert!(said.contains("the configuration is valid") && said.contains("[database_unreachable]"), "{said}");
}

#[tokio::test]
async fn a_port_of_another_kind_of_server_is_named_as_that() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            client.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.ok();
        }
    });
    for tls in ["prefer", "disable"] {
        let sandbox = Sandbox::on(&format!("postgres://me@127.0.0.1:{port}/htm?sslmode={tls}"));
        let answer = sandbox.htm(&["recall", "x"]).await;
        let said = answer.fails(75, "database_unreachable");
        assert!(
            said.contains(&format!("127.0.0.1:{port}")) || said.contains("does not speak as PostgreSQL does"),
            "{said}"
        );
    }
}

/// A distribution's PostgreSQL may be too old to be the private one.
#[tokio::test]
async fn an_old_installation_is_refused_by_its_version() {
    let dir = cluster_dir();
    let bin = dir.path().join("bin");
    fs::create_dir(&bin).unwrap();
    for program in ["postgres", "initdb", "pg_ctl"] {
        let path = bin.join(program);
        fs::write(&path, "#!/bin/sh\necho 'postgres (PostgreSQL) 14.18 (Debian)'\n").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let sandbox = Sandbox::on("").set("HTM_POSTGRES_HOME", &dir.path().display().to_string());
    let answer = sandbox.htm(&["db", "up"]).await;
    let said = answer.fails(1, "private_pg_bad_installation");
    assert!(said.contains("version 14.18, and HTM needs 15 or later"), "{said}");
}

#[tokio::test]
async fn a_database_without_schema_is_migrated_and_reset_when_asked() {
    let db = TestDatabase::empty().await;
    let sandbox = Sandbox::new(&db);
    for arguments in [&["recall", "x"][..], &["remember", "x"], &["up"]] {
        let answer = sandbox.htm(arguments).await;
        let said = answer.fails(1, "schema_version");
        assert!(said.contains("run `htm db migrate`"), "{said}");
    }
    assert_eq!(sandbox.htm(&["db", "status", "--json"]).await.json()["schema_version"], 0);
    let wanted = json!({ "schema_version": htm_migration::LATEST });
    for _ in 0..2 {
        let answer = sandbox.htm(&["db", "migrate", "--json"]).await;
        assert_eq!(answer.json(), wanted);
        // What is there already, and what it passes over, is no news.
        assert_eq!(answer.stderr, "");
    }
    sandbox.htm(&["remember", "kept until it is not"]).await.succeeds();

    let answer = sandbox.htm(&["db", "reset"]).await;
    let said = answer.fails(2, "not_confirmed");
    assert!(said.contains("htm db reset --yes"), "{said}");
    // Which one is deleted.
    let name = db.options().get_database().unwrap().to_owned();
    assert!(said.contains(&format!("every memory of the database `{name}` on ")), "{said}");
    assert_eq!(db.count("select count(*) from htm.nodes").await, 1);
    let elsewhere = Sandbox::on("postgres://ada:hunter2@db.example.com:5433/memories");
    let answer = elsewhere.htm(&["db", "reset"]).await;
    let said = answer.fails(2, "not_confirmed");
    assert!(said.contains("`memories` on db.example.com:5433") && !said.contains("hunter2"), "{said}");

    let deleted = sandbox.htm(&["db", "reset", "--yes"]).await;
    assert!(deleted.succeeds().contains(&format!("of the database `{name}` on ")), "{deleted:?}");
    let schemas = "select count(*) from pg_namespace where nspname in ('htm', 'apalis')";
    assert_eq!(db.count(schemas).await, 0);
    sandbox.htm(&["get", "1"]).await.fails(1, "schema_version");
    sandbox.htm(&["db", "migrate"]).await.succeeds();
    sandbox.htm(&["get", "1"]).await.fails(2, "node_not_found");
}

#[tokio::test]
async fn a_schema_from_the_future_asks_for_a_newer_program() {
    let db = TestDatabase::new().await;
    sqlx::query("insert into htm.seaql_migrations (version, applied_at) values ('m29991231_future', 0)")
        .execute(&db.pool)
        .await
        .unwrap();
    sqlx::query("update htm.compatibility set oldest_program = $1")
        .bind(htm_migration::LATEST as i32 + 1)
        .execute(&db.pool)
        .await
        .unwrap();
    let answer = Sandbox::new(&db).htm(&["recall", "x"]).await;
    let said = answer.fails(1, "schema_version");
    assert!(said.contains("upgrade this program"), "{said}");
}

#[tokio::test]
async fn somebody_elses_server_is_neither_started_nor_stopped() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    for verb in ["up", "down"] {
        sandbox.htm(&["db", verb]).await.fails(2, "database_not_private");
    }
    assert_eq!(sandbox.htm(&["db", "url"]).await.succeeds().trim_end(), db.url());
    let status = sandbox.htm(&["db", "status", "--json"]).await.json();
    assert_eq!(
        (&status["private"], &status["schema_version"]),
        (&json!(false), &json!(htm_migration::LATEST))
    );
}

/// Who stands between says that the server has no TLS, and would be told user and password.
#[tokio::test]
async fn a_server_elsewhere_that_does_not_prove_itself_is_told_nothing() {
    let between = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = between.local_addr().unwrap().port();
    // What this address reaches is not known to be this machine.
    let url = |mode: &str| format!("postgres://ada:hunter2@0.0.0.0:{port}/memories{mode}");
    for (mode, is_told) in [("", false), ("?sslmode=verify-full", false), ("?sslmode=disable", true)] {
        let sandbox = Sandbox::on(&url(mode)).set("HTM_DATABASE__CONNECT_TIMEOUT_MS", "20000");
        let meet = async {
            let (mut stream, _) = between.accept().await.unwrap();
            let mut request = [0; 8];
            stream.read_exact(&mut request).await.unwrap();
            // The request for TLS: https://www.postgresql.org/docs/current/protocol-message-formats.html
            let asks_for_tls = request == [0, 0, 0, 8, 4, 210, 22, 47];
            if asks_for_tls {
                stream.write_all(b"N").await.unwrap();
            }
            let mut rest = [0; 1024];
            let told = stream.read(&mut rest).await.unwrap_or(0);
            (asks_for_tls, told)
        };
        let (answer, met) = tokio::join!(sandbox.htm(&["db", "status"]), meet);
        let said = answer.fails(75, "database_unreachable");
        assert!(!said.contains("hunter2"), "{said}");
        if is_told {
            assert!(!met.0 && met.1 > 0, "{mode} {met:?}");
        } else {
            assert_eq!(met, (true, 0), "{mode}");
            assert!(said.contains("turn TLS on") && said.contains("?sslmode=disable"), "{said}");
        }
    }
}

#[tokio::test]
async fn a_server_elsewhere_needs_a_certificate_for_its_name_from_a_trusted_authority() {
    let db = TestDatabase::new().await;
    const HOST: &str = "0.0.0.0"; // not known to be this machine
    const OTHER_NAME: &str = "memories.example";
    for (name, parameters, hint) in [
        (HOST, "sslrootcert=", None),
        (OTHER_NAME, "sslrootcert=", Some("certificate is for another name")),
        (OTHER_NAME, "sslmode=verify-ca&sslrootcert=", None),
        (HOST, "sslmode=verify-full&application_name=", Some("name the authority that signed")),
        (OTHER_NAME, "sslmode=verify-ca&application_name=", Some("name the authority that signed")),
        (OTHER_NAME, "sslmode=require&application_name=", None),
    ] {
        let certificate = Certificate::new(name);
        let proxy = Proxy::start_tls(db.options(), &certificate).await;
        let url = proxy.url_at(HOST, &format!("{parameters}{}", certificate.authority().display()));
        let sandbox = Sandbox::on(&url).set("HTM_DATABASE__CONNECT_TIMEOUT_MS", "20000");
        let answer = sandbox.htm(&["db", "status"]).await;
        match hint {
            None => drop(answer.succeeds()),
            Some(hint) => {
                let said = answer.fails(75, "database_unreachable");
                assert!(said.contains(hint), "{name} {parameters}: {said}");
            }
        }
    }
}

#[tokio::test]
async fn a_certificate_file_that_is_missing_and_an_unknown_sslmode_are_told() {
    let between = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = between.local_addr().unwrap().port();
    let url = |query: &str| format!("postgres://ada:hunter2@127.0.0.1:{port}/memories?{query}");
    let sandbox = Sandbox::on(&url("sslmode=verify-full&sslrootcert=/nowhere/ca.pem"))
        .set("HTM_DATABASE__CONNECT_TIMEOUT_MS", "20000");
    let agree_to_tls = async {
        let (mut stream, _) = between.accept().await.unwrap();
        stream.read_exact(&mut [0; 8]).await.unwrap();
        stream.write_all(b"S").await.unwrap();
        // Until the client gives up.
        stream.read_to_end(&mut Vec::new()).await.ok();
    };
    let (answer, ()) = tokio::join!(sandbox.htm(&["db", "status"]), agree_to_tls);
    let said = answer.fails(75, "database_unreachable");
    assert!(said.contains("sslrootcert") && !said.contains("hunter2"), "{said}");

    let unknown = Sandbox::on(&url("sslmode=verifyfull")).htm(&["db", "status"]).await;
    let said = unknown.fails(1, "database_url_invalid");
    assert!(said.contains("`verifyfull`") && said.contains("verify-full"), "{said}");
}
