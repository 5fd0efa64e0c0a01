//! The Prometheus metrics of requests.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use htm_core::{ReplicaState, Replicas};
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

const WRITES: &str = "writing to a String cannot fail";

/// The metrics of a server. All names begin with `htm_http_` or `htm_replica_`.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Answered, Counter>,
    time: Family<Route, Histogram>,
    pub(crate) in_flight: Gauge,
    replicas: Replication,
}

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
        // 1 ms to 33 s.
        let time = Family::<Route, Histogram>::new_with_constructor(|| {
            Histogram::new(exponential_buckets(0.001, 2.0, 16))
        });
        let in_flight = Gauge::default();
        registry.register("requests", "Answered requests", requests.clone());
        registry.register_with_unit("request_time", "The time to the answer", Unit::Seconds, time.clone());
        registry.register("requests_in_flight", "Requests in hand", in_flight.clone());
        Self { registry, requests, time, in_flight, replicas: Replication::new() }
    }

    /// Counts an answer. `route` is the path with names for its parts, so that their number is bounded.
    pub(crate) fn answered(&self, method: &str, route: &str, status: u16, took: Duration) {
        let (method, route) = (method.to_owned(), route.to_owned());
        let of_route = Route { method: method.clone(), route: route.clone() };
        self.time.get_or_create(&of_route).observe(took.as_secs_f64());
        self.requests.get_or_create(&Answered { method, route, status }).inc();
    }

    /// All metrics as OpenMetrics text.
    pub(crate) fn render(&self, replicas: Option<&Replicas>) -> String {
        let mut text = String::new();
        if let Some(replicas) = replicas {
            self.replicas.set(&replicas.states());
            text::encode_registry(&mut text, &self.replicas.registry).expect(WRITES);
        }
        text::encode(&mut text, &self.registry).expect(WRITES);
        text
    }
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
