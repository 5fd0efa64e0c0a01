//! One module per command.

pub(crate) mod backfill;
pub(crate) mod config;
pub(crate) mod context;
pub(crate) mod db;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod edit;
pub(crate) mod filter;
pub(crate) mod forget;
pub(crate) mod groups;
pub(crate) mod import;
pub(crate) mod jobs;
pub(crate) mod mind;
pub(crate) mod models;
pub(crate) mod namespaces;
pub(crate) mod node;
pub(crate) mod notes;
pub(crate) mod providers;
pub(crate) mod recall;
pub(crate) mod remember;
pub(crate) mod robots;
pub(crate) mod stats;
pub(crate) mod tags;
pub(crate) mod timeline;
pub(crate) mod up;
pub(crate) mod workers;
