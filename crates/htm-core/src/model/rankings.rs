//! Learnt rankings: their evaluation, their choice, and trials of them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::model::error::{Error, codes};

/// The version of the default ranking.
pub(crate) const DEFAULT_RANKING: i32 = 0;

/// The ranking that ordered the hits.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RankingUsed {
    /// Its version; 0 is the default ranking.
    pub version: i32,
    /// The reason why the default ranking stood in for the chosen version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    /// The version that was mixed in, if two rankings are compared on live recalls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interleaved_with: Option<i32>,
    /// The weights of a learnt ranking, if an explanation was requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<RankingWeight>,
}

/// How a ranking is tried on live recalls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[derive(strum::AsRefStr, strum::Display, strum::EnumString, strum::IntoStaticStr, strum::VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", parse_err_ty = Error, parse_err_fn = no_trial)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum TrialKind {
    /// The hits stay as they are. It is counted how often the tried ranking would have shown others.
    Shadow,
    /// The hits of both rankings are mixed by team draft (Radlinski, Kurup and Joachims 2008), and feedback decides.
    Interleaved,
}

fn no_trial(name: &str) -> Error {
    let message = format!("`{name}` is not a way to try a ranking");
    Error::new(codes::LEARNING_INVALID, message).with_hint("use shadow or interleaved")
}

/// A ranking that is tried on live recalls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Trial {
    /// The version.
    pub version: i32,
    /// The way.
    pub kind: TrialKind,
}

/// The evaluation of a ranking, on recalls that it was not fitted to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RankingFigures {
    /// The judged recalls that it was learnt from.
    pub judged: u32,
    /// Their blocks: an author's recalls of an hour each.
    pub blocks: u32,
    /// Their authors.
    pub authors: u32,
    /// The recalls of blocks that were left out of a fit, on which it was evaluated.
    pub tested_on: u32,
    /// nDCG at ten of the default ranking on these.
    pub ndcg_default: f64,
    /// nDCG at ten of the learnt ranking.
    pub ndcg: f64,
    /// Recall at ten of the default ranking.
    pub recall_default: f64,
    /// Recall at ten of the learnt ranking.
    pub recall: f64,
    /// The lower end of the bootstrap interval of the gain in nDCG.
    pub gain_low: f64,
    /// Its upper end.
    pub gain_high: f64,
    /// The confidence of the interval, such as 0.95.
    pub confidence: f64,
}

/// A feature's weight.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RankingWeight {
    /// The feature.
    pub feature: &'static str,
    /// The feature in words.
    pub about: &'static str,
    /// Its weight by default: what it adds to a score at most, about.
    pub by_default: f64,
    /// Its weight in this ranking.
    pub weight: f64,
}

/// A learnt ranking of a namespace.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RankingInfo {
    /// The namespace.
    pub namespace: String,
    /// Its version, from 1.
    pub version: i32,
    /// Whether it orders the hits now.
    pub is_active: bool,
    /// Whether its evaluation was good enough for it to be used at once.
    pub was_adopted: bool,
    /// The reason, for people.
    pub reason: String,
    /// When it was learnt.
    pub made_at: DateTime<Utc>,
    /// Its evaluation.
    pub figures: RankingFigures,
    /// The number of its trees.
    pub trees: usize,
    /// The weights that are not 0, or were not 0 by default.
    pub weights: Vec<RankingWeight>,
    /// The reason why this program cannot use it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unusable: Option<String>,
}

/// A change of the version that orders the hits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RankingChoice {
    /// The version since then; 0 is the default ranking.
    pub version: i32,
    /// The version before.
    pub former: i32,
    /// When it was chosen.
    pub chosen_at: DateTime<Utc>,
    /// The person or program that chose it.
    pub chosen_by: String,
    /// The reason.
    pub reason: String,
}

