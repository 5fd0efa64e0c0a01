//! What hits go through after their search, as far as it is computed.

pub(crate) mod diversity;
pub(crate) mod fuse;

pub use crate::model::error::RefineError;
