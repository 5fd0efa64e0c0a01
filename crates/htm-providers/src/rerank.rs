//! Re-ranking over HTTP: `POST {url}/rerank` of Cohere, Jina, Text Embeddings Inference and llama.cpp.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use htm_core::Result;
use htm_core::provider::{ModelName, ProviderError, ProviderErrorKind, Reranker};
use serde::{Deserialize, Serialize};

use crate::Secret;
use crate::http::Http;

/// The format of requests and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize, Serialize, strum::VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum RerankFormat {
    /// `{model, query, documents, top_n}`, answered by `{results: [{index, relevance_score}]}`, below `/v2`
    /// (<https://docs.cohere.com/reference/rerank>).
    Cohere,
    /// As Cohere's, below `/v1`, and with `return_documents: false` (<https://jina.ai/reranker>).
    Jina,
    /// As Cohere's. The server has one model, and must be started with `--reranking`
    /// (<https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md>).
    #[serde(rename = "llama.cpp")]
    #[strum(serialize = "llama.cpp")]
    LlamaCpp,
    /// `{query, texts}`, answered by `[{index, score}]`
    /// (<https://huggingface.github.io/text-embeddings-inference>).
    #[default]
    Tei,
}

/// Settings of [`reranker`].
#[derive(Clone, Debug)]
pub struct RerankSettings {
    /// The API's URL with its version, without `/rerank`: `https://api.cohere.com/v2`, `https://api.jina.ai/v1`,
    /// `http://localhost:8080`.
    pub url: String,
    /// The bearer token. Empty for servers without authentication.
    pub api_key: Secret,
    /// The model, such as `rerank-v3.5`. Empty: a default model of Cohere and Jina; the other servers have one model.
    pub model: String,
    /// The format of the server.
    pub format: RerankFormat,
    /// The time limit of a request.
    pub timeout: Duration,
}

impl Default for RerankSettings {
    fn default() -> Self {
        Self {
            url: "http://localhost:8080".to_owned(),
            api_key: Secret::default(),
            model: String::new(),
            format: RerankFormat::default(),
            timeout: Duration::from_secs(2),
        }
    }
}

impl RerankSettings {
    /// The model. For a server with one model and no configured name, the name of the server's program.
    pub fn model_name(&self) -> ModelName {
        let name = match (self.model.as_str(), self.format) {
            ("", RerankFormat::Cohere) => "rerank-v3.5",
            ("", RerankFormat::Jina) => "jina-reranker-v2-base-multilingual",
            ("", RerankFormat::LlamaCpp) => "llama.cpp",
            ("", RerankFormat::Tei) => "tei",
            (model, _) => model,
        };
        ModelName::new("http", name)
    }
}

/// Makes the re-ranker at `settings.url`. Makes no call.
///
/// # Errors
/// One of the [`codes`](crate::codes) for a URL, key or timeout that cannot work.
pub fn reranker(settings: RerankSettings) -> Result<Arc<dyn Reranker>> {
    let model = settings.model_name();
    let http = Http::new("the re-ranker", &settings.url, settings.api_key, settings.timeout, model)?;
    Ok(Arc::new(HttpReranker { http, format: settings.format }))
}

struct HttpReranker {
    http: Http,
    format: RerankFormat,
}

#[async_trait]
impl Reranker for HttpReranker {
    fn model(&self) -> &ModelName {
        self.http.model()
    }

    async fn rerank(&self, query: &str, texts: &[String]) -> Result<Vec<f64>, ProviderError> {
        /// The default of `--max-client-batch-size` of Text Embeddings Inference, which rejects larger requests.
        const TEI_TEXTS: usize = 32;
        let at_once = if self.format == RerankFormat::Tei { TEI_TEXTS } else { usize::MAX };
        let mut scores = Vec::with_capacity(texts.len());
        for texts in texts.chunks(at_once) {
            scores.extend(self.ask(query, texts).await?);
        }
        Ok(scores)
    }
}

impl HttpReranker {
    async fn ask(&self, query: &str, texts: &[String]) -> Result<Vec<f64>, ProviderError> {
        // An error must not quote these.
        let hidden: Vec<String> = texts.iter().cloned().chain([query.to_owned()]).collect();
        let ranks = match self.format {
            RerankFormat::Tei => {
                // Texts are cut at the model's window, because a longer one would fail the call.
                let request = TextsRequest { query, texts, truncate: true, raw_scores: false };
                self.http.post("rerank", &request, &hidden).await?
            }
            RerankFormat::Cohere | RerankFormat::Jina | RerankFormat::LlamaCpp => {
                let request = DocumentsRequest {
                    model: &self.http.model().name,
                    query,
                    documents: texts,
                    top_n: texts.len(),
                    return_documents: (self.format == RerankFormat::Jina).then_some(false),
                };
                let answer: Answer = self.http.post("rerank", &request, &hidden).await?;
                answer.results
            }
        };
        self.ordered(ranks, texts.len())
    }

    /// Orders scores by their `index`. Each index must occur exactly once.
    fn ordered(&self, ranks: Vec<Rank>, count: usize) -> Result<Vec<f64>, ProviderError> {
        let broken =
            |message: String| ProviderError::new(self.http.model(), ProviderErrorKind::BadResponse, message);
        let mut scores: Vec<Option<f64>> = vec![None; count];
        for Rank { index, score } in ranks {
            let place = scores.get_mut(index);
            let place = place.ok_or_else(|| broken(format!("a score has index {index} of {count} texts")))?;
            if !score.is_finite() {
                return Err(broken(format!("the score of index {index} is not finite")));
            }
            if place.replace(score).is_some() {
                return Err(broken(format!("two scores have index {index}")));
            }
        }
        match scores.iter().position(Option::is_none) {
            Some(index) => Err(broken(format!("index {index} of {count} texts has no score"))),
            None => Ok(scores.into_iter().flatten().collect()),
        }
    }
}

#[derive(Serialize)]
struct TextsRequest<'a> {
    query: &'a str,
    texts: &'a [String],
    truncate: bool,
    raw_scores: bool,
}

#[derive(Serialize)]
struct DocumentsRequest<'a> {
    model: &'a str,
    query: &'a str,
    documents: &'a [String],
    top_n: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    return_documents: Option<bool>,
}

/// The used fields of the answer.
#[derive(Deserialize)]
struct Answer {
    results: Vec<Rank>,
}

#[derive(Deserialize)]
struct Rank {
    index: usize,
    #[serde(alias = "relevance_score")]
    score: f64,
}
