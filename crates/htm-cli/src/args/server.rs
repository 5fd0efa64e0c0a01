//! The arguments of `htm serve` and `htm up`.

use std::net::SocketAddr;

use clap::Args;
use htm_worker::service::ServiceArgs;

#[derive(Args)]
#[command(after_help = "Examples:
  htm serve
  htm serve --listen 127.0.0.1:0
  curl -s 'http://127.0.0.1:7480/v1/recall?q=tabs'")]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) listening: ListeningArgs,
}

#[derive(Args)]
pub(crate) struct ListeningArgs {
    /// Serve HTTP at this address; port 0 picks a free port. Default: `server.listen`
    #[arg(long, value_name = "ADDR:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// Also stop when standard input closes, for example because the parent process ended
    #[arg(long)]
    pub(crate) until_stdin_closes: bool,
}

#[derive(Args)]
#[command(
    after_help = "It ignores worker.listen. /livez, /readyz and /metrics of the workers are served by the processes \
embed-worker, tag-worker and learn-worker. With --drain, or if server.listen is empty, it serves no HTTP."
)]
pub(crate) struct UpArgs {
    #[command(flatten)]
    pub(crate) listening: ListeningArgs,
    #[command(flatten)]
    pub(crate) service: ServiceArgs,
}
