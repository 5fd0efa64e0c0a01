//! The program `htm`.

use std::process::ExitCode;

fn main() -> ExitCode {
    htm_cli::main()
}
