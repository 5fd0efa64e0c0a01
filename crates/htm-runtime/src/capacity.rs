//! Capacity planning: rows, bytes, memory, workers, calls of providers, money and hosts for a number of memories.
//!
//! [`plan`] computes them from a [`Workload`], without a database. The constants are in one file
//! (`capacity/constants.rs`). A benchmark measures them and compares a plan with a filled database
//! (`./justw bench-capacity`). `docs/capacity.md` says what was measured and what is extrapolated.

mod constants;
mod hosts;
mod layout;
mod providers;
mod storage;
#[cfg(test)]
mod tests;

use serde::Serialize;

pub use self::hosts::Hosts;
pub use self::providers::{Calls, Provider, Workers};
pub use self::storage::{Kind, Object, Storage};

/// The memories to store and the requests to serve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Workload {
    /// The memories that are kept.
    pub memories: u64,
    /// The namespaces that they are in, of equal size.
    pub namespaces: u64,
    /// The dimensions of the embedding model, 1 to 4000.
    pub dimensions: u32,
    /// The words of a memory, on average.
    pub words: f64,
    /// The tags of a memory, on average.
    pub tags: f64,
    /// The share of memories that are turns of conversations, 0 to 1. They have a session and are never duplicates.
    pub turns: f64,
    /// The new memories a second.
    pub writes_per_second: f64,
    /// The recalls a second.
    pub recalls_per_second: f64,
    /// The time of one call of the embedding provider, in milliseconds.
    pub provider_latency_ms: f64,
    /// The most texts in one call of the embedding provider (`embed_worker.batch`).
    pub batch: u32,
    /// The price of a million tokens of the embedding model.
    pub price: f64,
    /// The price of a million tokens of the language model that tags.
    pub tag_price: f64,
    /// The memory of one database host, in GB.
    pub host_memory_gb: f64,
    /// The processor cores of one database host.
    pub host_cores: u32,
}

impl Default for Workload {
    /// A million memories as long as those of the demo, embedded by the built-in model.
    fn default() -> Self {
        Self {
            memories: 1_000_000,
            namespaces: 1,
            dimensions: 384,
            words: 33.0,
            tags: 2.0,
            turns: 0.5,
            writes_per_second: 1.0,
            recalls_per_second: 1.0,
            provider_latency_ms: 300.0,
            batch: 64,
            price: 0.0,
            tag_price: 0.0,
            host_memory_gb: 64.0,
            host_cores: 16,
        }
    }
}

impl Workload {
    /// The memories of one namespace.
    fn memories_each(&self) -> f64 {
        self.memories as f64 / self.namespaces.max(1) as f64
    }
}

/// The plan for a workload.
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    /// The workload.
    pub workload: Workload,
    /// The tables and indexes.
    pub storage: Storage,
    /// The calls of the providers.
    pub provider: Provider,
    /// The worker processes.
    pub workers: Workers,
    /// The database hosts.
    pub hosts: Hosts,
    /// Notes on the plan, as sentences.
    pub notes: Vec<String>,
}

/// Computes what a workload needs.
pub fn plan(workload: &Workload) -> Plan {
    let storage = Storage::of(workload);
    let provider = Provider::of(workload);
    let workers = Workers::of(workload);
    let hosts = Hosts::of(workload, &storage);
    let notes = hosts::notes(workload, &storage, &hosts);
    Plan { workload: *workload, storage, provider, workers, hosts, notes }
}
