//! `htm hook`, as Claude Code starts it: JSON on standard input, and a session that must not notice a failure.

#[path = "hooks/failures.rs"]
mod failures;
#[path = "hooks/plugin.rs"]
mod plugin;
#[path = "hooks/relevance.rs"]
mod relevance;
#[path = "hooks/turns.rs"]
mod turns;

use std::time::{Duration, Instant};

use htm_tests::{Answer, Running, Sandbox, TestDatabase, wait_until};
use serde_json::{Value, json};

/// The programs on a database.
struct Hooks {
    db: TestDatabase,
    sandbox: Sandbox,
}

impl Hooks {
    async fn new() -> Self {
        let db = TestDatabase::new().await;
        let sandbox = Sandbox::new(&db);
        Self { db, sandbox }
    }

    /// Starts a server, and waits until it answers.
    async fn served(&self, arguments: &[&str]) -> Running {
        let process = self.sandbox.start("htm", arguments);
        let asked = async || self.sandbox.htm(&["recall", "-v", "anything"]).await;
        wait_until(async || asked().await.stderr.starts_with("a running server answered")).await;
        process
    }

    /// Runs a hook. It succeeds, whatever happens, and the time that it took is printed.
    async fn run(&self, arguments: &[&str], event: &Value) -> Answer {
        let (answer, took) = self.timed(arguments, event).await;
        eprintln!("htm hook {}: {took:.1?}", arguments.join(" "));
        answer
    }

    async fn timed(&self, arguments: &[&str], event: &Value) -> (Answer, Duration) {
        let started = Instant::now();
        let arguments = [&["hook"], arguments].concat();
        let answer = self.sandbox.htm_reading(&arguments, event.to_string().as_bytes()).await;
        answer.succeeds();
        (answer, started.elapsed())
    }

    /// Embeds what was remembered.
    async fn embed(&self) {
        self.sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    }

    /// The text that the hook `prompt` adds, with time enough for a machine that does other things.
    async fn added_to(&self, prompt: &str) -> Option<String> {
        let answer = self.run(&["prompt", "--timeout-ms", "20000"], &event(prompt)).await;
        added("UserPromptSubmit", &answer)
    }
}

/// The text that an answer adds to the context.
fn added(event: &str, answer: &Answer) -> Option<String> {
    if answer.succeeds().is_empty() {
        return None;
    }
    let output = answer.json();
    assert_eq!(output["suppressOutput"], true, "{output}");
    assert_eq!(output["hookSpecificOutput"]["hookEventName"], event, "{output}");
    Some(output["hookSpecificOutput"]["additionalContext"].as_str().expect("a text").to_owned())
}

/// The event of a prompt, as Claude Code 2.1 sends it.
fn event(prompt: &str) -> Value {
    json!({
        "session_id": "9e6f8a1c-0000-4000-8000-000000000001", "transcript_path": "/nowhere/transcript.jsonl",
        "cwd": "/src/atlas", "prompt_id": "18c2ab5e", "permission_mode": "default",
        "hook_event_name": "UserPromptSubmit", "prompt": prompt,
    })
}
