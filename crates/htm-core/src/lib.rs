//! HTM: the memory that agents keep.

pub mod fault;
pub mod provider;
pub mod tag;
