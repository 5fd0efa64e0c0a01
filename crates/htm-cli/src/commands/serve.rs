//! `htm serve`: the HTTP server.

use std::process::ExitCode;

use htm_runtime::config::Config;
use htm_runtime::{Session, shutdown};
use htm_server::{Limits, Server};

use crate::args::ServeArgs;
use crate::codes;
use crate::error::CliError;
use crate::output::Output;

pub(crate) async fn run(config: &Config, args: ServeArgs, output: &Output) -> Result<ExitCode, CliError> {
    let address = args.listening.listen.or(config.server.address()).ok_or_else(|| {
        CliError::new(codes::LISTEN_MISSING, "server.listen is empty, and no --listen is given")
    })?;
    let stop = shutdown::on_signal().map_err(CliError::io("signals cannot be handled"))?;
    let session = Session::open(config).await?;
    let result = async {
        let server = Server::bind(address, session.htm(), Limits::default()).await?;
        output.say(format!("{}\nCtrl-C stops it", announce(&server)));
        server.serve(stop).await;
        Ok(ExitCode::SUCCESS)
    }
    .await;
    session.close().await;
    result
}

/// The address of a server, and its callers.
pub(crate) fn announce(server: &Server) -> String {
    format!(
        "HTM serves http://{}; it has no keys, so only programs of this machine can call it",
        server.address()
    )
}
