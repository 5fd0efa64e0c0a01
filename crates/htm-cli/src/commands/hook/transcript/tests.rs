use serde_json::{Value, json};

use super::*;

fn turn(lines: &[Value]) -> Turn {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    turn_of(text.as_bytes()).unwrap()
}

fn user(content: Value) -> Value {
    json!({ "type": "user", "uuid": "u1", "timestamp": "2026-03-01T09:00:00.123Z", "isSidechain": false,
            "message": { "role": "user", "content": content } })
}

fn assistant(block: Value) -> Value {
    json!({ "type": "assistant", "uuid": "a1", "timestamp": "2026-03-01T09:00:05Z",
            "message": { "role": "assistant", "content": [block] } })
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

#[test]
fn the_answer_is_what_was_said_after_the_last_tool() {
    let turn = turn(&[
        json!({ "type": "summary", "summary": "Earlier", "leafUuid": "x" }),
        user("An earlier prompt".into()),
        assistant(text("An earlier answer")),
        user(json!([text("Which port is staging on?")])),
        assistant(json!({ "type": "thinking", "thinking": "Where is it written?" })),
        assistant(text("I will look.")),
        assistant(json!({ "type": "tool_use", "id": "t", "name": "Read", "input": {} })),
        user(json!([{ "type": "tool_result", "tool_use_id": "t", "content": "port: 5433" }])),
        assistant(text("Staging is on port 5433.")),
        assistant(text("It moved in March.")),
        json!({ "type": "system", "subtype": "turn_duration" }),
    ]);
    assert_eq!(turn.prompt.text, "Which port is staging on?");
    assert_eq!(turn.answer.text, "Staging is on port 5433.\n\nIt moved in March.");
    assert_eq!((turn.id.as_str(), turn.number), ("u1", 1));
}

#[test]
fn what_nobody_said_is_passed_over() {
    let meta = |name: &str| {
        let mut line = user("Not a prompt".into());
        line[name] = true.into();
        line
    };
    let turn = turn(&[
        user("The prompt".into()),
        meta("isMeta"),
        meta("isSidechain"),
        meta("isCompactSummary"),
        user("<command-name>/clear</command-name>".into()),
        user("<local-command-stdout>done</local-command-stdout>".into()),
        user(json!([text("[Request interrupted by user]")])),
        user(json!([{ "type": "image", "source": {} }])),
        json!({ "type": "user", "message": "another form" }),
        json!("no object"),
    ]);
    assert_eq!((turn.prompt.text.as_str(), turn.number, turn.answer.text.as_str()), ("The prompt", 0, ""));
}

#[test]
fn a_line_that_is_being_written_is_passed_over() {
    let text = format!("{}\n{{\"type\": \"assistant\", \"mess", user("The prompt".into()));
    assert_eq!(turn_of(text.as_bytes()).unwrap().prompt.text, "The prompt");
    assert_eq!(turn_of(&b"\xff\xfe\n\n"[..]).unwrap().prompt.text, "");
}

#[test]
fn a_repeat_has_the_same_keys_and_another_answer_another() {
    let event = Event { session_id: Some("s".into()), cwd: Some("/src".into()), ..Event::default() };
    let said = |answer: &str| {
        turn(&[user("The prompt".into()), assistant(text(answer))]).memories(&event, "default", "htm")
    };
    let (first, again, other) = (said("One"), said("One"), said("Two"));
    assert_eq!(first, again);
    let keys = |memories: &[Memory]| memories.iter().map(|it| it.key.clone().unwrap()).collect::<Vec<_>>();
    assert_eq!(keys(&first)[0], keys(&other)[0]);
    assert_ne!(keys(&first)[1], keys(&other)[1]);
    assert_eq!(first[1].metadata["directory"], "/src");
    assert_eq!((first[1].speaker.as_deref(), first[1].seq), (Some("assistant"), Some(1)));
}
