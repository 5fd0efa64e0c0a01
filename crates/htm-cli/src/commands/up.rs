//! `htm up`: the private PostgreSQL and the workers in one process.

use std::process::ExitCode;

use htm_runtime::config::Config;
use htm_runtime::{Session, shutdown};
use htm_worker::service::ServiceArgs;

use super::in_process::Workers;
use crate::error::CliError;
use crate::output::Output;

pub(crate) async fn run(config: &Config, args: ServiceArgs, output: &Output) -> Result<ExitCode, CliError> {
    let stop = shutdown::on_signal().map_err(CliError::io("signals cannot be handled"))?;
    let session = Session::open(config).await?;
    let result = async {
        let workers = Workers::start(&session).await?;
        // A configured URL is not shown, because it may contain a password.
        let place = if config.database.url.is_empty() { session.url() } else { "database.url".to_owned() };
        output.say(format!("HTM is up at {place}\nCtrl-C stops it"));
        workers.run(&session, &args, &stop).await
    }
    .await;
    session.close().await;
    result?;
    Ok(ExitCode::SUCCESS)
}
