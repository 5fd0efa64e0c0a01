//! The process: `tag-worker --help`.

use std::process::ExitCode;

use clap::Parser;
use htm_core::Stage;
use htm_worker::service::{ServiceArgs, serve};

/// Tags what was remembered: claims jobs from the queue and works on them until it is stopped.
///
/// Run as many as the provider can feed; they share the queue. SIGTERM stops one cleanly.
#[derive(Parser)]
#[command(
    name = "tag-worker",
    version,
    after_help = "Examples:
  tag-worker                          work until SIGTERM
  tag-worker --drain                  work off the queue and stop
  tag-worker --batch 32 --set jobs.lease_ms=60000"
)]
struct Arguments {
    /// The queue; there is one
    #[arg(long, value_name = "QUEUE", value_parser = [Stage::Tag.queue()])]
    queue: Option<String>,
    #[command(flatten)]
    service: ServiceArgs,
}

#[tokio::main]
async fn main() -> ExitCode {
    let Arguments { queue: _, service } = Arguments::parse();
    serve("tag-worker", Stage::Tag, service, tag_worker::handler).await
}
