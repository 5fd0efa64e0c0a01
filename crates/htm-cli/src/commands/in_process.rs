//! The workers in the process of a command.

use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::{Duration, Instant};

use embed_worker::EmbedHandler;
use futures::future::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use htm_core::error::codes;
use htm_core::models::RegisteredModel;
use htm_core::{ErrorKind, Stage};
use htm_runtime::{Runtime, commands};
use htm_worker::service::{ServiceArgs, start, work};
use htm_worker::{Handler, Kind, Report};
use learn_worker::LearnHandler;
use tag_worker::TagHandler;
use tokio_util::sync::CancellationToken;

const EMBED: Kind = Kind::Stage(Stage::Embed);

/// The interval between looks for new models. Each look is one small statement.
const LOOK: Duration = Duration::from_secs(2);

/// The interval between attempts for a model that could not be served: its provider may be away for a moment.
pub(super) const AGAIN: Duration = Duration::from_secs(5);

/// The time that a provider has to tell the dimensions of a new model before the others start without it.
const PATIENCE: Duration = Duration::from_secs(2);

/// The workers, ready to run.
pub(crate) struct Workers {
    /// None: the configured model is new, and its provider is away; or it is retired.
    embed: Option<EmbedHandler>,
    tag: TagHandler,
    learn: LearnHandler,
}

impl Workers {
    /// Makes the workers of the configured models, and the one that learns. If the provider of a new embedding model is
    /// away, that worker is made later, unless the workers are to drain their queues. A retired model has no worker;
    /// the queues of the other models are drained all the same.
    pub(crate) async fn start(runtime: &Runtime, drain: bool) -> htm_core::Result<Self> {
        let patience = if drain { Duration::MAX } else { PATIENCE };
        let embed = match start(runtime, EMBED, embed_worker::handler(runtime, None, patience)).await {
            Ok(handler) => Some(handler),
            Err(error) if error.kind() == ErrorKind::Provider && !drain => {
                tracing::warn!(
                    model = error.value("model"), code = error.code(), %error, hint = commands::hint(&error),
                    "no worker for the configured embedding model yet: its provider is asked for the dimensions every {} s",
                    AGAIN.as_secs()
                );
                None
            }
            Err(error) if error.is(codes::MODEL_RETIRED) => {
                tracing::warn!(
                    code = error.code(), %error, hint = commands::hint(&error),
                    "the configured embedding model is retired and has no worker; the other models are served"
                );
                None
            }
            Err(error) => return Err(error),
        };
        let tag = start(runtime, Kind::Stage(Stage::Tag), tag_worker::handler(runtime)).await?;
        Ok(Self { embed, tag, learn: learn_worker::handler() })
    }

    /// Runs the workers until `stop` is cancelled or, when draining, until their queues are empty. An error of one
    /// stops the others too.
    pub(crate) async fn run(
        self,
        runtime: &Runtime,
        args: &ServiceArgs,
        stop: &CancellationToken,
    ) -> htm_core::Result<()> {
        // When draining, each ends by itself.
        let end_of = async |result: htm_core::Result<()>| {
            if result.is_err() {
                stop.cancel();
            }
            result
        };
        // The sizes of a batch are those of texts.
        let mut learn_args = args.clone();
        (learn_args.batch, learn_args.concurrency) = (None, None);
        let (embedded, tagged, learnt) = tokio::join!(
            async { end_of(embed(runtime, self.embed, args, stop).await).await },
            async {
                let tagged = work(runtime, self.tag, args, None, stop.child_token()).await;
                end_of(tagged.map(drop)).await
            },
            async {
                let learnt = work(runtime, self.learn, &learn_args, None, stop.child_token()).await;
                end_of(learnt.map(drop)).await
            }
        );
        embedded.and(tagged).and(learnt)
    }
}

