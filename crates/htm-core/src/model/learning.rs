//! Learning: what a namespace keeps of its recalls, feedback, and the rankings that were learnt.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::model::error::{Error, Result, codes};
use crate::model::id::NodeId;
use crate::model::rank::{FEATURES, Learnt, scale};

/// The most memories that one feedback names.
pub(crate) const MAX_JUDGED: usize = 100;
/// The most recalls that an author judges in a day.
pub(crate) const MAX_RECALLS_A_DAY: i64 = 2_000;
/// The name of the last recall of whoever gives feedback.
pub(crate) const LAST_RECALL: &str = "last";
/// The judged recalls from which an author that finds nothing of use is named.
pub(crate) const REFUSES_FROM: i64 = 20;
/// The version of the default ranking.
pub(crate) const DEFAULT_RANKING: i32 = 0;
/// The characters of a recall's id: a ULID.
const ID_LENGTH: usize = 26;

/// A sign that a memory of a recall was used, or was not. Beside what is told, signals are of the same author, within
/// half an hour after the recall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[derive(strum::AsRefStr, strum::Display, strum::EnumString, strum::IntoStaticStr, strum::VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", parse_err_ty = Error, parse_err_fn = no_signal)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Signal {
    /// The memory was got by its id: it was used.
    Read,
    /// The memory was edited: it was used.
    Edited,
    /// The memory was forgotten: it was useless.
    Forgotten,
    /// A text that was remembered next repeats five words in a row of it: it was used.
    Cited,
}

impl Signal {
    /// All of them.
    pub const ALL: [Signal; 4] = [Signal::Read, Signal::Edited, Signal::Forgotten, Signal::Cited];

    pub(crate) fn is_use(self) -> bool {
        self != Self::Forgotten
    }
}

fn no_signal(name: &str) -> Error {
    let message = format!("`{name}` is not a signal");
    Error::new(codes::LEARNING_INVALID, message).with_hint("use read, edited, forgotten or cited")
}

/// What a namespace keeps of its recalls, and for how long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LearningSettings {
    /// Whether recalls are kept, so that they can be judged. A ranking in use stays in use without it.
    pub is_on: bool,
    /// The namespace whose ranking it shares; none: its own. Feedback of namespaces that share a ranking is put together.
    pub learns_with: Option<String>,
    /// Whether the texts of queries are kept too.
    pub keeps_text: bool,
    /// The days for which a judged recall is kept, 1 to 3,650. One that nobody judges is kept for a day.
    pub keep_days: i32,
    /// The number of recalls with a used memory from which a ranking is learnt, 20 to 100,000. It is learnt again when a
    /// fifth more are there.
    pub least: i32,
    /// The signals that count beside what is told.
    pub signals: Vec<Signal>,
}

impl Default for LearningSettings {
    fn default() -> Self {
        Self {
            is_on: false,
            learns_with: None,
            keeps_text: false,
            keep_days: 90,
            least: 100,
            signals: Vec::new(),
        }
    }
}

impl LearningSettings {
    /// Checks the ranges.
    ///
    /// # Errors
    /// `learning_invalid`.
    pub fn validate(&self) -> Result<()> {
        let refuse = |what: &str, value: i32, range: &str| {
            Err(Error::new(codes::LEARNING_INVALID, format!("{what} of {value} is outside {range}")))
        };
        if !(1..=3_650).contains(&self.keep_days) {
            return refuse("a time", self.keep_days, "1 to 3,650 days");
        }
        if !(20..=100_000).contains(&self.least) {
            return refuse("a number", self.least, "20 to 100,000 judged recalls");
        }
        Ok(())
    }
}

/// What was used of a recall, and what was useless.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Feedback {
    /// The memories that were used.
    pub used: Vec<NodeId>,
    /// The memories that were useless.
    pub useless: Vec<NodeId>,
}

