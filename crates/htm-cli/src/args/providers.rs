//! Arguments of `htm providers`.

use clap::{ArgGroup, Args, Subcommand};
use htm_core::FieldChange;
use htm_core::providers::LimitChanges;

use super::namespaces::is_no_limit;

#[derive(Args)]
#[command(
    after_help = "A model's label is provider/name, see `htm jobs stats`. All workers share its limits.

Examples:
  htm providers
  htm providers set openai/text-embedding-3-small --requests-per-minute 3000
  htm providers set ollama/nomic-embed-text --concurrent 2 --tokens-per-minute none
  htm providers reset openai/text-embedding-3-small
  htm providers budget atlas --tokens-per-day 2000000
  htm providers usage --days 30"
)]
pub(crate) struct ProvidersArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ProvidersCommand>,
}

#[derive(Subcommand)]
pub(crate) enum ProvidersCommand {
    /// List models with limits or failures (the default)
    List,
    /// Change a model's limits
    Set(SetArgs),
    /// Close a model's breaker and ignore its Retry-After
    Reset {
        /// The model's label
        model: String,
    },
    /// Set a namespace's budget for all providers together
    Budget {
        /// The namespace
        namespace: String,
        /// Tokens per day (UTC), or none
        #[arg(long, value_name = "N|none", value_parser = parse_limit::<0>, allow_negative_numbers = true)]
        tokens_per_day: Limit,
    },
    /// List the namespaces' budgets
    Budgets,
    /// Count the tokens of the memories that models have processed, by day, stage and model
    #[command(
        after_help = "Each memory that is there now counts once for a stage and a model, on the day of its last result, with the \
tokens of its text as it is now. Not counted are memories that were purged or erased, earlier results, failed calls, \
prompts, answers and queries. The provider's bill has what was paid.

Example:
  htm providers usage --days 30"
    )]
    Usage {
        /// The last days (UTC), today included, 1 to 366
        #[arg(long, default_value_t = 7)]
        days: u32,
    },
}

/// The names of the limits. At least one must be given.
const LIMITS: [&str; 3] = ["requests_per_minute", "tokens_per_minute", "concurrent"];

#[derive(Args)]
#[command(group(ArgGroup::new("limits").required(true).multiple(true).args(LIMITS)))]
pub(crate) struct SetArgs {
    /// The model's label
    pub(crate) model: String,
    /// The most requests per minute, or none
    #[arg(long, value_name = "N|none", value_parser = parse_limit::<1>, allow_negative_numbers = true)]
    requests_per_minute: Option<Limit>,
    /// The most tokens per minute, or none
    #[arg(long, value_name = "N|none", value_parser = parse_limit::<1>, allow_negative_numbers = true)]
    tokens_per_minute: Option<Limit>,
    /// The most concurrent calls, or none
    #[arg(long, value_name = "N|none", value_parser = parse_limit::<1>, allow_negative_numbers = true)]
    concurrent: Option<Limit>,
}

impl SetArgs {
    pub(crate) fn changes(&self) -> LimitChanges {
        let change = |limit: Option<Limit>| {
            limit.map_or(FieldChange::Keep, |Limit(limit)| match limit {
                // The parser has checked the range.
                Some(limit) => FieldChange::Set(i32::try_from(limit).unwrap_or(i32::MAX)),
                None => FieldChange::Clear,
            })
        };
        LimitChanges {
            requests_per_minute: change(self.requests_per_minute),
            tokens_per_minute: change(self.tokens_per_minute),
            concurrent_calls: change(self.concurrent),
        }
    }
}

/// A number, or none for no limit. It has a type of its own, because clap takes an `Option` for an optional argument.
#[derive(Clone, Copy)]
pub(crate) struct Limit(pub(crate) Option<i64>);

fn parse_limit<const LEAST: i64>(text: &str) -> Result<Limit, String> {
    if is_no_limit(text) {
        return Ok(Limit(None));
    }
    match text.parse() {
        Ok(limit) if (LEAST..=MOST).contains(&limit) => Ok(Limit(Some(limit))),
        _ => Err(format!("write a whole number from {LEAST} to {MOST}, or none")),
    }
}

/// The largest limit, which is that of the narrowest column.
const MOST: i64 = i32::MAX as i64;