/// Runs a worker for the configured model, and one for each other model that is in use and can be served here, also for
/// models that are added later. The worker of a model that is retired ends.
async fn embed(
    runtime: &Runtime,
    configured: Option<EmbedHandler>,
    args: &ServiceArgs,
    stop: &CancellationToken,
) -> htm_core::Result<()> {
    let serve =
        async |handler: EmbedHandler, end: CancellationToken| work(runtime, handler, args, None, end).await;
    // By their queues, with what ends each.
    let served: RefCell<HashMap<String, CancellationToken>> = RefCell::default();
    let begin = |queue: String| match served.borrow_mut().entry(queue) {
        Entry::Occupied(_) => None,
        Entry::Vacant(new) => Some(new.insert(stop.child_token()).clone()),
    };
    let configured = configured.and_then(|handler| Some((begin(handler.queue())?, handler)));
    // Models that could not be served, with the time of the next attempt.
    let again: RefCell<HashMap<String, Instant>> = RefCell::default();
    let first = async {
        match configured {
            Some((end, handler)) => serve(handler, end).await,
            // A retired model has no queue to drain.
            None if args.drain => Ok(Report::default()),
            None => match until_made(runtime, stop).await {
                None => Ok(Report::default()),
                Some(handler) => match begin(handler.queue()) {
                    Some(end) => serve(handler, end).await,
                    // Another process has registered the model, and a look found it.
                    None => Ok(Report::default()),
                },
            },
        }
    };
    let mut workers = FuturesUnordered::from_iter([first.boxed_local()]);
    let mut result = Ok(());
    loop {
        let models = match stop.is_cancelled() {
            true => None,
            // If the database is away, the workers wait for it.
            false => runtime.htm().models()?.list().await.ok(),
        };
        if let Some(models) = &models {
            served.borrow_mut().retain(|queue, end| {
                let mut of_queue = models.iter().filter(|model| model.queue.as_ref() == Some(queue));
                let is_served = of_queue.all(RegisteredModel::is_in_use);
                if !is_served {
                    end.cancel();
                }
                is_served
            });
        }
        let is_known = models.is_some();
        for model in models.into_iter().flatten().filter(RegisteredModel::is_in_use) {
            // The vectors of a model without a queue come from callers.
            let Some(queue) = model.queue.clone() else { continue };
            if served.borrow().contains_key(&queue)
                || again.borrow().get(&queue).is_some_and(|at| Instant::now() < *at)
            {
                continue;
            }
            let Some(end) = begin(queue.clone()) else { continue };
            let (serve, served, again) = (&serve, &served, &again);
            // Beside the others, which go on while its provider is asked.
            let worker = async move {
                let made = start(runtime, EMBED, embed_worker::handler_of(runtime, &model));
                match end.run_until_cancelled(made).await {
                    Some(Ok(handler)) => return serve(handler, end.clone()).await,
                    Some(Err(error)) => {
                        served.borrow_mut().remove(&queue);
                        if again.borrow_mut().insert(queue, Instant::now() + AGAIN).is_none() {
                            tracing::warn!(
                                model = model.label, queue = model.queue, code = error.code(), %error,
                                hint = commands::hint(&error),
                                "no worker for this model yet: start an embed-worker where it can be served, or retire it"
                            );
                        }
                    }
                    None => {}
                }
                Ok(Report::default())
            };
            workers.push(worker.boxed_local());
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
                None if (args.drain && is_known) || stop.is_cancelled() => return result,
                // All models are retired, and another one may be added; or they are not known yet.
                None => {
                    stop.run_until_cancelled(tokio::time::sleep_until(until)).await;
                    break;
                }
            }
        }
    }
}

/// Makes the worker of the configured model as soon as its provider tells the dimensions, or the model is in use again;
/// none after a stop.
async fn until_made(runtime: &Runtime, stop: &CancellationToken) -> Option<EmbedHandler> {
    loop {
        stop.run_until_cancelled(tokio::time::sleep(AGAIN)).await?;
        let made = start(runtime, EMBED, embed_worker::handler(runtime, None, Duration::MAX));
        if let Ok(handler) = stop.run_until_cancelled(made).await? {
            return Some(handler);
        }
    }
}
