//! The command line of `embed-worker`.

use clap::Parser;
use htm_worker::service::ProcessArgs;

/// Embeds memories: claims jobs from the queue and runs them until it is stopped.
///
/// Run as many as the provider can serve; they share the queue. SIGTERM stops a worker cleanly.
#[derive(Parser)]
#[command(
    name = "embed-worker",
    version,
    after_help = "Examples:
  embed-worker                          work until SIGTERM
  embed-worker --drain                  work until the queue is empty
  embed-worker --queue htm.embed.3      serve another model
  embed-worker --listen 127.0.0.1:9464  serve /livez, /readyz and /metrics
  embed-worker --batch 32 --set jobs.lease_ms=60000"
)]
pub struct Arguments {
    /// The queue of the model to serve, see `htm models list`. Default: the configured model's
    #[arg(long, value_name = "QUEUE")]
    pub queue: Option<String>,
    /// The arguments of every worker.
    #[command(flatten)]
    pub process: ProcessArgs,
}
