//! The fit of a ranking.

use htm_core::RankingFigures;
use htm_core::ranking::Learnt;
use htm_core::worker::learning::{Evidence, LearntRanking};
use htm_learning::{JudgedCandidate, JudgedRecall, Options, Outcome, Reason, Verdict, learn};

/// Fits a ranking to evidence; none if there is too little.
pub fn fit(evidence: &Evidence) -> Option<LearntRanking> {
    let recalls: Vec<JudgedRecall> = evidence
        .recalls
        .iter()
        .map(|recall| JudgedRecall {
            id: recall.recall,
            author: recall.author.clone(),
            block: None,
            at: recall.at,
            candidates: recall.candidates.iter().map(candidate).collect(),
            missed: recall.missed,
        })
        .collect();
    if recalls.is_empty() {
        return None;
    }
    // A ranking is always compared with the default one, so that it cannot drift away from it step by step.
    let outcome = learn(&recalls, &Learnt::default_ranking(), &Options::default());
    // Erased and ended recalls were counted when it was asked for.
    (!matches!(outcome.reason, Reason::TooFew { .. })).then(|| ranking(outcome))
}

fn candidate(candidate: &htm_core::worker::learning::JudgedCandidate) -> JudgedCandidate {
    let verdict = match candidate.is_used {
        Some(true) => Verdict::Used(1.0),
        Some(false) => Verdict::Useless,
        None => Verdict::Unknown,
    };
    JudgedCandidate { features: candidate.features, shown: candidate.shown, verdict }
}

fn ranking(outcome: Outcome) -> LearntRanking {
    let Outcome { learnt, figures, adopted, reason } = outcome;
    let whole = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    LearntRanking {
        ranking: learnt,
        figures: RankingFigures {
            judged: whole(figures.judged),
            blocks: whole(figures.blocks),
            authors: whole(figures.authors),
            tested_on: whole(figures.tested_on),
            ndcg_default: figures.ndcg_before,
            ndcg: figures.ndcg_after,
            recall_default: figures.recall_before,
            recall: figures.recall_after,
            gain_low: figures.gain.low,
            gain_high: figures.gain.high,
            confidence: figures.gain.confidence,
        },
        adopted,
        reason: reason.to_string(),
    }
}
