//! What every HTM process needs: configuration, telemetry, the database (and the private PostgreSQL behind it), the
//! providers that the configuration chooses, and a way to stop.
//!
//! [`Session::open`] puts them together.

pub mod codes;
pub mod commands;
pub mod config;
mod embedders;
mod error;
pub mod paths;
pub mod private_pg;
pub mod providers;
mod refiners;
mod session;
pub mod shutdown;
pub mod telemetry;

pub use htm_core::error::chain;
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

pub use session::{DatabaseServer, Session, drop_schemas, grant, migrate, schema_version};

#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct Library;
