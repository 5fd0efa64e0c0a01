//! Signals: the first one ends a command, which says what it leaves. A command that tidies up sees to them itself.

use std::future;
use std::io::{self, Write};
use std::process;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use htm_runtime::shutdown::{INTERRUPTED, on_signal};
use htm_runtime::telemetry::to_stderr;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{plain, plain_json};

/// The time in which a command begins to end after a signal, unless a read or a write holds its thread.
const PROMPT: Duration = Duration::from_millis(200);

/// The answer of a stopped command.
#[derive(Debug, Default)]
pub(super) enum Left {
    /// Only that it was stopped. Standard output may have a part of its answer.
    #[default]
    Unsaid,
    /// The remains of its work, for programs and for people: this is its answer.
    Said(Value, String),
}

/// The signals to a command.
#[derive(Clone, Debug)]
pub(super) struct Signals {
    token: CancellationToken,
    /// None: the command sees to signals itself, or is ending.
    left: Arc<Mutex<Option<Left>>>,
}

impl Default for Signals {
    fn default() -> Self {
        Self { token: CancellationToken::new(), left: Arc::new(Mutex::new(Some(Left::default()))) }
    }
}

impl Signals {
    /// The token that the first signal cancels.
    pub(super) fn token(&self) -> &CancellationToken {
        &self.token
    }

    /// Has the command see to signals itself, or end: what it leaves, unless that was so before.
    pub(super) fn take(&self) -> Option<Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Changes what a stopped command says, unless it sees to signals itself.
    pub(super) fn leave(&self, answer: Value, text: String) {
        if let Some(left) = self.left.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            *left = Left::Said(answer, text);
        }
    }

    /// Listens to signals.
    pub(super) fn listen(&self, json: bool) -> io::Result<()> {
        on_signal(self.token.clone())?;
        let signals = self.clone();
        tokio::spawn(async move {
            signals.token.cancelled().await;
            tokio::time::sleep(PROMPT).await;
            let Some(left) = signals.take() else { return };
            // The thread of the command is held: it waits for standard input, or for a reader.
            let saying = tokio::task::spawn_blocking(move || left.say(json));
            let _ = tokio::time::timeout(PROMPT, saying).await;
            process::exit(INTERRUPTED.into());
        });
        Ok(())
    }

    /// Waits for a signal that the command does not see to itself.
    pub(super) async fn stopped(&self) -> Left {
        self.token.cancelled().await;
        match self.take() {
            Some(left) => left,
            None => future::pending().await,
        }
    }
}

impl Left {
    /// Says it. An error means that nobody reads it.
    pub(super) fn say(self, json: bool) {
        let (answer, text, is_answer) = match self {
            Self::Unsaid => (json!({ "stopped": true }), "stopped".to_owned(), false),
            Self::Said(answer, text) => (answer, format!("stopped; {text}"), true),
        };
        let mut line = if json { plain_json(&answer.to_string()) } else { plain(&text) };
        line.push('\n');
        match is_answer {
            true => {
                let _ = io::stdout().write_all(line.as_bytes());
            }
            false => to_stderr(&line),
        }
    }
}
