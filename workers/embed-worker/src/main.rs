//! The process: `embed-worker --help`.

use std::process::ExitCode;

use clap::Parser;
use htm_core::Stage;
use htm_worker::service::{ServiceArgs, serve};

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
  embed-worker --batch 32 --set jobs.lease_ms=60000"
)]
struct Arguments {
    #[command(flatten)]
    service: ServiceArgs,
}

#[tokio::main]
async fn main() -> ExitCode {
    let Arguments { service } = Arguments::parse();
    serve("embed-worker", Stage::Embed, service, embed_worker::handler).await
}
