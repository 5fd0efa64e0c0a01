//! A hook that cannot do its work is silent and succeeds.

use std::time::Duration;

use htm_tests::Proxy;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};

use super::{Hooks, added, event};

/// A hook that waits for something for ever would take longer than this.
const PATIENCE: Duration = Duration::from_secs(20);

async fn is_silent(hooks: &Hooks, arguments: &[&str], event: &Value) {
    let (answer, took) = hooks.timed(arguments, event).await;
    eprintln!("htm hook {}: {took:.1?}", arguments.join(" "));
    assert_eq!((answer.stdout.as_str(), answer.stderr.as_str()), ("", ""), "{answer:?}");
    assert!(took < PATIENCE, "{took:?}: {answer:?}");
}

#[tokio::test]
async fn without_a_database() {
    let mut hooks = Hooks::new().await;
    let nobody = format!("postgres://nobody@127.0.0.1:{}/nothing", htm_tests::free_port());
    hooks.sandbox = hooks.sandbox.set("HTM_DATABASE__URL", &nobody);
    let file =
        hooks.sandbox.write("t.jsonl", r#"{"type":"user","uuid":"u","message":{"content":"A prompt."}}"#);
    is_silent(&hooks, &["prompt"], &event("which port is staging on?")).await;
    is_silent(&hooks, &["session-start"], &json!({ "session_id": "s", "cwd": "/w" })).await;
    is_silent(&hooks, &["stop"], &json!({ "session_id": "s", "transcript_path": file })).await;
    is_silent(&hooks, &["stop", "--wait"], &json!({ "session_id": "s", "transcript_path": file })).await;
}

#[tokio::test]
async fn without_a_private_postgresql_that_runs() {
    let mut hooks = Hooks::new().await;
    hooks.sandbox = hooks.sandbox.set("HTM_DATABASE__URL", "");
    is_silent(&hooks, &["prompt"], &event("which port is staging on?")).await;
    is_silent(&hooks, &["session-start"], &json!({ "session_id": "s", "cwd": "/w" })).await;
    // It was not started either.
    hooks.sandbox.shell("test ! -e ~/htm/data").await.succeeds();
}

#[tokio::test]
async fn with_a_database_that_does_not_answer() {
    let hooks = Hooks::new().await;
    hooks.sandbox.remember(&["Staging is on port 5433."]).await;
    hooks.embed().await;
    let mut server = hooks.served(&["serve"]).await;
    let mut lock = hooks.db.pool.begin().await.unwrap();
    sqlx::query("lock table htm.nodes in access exclusive mode").execute(&mut *lock).await.unwrap();
    is_silent(&hooks, &["prompt"], &event("Staging is on port 5433")).await;
    is_silent(&hooks, &["session-start"], &json!({ "session_id": "s", "cwd": "/w" })).await;
    lock.rollback().await.unwrap();
    assert!(hooks.added_to("Staging is on port").await.is_some());
    server.signal(nix::sys::signal::Signal::SIGKILL);
    server.end().await;
    assert!(hooks.added_to("Staging is on port").await.is_some(), "the database answers without a server");
}

/// A server that the session has started may be starting PostgreSQL.
#[tokio::test]
async fn with_a_database_that_is_about_to_answer() {
    let mut hooks = Hooks::new().await;
    hooks.sandbox.remember(&["Staging is on port 5433.", "--importance", "9"]).await;
    let proxy = Proxy::start(hooks.db.options()).await;
    let (listener, url) = (TcpListener::bind("127.0.0.1:0").await.unwrap(), proxy.url());
    let host = url.split(['@', '/']).find(|part| part.starts_with("127.0.0.1:")).unwrap().to_owned();
    let url = url.replace(&host, &listener.local_addr().unwrap().to_string());
    hooks.sandbox = hooks.sandbox.set("HTM_DATABASE__URL", &url);
    tokio::spawn(async move {
        for _ in 0..3 {
            drop(listener.accept().await.unwrap());
        }
        while let Ok((mut client, _)) = listener.accept().await {
            let mut server = TcpStream::connect(&host).await.unwrap();
            tokio::spawn(async move { tokio::io::copy_bidirectional(&mut client, &mut server).await });
        }
    });
    let start = json!({ "session_id": "s", "cwd": "/w" });
    let answer = hooks.run(&["session-start", "--timeout-ms", "20000"], &start).await;
    assert!(added("SessionStart", &answer).unwrap().contains("Staging is on port 5433."), "{answer:?}");
}

const NOT_THE_HOOKS: [&str; 6] =
    ["", "no JSON", "[]", "{}", r#"{"prompt": 3}"#, r#"{"prompt": "with a \u0000 in the middle"}"#];

/// Also if a running server says what is wrong.
#[tokio::test]
async fn with_input_that_is_not_the_hooks_and_a_server() {
    let hooks = Hooks::new().await;
    let _server = hooks.served(&["serve"]).await;
    for input in NOT_THE_HOOKS {
        for hook in ["session-start", "prompt"] {
            let answer = hooks.sandbox.htm_reading(&["hook", hook], input.as_bytes()).await;
            assert_eq!((answer.succeeds(), answer.stderr.as_str()), ("", ""), "{answer:?}");
        }
    }
}

/// On a terminal it says what is wrong: a person tries it.
#[tokio::test]
async fn by_hand() {
    let hooks = Hooks::new().await;
    for (hook, input) in [("prompt", "garbage"), ("session-start", "[]")] {
        let line = format!(
            "python3 -c 'import pty; pty.spawn([\"sh\", \"-c\", \"echo {input} | htm hook {hook} --timeout-ms 20000\"])'"
        );
        let answer = hooks.sandbox.shell(&line).await;
        assert!(answer.succeeds().contains("error[hook_input_invalid]"), "{answer:?}");
    }
}

#[tokio::test]
async fn with_input_that_is_not_the_hooks() {
    let hooks = Hooks::new().await;
    for input in NOT_THE_HOOKS {
        for hook in ["session-start", "prompt", "stop"] {
            let arguments = if hook == "stop" { vec!["hook", hook, "--wait"] } else { vec!["hook", hook] };
            let answer = hooks.sandbox.htm_reading(&arguments, input.as_bytes()).await;
            assert_eq!((answer.succeeds(), answer.stderr.as_str()), ("", ""), "{answer:?}");
        }
    }
}

/// Claude Code erases the prompt if a hook exits with 2.
#[tokio::test]
async fn no_mistake_costs_the_prompt() {
    let hooks = Hooks::new().await;
    let prompt = event("which port is staging on?").to_string();
    for arguments in ["promt", "--what", "prompt --min-similarity=2", "prompt --timeout-ms 0"] {
        let arguments: Vec<&str> = ["hook"].into_iter().chain(arguments.split(' ')).collect();
        hooks.sandbox.htm_reading(&arguments, prompt.as_bytes()).await.exits(1);
    }
    hooks.sandbox.write("htm.toml", "[recall]\nlimmit = 3\n");
    let answer = hooks.sandbox.htm_reading(&["hook", "prompt"], prompt.as_bytes()).await;
    assert_eq!(answer.succeeds(), "");
    assert!(answer.stderr.contains("limmit"), "{answer:?}");
}
