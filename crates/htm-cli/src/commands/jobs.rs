//! `htm jobs …`.

mod audit;
mod control;
mod list;
mod queues;

use std::process::ExitCode;

use htm_core::store::job_list::JobFilter;
use htm_runtime::Session;
use htm_runtime::config::Config;

use crate::args::{FilterArgs, JobsCommand};
use crate::error::CliError;
use crate::output::Output;

pub(crate) async fn run(
    config: &Config,
    command: JobsCommand,
    output: &Output,
) -> Result<ExitCode, CliError> {
    let session = Session::open(config).await?;
    let result = dispatch(&session, command, output).await;
    session.close().await;
    result
}

async fn dispatch(session: &Session, command: JobsCommand, output: &Output) -> Result<ExitCode, CliError> {
    let pool = session.pool();
    match command {
        JobsCommand::Stats => queues::stats(session, output).await?,
        JobsCommand::List(args) => list::list(pool, args, output).await?,
        JobsCommand::Show { ids } => list::show(pool, &ids, output).await?,
        JobsCommand::Retry(args) => control::retry(pool, args, output).await?,
        JobsCommand::Cancel(args) => control::cancel(pool, args, output).await?,
        JobsCommand::Pause { queue, reason } => queues::pause(pool, &queue, &reason, output).await?,
        JobsCommand::Resume { queue } => queues::resume(pool, &queue, output).await?,
        JobsCommand::Prune(args) => queues::prune(session, args, output).await?,
        JobsCommand::Audit { repair } => return audit::run(session, repair, output).await,
    }
    Ok(ExitCode::SUCCESS)
}

impl From<FilterArgs> for JobFilter {
    fn from(args: FilterArgs) -> Self {
        Self {
            queue: args.queue,
            state: args.state,
            namespace: args.namespace,
            node: args.node,
            error: args.error,
        }
    }
}
