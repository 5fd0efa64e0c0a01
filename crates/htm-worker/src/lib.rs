//! The worker: it claims jobs in batches, hands their texts to a handler, and writes the results with the jobs' end
//! in one transaction.
//!
//! What it promises:
//! - a result is written once: by whoever holds the lease, in the transaction that ends the job;
//! - a lease lasts as long as its worker is seen; the jobs of one that is lost come back within four thirds of the lease
//!   and two sweeps; one that lives keeps its jobs through an outage of the database;
//! - a statement that nobody answers is given up;
//! - a job that fails waits in the database (`run_at`), not in memory; one that cannot succeed is a dead letter
//!   that says why;
//! - one bad text fails alone: a batch that is refused is halved until the text is found;
//! - a worker that stops gives back what it holds, and that attempt is not charged.
//!
//! apalis carries the tasks ([`Worker`](apalis_core::worker::Worker), its layers, its tables, so that its board
//! shows them). Claiming, leases and acks are ours: apalis' own PostgreSQL backend refetches failed jobs without
//! backoff, fences acks by the worker's name alone, and stops on one payload that cannot be decoded.
//!
//! A worker contains no SQL: all of it is in `htm_core::store`.

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
mod metrics;
mod monitor;
mod pack;
mod persist;
mod pings;
mod places;
mod process;
mod registration;
pub mod service;
mod sightings;
mod supervise;
mod turns;
mod verdict;
mod vitals;
mod worker;

pub use handler::{Handler, Item};
pub use monitor::Monitor;
pub use verdict::Backoff;
pub use worker::{Options, Report, WorkerError, run};
