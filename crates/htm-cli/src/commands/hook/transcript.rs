//! The last turns of a transcript, each a prompt and its answer, and its last compaction.
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
    INTERRUPTED,
];

/// The beginning of what stands for an interruption of a turn. No hook runs at the end of such a turn.
const INTERRUPTED: &str = "[Request interrupted";

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

    fn has_interruption(&self) -> bool {
        match self {
            Self::Text(text) => text.starts_with(INTERRUPTED),
            Self::Blocks(blocks) => blocks.iter().any(|block| block.text.starts_with(INTERRUPTED)),
        }
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
    is_interrupted: bool,
}

/// The length of the event's transcript. The session goes on meanwhile, and writes the next prompt there. None if the event
/// has no answer: then it is yet to be written.
pub(super) fn length(event: &Event) -> Option<u64> {
    event.last_assistant_message.as_deref().filter(|answer| !answer.trim().is_empty())?;
    Some(std::fs::metadata(event.transcript_path.as_ref()?).ok()?.len())
}

/// The last turn of the event's transcript, or of its first bytes, after the interrupted turns right before it. The answer is
/// that of the event, if it has one: the file may lag behind.
pub(super) async fn last_turns(event: &Event, until: Option<u64>) -> Result<Vec<Turn>, CliError> {
    let path = event.transcript_path.clone().unwrap_or_default();
    let read = tokio::task::spawn_blocking(move || {
        let file = std::fs::File::open(path)?;
        turns_of(BufReader::new(file.take(until.unwrap_or(u64::MAX))))
    });
    let failed = || CliError::io("the transcript cannot be read");
    let mut turns = read.await.map_err(std::io::Error::other).map_err(failed())?.map_err(failed())?;
    let answer = event.last_assistant_message.as_deref().filter(|it| !it.trim().is_empty());
    if let Some((turn, answer)) = turns.last_mut().zip(answer) {
        turn.answer = Said { text: answer.trim().into(), at: None };
    }
    Ok(turns)
}

/// The last turn of these lines, after the interrupted ones right before it.
fn turns_of(mut lines: impl BufRead) -> std::io::Result<Vec<Turn>> {
    let (mut turns, mut bytes) = (Vec::new(), Vec::new());
    let mut turn = Turn { number: -1, ..Turn::default() };
    while lines.read_until(b'\n', &mut bytes)? > 0 {
        let line: Line = serde_json::from_slice(&bytes).unwrap_or_default();
        bytes.clear();
        match turn.read(line) {
            Some(ended) if ended.is_interrupted => turns.push(ended),
            // It was stored at its end.
            Some(_) => turns.clear(),
            None => {}
        }
    }
    turns.push(turn);
    Ok(turns)
}

/// The time of the last compaction of the event's transcript: what was said before is not in the context any more.
pub(super) async fn compacted_at(event: &Event) -> Option<DateTime<Utc>> {
    let path = event.transcript_path.clone()?;
    let read = move || last_compaction(BufReader::new(std::fs::File::open(path)?));
    tokio::task::spawn_blocking(read).await.ok()?.ok()?
}

fn last_compaction(mut lines: impl BufRead) -> std::io::Result<Option<DateTime<Utc>>> {
    let (mut at, mut bytes) = (None, Vec::new());
    while lines.read_until(b'\n', &mut bytes)? > 0 {
        // Most lines are not parsed: a prompt waits for it.
        if std::str::from_utf8(&bytes).is_ok_and(|line| line.contains("\"isCompactSummary\"")) {
            let line: Line = serde_json::from_slice(&bytes).unwrap_or_default();
            at = line.timestamp.filter(|_| line.is_compact_summary && !line.is_sidechain).or(at);
        }
        bytes.clear();
    }
    Ok(at)
}

impl Turn {
    /// Reads a line. Returns the turn before, if the line begins another.
    fn read(&mut self, line: Line) -> Option<Self> {
        let message = line.message?;
        if line.is_sidechain || line.is_meta || line.is_compact_summary {
            return None;
        }
        self.is_interrupted |= line.r#type == "user" && message.content.has_interruption();
        match line.r#type.as_str() {
            "user" if message.content.has_tool_result() => self.answer = Said::default(),
            "user" => {
                let text = message.content.said();
                if !text.is_empty() {
                    let prompt = Said { text, at: line.timestamp };
                    let (id, number) = (line.uuid.unwrap_or_default(), self.number + 1);
                    return Some(std::mem::replace(self, Self { id, number, prompt, ..Self::default() }));
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
        None
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
