//! `htm remember`.

use std::io::Read;
use std::time::{Duration, Instant};

use chrono::Utc;
use htm_core::error::codes::WAIT_TIMEOUT;
use htm_core::{
    Error, Htm, MAX_CONTENT_BYTES, Memory, NodeId, Operation, Outcome, Receipt, Stage, read_expiry,
    read_instant,
};
use htm_runtime::Runtime;
use htm_runtime::config::Config;
use serde_json::{Value, json};

use crate::args::{RememberArgs, parse_tags};
use crate::codes;
use crate::commands::edit::parse_object;
use crate::commands::mind::TakenIn;
use crate::error::CliError;
use crate::output::Output;

/// The time for which a server's write is kept, in case its answer is lost.
const KEEP: Duration = Duration::from_secs(600);

/// Checks the arguments.
pub(crate) fn check(config: &Config, args: &RememberArgs) -> Result<(), CliError> {
    Ok(memory(args, config)?.validate()?)
}

/// Remembers on an open runtime; with an operation, once. `is_told`: the receipt was shown before.
pub(crate) async fn on(
    runtime: &Runtime,
    args: RememberArgs,
    operation: Option<&str>,
    is_told: bool,
    output: &Output,
) -> Result<(), CliError> {
    let (htm, config) = (runtime.htm(), runtime.config());
    let memory = memory(&args, config)?;
    let operation = match operation {
        Some(id) => {
            Some(Operation::new("shell", id, &serde_json::to_vec(&args).unwrap_or_default())?.keep(KEEP))
        }
        None => None,
    };
    let written = write(&htm, config, memory, operation.as_ref()).await?;
    let node = written.node;
    let left = json!({ "stopped": true, "node": node });
    output
        .leaves(left, format!("the memory is stored as node {node}; see its progress: `htm status {node}`"));
    // People read the number at once, programs one answer at the end.
    let tell = || output.value(&written, || written.describe());
    if !output.is_json() && !is_told {
        tell();
    }
    let mut waited = Ok(());
    if let Some(seconds) = args.wait {
        for stage in Stage::ALL {
            if waited.is_ok() {
                waited = htm.wait_for(written.node, stage, Duration::from_secs(seconds)).await.map(drop);
            }
        }
    }
    if output.is_json() {
        tell();
    }
    waited.map_err(|error| stored(written.node, error))
}

/// The error of what comes after the write. To remember the memory again could store a second one.
fn stored(node: NodeId, error: Error) -> CliError {
    let is_late = error.is(WAIT_TIMEOUT);
    let error = CliError::from(error);
    let what = if is_late { "is stored and is being processed" } else { "is stored" };
    let told = CliError { message: format!("the memory {what}: {}", error.message), ..error };
    match is_late {
        false => told,
        true => told.with_hint(format!(
            "do not remember it again; see its progress: `htm status {node}`, and whether a worker runs: `htm doctor`"
        )),
    }
}

/// The result of `htm remember`.
#[derive(serde::Serialize)]
struct Written {
    node: NodeId,
    outcome: Outcome,
    /// The time of the write in milliseconds.
    ms: f64,
    /// None if no robot is named.
    working_memory: Option<TakenIn>,
}

impl Written {
    fn describe(&self) -> String {
        let Self { node, ms, .. } = self;
        let said = match self.outcome {
            Outcome::Written => format!("remembered as node {node} in {ms:.1} ms"),
            Outcome::Existing => format!("node {node} already has this key and content"),
            Outcome::Repeated => format!("node {node} already has this text; counted as remembered again"),
        };
        let taken = self.working_memory.as_ref().map(TakenIn::describe).unwrap_or_default();
        format!("{said}{taken}")
    }
}

/// Remembers a memory. If the command line or the configuration names a robot, the memory enters its working memory.
async fn write(
    htm: &Htm,
    config: &Config,
    memory: Memory,
    operation: Option<&Operation>,
) -> Result<Written, CliError> {
    // Loads the vocabulary, which a program does once, so that the shown time is that of the write.
    htm.settings().token_encoding.count("");
    let configured = Some(&config.memory.robot).filter(|robot| !robot.is_empty());
    let robot = memory.robot.as_ref().or(configured).cloned();
    let namespace = memory.namespace.clone().unwrap_or_else(|| config.memory.namespace.clone());
    let started = Instant::now();
    let receipt = match operation {
        None => htm.remember(memory).await?,
        Some(operation) => remember_once(htm, operation, memory).await?,
    };
    let ms = started.elapsed().as_micros() as f64 / 1_000.0;
    // After the write, so that a rejected memory registers no robot.
    let working_memory = match robot {
        None => None,
        Some(name) => {
            let taken = take_in(htm, &namespace, &name, receipt.node).await;
            Some(taken.map_err(|error| stored(receipt.node, error))?)
        }
    };
    Ok(Written { node: receipt.node, outcome: receipt.outcome, ms, working_memory })
}

