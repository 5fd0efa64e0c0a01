//! How the HTTP providers fail: each documented failure of the embedding APIs, and its kind.

use std::time::{Duration, Instant};

use htm_core::provider::{ProviderError, ProviderErrorKind, Purpose};
use htm_providers::{ApiSettings, Secret, openai};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use wiremock::ResponseTemplate;

use crate::mock::{APIS, Api, DIMENSIONS, KEY, Vectors, serve};

/// A memory that no error may repeat.
const TEXT: &str = "the secret diary of a cautious person";

#[tokio::test]
async fn a_refused_connection_is_unreachable() {
    for api in APIS {
        // A port that was free a moment ago.
        let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
        let error = failure(api, &format!("http://127.0.0.1:{port}"), 5_000).await;
        assert_eq!(error.kind, ProviderErrorKind::Unreachable, "{error}");
    }
}

#[tokio::test]
async fn each_status_has_its_kind() {
    use ProviderErrorKind::*;
    for api in APIS {
        for (status, kind) in [
            (400, BadInput),
            (401, Unauthorized),
            (402, QuotaExceeded),
            (403, Unauthorized),
            (404, ModelNotFound),
            (413, BadInput),
            (422, BadInput),
            (429, RateLimited { retry_after: None }),
            (500, Server),
            (503, Server),
        ] {
            let body = api.error(&format!("it says no to '{TEXT}' of {KEY}"), "some_code");
            let server = serve(ResponseTemplate::new(status).set_body_json(body)).await;
            let error = failure(api, &server.uri(), 5_000).await;
            assert_eq!(error.kind, kind, "{api:?} {status}: {error}");
            let pulls = kind == ModelNotFound && api == Api::Ollama;
            assert_eq!(error.hint().contains("ollama pull"), pulls, "{api:?} {status}: {}", error.hint());
            assert!(error.message.contains("it says no"), "{error}");
        }
    }
}

#[tokio::test]
async fn a_proxys_page_is_the_servers_trouble_and_not_quoted() {
    for api in APIS {
        let page = ResponseTemplate::new(502).set_body_raw("<html><h1>Bad Gateway</h1></html>", "text/html");
        let server = serve(page).await;
        let error = failure(api, &server.uri(), 5_000).await;
        assert_eq!((error.kind, error.message.as_str()), (ProviderErrorKind::Server, "HTTP 502 Bad Gateway"));
    }
}

#[tokio::test]
async fn a_rate_limit_says_how_long() {
    for (header, value, wait) in [
        ("Retry-After", "7", Duration::from_secs(7)),
        ("retry-after-ms", "250", Duration::from_millis(250)),
        ("Retry-After", "Wed, 21 Oct 2015 07:28:00 GMT", Duration::ZERO),
    ] {
        for api in APIS {
            let answer =
                ResponseTemplate::new(429).set_body_json(api.error("slow down", "rate_limit_exceeded"));
            let server = serve(answer.insert_header(header, value)).await;
            let error = failure(api, &server.uri(), 5_000).await;
            assert_eq!(error.kind, ProviderErrorKind::RateLimited { retry_after: Some(wait) });
        }
    }
}

#[tokio::test]
async fn a_spent_quota_is_no_rate_limit() {
    let answer =
        ResponseTemplate::new(429).set_body_json(Api::OpenAi.error("no money", "insufficient_quota"));
    let server = serve(answer).await;
    assert_eq!(failure(Api::OpenAi, &server.uri(), 5_000).await.kind, ProviderErrorKind::QuotaExceeded);
}

#[tokio::test]
async fn a_broken_answer_is_a_bad_response() {
    let good = || json!(vec![1.0; DIMENSIONS]);
    let with = |component: Value| {
        let mut vector = vec![json!(1.0); DIMENSIONS];
        vector[3] = component;
        json!(vector)
    };
    for api in APIS {
        let mut bodies = vec![
            ("no vectors", api.vectors(&[])),
            ("two vectors for one text", api.vectors(&[(0, good()), (1, good())])),
            ("null component", api.vectors(&[(0, with(Value::Null))])),
            ("component beyond f32", api.vectors(&[(0, with(json!(1e300)))])),
            ("a word as component", api.vectors(&[(0, with(json!("NaN")))])),
            ("length zero", api.vectors(&[(0, json!(vec![0.0; DIMENSIONS]))])),
            ("empty vector", api.vectors(&[(0, json!([]))])),
            ("other JSON", json!({ "hello": 1 })),
        ];
        if api == Api::OpenAi {
            bodies.push(("index beyond", api.vectors(&[(1, good())])));
        }
        for (what, body) in bodies {
            let server = serve(ResponseTemplate::new(200).set_body_json(body)).await;
            let error = failure(api, &server.uri(), 5_000).await;
            assert_eq!(error.kind, ProviderErrorKind::BadResponse, "{api:?}, {what}: {error}");
        }
        for body in ["<html>Welcome</html>", "", "[NaN]"] {
            let server = serve(ResponseTemplate::new(200).set_body_string(body)).await;
            let error = failure(api, &server.uri(), 5_000).await;
            assert_eq!(error.kind, ProviderErrorKind::BadResponse, "{api:?}, {body}: {error}");
        }
        let server =
            serve(ResponseTemplate::new(302).insert_header("Location", "http://elsewhere.invalid/")).await;
        assert_eq!(failure(api, &server.uri(), 5_000).await.kind, ProviderErrorKind::BadResponse);
    }
}

