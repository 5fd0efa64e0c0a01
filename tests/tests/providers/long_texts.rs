//! Texts that are longer than the model's window: sent in parts, pooled, and halved when a server refuses one.

use htm_core::TokenEncoding;
use htm_core::provider::{Embedding, ProviderErrorKind, Purpose};
use serde_json::json;
use wiremock::{MockServer, Request, Respond, ResponseTemplate};

use crate::mock::{APIS, Api, Vectors, fake_vector, serve};

/// OpenAI's own, whose tokens are counted exactly; for Ollama it is one of unknown name.
const MODEL: &str = "text-embedding-3-small";

#[tokio::test]
async fn a_long_text_is_sent_in_parts_and_pooled() {
    for api in APIS {
        let server = serve(Vectors { api, shuffled: api == Api::OpenAi }).await;
        let texts = ["A short one.".to_owned(), story(80), "Another.".to_owned()];
        let embedder = api.embedder_of(MODEL, Some(200), &server.uri(), 5_000);
        let embeddings = embedder.embed(&texts, Purpose::Document).await.unwrap();

        let requests = inputs(api, &server).await;
        assert_eq!(requests.len(), 1);
        let parts = &requests[0][1..requests[0].len() - 1];
        assert_eq!(parts.concat(), texts[1]);
        assert!(parts.len() > 3 && parts.iter().all(|part| part.ends_with(". ")), "{parts:?}");
        assert!(parts.iter().all(|part| TokenEncoding::Cl100kBase.count(part) <= 200));

        let counts: Vec<u32> = embeddings.iter().map(|embedding| embedding.parts).collect();
        assert_eq!(counts, [1, parts.len() as u32, 1]);
        near(&embeddings[0], &[&texts[0]]);
        near(&embeddings[2], &[&texts[2]]);
        if api == Api::OpenAi {
            near(&embeddings[1], &parts.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
}

#[tokio::test]
async fn a_refused_part_is_halved_until_the_server_takes_it() {
    for api in APIS {
        for status in [400, 500] {
            let server = serve(Narrow { api, status, bytes: 700 }).await;
            let text = story(40);
            let embedder = api.embedder_of(MODEL, Some(400), &server.uri(), 5_000);
            let embeddings = embedder.embed(std::slice::from_ref(&text), Purpose::Document).await.unwrap();
            let requests = inputs(api, &server).await;
            let is_taken = |inputs: &Vec<String>| inputs.iter().all(|input| input.len() <= 700);
            let taken: Vec<String> = requests.into_iter().filter(is_taken).flatten().collect();
            assert_eq!(taken.concat(), text, "{api:?} {status}");
            assert_eq!(embeddings[0].parts as usize, taken.len());
        }
    }
}

#[tokio::test]
async fn what_no_part_of_is_taken_is_bad_input() {
    for api in APIS {
        let server = serve(Narrow { api, status: 400, bytes: 0 }).await;
        let embedder = api.embedder_of(MODEL, Some(400), &server.uri(), 5_000);
        let error = embedder.embed(&[story(100)], Purpose::Document).await.unwrap_err();
        assert_eq!(error.kind, ProviderErrorKind::BadInput, "{error}");
        let requests = inputs(api, &server).await;
        assert!(requests.len() < 12, "{}", requests.len());
    }
}

#[tokio::test]
async fn of_several_texts_a_refused_one_is_the_callers_to_find() {
    for api in APIS {
        let server = serve(Narrow { api, status: 400, bytes: 700 }).await;
        let embedder = api.embedder_of(MODEL, Some(400), &server.uri(), 5_000);
        let error = embedder.embed(&[story(40), story(1)], Purpose::Document).await.unwrap_err();
        assert_eq!(error.kind, ProviderErrorKind::BadInput, "{error}");
        assert_eq!(inputs(api, &server).await.len(), 1);
    }
}

#[tokio::test]
async fn a_request_keeps_to_the_apis_limits() {
    let many: Vec<String> = (0..3_000).map(|n| format!("Number {n}.")).collect();
    let much: Vec<String> = (0..14).map(|_| story(2_000)).collect();
    for (texts, limit) in [(many, 2_048), (much, usize::MAX)] {
        let server = serve(Vectors { api: Api::OpenAi, shuffled: true }).await;
        let embedder = Api::OpenAi.embedder_of(MODEL, None, &server.uri(), 30_000);
        let embeddings = embedder.embed(&texts, Purpose::Document).await.unwrap();
        let requests = inputs(Api::OpenAi, &server).await;
        assert_eq!(requests.concat().concat(), texts.concat());
        assert_eq!((requests.len(), embeddings.len()), (2, texts.len()));
        for request in requests {
            let tokens: usize = request.iter().map(|input| TokenEncoding::Cl100kBase.count(input)).sum();
            assert!(request.len() <= limit && tokens <= 300_000, "{tokens} in {}", request.len());
        }
    }
}

/// Takes inputs of at most so many bytes, and refuses longer ones as servers do.
struct Narrow {
    api: Api,
    /// 400, or the 500 of llama.cpp's server and of versions of Ollama.
    status: u16,
    bytes: usize,
}

impl Respond for Narrow {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        if self.api.inputs(request).iter().all(|input| input.len() <= self.bytes) {
            return Vectors { api: self.api, shuffled: self.api == Api::OpenAi }.respond(request);
        }
        let words = match self.api {
            Api::OpenAi => "input (596 tokens) is too large to process. increase the physical batch size",
            Api::Ollama => "the input length exceeds the context length",
        };
        let body = match self.status {
            400 => self.api.error(words, "context_length_exceeded"),
            _ => json!({ "error": words }),
        };
        ResponseTemplate::new(self.status).set_body_json(body)
    }
}

fn story(sentences: usize) -> String {
    (0..sentences).map(|day| format!("On day {day} the ship sailed on and the crew saw land. ")).collect()
}

/// The inputs of each request, in order.
async fn inputs(api: Api, server: &MockServer) -> Vec<Vec<String>> {
    server.received_requests().await.unwrap().iter().map(|request| api.inputs(request)).collect()
}

/// Whether an embedding is the pooled one of `parts`: their mean by tokens, at unit length.
fn near(embedding: &Embedding, parts: &[&str]) {
    let mut sum = vec![0.0_f64; embedding.vector.len()];
    for part in parts {
        let tokens = TokenEncoding::Cl100kBase.count(part) as f64;
        sum.iter_mut().zip(fake_vector(part)).for_each(|(sum, x)| *sum += tokens * f64::from(x));
    }
    let length = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
    for (x, sum) in embedding.vector.iter().zip(sum) {
        assert!((f64::from(*x) - sum / length).abs() < 1e-5, "{x} and {}", sum / length);
    }
}
