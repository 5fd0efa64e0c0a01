//! What was said is stored, once.

use htm_tests::wait_until;
use serde_json::{Value, json};
use sqlx::Row;

use super::{Hooks, event};

/// A transcript, as Claude Code 2.1 writes it.
fn transcript() -> String {
    let prompt = |uuid: &str, content: Value| {
        json!({ "parentUuid": null, "isSidechain": false, "promptId": "p", "type": "user", "uuid": uuid,
                "timestamp": "2026-11-20T09:00:00.500Z", "cwd": "/src/atlas", "sessionId": "s",
                "message": { "role": "user", "content": content } })
    };
    let answer = |content: Value| {
        json!({ "parentUuid": "u", "isSidechain": false, "type": "assistant", "uuid": "a",
                "timestamp": "2026-11-20T09:00:09Z", "requestId": "req_1",
                "message": { "id": "msg_1", "type": "message", "role": "assistant", "content": [content] } })
    };
    let lines = [
        json!({ "type": "queue-operation", "operation": "enqueue", "content": "x", "sessionId": "s" }),
        prompt("u1", "Where is staging?".into()),
        answer(json!({ "type": "text", "text": "I do not know yet." })),
        prompt("u2", json!([{ "type": "text", "text": "Look into the configuration: which port?" }])),
        answer(json!({ "type": "thinking", "thinking": "hm", "signature": "s" })),
        answer(json!({ "type": "tool_use", "id": "t1", "name": "Read", "input": { "file_path": "a" } })),
        prompt("u3", json!([{ "type": "tool_result", "tool_use_id": "t1", "content": "port = 5433" }])),
        json!({ "type": "attachment", "attachment": { "type": "hook_additional_context", "content": ["x"] } }),
        answer(json!({ "type": "text", "text": "Staging listens on port 5433." })),
        json!({ "type": "last-prompt", "lastPrompt": "x", "sessionId": "s" }),
    ];
    lines.map(|line| format!("{line}\n")).concat()
}

fn stop(transcript: &str, answer: Option<&str>) -> Value {
    let mut event = json!({
        "session_id": "s", "transcript_path": transcript, "cwd": "/src/atlas", "permission_mode": "default",
        "hook_event_name": "Stop", "stop_hook_active": false,
    });
    if let Some(answer) = answer {
        event["last_assistant_message"] = answer.into();
    }
    event
}

impl Hooks {
    /// The speakers and the texts that are stored, in the order of the conversation.
    async fn said(&self) -> Vec<(String, String)> {
        let rows = "select speaker, content from htm.nodes where session = 's' and source = 'claude-code'
                    and metadata = '{\"directory\": \"/src/atlas\"}' order by seq";
        let rows = sqlx::query(rows).fetch_all(&self.db.pool).await.expect("rows");
        rows.iter().map(|row| (row.get(0), row.get(1))).collect()
    }

    async fn nodes(&self) -> i64 {
        self.db.count("select count(*) from htm.nodes").await
    }
}

fn turn() -> Vec<(String, String)> {
    let said = [
        ("user", "Look into the configuration: which port?"),
        ("assistant", "Staging listens on port 5433."),
    ];
    said.map(|(speaker, text)| (speaker.into(), text.into())).to_vec()
}

#[tokio::test]
async fn a_turn_is_stored_once_by_the_server_or_without_one() {
    let hooks = Hooks::new().await;
    let file = hooks.sandbox.write("transcript.jsonl", transcript());
    let event = stop(&file, Some("Staging listens on port 5433."));
    for _ in 0..2 {
        assert_eq!(hooks.run(&["stop", "--wait"], &event).await.stdout, "");
    }
    assert_eq!(hooks.said().await, turn());
    let mut server = hooks.served(&["serve"]).await;
    hooks.run(&["stop", "--wait"], &event).await;
    // An older version sends no answer: it is that of the transcript.
    hooks.run(&["stop", "--wait"], &stop(&file, None)).await;
    assert_eq!((hooks.said().await, hooks.nodes().await), (turn(), 2));
    // The session goes on after a hook that stopped the stop: another answer to the same prompt.
    hooks.run(&["stop", "--wait"], &stop(&file, Some("It is port 5434 since today."))).await;
    assert_eq!(hooks.nodes().await, 3);
    server.signal(nix::sys::signal::Signal::SIGTERM);
    server.end().await;
}

