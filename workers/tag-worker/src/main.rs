//! The `tag-worker` process.

use std::process::ExitCode;

use htm_core::Stage;
use htm_worker::service::serve;
use htm_worker::{Kind, arguments};
use tag_worker::Arguments;

#[tokio::main]
async fn main() -> ExitCode {
    let Arguments { queue: _, process } = arguments::parse_or_exit();
    serve(Kind::Stage(Stage::Tag), process, tag_worker::handler).await
}
