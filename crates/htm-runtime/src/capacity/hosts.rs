//! The database hosts.

use htm_core::RecallSettings;
use serde::Serialize;

use super::constants as c;
use super::{Storage, Workload};

const GB: f64 = 1e9;

/// The hosts of PostgreSQL.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Hosts {
    /// The memory that the hot tables and indexes need on one host, in bytes.
    pub memory_bytes: u64,
    /// The cores that the writes need, on the primary.
    pub write_cores: f64,
    /// The cores that the recalls need, on all hosts.
    pub recall_cores: f64,
    /// The hosts among which the memories must be divided, so that the hot part of each fits into memory.
    pub parts: u64,
    /// The hosts of each part: a primary, and the replicas that the recalls need. Without one for fail-over.
    pub hosts_per_part: u64,
}

impl Hosts {
    pub(super) fn of(workload: &Workload, storage: &Storage) -> Self {
        let memory = storage.hot_bytes as f64 / c::MEMORY_SHARE;
        let parts = (memory / (workload.host_memory_gb * GB)).ceil().max(1.0);
        let cores = |per_second: f64, ms: f64| per_second * ms / 1e3 / c::CORE_SHARE;
        let write_ms = c::WRITE_MS + c::WRITE_MS_PER_DIMENSION * f64::from(workload.dimensions);
        let write_cores = cores(workload.writes_per_second, write_ms);
        let recall_cores = cores(workload.recalls_per_second, c::RECALL_MS);
        let hosts = (write_cores + recall_cores) / parts / f64::from(workload.host_cores.max(1));
        Self {
            memory_bytes: memory.round() as u64,
            write_cores,
            recall_cores,
            parts: parts as u64,
            hosts_per_part: hosts.ceil().max(1.0) as u64,
        }
    }
}

/// The notes on a plan.
pub(super) fn notes(workload: &Workload, storage: &Storage, hosts: &Hosts) -> Vec<String> {
    let mut notes = Vec::new();
    let (each, few) = (workload.memories_each(), RecallSettings::default().exact_scope);
    if storage.exact {
        notes.push(format!(
            "A namespace has {each:.0} memories on average. Up to {few}, recall compares all vectors of the namespace: \
             it reads htm.embeddings_N, and not the vector index. Writes read the index."
        ));
    } else {
        notes.push(format!(
            "A namespace has {each:.0} memories on average. Above {few}, recall asks the vector index, which should be \
             in memory."
        ));
    }
    if hosts.parts > 1 {
        notes.push(match workload.namespaces as f64 >= hosts.parts as f64 * 10.0 {
            true => format!(
                "What recall reads is larger than one host's memory. If all namespaces are in use at the same time, \
                 divide them among {} databases.",
                hosts.parts
            ),
            false => "What recall reads is larger than one host's memory, and the namespaces are too few to divide \
                      them. Take larger hosts, fewer dimensions, or another vector index."
                .into(),
        });
    }
    if hosts.write_cores > f64::from(workload.host_cores) * hosts.parts as f64 {
        notes.push("The writes need more cores than a primary has, and replicas do not write.".into());
    }
    if workload.price == 0.0 {
        notes.push("Costs need prices: give --price, and --tag-price if a language model tags.".into());
    }
    notes
}
