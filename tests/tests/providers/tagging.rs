//! The contract of `Tagger`, on each provider.

use std::sync::Arc;

use htm_core::provider::Tagger;
use htm_core::tag::TagPath;
use htm_providers::fake::{self, FakeSettings};
use htm_providers::local;
use serde_json::{Value, json};
use wiremock::{Request, Respond, ResponseTemplate};

use crate::embedding::{awkward_texts, local_settings};
use crate::mock::{APIS, Api, serve};

#[tokio::test]
async fn fake_keeps_the_contract() {
    keeps_the_contract(fake::tagger(FakeSettings::default()).unwrap()).await;
}

#[tokio::test]
async fn local_keeps_the_contract() {
    let Some(settings) = local_settings() else { return };
    keeps_the_contract(local::tagger(settings).unwrap()).await;
}

#[tokio::test]
async fn language_models_keep_the_contract() {
    for api in APIS {
        let server = serve(Tags(api)).await;
        keeps_the_contract(api.tagger(&server.uri(), 10_000)).await;
    }
}

/// Answers with one tag a text, `length:<its characters>`, in reverse order.
struct Tags(Api);

impl Respond for Tags {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let body: Value = request.body_json().unwrap();
        let messages = body["messages"].as_array().unwrap();
        assert_eq!((&messages[0]["role"], &messages[1]["role"]), (&json!("system"), &json!("user")));
        let schema = match self.0 {
            Api::OpenAi => {
                assert_eq!((request.url.path(), &body["temperature"]), ("/v1/chat/completions", &json!(0.0)));
                assert_eq!(body["response_format"]["type"], "json_schema");
                &body["response_format"]["json_schema"]["schema"]
            }
            Api::Ollama => {
                assert_eq!((request.url.path(), &body["stream"]), ("/api/chat", &json!(false)));
                assert_eq!(body["options"]["temperature"], 0.0);
                &body["format"]
            }
        };
        let tags = &schema["properties"]["results"]["items"]["properties"]["tags"];
        let pattern = &tags["items"]["properties"]["tag"]["pattern"];
        assert_eq!(pattern, "^[a-z0-9][a-z0-9-]{0,31}(:[a-z0-9][a-z0-9-]{0,31}){0,4}$");
        assert_eq!(tags["maxItems"], 5);
        let user: Value = serde_json::from_str(messages[1]["content"].as_str().unwrap()).unwrap();
        assert!(user["tags_in_use"].is_array());
        assert_eq!(schema["properties"]["results"]["minItems"], user["texts"].as_array().unwrap().len());
        let results: Vec<Value> = user["texts"]
            .as_array()
            .unwrap()
            .iter()
            .rev()
            .map(|text| {
                let length = text["text"].as_str().unwrap().chars().count();
                json!({ "index": text["index"], "tags": [{ "tag": format!("length:{length}"), "confidence": 0.5 }] })
            })
            .collect();
        let content = json!({ "results": results }).to_string();
        ResponseTemplate::new(200).set_body_json(self.0.chat(&content))
    }
}

async fn keeps_the_contract(tagger: Arc<dyn Tagger>) {
    let ontology =
        ["database:postgresql", "pets"].map(|tag| tag.parse::<TagPath>().unwrap()).into_iter().collect();
    let extract = async |texts: &[String]| {
        let lists = tagger.extract(texts, &ontology).await.unwrap();
        assert_eq!(lists.len(), texts.len());
        for tags in &lists {
            let mut paths: Vec<&TagPath> = tags.iter().map(|tag| &tag.path).collect();
            paths.sort();
            paths.dedup();
            assert_eq!(paths.len(), tags.len(), "a tag comes twice: {tags:?}");
            assert!(tags.iter().all(|tag| tag.confidence.is_none_or(|it| (0.0..=1.0).contains(&it))));
        }
        lists
    };
    assert!(!tagger.version().is_empty());
    assert!(extract(&[]).await.is_empty());
    let batch: Vec<String> = (0..64)
        .map(|i| format!("PostgreSQL vacuum notes {}", "about my cat and dog ".repeat(i % 5)))
        .collect();
    let together = extract(&batch).await;
    for index in [0, 4, 63] {
        let alone: Vec<TagPath> =
            extract(&batch[index..=index]).await.remove(0).into_iter().map(|tag| tag.path).collect();
        let among: Vec<TagPath> = together[index].iter().map(|tag| tag.path.clone()).collect();
        assert_eq!(alone, among, "text {index}");
    }
    extract(&awkward_texts()).await;
}
