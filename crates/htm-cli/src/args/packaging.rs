//! The arguments of `htm completions` and `htm man`, which make what a package installs beside the programs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use clap_complete::Shell;

/// A program of HTM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Program {
    Htm,
    EmbedWorker,
    TagWorker,
    LearnWorker,
}

#[derive(Args)]
#[command(
    after_help = "bash reads ~/.local/share/bash-completion/completions/htm, fish ~/.config/fish/completions/htm.fish, and \
zsh a file _htm in a directory of its fpath.

Examples:
  htm completions bash > htm
  htm completions zsh > _htm
  htm completions fish > htm.fish
  htm completions bash embed-worker > embed-worker"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
    /// The program to complete
    #[arg(default_value = "htm")]
    pub(crate) program: Program,
}

#[derive(Args)]
#[command(
    after_help = "With --to there is a page for each command, as htm-db-backup(1), and for each worker. \
`man` finds them below ~/.local/share/man.

Examples:
  htm man > htm.1
  htm man --to share/man/man1"
)]
pub(crate) struct ManArgs {
    /// Write the pages of every command and of the workers into a directory, which is made if it is not there
    #[arg(long, value_name = "DIR")]
    pub(crate) to: Option<PathBuf>,
}
