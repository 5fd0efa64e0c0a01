//! What recall reads: small statements, all in one snapshot.

mod features;
mod legs;
mod node_row;
mod reader;
mod words;

pub(crate) use features::Features;
pub(crate) use legs::{Choosing, TextSearch};
pub(crate) use node_row::{NodeRow, node_columns};
pub(crate) use reader::{HitRow, Reader, Size, Vectors};
pub(crate) use words::Lexed;
