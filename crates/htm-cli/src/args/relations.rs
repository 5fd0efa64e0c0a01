//! Arguments of `htm relate`, `htm unrelate` and `htm related`.

use clap::Args;
use clap::builder::TypedValueParser;
use htm_core::{NodeId, RelatedBy, RelationKind};
use strum::VariantNames;

use super::memories::CallerArgs;
use super::words::{Words, with_hint};

#[derive(Args)]
#[command(
    after_help = "A superseded memory is still found. Recall names the memory that supersedes it, and ranks it behind that \
one. The robot must have remembered the first memory. Saying it again changes nothing.

Examples:
  htm relate 42 supersedes 17 --reason \"the vendor certified 18\"
  htm relate 42 contradicts 23"
)]
pub(crate) struct RelateArgs {
    #[command(flatten)]
    pub(crate) relation: RelationArgs,
    /// The reason
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) caller: CallerArgs,
}

#[derive(Args)]
#[command(after_help = "Example:\n  htm unrelate 42 supersedes 17")]
pub(crate) struct UnrelateArgs {
    #[command(flatten)]
    pub(crate) relation: RelationArgs,
    #[command(flatten)]
    pub(crate) caller: CallerArgs,
}

/// A relation between two memories.
#[derive(Args)]
pub(crate) struct RelationArgs {
    /// The id of the memory that supersedes or contradicts
    pub(crate) from: NodeId,
    /// supersedes or contradicts
    #[arg(hide_possible_values = true,
          value_parser = Words(RelationKind::VARIANTS).try_map(|text| text.parse::<RelationKind>().map_err(with_hint)))]
    pub(crate) kind: RelationKind,
    /// The id of the other memory
    pub(crate) to: NodeId,
}

#[derive(Args)]
#[command(
    after_help = "Near-duplicates are derived from the vectors, shared_tags from tags of at most 20 memories. Nothing is \
stored for them, and no language model is called.

Examples:
  htm related 42
  htm related 42 --kind superseded_by --json"
)]
pub(crate) struct RelatedArgs {
    /// The node's id
    pub(crate) node: NodeId,
    /// Its namespace; a memory of another one is not found
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
    /// Only relations of this kind: supersedes, superseded_by, contradicts, near_duplicate or shared_tags
    #[arg(long, value_name = "KIND", hide_possible_values = true,
          value_parser = Words(RelatedBy::VARIANTS).try_map(|text| text.parse::<RelatedBy>().map_err(with_hint)))]
    pub(crate) kind: Option<RelatedBy>,
    /// The most memories of each kind, 1 to 10000
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) limit: usize,
}
