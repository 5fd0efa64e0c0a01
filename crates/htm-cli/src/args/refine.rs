//! What refines a recall.

use clap::Args;

#[derive(Args)]
pub(crate) struct RefineArgs {
    /// Let a re-ranker order the first candidates, which reads query and text together (rerank.provider says which)
    #[arg(long)]
    pub(crate) cross_encode: bool,
    /// Hits that differ from one another: 0 (only relevance counts) to 1 (only novelty), as 0.3
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) diversity: Option<f64>,
    /// Show near-duplicates as one hit, with the ids of the others
    #[arg(long)]
    pub(crate) fold: bool,
    /// Search for other phrasings of the query too, as a language model says them (expansion.provider says which)
    #[arg(long)]
    pub(crate) expand: bool,
}
