//! Re-ranking over HTTP: each server's documented request and answer, and answers that are none.

use std::sync::Arc;
use std::time::Duration;

use htm_core::provider::{ProviderError, ProviderErrorKind, Reranker};
use htm_providers::Secret;
use htm_providers::rerank::{self, RerankFormat, RerankSettings};
use serde_json::{Value, json};
use wiremock::{MockServer, Request, Respond, ResponseTemplate};

use crate::mock::{KEY, serve};

const FORMATS: [RerankFormat; 4] =
    [RerankFormat::Cohere, RerankFormat::Jina, RerankFormat::LlamaCpp, RerankFormat::Tei];

/// The path under the server's URL that each serves.
fn version(format: RerankFormat) -> &'static str {
    match format {
        RerankFormat::Cohere => "/v2",
        RerankFormat::Jina | RerankFormat::LlamaCpp => "/v1",
        RerankFormat::Tei => "",
    }
}

fn reranker(format: RerankFormat, server: &MockServer, timeout_ms: u64) -> Arc<dyn Reranker> {
    let settings = RerankSettings {
        url: format!("{}{}", server.uri(), version(format)),
        api_key: Secret::new(KEY),
        format,
        timeout: Duration::from_millis(timeout_ms),
        ..RerankSettings::default()
    };
    rerank::reranker(settings).unwrap()
}

/// The documented answer with these scores by index.
fn answer(format: RerankFormat, scores: &[(usize, Value)]) -> Value {
    let ranks = |name: &str| -> Vec<Value> {
        scores.iter().map(|(index, score)| json!({ "index": index, name: score })).collect()
    };
    match format {
        RerankFormat::Cohere => json!({
            "id": "07734bd2-2473-4f07-94e1-0d9f0e6843cf", "results": ranks("relevance_score"),
            "meta": { "api_version": { "version": "2" }, "billed_units": { "search_units": 1 } },
        }),
        RerankFormat::Jina => json!({
            "model": "jina-reranker-v2-base-multilingual", "usage": { "total_tokens": 815 },
            "results": ranks("relevance_score"),
        }),
        RerankFormat::LlamaCpp => json!({
            "model": "gpt-3.5-turbo", "object": "list", "usage": { "prompt_tokens": 8, "total_tokens": 8 },
            "results": ranks("relevance_score"),
        }),
        RerankFormat::Tei => json!(ranks("score")),
    }
}

/// Scores each text by its length, the best first, after a look at the request.
struct ByLength(RerankFormat);

impl Respond for ByLength {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let body: Value = request.body_json().unwrap();
        assert_eq!(request.url.path(), format!("{}/rerank", version(self.0)));
        assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
        assert_eq!(body["query"], "who prefers tabs?");
        let texts = match self.0 {
            RerankFormat::Tei => {
                assert_eq!((&body["truncate"], &body["model"]), (&json!(true), &Value::Null));
                let texts = body["texts"].as_array().unwrap();
                // What Text Embeddings Inference says to more than --max-client-batch-size.
                if texts.len() > 32 {
                    let error = json!({ "error": "batch size 33 > maximum allowed batch size 32", "error_type": "Validation" });
                    return ResponseTemplate::new(422).set_body_json(error);
                }
                texts
            }
            format => {
                let texts = body["documents"].as_array().unwrap();
                let model = match format {
                    RerankFormat::Cohere => "rerank-v3.5",
                    RerankFormat::Jina => "jina-reranker-v2-base-multilingual",
                    _ => "llama.cpp",
                };
                assert_eq!((&body["model"], &body["top_n"]), (&json!(model), &json!(texts.len())));
                let told = if format == RerankFormat::Jina { json!(false) } else { Value::Null };
                assert_eq!(body["return_documents"], told);
                texts
            }
        };
        let mut scores: Vec<(usize, usize)> =
            texts.iter().map(|text| text.as_str().unwrap().len()).enumerate().collect();
        scores.sort_by_key(|(_, length)| std::cmp::Reverse(*length));
        let scores: Vec<(usize, Value)> =
            scores.into_iter().map(|(index, length)| (index, json!(length as f64 - 10.5))).collect();
        ResponseTemplate::new(200).set_body_json(answer(self.0, &scores))
    }
}

