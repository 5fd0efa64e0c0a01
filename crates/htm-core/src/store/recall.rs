//! What recall reads.

mod node_row;
mod reader;

pub(crate) use node_row::{NodeRow, node_columns};
pub(crate) use reader::{Asking, Choosing, Features, HitRow, Lexed, Reader, Size, TextSearch, Vectors};
