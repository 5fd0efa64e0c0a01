//! The commands that a running server carries out if there is one, and otherwise this process.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use htm_runtime::Runtime;
use htm_runtime::config::{Config, Loaded};
use htm_runtime::telemetry::to_stderr;

use super::runtime::{with_connections, with_runtime};
use super::{context, hook, recall, remember};
use crate::args::{ContextArgs, HookArgs, RecallArgs, RememberArgs, WayArgs};
use crate::error::CliError;
use crate::output::{Output, Said};
use crate::shell::{self, Answered, Asked, Socket};

/// Whether another process has begun a command before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begun {
    No,
    Perhaps,
    /// It has, and its output so far was shown.
    Told,
}

pub(crate) async fn remember(
    loaded: &Loaded,
    mut args: RememberArgs,
    output: &Output,
) -> Result<ExitCode, CliError> {
    args.text = remember::text_or_input(args.text)?;
    let (way, operation) = (args.way, ulid::Ulid::new().to_string());
    run(loaded, way, Asked::Remember { args: Box::new(args), operation }, output).await
}

pub(crate) async fn recall(
    loaded: &Loaded,
    mut args: RecallArgs,
    output: &Output,
) -> Result<ExitCode, CliError> {
    // A file of queries is a measurement, of this process.
    args.way.direct |= args.batch.is_some();
    run(loaded, args.way, Asked::Recall(Box::new(args)), output).await
}

pub(crate) async fn context(
    loaded: &Loaded,
    args: ContextArgs,
    output: &Output,
) -> Result<ExitCode, CliError> {
    run(loaded, args.way, Asked::Context(Box::new(args)), output).await
}

pub(crate) async fn hook(loaded: &Loaded, args: HookArgs) -> ! {
    let ask = async |hook, input, output: &Output| {
        run(loaded, WayArgs::default(), Asked::Hook(hook, input), output).await
    };
    hook::run(&loaded.config, args, ask).await
}

async fn run(loaded: &Loaded, way: WayArgs, asked: Asked, output: &Output) -> Result<ExitCode, CliError> {
    let place = if way.direct { None } else { Socket::of(loaded) };
    if let (Some(_), Asked::Remember { .. }) = (&place, &asked) {
        let left = "the memory may be stored: look (`htm timeline`) before you remember it again";
        output.leaves(serde_json::json!({ "stopped": true, "stored": "unknown" }), left);
    }
    let told = AtomicBool::new(false);
    let show = |said: &Said| {
        told.fetch_or(said.has_output(), Ordering::Relaxed);
        output.repeat(said);
    };
    let answered = match &place {
        Some(place) => shell::ask(place, &asked, output.form(), show).await,
        None => Answered::ByNobody,
    };
    if way.verbose {
        to_stderr(&format!("{answered}\n"));
    }
    let begun = match answered {
        Answered::ByServer(exit_code) => return Ok(ExitCode::from(exit_code)),
        Answered::ByNobody => Begun::No,
        Answered::Lost if told.into_inner() => Begun::Told,
        Answered::Lost => Begun::Perhaps,
    };
    here(&loaded.config, asked, begun, output).await.map(|()| ExitCode::SUCCESS)
}

/// Carries out a command in this process.
async fn here(config: &Config, asked: Asked, begun: Begun, output: &Output) -> Result<(), CliError> {
    // Invalid input is rejected before a server is started for it.
    match &asked {
        Asked::Remember { args, .. } => remember::check(config, args)?,
        Asked::Recall(args) => recall::check(config, args)?,
        Asked::Context(args) => context::check(config, args)?,
        Asked::Hook(hook, input) => return hook::here(config, hook, input, output).await,
    }
    let searches_at_once =
        matches!(&asked, Asked::Recall(args) if args.refine.expand || args.models.len() > 1);
    let work = async |runtime: &Runtime| on(runtime, asked, begun, output).await;
    match searches_at_once {
        true => with_connections(config, work).await,
        false => with_runtime(config, work).await,
    }
}

/// Carries out a command on an open runtime. One that may have been begun is not done twice.
async fn on(runtime: &Runtime, asked: Asked, begun: Begun, output: &Output) -> Result<(), CliError> {
    match asked {
        Asked::Remember { args, operation } => {
            let operation = (begun != Begun::No).then_some(operation.as_str());
            remember::on(runtime, *args, operation, begun == Begun::Told, output).await
        }
        Asked::Recall(args) => recall::on(runtime, *args, output).await,
        Asked::Context(args) => context::on(runtime, *args, output).await,
        Asked::Hook(hook, input) => hook::on(runtime, &hook, &input, output).await,
    }
}

/// Carries out a command in a server, and returns the exit code. The client does it itself if the answer is lost.
pub(crate) async fn in_server(runtime: &Runtime, asked: Asked, output: &Output) -> u8 {
    match on(runtime, asked, Begun::Perhaps, output).await.and_then(|()| output.finish()) {
        Ok(()) => 0,
        Err(error) => {
            output.error(&error);
            error.fault.exit_code()
        }
    }
}