#[tokio::test]
async fn scores_come_back_in_the_order_of_the_texts() {
    for format in FORMATS {
        let server = serve(ByLength(format)).await;
        let reranker = reranker(format, &server, 5_000);
        let texts: Vec<String> = (0..40).map(|text| "x".repeat(text * 7 % 40)).collect();
        let scores = reranker.rerank("who prefers tabs?", &texts).await.unwrap();
        let expected: Vec<f64> = texts.iter().map(|text| text.len() as f64 - 10.5).collect();
        assert_eq!(scores, expected, "{format:?}");
        let calls = server.received_requests().await.unwrap().len();
        assert_eq!(calls, if format == RerankFormat::Tei { 2 } else { 1 });
        assert!(reranker.rerank("who prefers tabs?", &[]).await.unwrap().is_empty());
        assert_eq!(server.received_requests().await.unwrap().len(), calls, "no texts, no call");
    }
}

#[tokio::test]
async fn answers_that_break_the_contract() {
    for format in FORMATS {
        for (scores, words) in [
            (vec![(0, json!(0.5))], "index 1 of 2 texts has no score"),
            (vec![], "index 0 of 2 texts has no score"),
            (vec![(0, json!(0.5)), (2, json!(0.1))], "index 2 of 2"),
            (vec![(0, json!(0.5)), (0, json!(0.1)), (1, json!(0.1))], "two scores have index 0"),
            // What serialisers make of NaN, and a number that has no f64.
            (vec![(0, json!(0.5)), (1, Value::Null)], "documented shape"),
            (vec![(0, json!(0.5)), (1, json!("NaN"))], "documented shape"),
        ] {
            let body = answer(format, &scores);
            let error = failure(format, ResponseTemplate::new(200).set_body_json(body)).await;
            assert_eq!(error.kind, ProviderErrorKind::BadResponse, "{format:?} {words}");
            assert!(error.message.contains(words), "{format:?}: {error}");
        }
        for body in [
            "",
            "<html>",
            r#"{"results":"none"}"#,
            r#"[{"index":0,"score":1e999}]"#,
            r#"[{"index":-1,"score":1}]"#,
        ] {
            let error = failure(format, ResponseTemplate::new(200).set_body_string(body)).await;
            assert_eq!(error.kind, ProviderErrorKind::BadResponse, "{format:?} {body}");
        }
    }
}

#[tokio::test]
async fn each_refusal_has_its_kind_and_quotes_neither_key_nor_text() {
    let limited = ProviderErrorKind::RateLimited { retry_after: Some(Duration::from_secs(7)) };
    for (status, kind) in [
        (401, ProviderErrorKind::Unauthorized),
        (404, ProviderErrorKind::ModelNotFound),
        (422, ProviderErrorKind::BadInput),
        (429, limited),
        (500, ProviderErrorKind::Server),
        (503, limited),
    ] {
        let body = json!({ "message": format!("no: {KEY} {TEXT}") });
        let refusal = ResponseTemplate::new(status).insert_header("retry-after", "7").set_body_json(body);
        let error = failure(RerankFormat::Cohere, refusal).await;
        assert_eq!(error.kind, kind, "{status}");
        assert!(!format!("{error:?}").contains(KEY) && !error.message.contains(TEXT), "{error}");
    }
    let slow = ResponseTemplate::new(200).set_delay(Duration::from_secs(60));
    let server = serve(slow).await;
    let error = reranker(RerankFormat::Tei, &server, 50).rerank("q", &[TEXT.into()]).await.unwrap_err();
    assert_eq!(error.kind, ProviderErrorKind::Timeout);
}

#[test]
fn settings_that_cannot_work_are_named() {
    let build = |settings| rerank::reranker(settings).err().unwrap().to_string();
    let url = |url: &str| RerankSettings { url: url.into(), ..RerankSettings::default() };
    assert!(build(url("localhost")).contains("the base URL of the re-ranker"));
    assert!(build(RerankSettings { timeout: Duration::ZERO, ..url("http://host") }).contains("timeout_ms"));
    assert!(build(RerankSettings { api_key: Secret::new("a\nb"), ..url("http://host") }).contains("api_key"));
}

const TEXT: &str = "Rex is ill, and nobody is to know";

async fn failure(format: RerankFormat, template: ResponseTemplate) -> ProviderError {
    let server = serve(template).await;
    let texts = [TEXT.to_owned(), "b".to_owned()];
    reranker(format, &server, 5_000).rerank("who prefers tabs?", &texts).await.unwrap_err()
}
