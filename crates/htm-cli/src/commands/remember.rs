//! `htm remember`.

use std::io::Read;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use htm_core::{Memory, Outcome, Stage};
use htm_runtime::Session;
use htm_runtime::config::Config;

use crate::args::{RememberArgs, parse_tags};
use crate::error::CliError;
use crate::output::Output;

pub(crate) async fn run(config: &Config, args: RememberArgs, output: &Output) -> Result<ExitCode, CliError> {
    let wait = args.wait;
    let memory = memory(args)?;
    // Bad input is refused before a server is started for it.
    memory.validate()?;
    let session = Session::open(config).await?;
    let htm = session.htm();
    // Loads the vocabulary, which a program does once: the time shown is that of the write.
    htm.settings().token_encoding.count("");
    let started = Instant::now();
    let result = htm.remember(memory).await;
    let ms = started.elapsed().as_secs_f64() * 1_000.0;
    let mut waited = Ok(());
    if let (Ok(receipt), Some(seconds)) = (&result, wait) {
        for stage in Stage::ALL {
            if waited.is_ok() {
                waited = htm.wait_for(receipt.node, stage, Duration::from_secs(seconds)).await.map(drop);
            }
        }
    }
    htm.close().await;
    session.close().await;
    let receipt = result?;
    let answer = serde_json::json!({ "node": receipt.node, "outcome": receipt.outcome, "ms": ms });
    output.value(&answer, || match receipt.outcome {
        Outcome::Written => format!("remembered as node {} in {ms:.1} ms", receipt.node),
        Outcome::Existing => format!("node {} has this key and this content already", receipt.node),
        Outcome::Repeated => format!("node {} says so already; counted as remembered again", receipt.node),
    });
    waited?;
    Ok(ExitCode::SUCCESS)
}

fn memory(args: RememberArgs) -> Result<Memory, CliError> {
    let content = text_or_input(args.text)?;
    Ok(Memory {
        namespace: args.namespace,
        robot: args.robot,
        key: args.key,
        importance: args.importance,
        source: args.source,
        tags: parse_tags(&args.tags)?,
        at: args.at,
        ..Memory::new(content)
    })
}

/// The text, or what standard input has when it is `-`.
pub(crate) fn text_or_input(text: String) -> Result<String, CliError> {
    if text != "-" {
        return Ok(text);
    }
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(CliError::io("standard input cannot be read as UTF-8"))?;
    Ok(text)
}