#[tokio::test]
async fn a_number_that_json_does_not_have_is_traced_to_its_text() {
    for api in APIS {
        let (good, mut bad) = (json!(vec![1.0; DIMENSIONS]), vec![json!(1.0); DIMENSIONS]);
        bad[3] = json!("NaN");
        let body = api.vectors(&[(0, good), (1, json!(bad))]).to_string().replace("\"NaN\"", "NaN");
        let server = serve(ResponseTemplate::new(200).set_body_string(body)).await;
        let texts = [TEXT.to_owned(), "another".to_owned()];
        let error = api.embedder(&server.uri(), 5_000).embed(&texts, Purpose::Document).await.unwrap_err();
        assert_eq!(error.message, "vector 1 has a component that is not finite", "{api:?}");
        assert!(error.spares_others, "{api:?}");
    }
}

#[tokio::test]
async fn an_index_twice_is_a_bad_response() {
    let vector = json!(vec![1.0; DIMENSIONS]);
    let body = Api::OpenAi.vectors(&[(0, vector.clone()), (0, vector)]);
    let server = serve(ResponseTemplate::new(200).set_body_json(body)).await;
    let texts = [TEXT.to_owned(), "another".to_owned()];
    let embedder = Api::OpenAi.embedder(&server.uri(), 5_000);
    let error = embedder.embed(&texts, Purpose::Document).await.unwrap_err();
    assert_eq!(error.kind, ProviderErrorKind::BadResponse);
    assert!(error.message.contains("index 0"), "{error}");
}

#[tokio::test]
async fn too_few_vectors_and_another_dimension() {
    for api in APIS {
        let body = api.vectors(&[(0, json!(vec![1.0; DIMENSIONS]))]);
        let server = serve(ResponseTemplate::new(200).set_body_json(body)).await;
        let embedder = api.embedder(&server.uri(), 5_000);
        let texts = [TEXT.to_owned(), "another".to_owned()];
        let error = embedder.embed(&texts, Purpose::Document).await.unwrap_err();
        assert_eq!(error.kind, ProviderErrorKind::BadResponse, "{error}");

        embedder.embed(&texts[..1], Purpose::Document).await.unwrap();
        server.reset().await;
        let body = api.vectors(&[(0, json!(vec![1.0; DIMENSIONS / 2]))]);
        let answer = ResponseTemplate::new(200).set_body_json(body);
        wiremock::Mock::given(wiremock::matchers::any()).respond_with(answer).mount(&server).await;
        let error = embedder.embed(&texts[..1], Purpose::Document).await.unwrap_err();
        assert!(error.message.contains("32 dimensions, not 64"), "{error}");
    }
}

#[tokio::test]
async fn a_call_ends_by_its_deadline() {
    for api in APIS {
        // Accepts and never answers; the listener lives until the end of the turn.
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", silent.local_addr().unwrap());
        let start = Instant::now();
        let error = failure(api, &url, 200).await;
        assert_eq!(error.kind, ProviderErrorKind::Timeout, "{error}");
        assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());

        let server = serve(ResponseTemplate::new(200).set_delay(Duration::from_secs(30))).await;
        assert_eq!(failure(api, &server.uri(), 200).await.kind, ProviderErrorKind::Timeout);
    }
}

#[tokio::test]
async fn dimensions_are_asked_once() {
    for api in APIS {
        let server = serve(Vectors { api, shuffled: false }).await;
        let embedder = api.embedder(&server.uri(), 5_000);
        for _ in 0..3 {
            assert_eq!(embedder.dimensions().await.unwrap(), DIMENSIONS);
        }
        assert_eq!(server.received_requests().await.unwrap().len(), 1);
    }
}

#[test]
fn settings_do_not_show_the_key() {
    let settings = ApiSettings { api_key: Secret::new(KEY), ..ApiSettings::openai() };
    assert!(!format!("{settings:?}").contains(KEY));
    let error = openai::embedder(ApiSettings { base_url: format!("http://user:{KEY}@"), ..settings });
    let error = error.err().unwrap();
    assert!(!format!("{error} {error:?}").contains(KEY), "{error:?}");
}

/// The failure of one call; it holds neither the key nor the text, in no form.
async fn failure(api: Api, url: &str, deadline_ms: u64) -> ProviderError {
    let embedder = api.embedder(url, deadline_ms);
    let error = embedder.embed(&[TEXT.to_owned()], Purpose::Document).await.unwrap_err();
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains(KEY) && !shown.contains(TEXT), "{shown}");
    assert!(error.message.chars().count() <= 250, "{shown}");
    error
}
