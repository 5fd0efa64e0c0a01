//! The query and the answer of a recall.

mod answer;
pub(crate) mod as_of;
pub(crate) mod auto;
mod explain;
mod query;
pub(crate) mod score;
mod settings;
mod snippet;
pub(crate) mod succession;

pub(crate) use answer::facets;
pub use answer::{
    Chosen, ChosenFor, Correction, Degraded, Facet, Hit, Leg, MatchedBy, Recalled, Scores, Step, VectorSearch,
};
pub use as_of::AsOf;
pub use explain::{Explanation, ScorePart};
pub use query::{MAX_QUERY_BYTES, RecallQuery, Strategy};
pub use settings::{Fusion, RecallSettings};
pub use snippet::Snippet;
