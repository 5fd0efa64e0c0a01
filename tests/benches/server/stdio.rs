//! Recalls by a client of MCP over standard input and output.

use std::process::Stdio;
use std::time::{Duration, Instant};

use htm_core::{Htm, Strategy};
use htm_tests::measure::Table;
use htm_tests::{Sandbox, TestDatabase};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

use super::{Call, Corpus, QUESTIONS, row_of_times};

/// Two rows about recalls by full text. A call of MCP is a robot's: it also loads and saves the robot's working memory.
pub(crate) async fn recall(table: &Table, db: &TestDatabase, htm: &Htm, corpus: &Corpus) {
    let sandbox = Sandbox::new(db);
    let mut server = Server::start(&sandbox).await;
    let library = Call::Library(htm.clone());
    let mut times = (Vec::new(), Vec::new());
    for round in 0..QUESTIONS.0 + QUESTIONS.1 {
        let question = corpus.question(round);
        let first = library.recall(&question, Strategy::Fulltext).await;
        let second = server.recall(round, &question).await;
        if round >= QUESTIONS.1 {
            times.0.push(first);
            times.1.push(second);
        }
    }
    row_of_times(table, "MCP: recall, fulltext", &times.0, &times.1);
}

/// `htm mcp` and its client.
struct Server {
    _child: Child,
    stdin: ChildStdin,
    stdout: Lines<BufReader<ChildStdout>>,
}

impl Server {
    async fn start(sandbox: &Sandbox) -> Self {
        let mut command = sandbox.command_of("htm", &["mcp", "--no-workers"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let stdin = child.stdin.take().expect("a pipe");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut server = Self { _child: child, stdin, stdout };
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {},
                            "clientInfo": {"name": "bench", "version": "1"}});
        server.ask(json!({"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": params})).await;
        server.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        server
    }

    async fn send(&mut self, message: Value) {
        self.stdin.write_all(format!("{message}\n").as_bytes()).await.expect("it reads");
    }

    async fn ask(&mut self, message: Value) -> Value {
        self.send(message).await;
        let line = self.stdout.next_line().await.expect("it writes").expect("an answer");
        serde_json::from_str(&line).expect("JSON")
    }

    /// The time of a recall of ten memories.
    async fn recall(&mut self, id: usize, question: &str) -> Duration {
        let arguments = json!({"query": question, "limit": 10, "strategy": "fulltext"});
        let params = json!({"name": "recall", "arguments": arguments});
        let started = Instant::now();
        let answer =
            self.ask(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})).await;
        let time = started.elapsed();
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        time
    }
}
