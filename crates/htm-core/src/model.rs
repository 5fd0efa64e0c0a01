//! What things are, and what is computed about them: no database, no network, no file.

pub(crate) mod caller;
pub mod context;
pub mod error;
pub mod fault;
pub(crate) mod id;
pub mod job;
pub(crate) mod memory;
pub(crate) mod node;
pub(crate) mod rank;
pub(crate) mod recall;
pub(crate) mod refine;
pub(crate) mod relevance;
pub(crate) mod spelling;
pub mod tag;
pub(crate) mod timeframe;
pub(crate) mod tokens;
pub(crate) mod words;
pub mod working_memory;
