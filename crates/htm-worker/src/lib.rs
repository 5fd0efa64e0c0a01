//! The worker. It claims jobs in batches, passes what they are about to a handler, and writes each result in the transaction
//! that ends its job.
//!
//! Promises:
//! - A result is written once, by the holder of the lease, in the transaction that ends the job.
//! - A lease lasts as long as its worker is seen. The jobs of a lost worker return within four thirds of the lease and
//!   two sweeps. A live worker keeps its jobs through an outage of the database.
//! - An unanswered statement times out.
//! - A failed job waits in the database (`run_at`), not in memory. A job that cannot succeed becomes a dead letter with
//!   a reason.
//! - A bad text fails alone: a rejected batch is halved until the text is found.
//! - A provider that rejects every text makes a few dead letters at most: it is asked about a harmless text, then left
//!   alone.
//! - A stopping worker releases its jobs. This does not count as an attempt.
//!
//! apalis carries the tasks ([`Worker`](apalis_core::worker::Worker), its layers and its tables, so its board shows
//! them). Claiming, leases and acks are HTM's own: the PostgreSQL backend of apalis refetches failed jobs without
//! backoff, fences acks by the worker's name alone, and stops at one undecodable payload.
//!
//! A worker contains no SQL: all of it is in `htm_core::worker`.

pub mod arguments;
mod backend;
mod batch;
mod call_size;
mod calls;
mod claim;
mod connections;
mod deadline;
mod handler;
pub mod health;
mod heartbeat;
mod kind;
mod lane;
mod metrics;
mod monitor;
mod outage;
mod pack;
mod persist;
mod pings;
mod process;
mod proof;
mod registration;
pub mod service;
mod sightings;
mod slots;
mod subject;
mod supervise;
mod turns;
mod verdict;
mod vitals;
mod worker;

pub use handler::{Handler, WorkError};
pub use kind::Kind;
pub use monitor::Monitor;
pub use subject::{HARMLESS, Item, Subjects, Text, payloads, texts};
pub use verdict::Backoff;
pub use worker::{Options, Report, WorkerError, run};
