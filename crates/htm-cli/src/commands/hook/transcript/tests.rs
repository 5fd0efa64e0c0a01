use serde_json::{Value, json};

use super::*;

fn turn(lines: &[Value]) -> Turn {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    last(text.as_bytes())
}

fn last(lines: &[u8]) -> Turn {
    turns_of(lines).unwrap().pop().unwrap()
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
fn interrupted_turns_are_kept_until_one_ends_by_itself() {
    let interruption = || user(json!([text("[Request interrupted by user for tool use]")]));
    let lines = [
        user("Stored at its end".into()),
        assistant(text("So it is.")),
        user("First".into()),
        assistant(text("An answer that nobody")),
        interruption(),
        user("Second".into()),
        interruption(),
        user("Third".into()),
        assistant(text("The answer")),
    ];
    let prompts = |lines: &[Value]| {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let turns = turns_of(text.as_bytes()).unwrap();
        turns.into_iter().map(|turn| (turn.number, turn.prompt.text, turn.answer.text)).collect::<Vec<_>>()
    };
    let said = |number, prompt: &str, answer: &str| (number, prompt.to_owned(), answer.to_owned());
    assert_eq!(
        prompts(&lines),
        [said(1, "First", "An answer that nobody"), said(2, "Second", ""), said(3, "Third", "The answer")]
    );
    let more = [&lines[..], &[user("Fourth".into())]].concat();
    assert_eq!(prompts(&more), [said(4, "Fourth", "")]);
}

#[test]
fn the_last_compaction_has_a_time() {
    let at = |text: &str| {
        let mut line = user("The conversation so far: …".into());
        (line["isCompactSummary"], line["timestamp"]) = (true.into(), text.into());
        line
    };
    let found = |lines: &[Value]| {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        last_compaction(text.as_bytes()).unwrap()
    };
    assert_eq!(found(&[user("It has no \"isCompactSummary\".".into())]), None);
    let lines = [at("2026-03-01T10:00:00Z"), user("A prompt".into()), at("2026-03-01T11:00:00Z")];
    assert_eq!(found(&lines), Some("2026-03-01T11:00:00Z".parse().unwrap()));
}

#[test]
fn a_line_that_is_being_written_is_passed_over() {
    let text = format!("{}\n{{\"type\": \"assistant\", \"mess", user("The prompt".into()));
    assert_eq!(last(text.as_bytes()).prompt.text, "The prompt");
    assert_eq!(last(b"\xff\xfe\n\n").prompt.text, "");
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