impl Feedback {
    /// Checks that it names memories, none of them twice.
    ///
    /// # Errors
    /// `feedback_invalid`.
    pub fn validate(&self) -> Result<()> {
        let refuse = |message: String| Err(Error::new(codes::FEEDBACK_INVALID, message));
        let mut named: Vec<NodeId> = self.used.iter().chain(&self.useless).copied().collect();
        match named.len() {
            0 => return refuse("the feedback names no memory".into()),
            count if count > MAX_JUDGED => {
                return refuse(format!("{count} memories are more than the {MAX_JUDGED} of one feedback"));
            }
            _ => {}
        }
        named.sort();
        match named.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => refuse(format!("memory {} is named twice", pair[0])),
            None => Ok(()),
        }
    }
}

/// The receipt of a feedback.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FeedbackReceipt {
    /// The recall.
    pub recall: String,
    /// The memories that are recorded as used.
    pub used: usize,
    /// The memories that are recorded as useless.
    pub useless: usize,
    /// Named memories that the recall did not consider. Nothing can be learnt of them.
    pub not_considered: Vec<NodeId>,
    /// Recalls with a used memory so far, of all namespaces that learn together.
    pub judged: i64,
    /// Whether this feedback has asked for a new ranking.
    pub learns: bool,
}

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
    /// What it weighs, of a learnt ranking, if an explanation was requested.
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
    /// Their sessions.
    pub sessions: u32,
    /// Their authors.
    pub authors: u32,
    /// The recalls of sessions that were left out of a fit, on which it was evaluated.
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
    /// What the feature is.
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
    /// Who chose it.
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
    /// Adds the test and the verdict to the counts.
    pub(crate) fn judged(mut self) -> Self {
        let decided = self.wins + self.losses;
        self.by_chance = (decided > 0).then(|| sign_test(self.wins, self.losses));
        self.verdict = match self.by_chance {
            None if self.shadowed > 0 => {
                format!("it would have changed {} of {} recalls", self.differing, self.shadowed)
            }
            None => "nothing is known yet".into(),
            Some(chance) if chance > 0.05 => {
                format!("undecided: {} to {} (p = {chance:.3})", self.wins, self.losses)
            }
            Some(chance) if self.wins > self.losses => {
                format!(
                    "version {} is better: {} to {} (p = {chance:.3})",
                    self.version, self.wins, self.losses
                )
            }
            Some(chance) => {
                format!(
                    "version {} is worse: {} to {} (p = {chance:.3})",
                    self.version, self.wins, self.losses
                )
            }
        };
        self
    }
}

/// An author of feedback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FeedbackAuthor {
    /// A key or a robot.
    pub author: String,
    /// The recalls that it judged.
    pub recalls: i64,
    /// Memories that it used.
    pub used: i64,
    /// Memories that it found useless.
    pub useless: i64,
}

impl FeedbackAuthor {
    /// Whether it judges much and finds nothing of use. What it says is kept, and moves nothing.
    pub fn only_refuses(&self) -> bool {
        self.used == 0 && self.recalls >= REFUSES_FROM
    }
}

/// What is wrong with the learning of a namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LearningProblem {
    /// An author judges much and finds nothing of use. What it says is kept, and moves nothing.
    OnlyRefuses {
        /// The namespace.
        namespace: String,
        /// The author.
        author: String,
        /// The recalls that it judged.
        recalls: i64,
    },
    /// The chosen ranking is not used; the default ranking stands in.
    Unusable {
        /// The namespace.
        namespace: String,
        /// The version of the ranking.
        version: i32,
        /// The reason.
        reason: String,
    },
}

/// The state of a namespace's learning.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Learning {
    /// The namespace.
    pub namespace: String,
    /// Its settings.
    pub settings: LearningSettings,
    /// The version that orders its hits; 0 is the default ranking.
    pub version: i32,
    /// Recalls that are kept.
    pub kept: i64,
    /// Of these, those with a used memory, of all namespaces that learn together.
    pub judged: i64,
    /// The number of judged recalls at which a ranking is learnt next.
    pub learns_at: i64,
    /// Who gave feedback, the most active first; at most 20.
    pub authors: Vec<FeedbackAuthor>,
}

