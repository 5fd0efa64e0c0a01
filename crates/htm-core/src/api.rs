//! What an application calls: the handle [`Htm`](htm::Htm), a file for each thing that it can be asked.

pub(crate) mod accesses;
pub(crate) mod backfill;
pub(crate) mod connect;
pub(crate) mod edit;
mod embed_query;
pub(crate) mod embedders;
pub(crate) mod forget;
pub mod groups;
pub(crate) mod htm;
pub(crate) mod keepers;
pub(crate) mod namespaces;
pub mod ontology;
pub(crate) mod ping;
pub(crate) mod purge;
pub(crate) mod recall;
pub(crate) mod refine;
pub(crate) mod remember;
pub(crate) mod robot;
pub(crate) mod robots;
pub(crate) mod scope;
pub(crate) mod stats;
pub(crate) mod status;
pub(crate) mod timeline;
mod wall;
