//! Arguments that refine a recall.

use clap::Args;

#[derive(Args)]
pub(crate) struct RefineArgs {
    /// Order the first candidates by a re-ranker (rerank.provider), which reads query and text together
    #[arg(long)]
    pub(crate) rerank: bool,
    /// Prefer hits that differ: 0 (relevance only) to 1 (novelty only), for example 0.3
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) diversity: Option<f64>,
    /// Show near-duplicates as one hit, with the other ids
    #[arg(long)]
    pub(crate) fold: bool,
    /// Also search for other phrasings of the query, by a language model (expansion.provider)
    #[arg(long)]
    pub(crate) expand: bool,
}
