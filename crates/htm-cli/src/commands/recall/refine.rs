//! The refinement of a recall: the arguments, and the text for people.

use htm_core::{Hit, RecallQuery, Recalled};
use htm_runtime::Runtime;

use crate::args::RefineArgs;
use crate::output::one_line;

/// `query` with the refinements of the command line.
pub(super) fn refined(query: RecallQuery, args: &RefineArgs) -> RecallQuery {
    RecallQuery {
        rerank: args.rerank,
        diversity: args.diversity,
        fold: args.fold,
        fold_documents: args.fold_documents,
        neighbours: args.neighbours,
        expand: args.expand,
        ..query
    }
}

/// Checks the settings of the requested steps. Here their errors can be fixed. A recall would only skip the step.
pub(super) fn check(runtime: &Runtime, query: &RecallQuery) -> htm_core::Result<()> {
    if query.rerank {
        runtime.reranker()?;
    }
    if query.expand {
        runtime.expander()?;
    }
    Ok(())
}

/// Whether a hit's vector is of a former text, the re-ranker's score, and the hits that are folded into it.
pub(super) fn describe_hit(hit: &Hit) -> String {
    let stale = hit.scores.stale.then(|| ", the vector of its former text".to_owned());
    let reranked = hit.scores.reranked.map(|score| format!("  re-ranked {score:.3}"));
    let folded = hit.folded.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let folded = (!folded.is_empty()).then(|| format!("  folded {folded}"));
    [stale, reranked, folded].into_iter().flatten().collect()
}

/// The phrasings that were searched too, and the times of the expansion and the re-ranking.
pub(super) fn describe(recalled: &Recalled) -> String {
    let mut text = String::new();
    if recalled.rerank_ms > 0.0 {
        text.push_str(&format!("; re-ranking {:.1} ms", recalled.rerank_ms));
    }
    if !recalled.expansions.is_empty() {
        let phrasings = recalled.expansions.iter().map(|phrasing| format!("`{}`", one_line(phrasing, 120)));
        let phrasings = phrasings.collect::<Vec<_>>().join(", ");
        text.push_str(&format!("\nalso searched for {phrasings} (rephrasing {:.1} ms)", recalled.expand_ms));
    }
    text
}
