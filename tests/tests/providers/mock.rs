//! A server that speaks OpenAI's and Ollama's documented API, and fails as it is told.

use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use htm_core::provider::{Embedder, Purpose, Tagger};
use htm_providers::fake::FakeEmbedder;
use htm_providers::{ApiSettings, Secret, ollama, openai};
use serde_json::{Value, json};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

/// The key of every request; no error and no `Debug` may show it.
pub(crate) const KEY: &str = "sk-test-0123456789abcdef";
/// The length of the mock's vectors.
pub(crate) const DIMENSIONS: usize = 64;

/// A provider that speaks HTTP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Api {
    OpenAi,
    Ollama,
}

pub(crate) const APIS: [Api; 2] = [Api::OpenAi, Api::Ollama];

impl Api {
    /// The embedder at `url`, with `deadline_ms` a request.
    pub(crate) fn embedder(self, url: &str, deadline_ms: u64) -> Arc<dyn Embedder> {
        self.embedder_of("mock-embed", None, url, deadline_ms)
    }

    /// The embedder of a model that reads `window` tokens at once.
    pub(crate) fn embedder_of(
        self,
        model: &str,
        window: Option<usize>,
        url: &str,
        deadline_ms: u64,
    ) -> Arc<dyn Embedder> {
        let (api_key, timeout) = (Secret::new(KEY), Duration::from_millis(deadline_ms));
        let model = model.to_owned();
        match self {
            Api::OpenAi => {
                let base_url = format!("{url}/v1");
                openai::embedder(ApiSettings {
                    base_url,
                    api_key,
                    timeout,
                    model,
                    window,
                    ..ApiSettings::openai()
                })
            }
            Api::Ollama => {
                let base_url = url.to_owned();
                ollama::embedder(ApiSettings {
                    base_url,
                    api_key,
                    timeout,
                    model,
                    window,
                    ..ApiSettings::ollama()
                })
            }
        }
        .unwrap()
    }

    /// The tagger at `url`, with `deadline_ms` a call.
    pub(crate) fn tagger(self, url: &str, deadline_ms: u64) -> Arc<dyn Tagger> {
        let (api_key, timeout) = (Secret::new(KEY), Duration::from_millis(deadline_ms));
        let model = "mock-chat".to_owned();
        match self {
            Api::OpenAi => {
                let base_url = format!("{url}/v1");
                openai::tagger(ApiSettings { base_url, api_key, timeout, model, ..ApiSettings::openai() })
            }
            Api::Ollama => {
                let base_url = url.to_owned();
                ollama::tagger(ApiSettings { base_url, api_key, timeout, model, ..ApiSettings::ollama() })
            }
        }
        .unwrap()
    }

    /// The documented error body.
    pub(crate) fn error(self, message: &str, code: &str) -> Value {
        match self {
            Api::OpenAi => {
                json!({ "error": { "message": message, "type": "x", "param": null, "code": code } })
            }
            Api::Ollama => json!({ "error": message }),
        }
    }

    /// The documented answer with `vectors` (index, components).
    pub(crate) fn vectors(self, vectors: &[(usize, Value)]) -> Value {
        match self {
            Api::OpenAi => {
                let data: Vec<Value> = vectors
                    .iter()
                    .map(|(index, vector)| json!({ "object": "embedding", "index": index, "embedding": vector }))
                    .collect();
                let usage = json!({ "prompt_tokens": 1, "total_tokens": 1 });
                json!({ "object": "list", "data": data, "model": "mock-embed", "usage": usage })
            }
            Api::Ollama => {
                let embeddings: Vec<&Value> = vectors.iter().map(|(_, vector)| vector).collect();
                json!({ "model": "mock-embed", "embeddings": embeddings, "total_duration": 1, "load_duration": 1, "prompt_eval_count": 1 })
            }
        }
    }

    /// The documented answer of a chat model that says `content`.
    pub(crate) fn chat(self, content: &str) -> Value {
        match self {
            Api::OpenAi => json!({
                "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "mock-chat",
                "choices": [{ "index": 0, "finish_reason": "stop", "logprobs": null,
                    "message": { "role": "assistant", "content": content, "refusal": null } }],
                "usage": { "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 },
            }),
            Api::Ollama => json!({
                "model": "mock-chat", "created_at": "2026-01-01T00:00:00Z", "done": true, "done_reason": "stop",
                "message": { "role": "assistant", "content": content }, "total_duration": 1,
            }),
        }
    }

    /// The texts of an embedding request, after checking that it has the documented shape.
    pub(crate) fn inputs(self, request: &Request) -> Vec<String> {
        let body: Value = request.body_json().unwrap();
        assert!(["mock-embed", "text-embedding-3-small"].contains(&body["model"].as_str().unwrap()));
        assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
        match self {
            Api::OpenAi => {
                assert_eq!(
                    (request.url.path(), &body["encoding_format"]),
                    ("/v1/embeddings", &json!("float"))
                );
            }
            Api::Ollama => {
                assert_eq!((request.url.path(), &body["truncate"]), ("/api/embed", &json!(false)));
            }
        }
        body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    }
}

/// A server that answers every request with `answer`.
pub(crate) async fn serve(answer: impl Respond + 'static) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(wiremock::matchers::method("POST")).respond_with(answer).mount(&server).await;
    server
}

/// Answers with the fake's vectors of the texts in the request, so that batches and their order are real.
/// They are three times too long: the client has to normalise.
pub(crate) struct Vectors {
    pub(crate) api: Api,
    /// Give OpenAI's data in another order than the input's; `index` says which is which.
    pub(crate) shuffled: bool,
}

impl Respond for Vectors {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let mut vectors: Vec<(usize, Value)> = self
            .api
            .inputs(request)
            .iter()
            .enumerate()
            .map(|(index, text)| {
                (index, json!(fake_vector(text).iter().map(|x| x * 3.0).collect::<Vec<_>>()))
            })
            .collect();
        if self.shuffled {
            let middle = vectors.len() / 3;
            vectors.rotate_left(middle);
            vectors.reverse();
        }
        ResponseTemplate::new(200).set_body_json(self.api.vectors(&vectors))
    }
}

/// The fake's vector of `text`. It never waits, so that one poll is enough: `Respond` is not async.
pub(crate) fn fake_vector(text: &str) -> Vec<f32> {
    let texts = [text.to_owned()];
    let fake = FakeEmbedder::default();
    let call = std::pin::pin!(fake.embed(&texts, Purpose::Document));
    match call.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer.unwrap().remove(0).vector,
        Poll::Pending => panic!("the fake waits"),
    }
}
