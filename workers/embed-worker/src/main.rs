//! The `embed-worker` process.

use std::process::ExitCode;
use std::time::Duration;

use embed_worker::Arguments;
use htm_core::Stage;
use htm_runtime::Runtime;
use htm_worker::service::serve;
use htm_worker::{Kind, arguments};

#[tokio::main]
async fn main() -> ExitCode {
    let Arguments { queue, process } = arguments::parse_or_exit();
    let handler =
        async |runtime: &Runtime| embed_worker::handler(runtime, queue.as_deref(), Duration::MAX).await;
    serve(Kind::Stage(Stage::Embed), process, handler).await
}
