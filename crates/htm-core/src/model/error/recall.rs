//! What a recall cannot be asked for.

use crate::model::fault::Fault;

/// A query that cannot be answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecallError {
    /// The query says what is not wanted, and nothing that is.
    #[error("the query `{query}` says only what hits must not contain")]
    OnlyNegations {
        /// The query, cut after 80 characters.
        query: String,
    },
    /// The least similarity is not within 0 to 1.
    #[error("the least similarity {value} is outside 0 to 1")]
    SimilarityOutOfRange {
        /// The value given.
        value: f64,
    },
}

impl RecallError {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::OnlyNegations { .. } => "query_only_negations",
            Self::SimilarityOutOfRange { .. } => "min_similarity_out_of_range",
        }
    }

    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::OnlyNegations { .. } => "add a word that hits should have, as in `postgres -mysql`".into(),
            Self::SimilarityOutOfRange { .. } => {
                "give a number from 0 to 1, as 0.7; leave it out for no threshold".into()
            }
        }
    }

    pub(crate) fn fault(&self) -> Fault {
        Fault::User
    }
}
