//! What keeps a recall from being refined.

use crate::model::fault::Fault;

/// Why a recall cannot be refined as it was asked to.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RefineError {
    /// The recall is to be re-ranked, and the handle has no re-ranker.
    #[error("re-ranking needs a re-ranker, and none is configured")]
    RerankerMissing,
    /// The query is to be expanded, and the handle has nothing that does it.
    #[error("expanding the query needs a language model, and none is configured")]
    ExpanderMissing,
    /// Diversity is not within 0 to 1.
    #[error("diversity {value} is outside 0 to 1")]
    DiversityOutOfRange {
        /// The value given.
        value: f64,
    },
}

impl RefineError {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::RerankerMissing => "reranker_missing",
            Self::ExpanderMissing => "expander_missing",
            Self::DiversityOutOfRange { .. } => "diversity_out_of_range",
        }
    }

    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::RerankerMissing => {
                "set rerank.provider to \"http\" with rerank.url, or to \"local\" with rerank.path; or recall without it"
            }
            Self::ExpanderMissing => {
                "set expansion.provider to \"ollama\" or \"openai\", and expansion.model; or recall without it"
            }
            Self::DiversityOutOfRange { .. } => {
                "give a number from 0 (only relevance) to 1 (only novelty), as 0.3"
            }
        }
    }

    pub(crate) fn fault(&self) -> Fault {
        match self {
            Self::RerankerMissing | Self::ExpanderMissing => Fault::Permanent,
            Self::DiversityOutOfRange { .. } => Fault::User,
        }
    }
}
