//! Arguments of `htm models` and `htm backfill`.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{Args, Subcommand, value_parser};
use htm_core::Stage;
use htm_core::models::VectorIndex;

use super::words::{Words, stage};

#[derive(Subcommand)]
pub(crate) enum ModelsCommand {
    /// List the embedding models: state, queue, completeness
    List(ListModelsArgs),
    /// Fetch a local model from the Hugging Face hub
    Pull(PullArgs),
    /// Register another model; it also embeds all later writes
    Add(AddArgs),
    /// Embed existing memories with a model, and build its index
    Backfill(ModelBackfillArgs),
    /// Compare two models: the overlap of their first 10 vector hits
    Compare(CompareArgs),
    /// Use a model for recall; the previous one stays on standby
    Activate(ActivateArgs),
    /// Show the kinds of a vector index, or change a model's
    Index(IndexArgs),
    /// Stop writing to a model, and delete its open jobs and dead letters
    Retire(RetireArgs),
}

#[derive(Args)]
pub(crate) struct ListModelsArgs {
    /// The models of the hub that are known to run, with their sizes and their prefixes
    #[arg(long)]
    pub(crate) known: bool,
}

#[derive(Args)]
#[command(
    after_help = "Only the files that HTM needs are fetched, and each is checked. A pull that was interrupted is continued by \
the next one. HF_ENDPOINT names another hub; HF_TOKEN, or the file HF_TOKEN_PATH, has a token.

Examples:
  htm models list --known
  htm models pull BAAI/bge-small-en-v1.5
  htm models pull intfloat/multilingual-e5-small --name e5 --revision main"
)]
pub(crate) struct PullArgs {
    /// The model on the hub
    #[arg(value_name = "OWNER/NAME")]
    pub(crate) repository: String,
    /// A branch, a tag or a commit
    #[arg(long, value_name = "R", default_value = "main")]
    pub(crate) revision: String,
    /// Its name here. Default: NAME
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The hub. Default: HF_ENDPOINT, else the public one
    #[arg(long, value_name = "URL")]
    pub(crate) endpoint: Option<String>,
}

#[derive(Args)]
#[command(after_help = "Examples:
  htm models add ollama/nomic-embed-text
  htm models add openai/text-embedding-3-large --dimensions 1024
  htm models add caller/mine --dimensions 384    # its vectors come with the writes")]
pub(crate) struct AddArgs {
    /// The provider (local, ollama, openai, fake, caller) and name
    #[arg(value_name = "PROVIDER/NAME")]
    pub(crate) model: String,
    /// The dimensions of its vectors, 1 to 4000. Default: the provider's
    #[arg(long, value_name = "D", value_parser = value_parser!(u16).range(1..=4_000))]
    pub(crate) dimensions: Option<u16>,
}

#[derive(Args)]
pub(crate) struct ModelBackfillArgs {
    /// The model, see `htm models list`
    pub(crate) label: String,
    #[command(flatten)]
    pub(crate) options: BackfillOptions,
}

#[derive(Args)]
#[command(
    after_help = "A file has a query {\"id\", \"ns\", \"text\"} on each line, as for `htm recall --batch`. Without \
queries, the first sentences of 50 random memories are used."
)]
pub(crate) struct CompareArgs {
    /// One model, see `htm models list`
    pub(crate) a: String,
    /// The other
    pub(crate) b: String,
    /// The queries
    #[arg(value_name = "QUERY")]
    pub(crate) queries: Vec<String>,
    /// Read the queries from a file; `-` reads standard input
    #[arg(long, value_name = "QUERIES.jsonl", conflicts_with = "queries")]
    pub(crate) file: Option<PathBuf>,
    /// The namespace to search
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
}

#[derive(Args)]
pub(crate) struct ActivateArgs {
    /// The model, see `htm models list`
    pub(crate) label: String,
    /// Activate it even if vector search then misses memories that it finds now
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args)]
#[command(
    after_help = "Recall goes on while an index is built, and uses the old one until the new one is ready. A further model \
gets the kind of the active one. `htm recall --strategy vector --explain` shows which search was made.

Examples:
  htm models index                                            the kinds that the database can build
  htm models index local/all-MiniLM-L6-v2 --kind hnsw_binary  a smaller index
  htm models index local/all-MiniLM-L6-v2 --kind diskann      needs the extension vectorscale
  htm models index local/all-MiniLM-L6-v2 --kind none         compare all vectors, always"
)]
pub(crate) struct IndexArgs {
    /// The model, see `htm models list`
    #[arg(requires = "kind")]
    pub(crate) label: Option<String>,
    /// The new kind: hnsw, hnsw_binary, diskann, vchordrq or none
    #[arg(long, value_name = "KIND", requires = "label", hide_possible_values = true,
          value_parser = Words(&["hnsw", "hnsw_binary", "diskann", "vchordrq", "none"])
              .try_map(|text| text.parse::<VectorIndex>()))]
    pub(crate) kind: Option<VectorIndex>,
}

#[derive(Args)]
pub(crate) struct RetireArgs {
    /// The model, see `htm models list`
    pub(crate) label: String,
    /// Also delete its vectors
    #[arg(long)]
    pub(crate) drop: bool,
    /// Confirm the deletion
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Args)]
#[command(
    after_help = "An interrupted backfill continues when it is started again. New memories always go first.

Examples:
  htm backfill embed                           embed memories missing from the active model
  htm backfill tag --prompt-version            retag memories tagged by another prompt or model
  htm backfill tag --force --since 2026-03-01  tag everything again
  htm backfill tag --dry-run                   only count"
)]
pub(crate) struct BackfillArgs {
    /// The stage: embed or tag
    #[arg(value_parser = stage(), hide_possible_values = true)]
    pub(crate) stage: Stage,
    /// The embedding model, see `htm models list`. Default: the active one
    #[arg(long, value_name = "LABEL")]
    pub(crate) model: Option<String>,
    /// Only memories tagged by another prompt version or model; manual tags stay. Default: the configured tagger's
    /// version
    #[arg(long, value_name = "V", num_args = 0..=1, require_equals = true, conflicts_with = "force")]
    pub(crate) prompt_version: Option<Option<String>>,
    #[command(flatten)]
    pub(crate) options: BackfillOptions,
}

#[derive(Args)]
pub(crate) struct BackfillOptions {
    /// Only this namespace
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
    /// Only memories since this: a date, an RFC 3339 time, or words (3 months ago, last year), each taken at its start in
    /// time.zone
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Also memories that have their result
    #[arg(long)]
    pub(crate) force: bool,
    /// Only count the jobs
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The most queued jobs of this backfill at once
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = value_parser!(u64).range(1..))]
    pub(crate) max_queued: u64,
    /// Enqueue up to --max-queued jobs and return, without waiting
    #[arg(long)]
    pub(crate) no_wait: bool,
}
