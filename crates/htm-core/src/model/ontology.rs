//! The ontology of a namespace: its tags and names, and the effect of changes on them.

pub(crate) mod change;
pub(crate) mod errors;
pub(crate) mod exchange;
mod look;
pub(crate) mod names;
mod suggest;

pub use change::{ChangeKind, Changed, Moved, Removal, Synonym, Term};
pub use exchange::{DOCUMENT_VERSION, Descriptions, DocumentTag, Imported, OntologyDocument};
pub use look::{
    CoOccurrence, LoggedChange, OriginCount, SimilarTag, SplitOutcome, TagCount, TagDetails, TagUse,
    TaggedNode, UnmatchedTag,
};
pub use suggest::{DistinctTags, Orphan, Suggestion};
