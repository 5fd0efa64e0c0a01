//! The command line of `tag-worker`.

use clap::Parser;
use htm_core::Stage;
use htm_worker::service::ProcessArgs;

/// Tags memories: claims jobs from the queue and runs them until it is stopped.
///
/// Run as many as the provider can serve; they share the queue. SIGTERM stops a worker cleanly.
#[derive(Parser)]
#[command(
    name = "tag-worker",
    version,
    after_help = "Examples:
  tag-worker                          work until SIGTERM
  tag-worker --drain                  work until the queue is empty
  tag-worker --listen 127.0.0.1:9464  serve /livez, /readyz and /metrics
  tag-worker --batch 32 --set jobs.lease_ms=60000"
)]
pub struct Arguments {
    /// The queue; there is one
    #[arg(long, value_name = "QUEUE", value_parser = [Stage::Tag.queue()])]
    pub queue: Option<String>,
    /// The arguments of every worker.
    #[command(flatten)]
    pub process: ProcessArgs,
}
