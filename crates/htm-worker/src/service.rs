//! The worker process: arguments, configuration, signals, exit code.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use htm_core::worker::governor::{self, Breaker};
use htm_core::{Error, ErrorKind, Result, Stage};
use htm_runtime::config::{Config, Worker};
use htm_runtime::telemetry::{self, Role};
use htm_runtime::{Runtime, chain, codes, commands, shutdown};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::arguments::parse_override;
use crate::handler::Handler;
use crate::health::Port;
use crate::kind::Kind;
use crate::monitor::Monitor;
use crate::verdict::Backoff;
use crate::worker::{Options, Report, WorkerError, run};

/// The time limit of learning a ranking. It takes seconds.
pub const LEARNING_LIMIT: Duration = Duration::from_secs(600);

/// The longest wait before a retry or a trial call with `--short-waits` ([`ServiceArgs`]).
const LONGEST_SHORT_WAIT: Duration = Duration::from_millis(500);

/// The most tokens in one call of an embedder: 512 for each text of a call with the default number of texts, 64.
const EMBED_CALL_TOKENS: u32 = 64 * 512;

/// The most tokens in one call of a tagger: 1,024 for each text of a call with the default number of texts, 16.
const TAG_CALL_TOKENS: u32 = 16 * 1_024;

/// The arguments of a worker process.
#[derive(Args, Clone, Debug, Default)]
pub struct ProcessArgs {
    #[command(flatten)]
    service: ServiceArgs,
    /// Serve /livez, /readyz and /metrics at this address; port 0 picks a free port, named in the log
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<SocketAddr>,
}

/// The arguments of every worker, also within `htm up`.
#[derive(Args, Clone, Debug, Default)]
pub struct ServiceArgs {
    /// Stop when the queue is empty
    #[arg(long)]
    pub drain: bool,
    /// The most jobs per claim, and texts per provider call, if one is called
    #[arg(long, value_name = "N", value_parser = |text: &str| parse_within(text, 2_048))]
    pub batch: Option<usize>,
    /// The most concurrent batches; live jobs may add two during a backfill
    #[arg(long, value_name = "N", value_parser = |text: &str| parse_within(text, 256))]
    pub concurrency: Option<usize>,
    /// Set a configuration value: `--set jobs.lease_ms=60000` (may be repeated)
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE", value_parser = parse_override)]
    pub overrides: Vec<(String, String)>,
    /// Wait at most half a second before a retry or a trial call (for tests)
    #[arg(long, hide = true, env = "HTM_SHORT_WAITS")]
    short_waits: bool,
}

/// Runs a worker until SIGINT or SIGTERM or, when draining, until its queue is empty. The exit code is 0 only after a
/// clean stop. An error is printed with its code and hint.
pub async fn serve<H: Handler>(
    kind: Kind,
    args: ProcessArgs,
    handler: impl AsyncFnOnce(&Runtime) -> Result<H>,
) -> ExitCode {
    match try_serve(kind, args, handler).await {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            let (code, hint) = (error.code(), commands::hint(&error));
            telemetry::to_stderr(&format!("error[{code}]: {}\n  help: {hint}\n", chain(&error)));
            ExitCode::from(error.fault().exit_code())
        }
    }
}

/// Makes the handler of a starting worker. If its provider prevents that (a rejected key, settings that cannot work),
/// the reason is recorded with the model. `htm providers` and `htm doctor` show it after the process is gone.
///
/// # Errors
/// The handler's error.
pub async fn start<H>(runtime: &Runtime, kind: Kind, handler: impl Future<Output = Result<H>>) -> Result<H> {
    let error = match handler.await {
        Ok(handler) => return Ok(handler),
        Err(error) => error,
    };
    let has_unfit_settings = error.code().starts_with("provider_settings_");
    let htm = runtime.htm();
    let model = match (error.value("model"), kind) {
        (Some(model), _) if error.kind() == ErrorKind::Provider => model.to_owned(),
        (_, Kind::Stage(Stage::Embed)) if has_unfit_settings => htm.settings().embedding_model.to_string(),
        (_, Kind::Stage(Stage::Tag)) if has_unfit_settings => htm.settings().tag_model.to_string(),
        _ => return Err(error),
    };
    let reason = format!("a worker did not start: {}: {}", error.code(), chain(&error));
    if let Err(error) = governor::note(runtime.pool(), &model, &reason).await {
        tracing::warn!(code = error.code(), error = %chain(&error), "the reason why the worker did not start could not be recorded");
    }
    Err(error)
}

/// Runs a worker on the runtime's database until `stop` is cancelled. The worker writes its state to `monitor`, if
/// there is one.
///
/// # Errors
/// As [`run`].
pub async fn work<H: Handler>(
    runtime: &Runtime,
    handler: H,
    args: &ServiceArgs,
    monitor: Option<Arc<Monitor>>,
    stop: CancellationToken,
) -> Result<Report> {
    let options = Options { monitor, ..options(handler.kind(), runtime.config(), args) };
    run(runtime.pool().clone(), handler, options, stop).await.map_err(ended)
}

