//! Arguments of `htm hook`.

use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};

/// The hook of Claude Code that runs.
#[derive(Subcommand, Serialize, Deserialize)]
pub(crate) enum HookCommand {
    /// Add the important memories, and what was last said in this directory, to a new session
    SessionStart(ContextHookArgs),
    /// Add the memories that are relevant to a prompt
    Prompt(PromptHookArgs),
    /// Store the last prompt and its answer, in the background
    Stop(StopHookArgs),
}

#[derive(Args)]
pub(crate) struct HookArgs {
    #[command(subcommand)]
    pub(crate) hook: HookCommand,
}

#[derive(Args, Serialize, Deserialize)]
pub(crate) struct ContextHookArgs {
    /// The most tokens that it adds, estimated as a quarter of the characters
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(100..=2_400))]
    pub(crate) max_tokens: u32,
    /// The time after which it adds nothing, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    pub(crate) timeout_ms: u64,
}

#[derive(Args, Serialize, Deserialize)]
pub(crate) struct PromptHookArgs {
    #[command(flatten)]
    pub(crate) context: ContextHookArgs,
    /// The least similarity of a relevant memory, 0 to 1. Default: recall.min_similarity, or 0.35 if that is 0
    #[arg(long, value_name = "X", value_parser = similarity, allow_negative_numbers = true)]
    pub(crate) min_similarity: Option<f64>,
}

fn similarity(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|value| (0.0..=1.0).contains(value));
    value.ok_or_else(|| "give a number from 0 to 1".to_owned())
}

#[derive(Args, Serialize, Deserialize)]
pub(crate) struct StopHookArgs {
    /// End when it is stored
    #[arg(long)]
    pub(crate) wait: bool,
    /// The bytes of the transcript to read: what follows is of later turns
    #[arg(long, value_name = "N", hide = true, requires = "wait")]
    pub(crate) until: Option<u64>,
}