/// The rankings of a namespace.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Rankings {
    /// The namespace that they belong to: the one asked for, or the one that it learns with.
    pub namespace: String,
    /// The version that orders hits; 0 is the default ranking.
    pub active: i32,
    /// The version that is tried on live recalls.
    pub trial: Option<Trial>,
    /// The learnt ones, the newest first.
    pub rankings: Vec<RankingInfo>,
    /// The last 20 changes of the active version, the newest first.
    pub choices: Vec<RankingChoice>,
}

/// How two rankings compare on live recalls.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RankingComparison {
    /// The tried version.
    pub version: i32,
    /// Recalls on which it ran in the shadow.
    pub shadowed: i64,
    /// Of these, those on which it would have shown other hits among the first ten, or another order.
    pub differing: i64,
    /// Interleaved recalls that were judged.
    pub interleaved: i64,
    /// Of these, those with more used hits of the tried version.
    pub wins: i64,
    /// Those with fewer.
    pub losses: i64,
    /// The probability of a difference at least as large by chance, if both were equally good: a two-sided sign test.
    pub by_chance: Option<f64>,
    /// The verdict, for people.
    pub verdict: String,
}

impl RankingComparison {
    /// Adds the test and the verdict to the counts. `other` answered beside the tried version; `earlier` recalls had
    /// another one there, and do not count.
    pub(crate) fn judged(mut self, other: Option<i32>, earlier: i64) -> Self {
        let (version, wins, losses) = (self.version, self.wins, self.losses);
        let than = other.map(|other| format!(" than version {other}")).unwrap_or_default();
        self.by_chance = (wins + losses > 0).then(|| sign_test(wins, losses));
        self.verdict = match self.by_chance {
            None if self.shadowed > 0 => {
                format!("it would have changed {} of {} recalls", self.differing, self.shadowed)
            }
            None => "nothing is known yet".into(),
            Some(chance) if chance > 0.05 => format!("undecided: {wins} to {losses} (p = {chance:.3})"),
            Some(chance) => {
                let how = if wins > losses { "better" } else { "worse" };
                format!("version {version} is {how}{than}: {wins} to {losses} (p = {chance:.3})")
            }
        };
        if let Some(other) = other.filter(|_| earlier > 0) {
            let others =
                format!("; not counted, because another version than {other} answered beside it: {earlier}");
            self.verdict.push_str(&others);
        }
        self
    }
}

pub(crate) fn ranking_unknown(namespace: &str, version: i32) -> Error {
    Error::new(codes::RANKING_UNKNOWN, format!("namespace `{namespace}` has no ranking of version {version}"))
}

/// The probability of so uneven a result if each side wins with the same probability, two-sided.
fn sign_test(wins: i64, losses: i64) -> f64 {
    let (count, fewer) = (wins + losses, wins.min(losses));
    // The logarithm of the probability of k wins, by that of one win less.
    let mut exactly = -(count as f64) * 2_f64.ln();
    let mut tail = exactly.exp();
    for k in 1..=fewer {
        exactly += ((count - k + 1) as f64 / k as f64).ln();
        tail += exactly.exp();
    }
    (2.0 * tail).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_uneven_result_is_not_by_chance() {
        // 2 (1 + 10) / 2^10
        assert!((sign_test(9, 1) - 22.0 / 1_024.0).abs() < 1e-12);
        assert_eq!(sign_test(5, 5), 1.0);
        assert!((sign_test(500_000, 502_000) - 0.045_825).abs() < 1e-6);
        let verdict = |wins, losses| {
            RankingComparison { version: 3, wins, losses, ..RankingComparison::default() }
                .judged(Some(2), 0)
                .verdict
        };
        assert!(
            verdict(30, 10).starts_with("version 3 is better than version 2")
                && verdict(10, 30).contains("worse")
        );
        assert!(verdict(6, 5).starts_with("undecided"));
        let earlier = RankingComparison::default().judged(Some(2), 23).verdict;
        assert!(
            earlier.ends_with("; not counted, because another version than 2 answered beside it: 23"),
            "{earlier}"
        );
    }
}
