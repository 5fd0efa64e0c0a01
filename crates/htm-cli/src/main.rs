//! The program `htm`.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    htm_cli::main().await
}
