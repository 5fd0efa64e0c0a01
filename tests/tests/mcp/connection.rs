//! The life of the process: it starts with nothing configured, keeps standard output for the protocol, and ends with its
//! client.

use std::process::Stdio;
use std::time::Duration;

use htm_tests::{Sandbox, TestDatabase};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

/// A process without a client library: lines in, lines out.
pub(super) struct Raw {
    pub(super) child: Child,
    stdin: Option<ChildStdin>,
    stdout: Lines<BufReader<ChildStdout>>,
    pub(super) db: TestDatabase,
    _sandbox: Sandbox,
}

impl Raw {
    pub(super) async fn start(arguments: &[&str]) -> Self {
        let db = TestDatabase::new().await;
        let sandbox = Sandbox::new(&db);
        let mut command = sandbox.command_of("htm", &[&["mcp"], arguments].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        Self { child, stdin, stdout, db, _sandbox: sandbox }
    }

    pub(super) async fn send(&mut self, message: Value) {
        self.send_line(message.to_string().as_bytes()).await;
    }

    pub(super) async fn send_line(&mut self, line: &[u8]) {
        let stdin = self.stdin.as_mut().expect("open");
        stdin.write_all(&[line, b"\n"].concat()).await.expect("it reads");
    }

    pub(super) async fn receive(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(30), self.stdout.next_line());
        let line = line.await.expect("an answer in time").expect("a line").expect("no end yet");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Sends a request. Returns its answer.
    pub(super) async fn ask(&mut self, request: Value) -> Value {
        self.send(request).await;
        self.receive().await
    }

    pub(super) async fn initialize(&mut self, version: &str) -> Value {
        let answer = self
            .ask(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
            } }))
            .await;
        self.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        answer
    }

    /// Closes standard input.
    fn close(&mut self) {
        self.stdin = None;
    }

    /// Waits for the end. Returns the exit code, the rest of standard output, and standard error.
    async fn end(mut self) -> (Option<i32>, String, String) {
        let status =
            tokio::time::timeout(Duration::from_secs(30), self.child.wait()).await.expect("it ends").unwrap();
        let mut rest = String::new();
        while let Some(line) = self.stdout.next_line().await.unwrap() {
            rest.push_str(&line);
        }
        let mut said = String::new();
        let mut stderr = self.child.stderr.take().unwrap();
        tokio::io::AsyncReadExt::read_to_string(&mut stderr, &mut said).await.unwrap();
        (status.code(), rest, said)
    }
}

fn remember(id: u32, text: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": { "name": "remember", "arguments": { "text": text } } })
}

#[tokio::test]
async fn it_ends_when_standard_input_closes_and_answers_what_was_asked_before() {
    let mut raw = Raw::start(&[]).await;
    raw.initialize("2025-06-18").await;
    for id in 1..=20 {
        raw.send(remember(id, &format!("Number {id}."))).await;
    }
    raw.close();
    let mut answered = Vec::new();
    for _ in 1..=20 {
        let answer = raw.receive().await;
        assert_eq!(answer["result"]["structuredContent"]["outcome"], "written", "{answer}");
        answered.push(answer["id"].as_u64().unwrap());
    }
    answered.sort_unstable();
    assert_eq!(answered, (1..=20).collect::<Vec<_>>());
    let (code, rest, said) = raw.end().await;
    assert_eq!((code, rest.as_str()), (Some(0), ""), "{said}");
}

#[tokio::test]
async fn it_ends_when_the_client_says_nothing_at_all() {
    let mut raw = Raw::start(&["--no-workers"]).await;
    raw.close();
    assert_eq!(raw.end().await, (Some(0), String::new(), String::new()));
}

#[tokio::test]
async fn it_ends_on_sigterm_although_standard_input_is_open() {
    let mut raw = Raw::start(&[]).await;
    raw.initialize("2025-06-18").await;
    raw.ask(remember(1, "Before the end.")).await;
    let started = std::time::Instant::now();
    kill(Pid::from_raw(raw.child.id().unwrap() as i32), Signal::SIGTERM).unwrap();
    let (code, rest, said) = raw.end().await;
    assert_eq!((code, rest.as_str()), (Some(0), ""), "{said}");
    assert!(started.elapsed() < Duration::from_secs(15), "{said}");
}

#[tokio::test]
async fn a_call_sees_what_the_calls_before_it_brought_to_mind() {
    let mut raw = Raw::start(&["--no-workers"]).await;
    raw.initialize("2025-06-18").await;
    for id in 1..=5 {
        let stored = raw.ask(remember(id, &format!("Ledger entry number {id}."))).await;
        let node = &stored["result"]["structuredContent"]["node"];
        let call = json!({ "name": "context", "arguments": {} });
        let answer =
            raw.ask(json!({ "jsonrpc": "2.0", "id": id + 10, "method": "tools/call", "params": call })).await;
        let included = &answer["result"]["structuredContent"]["included"];
        assert_eq!(included.as_array().map(Vec::len), Some(id as usize), "{answer}");
        assert!(included.as_array().unwrap().contains(node), "{answer}");
    }
}

#[tokio::test]
async fn a_cancelled_call_holds_up_nothing() {
    let mut raw = Raw::start(&["--no-workers"]).await;
    raw.initialize("2025-06-18").await;
    raw.ask(remember(1, "The ledger is closed.")).await;
    let mut lock = raw.db.pool.begin().await.unwrap();
    sqlx::query("lock table htm.nodes in access exclusive mode").execute(&mut *lock).await.unwrap();
    raw.send(remember(2, "This one waits for the table.")).await;
    raw.send(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 2 } }))
        .await;
    let answer = raw.ask(json!({ "jsonrpc": "2.0", "id": 3, "method": "ping" })).await;
    assert_eq!(answer["id"], 3, "{answer}");
    lock.rollback().await.unwrap();
    let answer = raw.ask(remember(4, "After the lock.")).await;
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(4), &json!(false)), "{answer}");
    // The statement of the cancelled call may have been on its way: then it waited for the table, and was done.
    let others = "select count(*) from htm.nodes where content <> 'This one waits for the table.'";
    assert_eq!(raw.db.count(others).await, 2);
}

#[tokio::test]
async fn standard_output_has_the_protocol_alone() {
    let db = TestDatabase::new().await;
    // The loudest log, and a tool whose answer has line breaks.
    let sandbox = Sandbox::new(&db).set("RUST_LOG", "trace");
    let input: String = [
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        remember(1, "Two\nlines."),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "stats" } }),
    ]
    .map(|message| format!("{message}\n"))
    .concat();
    let answer = sandbox.htm_reading(&["mcp"], input.as_bytes()).await;
    answer.exits(0);
    assert_eq!(answer.stdout.lines().count(), 3, "{}", answer.stdout);
    for line in answer.stdout.lines() {
        let message: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(message["result"].is_object(), "{message}");
    }
    assert!(!answer.stderr.is_empty());
}

#[tokio::test]
async fn what_is_no_mcp_is_an_error() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let input = format!("{}\n", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let answer = sandbox.htm_reading(&["mcp", "--no-workers"], input.as_bytes()).await;
    answer.fails(2, "mcp_client_invalid");
    let answer = sandbox.htm(&["mcp", "--robot", &"x".repeat(200)]).await;
    answer.fails(2, "robot_invalid");
}
