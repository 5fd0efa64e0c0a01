//! `htm up`: the private PostgreSQL and the workers in one process.

use std::process::ExitCode;

use embed_worker::EmbedHandler;
use htm_core::Stage;
use htm_core::store::embeddings;
use htm_runtime::config::Config;
use htm_runtime::{RuntimeError, Session, shutdown};
use htm_worker::Handler;
use htm_worker::service::{ServiceArgs, start, work};

use crate::error::CliError;
use crate::output::Output;

pub(crate) async fn run(config: &Config, args: ServiceArgs, output: &Output) -> Result<ExitCode, CliError> {
    let stop = shutdown::on_signal().map_err(CliError::io("signals cannot be waited for"))?;
    let session = Session::open(config).await?;
    let result = async {
        let embed = start(&session, Stage::Embed, embed_handlers(&session)).await?;
        let tag = start(&session, Stage::Tag, tag_worker::handler(&session)).await?;
        // A configured URL may have a password in it, and who configured it knows it.
        let place = if config.database.url.is_empty() { session.url() } else { "database.url".to_owned() };
        output.say(format!("HTM is up at {place}\nCtrl-C stops it"));
        // When one worker ends by an error, the others are stopped too; draining, each ends by itself.
        let end_of = async |result: Result<_, RuntimeError>| {
            if result.is_err() {
                stop.cancel();
            }
            result
        };
        let embed = embed.into_iter().map(async |handler| {
            end_of(work("embed-worker", &session, handler, &args, None, stop.child_token()).await).await
        });
        let (embedded, tagged) = tokio::join!(futures::future::join_all(embed), async {
            end_of(work("tag-worker", &session, tag, &args, None, stop.child_token()).await).await
        });
        embedded.into_iter().chain([tagged]).collect::<Result<Vec<_>, _>>()
    }
    .await;
    session.close().await;
    result?;
    Ok(ExitCode::SUCCESS)
}

/// One for the configured model, and one for each other that is in use and can be served here.
async fn embed_handlers(session: &Session) -> Result<Vec<EmbedHandler>, RuntimeError> {
    let mut handlers = vec![embed_worker::handler(session, None).await?];
    let configured = handlers[0].model();
    let models = embeddings::models(session.pool()).await?;
    for model in models.iter().filter(|model| model.is_in_use() && model.label != configured) {
        match embed_worker::handler_of(session, model).await {
            Ok(handler) => handlers.push(handler),
            Err(error) => tracing::warn!(
                model = model.label, queue = model.queue, code = error.code(), %error, hint = error.hint(),
                "no worker for this model: start an embed-worker where it can be served, or retire it"
            ),
        }
    }
    Ok(handlers)
}
