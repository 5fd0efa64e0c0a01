//! The JSON of a hook: what Claude Code says, and what it is told.

use std::io::Read;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::json;

use crate::args::HookCommand;
use crate::codes;
use crate::error::CliError;

/// The most bytes of an event that are read.
const MAX_EVENT_BYTES: u64 = 16 * 1024 * 1024;

/// The input of a hook from Claude Code. Each hook has some of the fields.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Event {
    pub(super) session_id: Option<String>,
    pub(super) transcript_path: Option<PathBuf>,
    /// The session's directory.
    pub(super) cwd: Option<String>,
    /// `SessionStart`: why it begins, such as `startup`, `resume` or `compact`.
    pub(super) source: Option<String>,
    /// `UserPromptSubmit`: the prompt.
    pub(super) prompt: Option<String>,
    /// `Stop`: the answer. Older versions do not send it.
    pub(super) last_assistant_message: Option<String>,
}

impl Event {
    /// Whether a session begins anew after a compaction. Its transcript may lag behind.
    pub(super) fn is_after_compaction(&self) -> bool {
        self.source.as_deref() == Some("compact")
    }

    pub(super) fn parse(input: &str) -> Result<Self, CliError> {
        let invalid = |why: String| {
            CliError::new(codes::HOOK_INPUT_INVALID, format!("the hook's input is not its JSON: {why}"))
        };
        // A list would be read as the fields in their order.
        if !input.trim_start().starts_with('{') {
            return Err(invalid("it is no object".into()));
        }
        // The text of the error could quote the input.
        serde_json::from_str(input)
            .map_err(|error| invalid(format!("line {}, column {}", error.line(), error.column())))
    }
}

/// Standard input, to its end.
pub(super) async fn read() -> Result<String, CliError> {
    let all = || {
        let mut input = String::new();
        std::io::stdin().take(MAX_EVENT_BYTES).read_to_string(&mut input).map(|_| input)
    };
    let read = tokio::task::spawn_blocking(all).await.unwrap_or_else(|error| Err(error.into()));
    read.map_err(CliError::io("standard input cannot be read"))
}

/// The answer that adds a text to the context.
pub(super) fn added(hook: &HookCommand, text: &str) -> String {
    let name = match hook {
        HookCommand::SessionStart(_) => "SessionStart",
        HookCommand::Prompt(_) => "UserPromptSubmit",
        HookCommand::Stop(_) => "Stop",
    };
    let output = json!({ "hookEventName": name, "additionalContext": text });
    json!({ "hookSpecificOutput": output, "suppressOutput": true }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_needs_no_field_and_ignores_others() {
        let event = Event::parse(r#"{"session_id": "s", "cwd": "/w", "new": {"in": 2027}}"#).unwrap();
        assert_eq!((event.session_id.as_deref(), event.cwd.as_deref()), (Some("s"), Some("/w")));
        assert!(event.prompt.is_none() && event.transcript_path.is_none() && !event.is_after_compaction());
        assert!(Event::parse(r#"{"source": "compact"}"#).unwrap().is_after_compaction());
    }

    #[test]
    fn what_is_no_object_is_no_event() {
        for input in ["[]", r#"["a session"]"#, "null", "\"a prompt\"", ""] {
            assert_eq!(Event::parse(input).unwrap_err().code, "hook_input_invalid", "{input}");
        }
    }

    #[test]
    fn an_error_does_not_repeat_the_input() {
        let error = Event::parse(r#"{"prompt": "my password is hunter2", oops"#).unwrap_err();
        assert_eq!((error.code, error.message.contains("hunter2")), ("hook_input_invalid", false));
    }
}
