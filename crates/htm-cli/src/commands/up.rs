//! `htm up`: the private PostgreSQL, the workers and the HTTP server in one process.

use std::process::ExitCode;

use htm_documents::PdfReader;
use htm_runtime::Runtime;
use htm_runtime::config::Loaded;
use htm_runtime::shutdown::INTERRUPTED;
use htm_server::{Limits, Server};

use super::in_process::Workers;
use super::serve::{self, Serving, announce};
use crate::args::UpArgs;
use crate::error::CliError;
use crate::output::Output;

pub(crate) async fn run(loaded: &Loaded, args: UpArgs, output: &Output) -> Result<ExitCode, CliError> {
    let config = &loaded.config;
    let UpArgs { listening, service: args } = args;
    let stop = match args.drain {
        // Its work is the queues, whether or not anybody reads what it prints.
        true => output.stop_by_signal(),
        false => output.stop(),
    };
    let stop = serve::until_stdin_closes(&listening, stop);
    let listening = serve::listening(config, listening.listen)?;
    let runtime = Runtime::open(config).await?;
    let result = async {
        let workers = Workers::start(&runtime, args.drain).await?;
        let server = match listening {
            Some(listening) if !args.drain => {
                Some(Server::bind(listening, runtime.htm_for_tenants().await?, Limits::default()).await?)
            }
            _ => None,
        };
        // A configured URL is not shown, because it may contain a password.
        let place = if config.database.url.is_empty() { runtime.url() } else { "database.url".to_owned() };
        let serves = server.as_ref().map(|server| format!("\n{}", announce(server))).unwrap_or_default();
        output.value(&Serving::of(server.as_ref()), || {
            format!("HTM is up at {place}{serves}\nCtrl-C stops it")
        });
        let serving = async {
            if let Some(server) = server {
                server.pdfs(PdfReader::this_program()).serve(stop.clone()).await;
            }
        };
        let serving_shell = async {
            if !args.drain {
                serve::serve_shell(loaded, &runtime, &stop).await;
            }
        };
        let (worked, (), ()) = tokio::join!(workers.run(&runtime, &args, &stop), serving, serving_shell);
        worked
    }
    .await;
    runtime.close().await;
    result?;
    // Something may be left in the queues.
    if args.drain && stop.is_cancelled() {
        output.value(&serde_json::json!({ "stopped": true }), || {
            "stopped; go on with what is left: `htm up --drain`".into()
        });
        return Ok(ExitCode::from(INTERRUPTED));
    }
    Ok(ExitCode::SUCCESS)
}
