//! The Prometheus metrics of requests.

use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

/// The metrics of a server. All names begin with `htm_http_`.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Answered, Counter>,
    time: Family<Route, Histogram>,
    pub(crate) in_flight: Gauge,
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
        Self { registry, requests, time, in_flight }
    }

    /// Counts an answer. `route` is the path with names for its parts, so that their number is bounded.
    pub(crate) fn answered(&self, method: &str, route: &str, status: u16, took: Duration) {
        let (method, route) = (method.to_owned(), route.to_owned());
        let of_route = Route { method: method.clone(), route: route.clone() };
        self.time.get_or_create(&of_route).observe(took.as_secs_f64());
        self.requests.get_or_create(&Answered { method, route, status }).inc();
    }

    /// All metrics as OpenMetrics text.
    pub(crate) fn render(&self) -> String {
        let mut text = String::new();
        text::encode(&mut text, &self.registry).expect("writing to a String cannot fail");
        text
    }
}
