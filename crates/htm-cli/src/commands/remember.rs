//! `htm remember`.

use std::io::Read;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use htm_core::{Htm, MAX_CONTENT_BYTES, Memory, NodeId, Outcome, Stage, TagRules, TimeSettings};
use htm_runtime::Session;
use htm_runtime::config::Config;

use crate::args::{RememberArgs, parse_tags};
use crate::codes;
use crate::commands::edit::parse_object;
use crate::commands::mind::TakenIn;
use crate::error::CliError;
use crate::instant::{expiry, instant};
use crate::output::Output;

pub(crate) async fn run(config: &Config, args: RememberArgs, output: &Output) -> Result<ExitCode, CliError> {
    let wait = args.wait;
    let memory = memory(args, &config.time.settings(), &config.tag.rules())?;
    // Invalid input is rejected before a server is started for it.
    memory.validate()?;
    let session = Session::open(config).await?;
    let htm = session.htm();
    let result = write(&htm, config, memory).await;
    let mut waited = Ok(());
    if let (Ok(written), Some(seconds)) = (&result, wait) {
        for stage in Stage::ALL {
            if waited.is_ok() {
                waited = htm.wait_for(written.node, stage, Duration::from_secs(seconds)).await.map(drop);
            }
        }
    }
    session.close().await;
    let written = result?;
    output.value(&written, || written.describe());
    waited?;
    Ok(ExitCode::SUCCESS)
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
async fn write(htm: &Htm, config: &Config, memory: Memory) -> htm_core::Result<Written> {
    // Loads the vocabulary, which a program does once, so that the shown time is that of the write.
    htm.settings().token_encoding.count("");
    let configured = Some(&config.memory.robot).filter(|robot| !robot.is_empty());
    let robot = memory.robot.as_ref().or(configured).cloned();
    let namespace = memory.namespace.clone().unwrap_or_else(|| config.memory.namespace.clone());
    let started = Instant::now();
    let receipt = htm.remember(memory).await?;
    let ms = started.elapsed().as_secs_f64() * 1_000.0;
    // After the write, so that a rejected memory registers no robot.
    let working_memory = match robot {
        None => None,
        Some(name) => {
            let robot = htm.robot_in(&namespace, &name).await?;
            let intake = robot.add(&[receipt.node]).await?;
            Some(TakenIn::of(&robot, false, [receipt.node], intake))
        }
    };
    Ok(Written { node: receipt.node, outcome: receipt.outcome, ms, working_memory })
}

fn memory(args: RememberArgs, time: &TimeSettings, rules: &TagRules) -> Result<Memory, CliError> {
    let content = text_or_input(args.text)?;
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
        tags: parse_tags(rules, &args.tags)?,
        metadata: args.metadata.as_deref().map(parse_object).transpose()?.unwrap_or_default(),
        at: args.at.map(|at| instant(&at, time)).transpose()?,
        expires: args.expires.map(|expires| expiry(&expires, time)).transpose()?,
        ..Memory::new(content)
    })
}

/// The text, or the standard input if it is `-`.
pub(crate) fn text_or_input(text: String) -> Result<String, CliError> {
    if text != "-" {
        return Ok(text);
    }
    // One byte more than a node may hold is enough to reject the text.
    let mut bytes = Vec::new();
    let cannot = || CliError::io("standard input cannot be read as UTF-8");
    std::io::stdin().take(MAX_CONTENT_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(cannot())?;
    if bytes.len() > MAX_CONTENT_BYTES {
        let message =
            format!("the text has more than {MAX_CONTENT_BYTES} bytes, the most that a node may hold");
        return Err(CliError::new(codes::CONTENT_TOO_LARGE, message));
    }
    String::from_utf8(bytes).map_err(|error| cannot()(std::io::Error::other(error)))
}
