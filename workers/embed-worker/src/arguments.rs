//! What the command line takes.

use clap::Parser;
use htm_worker::service::ProcessArgs;

/// Embeds what was remembered: claims jobs from the queue and works on them until it is stopped.
///
/// Run as many as the provider can feed; they share the queue. SIGTERM stops one cleanly.
#[derive(Parser)]
#[command(
    name = "embed-worker",
    version,
    after_help = "Examples:
  embed-worker                          work until SIGTERM
  embed-worker --drain                  work off the queue and stop
  embed-worker --queue htm.embed.3      embed for another model than the configured one
  embed-worker --listen 127.0.0.1:9464  answer /livez, /readyz and /metrics
  embed-worker --batch 32 --set jobs.lease_ms=60000"
)]
pub struct Arguments {
    /// Serve the model whose queue this is (`htm models list`); the configured model if left out
    #[arg(long, value_name = "QUEUE")]
    pub queue: Option<String>,
    /// What every worker takes.
    #[command(flatten)]
    pub process: ProcessArgs,
}
