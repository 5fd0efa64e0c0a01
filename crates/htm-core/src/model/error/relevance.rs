//! What can be wrong with what relevance is made of.

/// What is wrong with weights.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RelevanceError {
    /// They are not 1 together.
    #[error("the weights of relevance are {sum} together, or one is below 0")]
    Sum {
        /// Their sum.
        sum: f64,
    },
    /// Words that say no weights.
    #[error("`{value}` says no weights: {what}")]
    Words {
        /// What was given.
        value: String,
        /// What is wrong with it.
        what: String,
    },
}

impl RelevanceError {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Sum { .. } => "relevance_weights_invalid",
            Self::Words { .. } => "rerank_invalid",
        }
    }

    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Sum { .. } => {
                "give similarity, text, importance, tags, recency and access, none below 0 and 1 together".into()
            }
            Self::Words { .. } => {
                "write `similarity,recency` (the same weight each), `similarity=0.7,recency=0.3`, or `relevance`".into()
            }
        }
    }
}
