//! The last turn of a transcript: the prompt and its answer.
//!
//! A transcript is a file of JSON lines that Claude Code writes meanwhile. Its form is not documented, so unknown
//! lines are skipped.

use std::io::{BufRead, BufReader, Read};

use chrono::{DateTime, Utc};
use htm_core::{MAX_CONTENT_BYTES, Memory};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::event::Event;
use super::relevance::of_directory;
use crate::error::CliError;

/// The source of the memories.
pub(super) const SOURCE: &str = "claude-code";

/// The beginnings of what people did not write, although it has their role.
const NOT_SAID: [&str; 8] = [
    "<command-",
    "<local-command-",
    "<bash-",
    "<system-reminder>",
    "<task-notification>",
    "<user-memory-input>",
    "Caveat: The messages below",
    "[Request interrupted",
];

/// A line of a transcript.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Line {
    r#type: String,
    uuid: Option<String>,
    timestamp: Option<DateTime<Utc>>,
    /// Of a subagent.
    is_sidechain: bool,
    /// Written by the program.
    is_meta: bool,
    is_compact_summary: bool,
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Message {
    content: Content,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Blocks(Vec<Block>),
}

#[derive(Deserialize)]
struct Block {
    r#type: String,
    #[serde(default)]
    text: String,
}

impl Content {
    fn has_tool_result(&self) -> bool {
        matches!(self, Self::Blocks(blocks) if blocks.iter().any(|block| block.r#type == "tool_result"))
    }

    /// The texts that somebody said.
    fn said(self) -> String {
        let texts: Vec<String> = match self {
            Self::Text(text) => vec![text],
            Self::Blocks(blocks) => {
                let texts = blocks.into_iter().filter(|block| block.r#type == "text");
                texts.map(|block| block.text).collect()
            }
        };
        let said = texts.iter().map(|text| text.trim());
        let said = said.filter(|text| !NOT_SAID.iter().any(|begin| text.starts_with(begin)));
        said.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
    }
}

/// A text of the conversation.
#[derive(Debug, Default, PartialEq)]
struct Said {
    text: String,
    at: Option<DateTime<Utc>>,
}

/// A prompt and its answer.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Turn {
    /// The prompt's id, which stays the same when a session is resumed or forked.
    id: String,
    /// Its number in the conversation, from 0.
    number: i32,
    prompt: Said,
    answer: Said,
}

/// The length of the event's transcript. The session goes on meanwhile, and writes the next prompt there. None if the event
/// has no answer: then it is yet to be written.
pub(super) fn length(event: &Event) -> Option<u64> {
    event.last_assistant_message.as_deref().filter(|answer| !answer.trim().is_empty())?;
    Some(std::fs::metadata(event.transcript_path.as_ref()?).ok()?.len())
}

/// The last turn of the event's transcript, or of its first bytes. The answer is that of the event, if it has one: the file may lag behind.
pub(super) async fn last_turn(event: &Event, until: Option<u64>) -> Result<Turn, CliError> {
    let path = event.transcript_path.clone().unwrap_or_default();
    let read = tokio::task::spawn_blocking(move || {
        let file = std::fs::File::open(path)?;
        turn_of(BufReader::new(file.take(until.unwrap_or(u64::MAX))))
    });
    let failed = || CliError::io("the transcript cannot be read");
    let mut turn = read.await.map_err(std::io::Error::other).map_err(failed())?.map_err(failed())?;
    if let Some(answer) = event.last_assistant_message.as_deref().filter(|it| !it.trim().is_empty()) {
        turn.answer = Said { text: answer.trim().into(), at: None };
    }
    Ok(turn)
}

/// The last turn of these lines.
fn turn_of(mut lines: impl BufRead) -> std::io::Result<Turn> {
    let (mut turn, mut bytes) = (Turn { number: -1, ..Turn::default() }, Vec::new());
    while lines.read_until(b'\n', &mut bytes)? > 0 {
        let line: Line = serde_json::from_slice(&bytes).unwrap_or_default();
        bytes.clear();
        turn.read(line);
    }
    Ok(turn)
}

impl Turn {
    fn read(&mut self, line: Line) {
        let Some(message) = line.message else { return };
        if line.is_sidechain || line.is_meta || line.is_compact_summary {
            return;
        }
        match line.r#type.as_str() {
            "user" if message.content.has_tool_result() => self.answer = Said::default(),
            "user" => {
                let text = message.content.said();
                if !text.is_empty() {
                    let prompt = Said { text, at: line.timestamp };
                    let (id, number) = (line.uuid.unwrap_or_default(), self.number + 1);
                    *self = Self { id, number, prompt, answer: Said::default() };
                }
            }
            "assistant" => {
                let text = message.content.said();
                if !text.is_empty() {
                    // One message has a line for each of its blocks.
                    let before = std::mem::take(&mut self.answer.text);
                    let text = if before.is_empty() { text } else { format!("{before}\n\n{text}") };
                    self.answer = Said { text, at: line.timestamp };
                }
            }
            _ => {}
        }
    }

    /// The turn's memories. The key of each is made of the prompt's id and the text, so that a repeat is no second memory.
    pub(super) fn memories(&self, event: &Event, namespace: &str, robot: &str) -> Vec<Memory> {
        if self.prompt.text.is_empty() {
            return Vec::new();
        }
        let said = [("user", &self.prompt, 0), ("assistant", &self.answer, 1)];
        let said = said.into_iter().filter(|(_, said, _)| !said.text.is_empty());
        said.map(|(speaker, said, place)| {
            let text = said.text.replace('\0', "");
            let text = &text[..text.floor_char_boundary(MAX_CONTENT_BYTES)];
            Memory {
                namespace: Some(namespace.into()),
                robot: Some(robot.into()),
                key: Some(self.key(event, speaker, text)),
                source: Some(SOURCE.into()),
                speaker: Some(speaker.into()),
                session: event.session_id.clone(),
                seq: Some(self.number.saturating_mul(2).saturating_add(place)),
                metadata: event.cwd.as_deref().map(of_directory).unwrap_or_default(),
                at: said.at,
                ..Memory::new(text)
            }
        })
        .collect()
    }

    fn key(&self, event: &Event, speaker: &str, text: &str) -> String {
        let place =
            if self.id.is_empty() { event.session_id.as_deref().unwrap_or_default() } else { &self.id };
        let mut digest = Sha256::new();
        for part in [place, speaker, text] {
            digest.update(part);
            digest.update([0]);
        }
        format!("{SOURCE}:{}", hex::encode(&digest.finalize()[..16]))
    }
}

#[cfg(test)]
mod tests;
