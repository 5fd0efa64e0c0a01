//! The outcome of learning: a ranking, the figures that speak for or against it, and the decision.

use std::fmt;

use htm_core::ranking::Learnt;
use serde::{Deserialize, Serialize};

use crate::bootstrap::Gain;

/// The outcome of [`learn`](crate::learn).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The ranking, learnt from all recalls. The one that learning started from, if too few were judged.
    pub learnt: Learnt,
    /// Its figures, from recalls that it was not learnt from.
    pub figures: Figures,
    /// Whether it should replace the ranking that learning started from.
    pub adopted: bool,
    /// The reason.
    pub reason: Reason,
}

/// The figures of a learnt ranking. Qualities are means over tested recalls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// The number of recalls that were given.
    pub given: usize,
    /// The number of recalls that say something about the order: a candidate was used.
    pub judged: usize,
    /// The number of blocks.
    pub blocks: usize,
    /// The number of authors.
    pub authors: usize,
    /// The number of recalls that the last tested ranking was learnt from.
    pub trained_on: usize,
    /// The number of recalls that were tested.
    pub tested_on: usize,
    /// nDCG of the first ten before, of the candidates that were shown or judged.
    pub ndcg_before: f64,
    /// nDCG of the first ten by the learnt ranking.
    pub ndcg_after: f64,
    /// Recall of the first ten before. It is 1 if only what was shown could be used.
    pub recall_before: f64,
    /// Recall of the first ten by the learnt ranking.
    pub recall_after: f64,
    /// The gain in nDCG.
    pub gain: Gain,
    /// The gain of trees in nDCG, over weights alone; none if they were not tried.
    pub gain_of_trees: Option<Gain>,
}

/// The reason for a decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reason {
    /// It is better beyond doubt.
    Better {
        /// The lower bound of the gain in nDCG.
        low: f64,
    },
    /// Too few recalls were judged.
    TooFew {
        /// The number of recalls with a used candidate.
        judged: usize,
        /// The number that is needed.
        needed: usize,
    },
    /// The gain may be by chance.
    Doubtful {
        /// The gain in nDCG.
        gain: f64,
        /// Its lower bound.
        low: f64,
    },
    /// Too many used memories would leave the first ten.
    LosesRecall {
        /// The change of recall.
        change: f64,
    },
    /// It is worse for an author.
    WorseFor {
        /// The author.
        author: String,
        /// The change of nDCG in the author's recalls.
        change: f64,
    },
    /// It is better for one author, and not beyond doubt for the others.
    DependsOn {
        /// The author.
        author: String,
        /// The gain in nDCG in the recalls of all others.
        gain: f64,
    },
    /// The ranking that learning started from cannot be used by this program.
    Unusable {
        /// The reason.
        reason: String,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Better { low } => {
                write!(f, "better by at least {low:.3} nDCG on recalls that it was not learnt from")
            }
            Self::TooFew { judged, needed } => {
                write!(
                    f,
                    "{judged} judged recalls have a used memory, and {needed} are needed: judge more of them"
                )
            }
            Self::Doubtful { gain, low } => {
                write!(
                    f,
                    "the gain of {gain:.3} nDCG may be by chance (at least {low:.3}): judge more recalls"
                )
            }
            Self::LosesRecall { change } => {
                write!(f, "recall of the first ten would change by {change:.3}, although the order is better")
            }
            Self::WorseFor { author, change } => {
                write!(
                    f,
                    "nDCG would change by {change:.3} in the recalls of {author}: look at what it judged, or leave it out"
                )
            }
            Self::DependsOn { author, gain } => {
                write!(
                    f,
                    "without the recalls of {author}, the gain is {gain:.3} nDCG, which may be by chance: judge more recalls as others"
                )
            }
            Self::Unusable { reason } => write!(f, "the ranking to start from cannot be used: {reason}"),
        }
    }
}
