//! The queries of recall: small statements, all in one snapshot, which two connections may read together.
//!
//! Each statement leaves the planner only one plan. `offset 0` is an optimisation fence; without sorting, only the vector
//! index is in order of distance. Statements are planned once a connection. Those with a narrow filter, and the search of
//! the index of words, are planned each time.

mod features;
mod legs;
mod node_row;
mod reader;
mod readers;
mod words;

pub(crate) use features::{Features, ScopeRows};
pub(crate) use legs::{Choosing, TextSearch};
pub(crate) use node_row::{NodeRow, node_columns, successors};
pub(crate) use reader::{HitRow, Reader, Size, Vectors};
pub(crate) use readers::Readers;
pub(crate) use words::{CountedWords, Lexed};
