//! The `learn-worker` process.

use std::process::ExitCode;

use htm_runtime::Runtime;
use htm_worker::service::serve;
use htm_worker::{Kind, arguments};
use learn_worker::Arguments;

#[tokio::main]
async fn main() -> ExitCode {
    let Arguments { queue: _, process } = arguments::parse_or_exit();
    serve(Kind::Learn, process, async |_: &Runtime| Ok(learn_worker::handler())).await
}
