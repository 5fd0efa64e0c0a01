//! Learning: what a namespace keeps of its recalls, and feedback.

use serde::{Deserialize, Serialize};

use crate::model::error::{Error, Result, codes};
use crate::model::id::NodeId;

/// The most memories that one feedback names.
pub(crate) const MAX_JUDGED: usize = 100;
/// The most recalls that an author judges in a day.
pub(crate) const MAX_RECALLS_A_DAY: i64 = 2_000;
/// The name of the last recall of the author of feedback.
pub(crate) const LAST_RECALL: &str = "last";
/// The judged recalls from which an author that finds nothing of use is named.
pub(crate) const REFUSES_FROM: i64 = 20;
/// The characters of a recall's id: a ULID.
const ID_LENGTH: usize = 26;

/// A sign that a memory of a recall was used, or was not. Beside feedback, signals are of the same author, within
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

/// The recalls that a namespace keeps, and for how long.
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
    /// The signals that count beside feedback.
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

/// The memories of a recall that were used, and those that were useless.
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
    /// Whether it judges much and finds nothing of use. Its verdicts are kept, and move nothing.
    pub fn only_refuses(&self) -> bool {
        self.used == 0 && self.recalls >= REFUSES_FROM
    }
}

/// A problem of the learning of a namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LearningProblem {
    /// An author judges much and finds nothing of use. Its verdicts are kept, and move nothing.
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
    /// The authors of feedback, the most active first; at most 20.
    pub authors: Vec<FeedbackAuthor>,
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
    fn an_id_of_a_recall_has_a_form() {
        assert!(validate_recall_id("01M8AGE71K3WB1C51X48ZE4G8H").is_ok());
        assert_eq!(validate_recall_id("7").unwrap_err().code(), "recall_unknown");
    }
}
