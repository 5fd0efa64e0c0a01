//! The runtime of every HTM process: configuration, telemetry, the database, the private PostgreSQL, the configured
//! providers, and signals.
//!
//! [`Runtime::open`] combines them.

pub mod active_model;
pub mod backup;
pub mod capacity;
pub mod codes;
pub mod commands;
pub mod config;
mod doing;
mod embedders;
mod error;
mod http;
pub mod hub;
mod layout;
mod packages;
pub mod paths;
mod place;
pub mod private_pg;
pub mod providers;
mod refiners;
mod runtime;
pub mod shutdown;
pub mod telemetry;

pub use htm_core::error::chain;
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

pub use doing::doing;
pub use htm_migration::{Layout, LayoutChange, LayoutStep};
pub use layout::{abandon_repartition, layout_of, repartition, set_partitions};
pub use place::place;
pub use runtime::{
    DatabaseServer, Runtime, TO_TURN_ON_ROW_SECURITY, drop_schemas, grant, migrate, schema_version,
};

#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct Library;
