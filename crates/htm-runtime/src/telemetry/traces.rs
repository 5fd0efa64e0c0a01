//! The export of traces to an OpenTelemetry collector, by OTLP over HTTP.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use htm_core::{Error, Result};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SdkTracerProvider, Tracer};
use reqwest::redirect::Policy;
use reqwest::{StatusCode, Url};
use tokio::runtime::Handle;

use crate::codes;
use crate::http::client_of;

/// The time limit of a request to the collector.
const REQUEST: Duration = Duration::from_secs(10);

/// The time limit for the last spans at the end of the process.
const SHUTDOWN: Duration = Duration::from_secs(2);

/// Where the traces of a process go.
#[derive(Clone, Copy, Debug)]
pub struct Collector<'a> {
    /// Its URL without the path, such as `http://localhost:4318`.
    pub endpoint: &'a str,
    /// The name of this program as a service. `OTEL_SERVICE_NAME` wins.
    pub service: &'a str,
}

/// The export of a process's traces. Dropped, it sends the last spans.
#[derive(Debug)]
pub struct Traces(SdkTracerProvider);

impl Traces {
    pub(super) fn start(collector: Collector<'_>) -> Result<(Self, Tracer)> {
        // Neither the URL nor the exporter's error, which has it: there may be a password in it.
        let failed = || Error::new(codes::TRACES_UNUSABLE, "traces cannot be exported to log.otlp_endpoint");
        let url: Url = collector.endpoint.parse().map_err(|_| failed())?;
        let builder = client_of(&url).redirect(Policy::none()).timeout(REQUEST);
        let client = Client {
            client: builder.build().map_err(|error| failed().with_source(error))?,
            runtime: Handle::current(),
            failing: AtomicBool::new(false),
        };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(client)
            .with_endpoint(format!("{}/v1/traces", collector.endpoint.trim_end_matches('/')))
            .build();
        let named = std::env::var_os("OTEL_SERVICE_NAME").is_some_and(|name| !name.is_empty());
        let mut resource = Resource::builder();
        if !named {
            resource = resource.with_service_name(collector.service.to_owned());
        }
        let provider = SdkTracerProvider::builder()
            .with_resource(resource.build())
            .with_batch_exporter(exporter.map_err(|_| failed())?)
            .build();
        let tracer = provider.tracer("htm");
        Ok((Self(provider), tracer))
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        // The collector may be away. Nobody would read the error any more.
        let _ = self.0.shutdown_with_timeout(SHUTDOWN);
    }
}

/// The client of the exporter. The exporter has a thread of its own, and the client needs the runtime.
#[derive(Debug)]
struct Client {
    client: reqwest::Client,
    runtime: Handle,
    /// Whether the last request failed.
    failing: AtomicBool,
}

impl Client {
    /// Logs the first of several failures in sequence. The exporter itself logs none.
    fn tell(&self, sent: &Result<StatusCode, reqwest::Error>) {
        let reason = match sent {
            Ok(status) if status.is_success() => None,
            Ok(status) => Some(format!("the collector answers {status}")),
            Err(error) => Some(crate::chain(error)),
        };
        let was_failing = self.failing.swap(reason.is_some(), Ordering::Relaxed);
        if let Some(reason) = reason.filter(|_| !was_failing) {
            tracing::warn!(reason, "traces are not exported to log.otlp_endpoint");
        }
    }
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        // The client turns a user and a password in the URL into a header. OTEL_EXPORTER_OTLP_HEADERS wins over it.
        let request = self.client.request(parts.method, parts.uri.to_string()).headers(parts.headers);
        // Even making the request's future needs the runtime.
        let sent = self.runtime.spawn(async { request.body(body).send().await }).await?;
        // The answer is not read: it may have any size, and only its status matters.
        let sent = sent.map(|answer| answer.status()).map_err(reqwest::Error::without_url);
        self.tell(&sent);
        let mut answer = Response::new(Bytes::new());
        *answer.status_mut() = sent?;
        Ok(answer)
    }
}
