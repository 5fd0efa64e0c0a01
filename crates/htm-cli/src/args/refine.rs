//! Arguments that refine a recall.

use clap::Args;
use serde::{Deserialize, Serialize};

#[derive(Args, Serialize, Deserialize)]
pub(crate) struct RefineArgs {
    /// Reorder the first candidates (rerank.top) with a re-ranker (rerank.provider)
    #[arg(long)]
    pub(crate) rerank: bool,
    /// Prefer diverse hits: 0 (score only) to 1 (novelty only), for example 0.3
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) diversity: Option<f64>,
    /// Show near-duplicates as one hit, with the other ids
    #[arg(long)]
    pub(crate) fold: bool,
    /// Show one hit a document: its best passage, with the ids of the others
    #[arg(long)]
    pub(crate) fold_documents: bool,
    /// Also show N memories before and after each hit in its conversation or document, 0 to 10; none with
    /// --as-of
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) neighbours: usize,
    /// Also search for rephrasings of the query, by a language model (expansion.provider)
    #[arg(long)]
    pub(crate) expand: bool,
}
