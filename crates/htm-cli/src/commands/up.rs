//! `htm up`: the private PostgreSQL, the workers and the HTTP server in one process.

use std::collections::HashSet;
use std::process::ExitCode;
use std::time::Duration;

use embed_worker::EmbedHandler;
use futures::stream::{FuturesUnordered, StreamExt};
use htm_core::Stage;
use htm_core::models::RegisteredModel;
use htm_runtime::config::Config;
use htm_runtime::{Session, commands, shutdown};
use htm_server::{Limits, Server};
use htm_worker::Handler;
use htm_worker::service::{ServiceArgs, start, work};
use tokio_util::sync::CancellationToken;

use super::serve::announce;
use crate::args::UpArgs;
use crate::error::CliError;
use crate::output::Output;

/// The interval between looks for new models. Each look is one small statement.
const LOOK: Duration = Duration::from_secs(2);

pub(crate) async fn run(config: &Config, args: UpArgs, output: &Output) -> Result<ExitCode, CliError> {
    let UpArgs { listening, service: args } = args;
    let stop = shutdown::on_signal().map_err(CliError::io("signals cannot be handled"))?;
    let session = Session::open(config).await?;
    let result = async {
        let configured = start(&session, Stage::Embed, embed_worker::handler(&session, None)).await?;
        let tag = start(&session, Stage::Tag, tag_worker::handler(&session)).await?;
        let server = match listening.listen.or(config.server.address()) {
            Some(address) if !args.drain => {
                Some(Server::bind(address, session.htm(), Limits::default()).await?)
            }
            _ => None,
        };
        // A configured URL is not shown, because it may contain a password.
        let place = if config.database.url.is_empty() { session.url() } else { "database.url".to_owned() };
        let serves = server.as_ref().map(|server| format!("\n{}", announce(server))).unwrap_or_default();
        output.say(format!("HTM is up at {place}{serves}\nCtrl-C stops it"));
        let serving = async {
            if let Some(server) = server {
                server.serve(stop.clone()).await;
            }
        };
        // An error of one worker stops the others too. When draining, each ends by itself.
        let end_of = async |result: htm_core::Result<()>| {
            if result.is_err() {
                stop.cancel();
            }
            result
        };
        let (embedded, tagged, ()) = tokio::join!(
            async { end_of(embed(&session, configured, &args, &stop).await).await },
            async {
                let tagged = work("tag-worker", &session, tag, &args, None, stop.child_token()).await;
                end_of(tagged.map(drop)).await
            },
            serving
        );
        embedded.and(tagged)
    }
    .await;
    session.close().await;
    result?;
    Ok(ExitCode::SUCCESS)
}

/// Runs a worker for the configured model, and one for each other model that is in use and can be served here, also for
/// models that are added later.
async fn embed(
    session: &Session,
    configured: EmbedHandler,
    args: &ServiceArgs,
    stop: &CancellationToken,
) -> htm_core::Result<()> {
    let serve = async |handler: EmbedHandler| {
        work("embed-worker", session, handler, args, None, stop.child_token()).await
    };
    let mut served = HashSet::from([configured.queue()]);
    let mut workers = FuturesUnordered::from_iter([serve(configured)]);
    let mut result = Ok(());
    loop {
        let models = match stop.is_cancelled() {
            true => Vec::new(),
            // If the database is away, the workers wait for it.
            false => session.htm().models()?.list().await.unwrap_or_default(),
        };
        for model in models.into_iter().filter(RegisteredModel::is_in_use) {
            if !served.insert(model.queue.clone()) {
                continue;
            }
            match embed_worker::handler_of(session, &model).await {
                Ok(handler) => workers.push(serve(handler)),
                Err(error) => tracing::warn!(
                    model = model.label, queue = model.queue, code = error.code(), %error,
                    hint = commands::hint(&error),
                    "no worker for this model: start an embed-worker where it can be served, or retire it"
                ),
            }
        }
        // Until the next look, or until every worker has ended.
        let until = tokio::time::Instant::now() + LOOK;
        while let Ok(ended) = tokio::time::timeout_at(until, workers.next()).await {
            match ended {
                Some(Err(error)) => {
                    stop.cancel();
                    result = result.and(Err(error));
                }
                Some(Ok(_report)) => {}
                None => return result,
            }
        }
    }
}
