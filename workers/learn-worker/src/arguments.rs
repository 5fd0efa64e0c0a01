//! The command line of `learn-worker`.

use clap::Parser;
use htm_core::job::LEARN_QUEUE;
use htm_worker::service::ProcessArgs;

/// Learns rankings from feedback: claims jobs from the queue and runs them until it is stopped.
///
/// One is enough for many namespaces; further ones share the queue. SIGTERM stops a worker cleanly.
#[derive(Parser)]
#[command(
    name = "learn-worker",
    version,
    after_help = "Examples:
  learn-worker                          work until SIGTERM
  learn-worker --drain                  work until the queue is empty
  learn-worker --listen 127.0.0.1:9464  serve /livez, /readyz and /metrics
  learn-worker --concurrency 4          learn for four namespaces at once, a CPU each"
)]
pub struct Arguments {
    /// The queue; there is one
    #[arg(long, value_name = "QUEUE", value_parser = [LEARN_QUEUE])]
    pub queue: Option<String>,
    /// The arguments of every worker.
    #[command(flatten)]
    pub process: ProcessArgs,
}
