//! The HTTP server of HTM: the library's calls as requests, described by an OpenAPI document.
//!
//! [`Server::bind`] takes an address, [`Server::serve`] answers requests until it is told to stop.

mod access;
mod app;
mod backfills;
mod bodies;
pub mod codes;
mod console;
mod document;
mod drain;
mod extract;
mod filter;
mod hints;
mod hosts;
mod idempotency;
mod impatient;
mod json;
mod limits;
mod mcp;
mod metrics;
mod oauth;
mod outage;
mod page;
mod parameters;
mod permits;
mod problem;
mod query;
mod rates;
mod read_your_writes;
mod refusals;
mod request;
mod routes;
mod server;
mod sign_in;
mod tls;
mod trace;
mod wait;
mod weight;

pub use document::openapi;
pub use limits::Limits;
pub use oauth::{OAuth, OAuthSettings};
pub use server::{Listening, Server};
pub use tls::Tls;