/// Puts a memory into a robot's working memory.
async fn take_in(htm: &Htm, namespace: &str, robot: &str, node: NodeId) -> htm_core::Result<TakenIn> {
    let robot = htm.robot_in(namespace, robot).await?;
    let intake = robot.add(&[node]).await?;
    let taken = TakenIn::of(&robot, false, [node], intake);
    robot.close().await?;
    Ok(taken)
}

/// Remembers a memory, or returns the receipt of the operation's first attempt.
async fn remember_once(htm: &Htm, operation: &Operation, memory: Memory) -> htm_core::Result<Receipt> {
    let mut refused = None;
    let describe = |results: Vec<htm_core::Result<Receipt>>| match results.into_iter().next() {
        Some(Ok(receipt)) => serde_json::json!(receipt),
        Some(Err(error)) => {
            refused = Some(error);
            Value::Null
        }
        None => Value::Null,
    };
    let answer = htm.remember_once(operation, &[memory], describe).await?;
    match refused {
        Some(error) => Err(error),
        None => serde_json::from_value(answer).map_err(|error| {
            Error::new(codes::IO_ERROR, "the receipt of the first attempt cannot be read").with_source(error)
        }),
    }
}

fn memory(args: &RememberArgs, config: &Config) -> Result<Memory, CliError> {
    let (now, time) = (Utc::now(), config.time.settings());
    let args = args.clone();
    Ok(Memory {
        namespace: args.namespace,
        robot: args.robot,
        key: args.key,
        importance: args.importance,
        source: args.source,
        kind: args.kind,
        speaker: args.speaker,
        session: args.session,
        seq: args.seq,
        tags: parse_tags(&config.tag.rules(), &args.tags)?,
        metadata: args.metadata.as_deref().map(parse_object).transpose()?.unwrap_or_default(),
        at: args.at.map(|at| read_instant(&at, now, &time)).transpose()?,
        expires: args.expires.map(|expires| read_expiry(&expires, now, &time)).transpose()?,
        ..Memory::new(args.text)
    })
}

/// The text, or the standard input if it is `-`, without its last line break: programs end their output with one, and the
/// text would be another one than the same words as an argument.
pub(crate) fn text_or_input(text: String) -> Result<String, CliError> {
    if text != "-" {
        return Ok(text);
    }
    // One byte more than a node may hold is enough to reject the text. A line break has up to two.
    let mut bytes = Vec::new();
    let cannot = || CliError::io("standard input cannot be read");
    std::io::stdin().take(MAX_CONTENT_BYTES as u64 + 3).read_to_end(&mut bytes).map_err(cannot())?;
    bytes.truncate(without_line_break(&bytes).len());
    if bytes.len() > MAX_CONTENT_BYTES {
        let message =
            format!("the text has more than {MAX_CONTENT_BYTES} bytes, the most that a node may hold");
        return Err(CliError::new(codes::CONTENT_TOO_LARGE, message));
    }
    String::from_utf8(bytes).map_err(|error| {
        let is_no_text = CliError::io("standard input is not UTF-8")(std::io::Error::other(error));
        is_no_text.with_hint("give text in UTF-8, as `iconv -t UTF-8` makes it")
    })
}

/// The bytes without one final line break.
fn without_line_break(bytes: &[u8]) -> &[u8] {
    let broken = bytes.strip_suffix(b"\n");
    broken.map_or(bytes, |line| line.strip_suffix(b"\r").unwrap_or(line))
}

#[cfg(test)]
mod tests {
    use super::without_line_break;

    #[test]
    fn one_final_line_break_is_left_out() {
        for (text, kept) in [
            ("a\n", "a"),
            ("a\r\n", "a"),
            ("a\n\n", "a\n"),
            ("a\r\n\r\n", "a\r\n"),
            ("a\r", "a\r"),
            ("a \n b ", "a \n b "),
            ("\n", ""),
            ("", ""),
        ] {
            assert_eq!(without_line_break(text.as_bytes()), kept.as_bytes(), "{text:?}");
        }
    }
}