#[tokio::test]
async fn a_turn_is_stored_in_the_background_and_found_in_another_session() {
    let hooks = Hooks::new().await;
    // The file lags behind: it has the prompt, but not the answer.
    let lines = transcript();
    let lines: Vec<&str> = lines.lines().take(7).collect();
    let file = hooks.sandbox.write("transcript.jsonl", lines.join("\n"));
    let event = stop(&file, Some("Staging listens on port 5433."));
    assert_eq!(hooks.run(&["stop"], &event).await.stdout, "");
    wait_until(async || hooks.nodes().await == 2).await;
    assert_eq!(hooks.said().await, turn());
    assert_eq!(hooks.added_to("Staging listens on port").await, None, "it is not embedded yet");
    hooks.embed().await;
    let found = hooks.added_to("Staging listens on port").await.expect("it is relevant");
    assert!(!found.contains("claude-code:"), "{found}");
    assert!(found.contains("| assistant ") && found.contains("\"Staging listens on port 5433.\""), "{found}");
    let mut same = super::event("Staging listens on port");
    same["session_id"] = "s".into();
    assert_eq!(hooks.run(&["prompt", "--timeout-ms", "20000"], &same).await.stdout, "");
}

#[tokio::test]
async fn an_interrupted_turn_is_stored_with_the_next_one() {
    let hooks = Hooks::new().await;
    let line = |kind: &str, uuid: &str, text: &str| {
        let line = json!({ "type": kind, "uuid": uuid, "message": { "role": kind, "content": text } });
        format!("{line}\n")
    };
    let lines = [
        line("user", "u1", "Where is staging?"),
        line("assistant", "a1", "I think that it"),
        line("user", "u2", "[Request interrupted by user]"),
        line("user", "u3", "Which port is it on?"),
        line("assistant", "a2", "It is on port 5433."),
    ];
    let file = hooks.sandbox.write("transcript.jsonl", lines.concat());
    for _ in 0..2 {
        hooks.run(&["stop", "--wait"], &stop(&file, None)).await;
    }
    let texts: Vec<String> = hooks.said().await.into_iter().map(|(_, text)| text).collect();
    assert_eq!(
        texts,
        ["Where is staging?", "I think that it", "Which port is it on?", "It is on port 5433."]
    );
    assert_eq!(hooks.nodes().await, 4);
}

#[tokio::test]
async fn a_sessions_own_turns_come_back_after_its_compaction() {
    let hooks = Hooks::new().await;
    let file = hooks.sandbox.write("transcript.jsonl", transcript());
    hooks.run(&["stop", "--wait"], &stop(&file, None)).await;
    let mut start =
        json!({ "session_id": "s", "transcript_path": file, "cwd": "/src/atlas", "source": "resume" });
    let begin = ["session-start", "--timeout-ms", "20000"];
    assert_eq!(hooks.run(&begin, &start).await.stdout, "");
    // The file may lag behind.
    start["source"] = "compact".into();
    let found = super::added("SessionStart", &hooks.run(&begin, &start).await).expect("they come back");
    assert!(found.contains("Staging listens on port 5433."), "{found}");
    start["source"] = "resume".into();
    let summary = json!({ "type": "user", "uuid": "c", "timestamp": "2026-11-20T10:00:00Z", "isCompactSummary": true,
                          "message": { "role": "user", "content": "The conversation so far." } });
    start["transcript_path"] =
        hooks.sandbox.write("compacted.jsonl", format!("{}{summary}\n", transcript())).into();
    let found = super::added("SessionStart", &hooks.run(&begin, &start).await).expect("they come back");
    assert!(found.contains("Staging listens on port 5433."), "{found}");
}

#[tokio::test]
async fn nothing_of_a_transcript_is_logged() {
    let mut hooks = Hooks::new().await;
    hooks.sandbox = hooks.sandbox.set("HTM_LOG__LEVEL", "trace");
    let secret = |text: &str| text.replace("port", "hunter2").replace("Staging", "hunter2");
    let file = hooks.sandbox.write("transcript.jsonl", secret(&transcript()));
    let stop = stop(&file, Some("hunter2"));
    let broken = hooks.sandbox.write("broken.jsonl", &secret(&transcript())[..600]);
    let prompt = event("What is hunter2, and where does it listen?");
    let check = async |arguments: &[&str], event: &Value| {
        let answer = hooks.run(arguments, event).await;
        assert!(!answer.stderr.contains("hunter2"), "{}", answer.stderr);
    };
    let both = async || {
        check(&["stop", "--wait"], &stop).await;
        check(&["prompt", "--timeout-ms", "20000"], &prompt).await;
    };
    both().await;
    let _server = hooks.served(&["serve"]).await;
    both().await;
    let not_json = hooks.sandbox.htm_reading(&["hook", "prompt"], b"{\"prompt\": \"hunter2\", hunter2").await;
    assert!(not_json.succeeds().is_empty() && not_json.stderr.contains("hook_input_invalid"), "{not_json:?}");
    assert!(!not_json.stderr.contains("hunter2"), "{not_json:?}");
    assert_eq!(hooks.run(&["stop", "--wait"], &super::turns::stop(&broken, None)).await.stdout, "");
}
