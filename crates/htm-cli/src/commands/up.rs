//! `htm up`: the private PostgreSQL and both workers in one process.

use std::process::ExitCode;

use htm_runtime::config::Config;
use htm_runtime::{Session, shutdown};
use htm_worker::service::{ServiceArgs, work};

use crate::error::CliError;
use crate::output::Output;

pub(crate) async fn run(config: &Config, args: ServiceArgs, output: &Output) -> Result<ExitCode, CliError> {
    let stop = shutdown::on_signal().map_err(CliError::io("signals cannot be waited for"))?;
    let session = Session::open(config).await?;
    let result = async {
        let embed = embed_worker::handler(&session).await?;
        let tag = tag_worker::handler(&session).await?;
        // A configured URL may have a password in it, and who configured it knows it.
        let place = if config.database.url.is_empty() { session.url() } else { "database.url".to_owned() };
        output.say(format!("HTM is up at {place}\nCtrl-C stops it"));
        // When one worker ends by an error, the other is stopped too; draining, each ends by itself.
        let end_of = async |result: Result<_, htm_runtime::RuntimeError>| {
            if result.is_err() {
                stop.cancel();
            }
            result
        };
        let (embedded, tagged) = tokio::join!(
            async {
                end_of(work("embed-worker", &session, embed, &args, None, stop.child_token()).await).await
            },
            async { end_of(work("tag-worker", &session, tag, &args, None, stop.child_token()).await).await },
        );
        embedded.and(tagged)
    }
    .await;
    session.close().await;
    result?;
    Ok(ExitCode::SUCCESS)
}
