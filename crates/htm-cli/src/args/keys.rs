//! Arguments of `htm keys` and `htm audit`.

use std::time::Duration;

use clap::builder::TypedValueParser;
use clap::{Args, Subcommand};
use htm_core::Role;

use super::words::Words;
use crate::duration::parse_duration;

#[derive(Subcommand)]
pub(crate) enum KeysCommand {
    /// Create a key, and print it once
    Create(CreateKeyArgs),
    /// List keys
    List,
    /// Revoke a key
    Revoke(RevokeKeyArgs),
}

#[derive(Args)]
#[command(after_help = "The key is printed once. The database has only its hash.

Roles: a reader recalls and reads; a writer also remembers, edits, forgets and restores; an admin also changes the ontology, policies, jobs and keys, and purges and erases.

Examples:
  htm keys create --role admin
  htm keys create --namespace atlas --role reader --expires 90d
  htm keys create --namespace 'tenant-7/*' --role writer --robot ada --requests-per-minute 600")]
pub(crate) struct CreateKeyArgs {
    /// A namespace of the key; 'tenant-7/*' are all below tenant-7 (may be repeated; default: all)
    #[arg(long = "namespace", value_name = "NAMESPACE")]
    pub(crate) namespaces: Vec<String>,
    /// The role of its holder: reader, writer or admin
    #[arg(long, hide_possible_values = true,
          value_parser = Words(&["reader", "writer", "admin"]).try_map(|text| parse_role(&text)))]
    pub(crate) role: Role,
    /// The robot of its requests (default: each request names its own)
    #[arg(long)]
    pub(crate) robot: Option<String>,
    /// A name for people
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The time until it expires: 12h, 90d (default: never)
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) expires: Option<Duration>,
    /// The most requests a minute, over all servers (default: no limit)
    #[arg(long, value_name = "N")]
    pub(crate) requests_per_minute: Option<i32>,
}

fn parse_role(text: &str) -> Result<Role, String> {
    text.parse().map_err(|_| "write reader, writer or admin".into())
}

#[derive(Args)]
#[command(after_help = "Servers refuse it within a second. It stays in the list.

Example:
  htm keys revoke 0f3a5c7e9b1d")]
pub(crate) struct RevokeKeyArgs {
    /// The visible part of the key, its first 12 digits after htm_; or the whole key
    pub(crate) id: String,
}

#[derive(Args)]
#[command(
    after_help = "The log has changes of keys, limits, policies, robots, models and the ontology, and deletions.

Example:
  htm audit --limit 20"
)]
pub(crate) struct AuditArgs {
    /// The number of entries, 1 to 10000
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) limit: usize,
}
