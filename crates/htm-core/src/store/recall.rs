//! What recall reads.

mod filters;
mod node_row;
mod reader;

pub(crate) use filters::{needed, paths_and_prefixes, several, tags_named, wanted_metadata};
pub(crate) use node_row::{NodeRow, node_columns};
pub(crate) use reader::{Asking, Choosing, Features, HitRow, Lexed, Reader, Size, TextSearch, Vectors};
