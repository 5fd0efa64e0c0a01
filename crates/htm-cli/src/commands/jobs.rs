//! `htm jobs …`.

mod audit;
mod control;
mod list;
mod queues;

use std::process::ExitCode;

use htm_core::jobs::JobFilter;
use htm_runtime::Runtime;
use htm_runtime::config::Config;

use super::runtime::with_runtime;
use crate::args::{JobFilterArgs, JobsCommand};
use crate::codes;
use crate::error::CliError;
use crate::output::Output;

pub(crate) async fn run(
    config: &Config,
    command: JobsCommand,
    output: &Output,
) -> Result<ExitCode, CliError> {
    require_selection(&command)?;
    with_runtime(config, async |runtime| dispatch(runtime, command, output).await).await
}

/// Requires jobs to be named, before the database is opened.
fn require_selection(command: &JobsCommand) -> Result<(), CliError> {
    let filters = "--queue, --state, --namespace, --node or --error";
    let hint = match command {
        JobsCommand::Retry(it) if it.ids.is_empty() && !it.all_dead && it.filter.is_empty() => {
            format!(
                "name jobs by their ids, or by {filters}; or retry every dead letter: `htm jobs retry --all-dead`"
            )
        }
        JobsCommand::Cancel(it) if it.ids.is_empty() && it.filter.is_empty() => {
            format!("name jobs by their ids, as `htm jobs list` has them, or by {filters}")
        }
        _ => return Ok(()),
    };
    Err(CliError::new(codes::USAGE, "no job is named").with_hint(hint))
}

async fn dispatch(runtime: &Runtime, command: JobsCommand, output: &Output) -> Result<ExitCode, CliError> {
    let htm = runtime.htm();
    let jobs = htm.jobs()?;
    let zone = &htm.settings().time.zone;
    match command {
        JobsCommand::Stats => queues::stats(jobs, zone, output).await?,
        JobsCommand::List(args) => list::list(&htm, args, output).await?,
        JobsCommand::Show { ids } => list::show(jobs, &ids, zone, output).await?,
        JobsCommand::Retry(args) => control::retry(jobs, args, output).await?,
        JobsCommand::Cancel(args) => control::cancel(jobs, args, output).await?,
        JobsCommand::Pause { queue, reason } => queues::pause(jobs, &queue, &reason, output).await?,
        JobsCommand::Resume { queue } => queues::resume(jobs, &queue, output).await?,
        JobsCommand::Prune(args) => queues::prune(runtime, jobs, args, output).await?,
        JobsCommand::Audit { repair } => return audit::run(jobs, repair, output).await,
    }
    Ok(ExitCode::SUCCESS)
}

impl From<JobFilterArgs> for JobFilter {
    fn from(args: JobFilterArgs) -> Self {
        Self {
            queue: args.queue,
            state: args.state,
            namespace: args.namespace,
            node: args.node,
            error: args.error,
        }
    }
}
