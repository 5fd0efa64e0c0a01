//! The size of an answer.

use crate::model::error::{Error, Result, codes};
use crate::model::nodes::Node;

/// The most bytes of a list of memories. A memory has up to 1 MiB, and a caller may ask for 10,000.
pub(crate) const MAX_LIST_BYTES: usize = 64 << 20;

/// The error of a longer list.
pub(crate) fn too_large() -> Error {
    let message = format!("the memories of the answer have more than {} MiB", MAX_LIST_BYTES >> 20);
    Error::new(codes::ANSWER_TOO_LARGE, message)
}

/// Refuses a list that is too long.
pub(crate) fn check(nodes: &[Node]) -> Result<()> {
    let bytes: usize = nodes.iter().map(|node| node.content.len()).sum();
    if bytes > MAX_LIST_BYTES { Err(too_large()) } else { Ok(()) }
}