fn ended(error: WorkerError) -> Error {
    match error {
        WorkerError::Htm(error) => error,
        error => Error::new(codes::WORKER_ENDED, "the worker ended by itself").with_source(error),
    }
}

/// Parses a number from 1 to `most`. The configuration has the same bounds.
fn parse_within(text: &str, most: usize) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|number| (1..=most).contains(number))
        .ok_or_else(|| format!("give a number from 1 to {most}"))
}

async fn try_serve<H: Handler>(
    kind: Kind,
    args: ProcessArgs,
    handler: impl AsyncFnOnce(&Runtime) -> Result<H>,
) -> Result<Report> {
    let ProcessArgs { service: args, listen } = args;
    let overrides: BTreeMap<String, String> = args.overrides.iter().cloned().collect();
    let loaded = Config::load(&overrides)?;
    let log = &loaded.config.log;
    let _traces = telemetry::init(log.level, log.format, Role::Worker, log.collector(kind.program()))?;
    let stop = CancellationToken::new();
    shutdown::on_signal(stop.clone()).map_err(|error| {
        Error::new(codes::SIGNALS_UNAVAILABLE, "the process cannot listen to signals").with_source(error)
    })?;
    // Before anything slow, so that a port in use is reported at once.
    let port = match listen.or_else(|| loaded.config.worker.address()) {
        Some(address) => Some(Port::take(address).await?),
        None => None,
    };
    let runtime = Runtime::open(&loaded.config).await?;
    tracing::debug!(queue = kind.queue(), "database open");
    let mut server = JoinSet::new();
    let result = match start(&runtime, kind, handler(&runtime)).await {
        Ok(handler) => {
            // The handler's queue, since a stage may have several.
            let monitor = Arc::new(Monitor::new(&handler.queue()));
            if let Some(port) = port {
                server.spawn(port.serve(monitor.clone(), runtime.pool().clone()));
            }
            work(&runtime, handler, &args, Some(monitor), stop).await
        }
        Err(error) => Err(error),
    };
    runtime.close().await;
    result
}

fn options(kind: Kind, config: &Config, args: &ServiceArgs) -> Options {
    // Learning a ranking takes a CPU: operators start more workers.
    let learner = Worker { batch: 1, concurrency: 1 };
    let (worker, batch_tokens, call_deadline) = match kind {
        Kind::Stage(Stage::Embed) => {
            (&config.embed_worker, EMBED_CALL_TOKENS, Duration::from_millis(config.embedding.timeout_ms))
        }
        Kind::Stage(Stage::Tag) => {
            (&config.tag_worker, TAG_CALL_TOKENS, Duration::from_millis(config.tag.timeout_ms))
        }
        Kind::Learn => (&learner, u32::MAX, LEARNING_LIMIT),
    };
    let jobs = &config.jobs;
    let (mut breaker, mut backoff) = (Breaker::default(), Backoff::default());
    if args.short_waits {
        (breaker.open, breaker.cap) = (LONGEST_SHORT_WAIT / 2, LONGEST_SHORT_WAIT);
        (backoff.base, backoff.cap) = (LONGEST_SHORT_WAIT / 10, LONGEST_SHORT_WAIT);
    }
    Options {
        program: kind.program().into(),
        batch: match kind {
            // A result is written in a transaction of its own.
            Kind::Learn => 1,
            Kind::Stage(_) => args.batch.unwrap_or(worker.batch),
        },
        batch_tokens,
        call_deadline,
        breaker,
        concurrency: args.concurrency.unwrap_or(worker.concurrency),
        lease: jobs.lease(),
        poll: jobs.poll(),
        sweep: jobs.sweep(),
        statement_timeout: Duration::from_millis(config.database.statement_timeout_ms),
        keep_done: Duration::from_millis(jobs.keep_done_ms),
        backoff,
        patience: Duration::from_millis(jobs.patience_ms),
        grace: Duration::from_millis(jobs.grace_ms),
        drain: args.drain,
        monitor: None,
    }
}

#[cfg(test)]
mod tests {
    use htm_runtime::config::Locations;

    use super::*;

    #[test]
    fn a_learner_claims_one_job_whatever_is_asked() {
        let args = ServiceArgs { batch: Some(8), ..ServiceArgs::default() };
        let config = Config::load_from(&Locations::default(), &BTreeMap::new()).unwrap().config;
        let batch = |kind| options(kind, &config, &args).batch;
        assert_eq!((batch(Kind::Learn), batch(Kind::Stage(Stage::Tag))), (1, 8));
    }

    #[test]
    fn a_worker_that_ends_by_itself_says_why() {
        let what = "the heartbeat has been stuck for 61 s";
        let error = ended(WorkerError::Stuck { what: what.into() });
        assert_eq!((error.code(), error.fault().exit_code()), ("worker_ended", 70));
        assert!(chain(&error).contains(what) && error.hint().contains("htm doctor"));
    }
}
