//! `htm mcp`: the MCP server on standard input and output, with the workers.

mod clients;
mod file;
mod install;
mod json_text;
mod stdio;
mod toml_text;

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use htm_core::fault::Fault;
use htm_core::{Memory, Role};
use htm_mcp::{McpOptions, McpServer};
use htm_runtime::config::{Config, Loaded};
use htm_runtime::{Runtime, chain, commands};
use htm_worker::service::ServiceArgs;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio_util::sync::CancellationToken;

use self::stdio::Stdio;
use super::in_process::{AGAIN, Workers};
use super::serve::serve_shell;
use crate::args::{McpArgs, McpCommand, McpServerArgs};
use crate::codes;
use crate::error::CliError;
use crate::output::Output;

/// The time limit for leaving the joined groups, for a database that does not answer.
const LEAVE: Duration = Duration::from_secs(5);

pub(crate) async fn run(loaded: &Loaded, args: McpArgs, output: &Output) -> Result<ExitCode, CliError> {
    match args.command {
        None => start(loaded, args.server, output).await,
        Some(McpCommand::Install(args)) => {
            options(&loaded.config, &args.server)?;
            install::install(&args, output)
        }
        Some(McpCommand::Uninstall(args)) => install::uninstall(&args, output),
    }
}

async fn start(loaded: &Loaded, args: McpServerArgs, output: &Output) -> Result<ExitCode, CliError> {
    let config = &loaded.config;
    let options = options(config, &args)?;
    let stop = output.stop();
    if std::io::stdin().is_terminal() {
        output.aside("an MCP client starts this command and speaks to it; Ctrl-D ends it");
    }
    let runtime = Runtime::open(config).await?;
    let _following = runtime.htm().follow_erasures();
    let server = McpServer::new(runtime.htm(), options);
    let serving = async {
        let served = serve(&server, &stop).await;
        stop.cancel();
        if tokio::time::timeout(LEAVE, server.close()).await.is_err() {
            tracing::warn!("the groups were not left in time; the leases will end");
        }
        served
    };
    let working = async {
        if !args.no_workers {
            work(&runtime, &stop).await;
        }
    };
    // For the hooks of the client, too.
    let serving_shell = serve_shell(loaded, &runtime, &stop);
    let (served, (), ()) = tokio::join!(serving, working, serving_shell);
    runtime.close().await;
    served.map(|()| ExitCode::SUCCESS)
}

fn options(config: &Config, args: &McpServerArgs) -> Result<McpOptions, CliError> {
    // A bad name is refused now, not by each call.
    let mut named = Memory::new("a name");
    (named.namespace, named.robot) = (args.namespace.clone(), args.robot.clone());
    named.validate()?;
    Ok(McpOptions {
        role: Role::Admin,
        namespace: args.namespace.clone(),
        robot: args.robot.clone(),
        tools: args.tools,
        strategy: config.recall.strategy.as_ref().parse()?,
        has_one_client: true,
    })
}

/// Serves the client until it closes standard input, or until `stop` is cancelled.
async fn serve(server: &McpServer, stop: &CancellationToken) -> Result<(), CliError> {
    let (lines, stdio) = Stdio::connect(stop.clone());
    let result = match server.clone().serve_with_ct(lines, stop.child_token()).await {
        Ok(running) => match running.waiting().await {
            Ok(_) => Ok(()),
            Err(error) => Err(CliError::new(codes::PROCESS_FAILED, format!("the server panicked: {error}"))),
        },
        // A client that leaves before it says anything is no error.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
        // The error would show the message, which may have what nobody should read in a log.
        Err(ServerInitializeError::ExpectedInitializeRequest(_)) => {
            let message = "the first message is neither `initialize` nor a request that stands alone";
            Err(CliError::new(codes::MCP_CLIENT_INVALID, message))
        }
        Err(error) => Err(CliError::new(codes::MCP_CLIENT_INVALID, error.to_string())),
    };
    stdio.finish().await;
    result
}

/// Runs the workers until `stop` is cancelled. Without them, recall finds new memories by their words, so an error does
/// not end the server.
async fn work(runtime: &Runtime, stop: &CancellationToken) {
    let mut is_first = true;
    loop {
        // An error of one worker stops the others by it.
        let workers_stop = stop.child_token();
        let ended = match Workers::start(runtime, false).await {
            Ok(workers) => workers.run(runtime, &ServiceArgs::default(), &workers_stop).await,
            Err(error) => Err(error),
        };
        let Err(error) = ended else { return };
        if is_first {
            tracing::warn!(
                code = error.code(), error = %chain(&error), hint = commands::hint(&error),
                "no workers run in this process: new memories are found by their words only, until others embed them"
            );
        }
        is_first = false;
        // A provider may be away for a moment.
        if error.fault() != Fault::Transient {
            return;
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(AGAIN) => {}
        }
    }
}