impl Learnt {
    /// The weights that are not 0, or are not by default, those that differ most first.
    pub(crate) fn described(&self) -> Vec<RankingWeight> {
        let default = Learnt::default_ranking();
        let weights = self.weights.iter().zip(default.weights).zip(FEATURES);
        let mut described: Vec<RankingWeight> = weights
            .enumerate()
            .map(|(at, ((weight, by_default), (feature, about)))| {
                let scale = scale(at);
                RankingWeight { feature, about, by_default: scale * by_default, weight: scale * weight }
            })
            .filter(|it| it.weight.abs() >= 0.005 || it.by_default != 0.0)
            .collect();
        described.sort_by(|a, b| {
            let moved = |it: &RankingWeight| (it.weight - it.by_default).abs();
            moved(b).total_cmp(&moved(a))
        });
        described
    }
}

/// Checks the form of a recall's id.
pub(crate) fn validate_recall_id(id: &str) -> Result<()> {
    match id.len() == ID_LENGTH && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        true => Ok(()),
        false => Err(recall_unknown(id)),
    }
}

pub(crate) fn recall_unknown(id: &str) -> Error {
    let id: String = id.chars().take(40).collect();
    Error::new(codes::RECALL_UNKNOWN, format!("no recall `{id}` is kept"))
}

pub(crate) fn ranking_unknown(namespace: &str, version: i32) -> Error {
    Error::new(codes::RANKING_UNKNOWN, format!("namespace `{namespace}` has no ranking of version {version}"))
}

/// The probability of so uneven a result if each side wins with the same probability, two-sided.
fn sign_test(wins: i64, losses: i64) -> f64 {
    let (count, fewer) = (wins + losses, wins.min(losses));
    let ln_factorial = |n: i64| (2..=n).map(|k| (k as f64).ln()).sum::<f64>();
    let whole = ln_factorial(count) - count as f64 * 2_f64.ln();
    let tail: f64 = (0..=fewer).map(|k| (whole - ln_factorial(k) - ln_factorial(count - k)).exp()).sum();
    (2.0 * tail).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feedback_names_each_memory_once() {
        let code = |used: &[i64], useless: &[i64]| {
            let nodes = |ids: &[i64]| ids.iter().map(|id| NodeId(*id)).collect();
            Feedback { used: nodes(used), useless: nodes(useless) }.validate().map_err(|error| error.code())
        };
        assert_eq!(code(&[1, 2], &[3]), Ok(()));
        assert_eq!(code(&[], &[]), Err("feedback_invalid"));
        assert_eq!(code(&[1], &[1]), Err("feedback_invalid"));
        assert_eq!(code(&(0..101).collect::<Vec<_>>(), &[]), Err("feedback_invalid"));
    }

    #[test]
    fn an_uneven_result_is_not_by_chance() {
        // 2 (1 + 10) / 2^10
        assert!((sign_test(9, 1) - 22.0 / 1_024.0).abs() < 1e-12);
        assert_eq!(sign_test(5, 5), 1.0);
        let verdict = |wins, losses| {
            RankingComparison { version: 3, wins, losses, ..RankingComparison::default() }.judged().verdict
        };
        assert!(verdict(30, 10).starts_with("version 3 is better") && verdict(10, 30).contains("worse"));
        assert!(verdict(6, 5).starts_with("undecided"));
    }

    #[test]
    fn an_id_of_a_recall_has_a_form() {
        assert!(validate_recall_id("01M8AGE71K3WB1C51X48ZE4G8H").is_ok());
        assert_eq!(validate_recall_id("7").unwrap_err().code(), "recall_unknown");
    }
}
