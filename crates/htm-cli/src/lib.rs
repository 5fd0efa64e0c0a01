//! The program `htm`, as a library: the memory from the command line. Errors go to standard error with a code and a
//! hint. The exit code tells who has to act: 2 the caller, 1 the operator, 70 the developers, 75 nobody, because the
//! error may pass.

mod again;
mod args;
mod codes;
mod commands;
mod destination;
mod drawing;
mod duration;
mod error;
mod instant;
mod lines;
mod output;
mod quantity;
mod shell;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use htm_documents::PdfReader;
use htm_runtime::config::{Config, Level, Source};
use htm_runtime::telemetry::{self, Role};
use htm_worker::arguments;

use crate::args::{Arguments, Command, ConfigCommand};
use crate::error::CliError;
use crate::output::Output;

/// Runs the command of this process's arguments.
pub fn main() -> ExitCode {
    // Before the runtime, whose threads would take of the reader's memory.
    if std::env::args_os().nth(1).is_some_and(|argument| argument == PdfReader::ARGUMENT) {
        return PdfReader::serve();
    }
    command()
}

/// The time for threads that cannot be cancelled, such as one that reads a document, when the command has ended.
const REST: Duration = Duration::from_secs(2);

fn command() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.expect("the system gives the runtime its threads");
    let code = runtime.block_on(answer());
    runtime.shutdown_timeout(REST);
    code
}

async fn answer() -> ExitCode {
    // Claude Code erases a prompt if a hook exits with 2. Standard error of a hook that succeeds is not shown.
    let arguments = match arguments::parse::<Arguments>() {
        Ok(arguments) => arguments,
        Err(error) => {
            return match output::usage(error) {
                ExitCode::SUCCESS => ExitCode::SUCCESS,
                _ if commands::hook::is_named() => ExitCode::FAILURE,
                code => code,
            };
        }
    };
    let output = Output::new(arguments.json);
    let is_hook = matches!(arguments.command, Command::Hook(_));
    let work = Box::pin(output.telling(run(arguments, &output)));
    // Claude Code reads what a hook says.
    let ended = if is_hook { work.await } else { output.until_signal(work).await };
    match ended.and_then(|code| output.finish().map(|()| code)) {
        Ok(code) => code,
        Err(error) => {
            output.error(&error);
            ExitCode::from(if is_hook { 0 } else { error.fault.exit_code() })
        }
    }
}

async fn run(arguments: Arguments, output: &Output) -> Result<ExitCode, CliError> {
    // An untrusted file cannot be loaded.
    if let Command::Config(ConfigCommand::Trust { revoke }) = arguments.command {
        return commands::config::trust(revoke, output);
    }
    let overrides: BTreeMap<String, String> = arguments.overrides.into_iter().collect();
    // These commands work without a valid configuration too.
    match &arguments.command {
        Command::Config(ConfigCommand::Explain { name }) => {
            return commands::config::explain(name, &overrides, output);
        }
        Command::Config(ConfigCommand::Default) => return Ok(commands::config::default(output)),
        Command::Completions(args) => return Ok(commands::packaging::completions(args, output)),
        Command::Man(args) => return commands::packaging::man(args, output),
        Command::Capacity(args) => return Ok(commands::capacity::run(args, output)),
        _ => {}
    }
    let loaded = Config::load(&overrides)?;
    // A command's output is its own text. A library's log matters only if something is wrong.
    let quiet = !matches!(arguments.command, Command::Up(_) | Command::Serve(_));
    let nobody_said = loaded.sources.get("log.level").is_none_or(|source| *source == Source::Default);
    let level = if quiet && nobody_said { Level::Warn } else { loaded.config.log.level };
    let config = &loaded.config;
    // A short command has no spans.
    let serves = matches!(arguments.command, Command::Up(_) | Command::Serve(_) | Command::Mcp(_));
    let collector = config.log.collector("htm").filter(|_| serves);
    let _traces = telemetry::init(level, config.log.format, Role::Command, collector)?;
    match arguments.command {
        Command::Remember(args) => commands::asked::remember(&loaded, args, output).await,
        Command::Recall(args) => commands::asked::recall(&loaded, args, output).await,
        Command::Context(args) => commands::asked::context(&loaded, args, output).await,
        Command::Memory(command) => commands::context::memory(config, command, output).await,
        Command::Timeline(args) => commands::timeline::run(config, args, output).await,
        Command::Neighbours(args) => commands::timeline::neighbours(config, args, output).await,
        Command::Get(args) => commands::node::get(config, args, output).await,
        Command::Relate(args) => commands::relations::relate(config, args, output).await,
        Command::Unrelate(args) => commands::relations::unrelate(config, args, output).await,
        Command::Related(args) => commands::relations::related(config, args, output).await,
        Command::Feedback(args) => commands::learning::feedback(config, args, output).await,
        Command::Learning(command) => commands::learning::learning(config, command, output).await,
        Command::Ranking(command) => commands::learning::ranking(config, command, output).await,
        Command::Edit(args) => commands::edit::run(config, args, output).await,
        Command::Forget(args) => commands::forget::forget(config, args, output).await,
        Command::Forgotten(args) => commands::forget::forgotten(config, args, output).await,
        Command::Restore(args) => commands::forget::restore(config, args, output).await,
        Command::Purge(args) => commands::forget::purge(config, args, output).await,
        Command::Erase(args) => commands::erase::run(config, args, output).await,
        Command::Sweep => commands::namespaces::sweep(config, output).await,
        Command::Namespaces(command) => commands::namespaces::run(config, command, output).await,
        Command::Status(args) => commands::node::status(config, args, output).await,
        Command::Robots(command) => commands::robots::run(config, command, output).await,
        Command::Groups(command) => commands::groups::run(config, command, output).await,
        Command::Tags(command) => commands::tags::run(config, command, output).await,
        Command::Stats(args) => commands::stats::run(config, args, output).await,
        Command::Export(args) => commands::export::run(config, args, output).await,
        Command::Import(args) => commands::import::run(config, args, output).await,
        Command::Load(args) => commands::documents::load(config, args, output).await,
        Command::Unload(args) => commands::documents::unload(config, args, output).await,
        Command::Documents(args) => commands::documents::list(config, args, output).await,
        Command::Models(command) => commands::models::run(config, command, output).await,
        Command::Backfill(args) => commands::backfill::run(config, args, output).await,
        Command::Keys(command) => commands::keys::run(config, command, output).await,
        Command::Audit(args) => commands::keys::audit(config, args, output).await,
        Command::Serve(args) => commands::serve::run(&loaded, args, output).await,
        Command::Up(args) => commands::up::run(&loaded, args, output).await,
        Command::Mcp(args) => commands::mcp::run(&loaded, args, output).await,
        Command::Demo(args) => commands::demo::run(config, &overrides, args, output).await,
        Command::Jobs(command) => commands::jobs::run(config, command, output).await,
        Command::Workers => commands::workers::run(config, output).await,
        Command::Providers(args) => commands::providers::run(config, args, output).await,
        Command::Db(command) => commands::db::run(config, command, output).await,
        Command::Config(_) => commands::config::show(&loaded, output),
        Command::Hook(args) => commands::asked::hook(&loaded, args).await,
        Command::Doctor => commands::doctor::run(config, output).await,
        Command::Completions(_) | Command::Man(_) | Command::Capacity(_) => {
            unreachable!("they are answered without a configuration")
        }
    }
}
