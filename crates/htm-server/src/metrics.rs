//! The Prometheus metrics of requests, recalls and replicas.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use htm_core::{Htm, Recalled, ReplicaState};
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

const WRITES: &str = "writing to a String cannot fail";

/// The metrics of a server. All names begin with `htm_http_`, `htm_recall_` or `htm_replica_`.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Answered, Counter>,
    time: Family<Route, Histogram>,
    pub(crate) in_flight: Gauge,
    of_recalls: Registry,
    pub(crate) recalls: Recalls,
    replicas: Replication,
}

/// The metrics of recalls. Clones share the numbers.
#[derive(Clone, Debug)]
pub(crate) struct Recalls {
    time: Family<Label, Histogram>,
    degraded: Family<Label, Counter>,
    hits: Counter,
    misses: Counter,
}

/// The only label of a metric.
type Label = [(&'static str, &'static str); 1];

/// The metrics of read replicas. Without any, there are none.
#[derive(Debug)]
struct Replication {
    registry: Registry,
    in_use: Family<Host, Gauge>,
    staleness: Family<Host, Gauge<f64, AtomicU64>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Host {
    host: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    method: String,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    method: String,
    route: String,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("htm_http");
        let requests = Family::<Answered, Counter>::default();
        let time = Family::<Route, Histogram>::new_with_constructor(times);
        let in_flight = Gauge::default();
        registry.register("requests", "Answered requests", requests.clone());
        registry.register_with_unit("request_time", "The time to the answer", Unit::Seconds, time.clone());
        registry.register("requests_in_flight", "Requests in hand", in_flight.clone());
        let mut of_recalls = Registry::with_prefix("htm_recall");
        let recalls = Recalls::new(&mut of_recalls);
        Self { registry, requests, time, in_flight, of_recalls, recalls, replicas: Replication::new() }
    }

    /// Counts an answer. `route` is the path with names for its parts, so that their number is bounded.
    pub(crate) fn answered(&self, method: &str, route: &str, status: u16, took: Duration) {
        let (method, route) = (method.to_owned(), route.to_owned());
        let of_route = Route { method: method.clone(), route: route.clone() };
        self.time.get_or_create(&of_route).observe(took.as_secs_f64());
        self.requests.get_or_create(&Answered { method, route, status }).inc();
    }

    /// All metrics as OpenMetrics text.
    pub(crate) fn render(&self, htm: &Htm) -> String {
        let mut text = String::new();
        if let Ok(cache) = htm.query_cache() {
            self.recalls.hits.inner().store(cache.hits, Ordering::Relaxed);
            self.recalls.misses.inner().store(cache.misses, Ordering::Relaxed);
        }
        text::encode_registry(&mut text, &self.of_recalls).expect(WRITES);
        if let Some(replicas) = htm.replicas() {
            self.replicas.set(&replicas.states());
            text::encode_registry(&mut text, &self.replicas.registry).expect(WRITES);
        }
        text::encode(&mut text, &self.registry).expect(WRITES);
        text
    }
}

impl Recalls {
    fn new(registry: &mut Registry) -> Self {
        let time = Family::<Label, Histogram>::new_with_constructor(times);
        let degraded = Family::<Label, Counter>::default();
        let (hits, misses) = (Counter::default(), Counter::default());
        registry.register_with_unit("time", "The time of a part of a recall", Unit::Seconds, time.clone());
        registry.register("degraded", "Recalls that skipped a failed step", degraded.clone());
        let help = "Queries whose embedding was known";
        registry.register("embedding_cache_hits", help, hits.clone());
        let help = "Queries whose embedding was not known";
        registry.register("embedding_cache_misses", help, misses.clone());
        Self { time, degraded, hits, misses }
    }

    /// Counts an answer. A recall by words alone embeds nothing.
    pub(crate) fn observe(&self, recalled: &Recalled) {
        let embedded = (!recalled.models.is_empty()).then_some(("embedding", recalled.embed_ms));
        for (part, ms) in embedded.into_iter().chain([("search", recalled.search_ms)]) {
            self.time.get_or_create(&[("part", part)]).observe(ms / 1_000.0);
        }
        for degraded in &recalled.degraded {
            self.degraded.get_or_create(&[("step", degraded.step.into())]).inc();
        }
    }
}

/// 1 ms to 33 s.
fn times() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 2.0, 16))
}

impl Replication {
    fn new() -> Self {
        let mut registry = Registry::with_prefix("htm_replica");
        let in_use = Family::<Host, Gauge>::default();
        let staleness = Family::<Host, Gauge<f64, AtomicU64>>::default();
        registry.register("in_use", "Whether the replica answers reads", in_use.clone());
        let help = "The age of the newest commit that the replica is sure to have; infinite if unknown";
        registry.register_with_unit("staleness", help, Unit::Seconds, staleness.clone());
        Self { registry, in_use, staleness }
    }

    fn set(&self, states: &[ReplicaState]) {
        for state in states {
            let host = Host { host: state.host.clone() };
            self.in_use.get_or_create(&host).set(state.in_use.into());
            self.staleness.get_or_create(&host).set(state.staleness_seconds.unwrap_or(f64::INFINITY));
        }
    }
}
