//! How language models fail at tagging, and what is made of an answer that is nearly right.

use htm_core::provider::{ProviderError, ProviderErrorKind, TagOrigin};
use serde_json::json;
use wiremock::ResponseTemplate;

use crate::mock::{APIS, Api, KEY, serve};

#[tokio::test]
async fn prose_around_the_answer_does_no_harm() {
    for api in APIS {
        let content = "Of course!\n```json\n{\"tags\": [\"Pets:Dogs\", \"not a tag!\", \"health\"]}\n```";
        let server = serve(ResponseTemplate::new(200).set_body_json(api.chat(content))).await;
        let tagger = api.tagger(&server.uri(), 5_000);
        let lists =
            tagger.extract(&["Rex is ill".to_owned()], &htm_core::tag::KnownTags::default()).await.unwrap();
        let paths: Vec<&str> = lists[0].iter().map(|tag| tag.path.as_str()).collect();
        assert_eq!((paths, tagger.origin()), (vec!["pet:dog", "health"], TagOrigin::Llm));
    }
}

#[tokio::test]
async fn answers_that_are_none() {
    for api in APIS {
        for content in
            ["I cannot do that.", "", r#"{"results":[{"index":5,"tags":[]},{"index":6,"tags":[]}]}"#]
        {
            let server = serve(ResponseTemplate::new(200).set_body_json(api.chat(content))).await;
            let error = failure(api, &server.uri()).await;
            assert_eq!(error.kind, ProviderErrorKind::UnusableAnswer, "{content}");
            assert_eq!(error.answer.as_deref(), Some(content));
            assert!(!error.to_string().contains("cannot do"), "{error}");
            assert_eq!(server.received_requests().await.unwrap().len(), 2, "it is told once what is wrong");
        }
        let server = serve(ResponseTemplate::new(200).set_body_json(json!({ "choices": [] }))).await;
        assert_eq!(failure(api, &server.uri()).await.kind, ProviderErrorKind::BadResponse);
        let server = serve(ResponseTemplate::new(404).set_body_json(api.error("model not found", "x"))).await;
        assert_eq!(failure(api, &server.uri()).await.kind, ProviderErrorKind::ModelNotFound);
    }
}

#[tokio::test]
async fn a_refusal_is_about_the_text() {
    let mut body = Api::OpenAi.chat("");
    body["choices"][0]["message"] = json!({ "role": "assistant", "content": null, "refusal": "I must not." });
    let server = serve(ResponseTemplate::new(200).set_body_json(body)).await;
    assert_eq!(failure(Api::OpenAi, &server.uri()).await.kind, ProviderErrorKind::BadInput);
}

async fn failure(api: Api, url: &str) -> ProviderError {
    let error = api
        .tagger(url, 5_000)
        .extract(&["Rex is ill".to_owned()], &htm_core::tag::KnownTags::default())
        .await
        .unwrap_err();
    assert!(!format!("{error:?}").contains(KEY));
    error
}
