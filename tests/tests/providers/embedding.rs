//! The contract of `Embedder`, on each provider.

use std::sync::Arc;

use htm_core::provider::{Embedder, Embedding, Purpose};
use htm_providers::fake::{self, FakeSettings};
use htm_providers::local::{self, LocalSettings};

use crate::mock::{Api, Vectors, serve};

#[tokio::test]
async fn fake_keeps_the_contract() {
    let settings = FakeSettings { window: Some(256), ..FakeSettings::default() };
    keeps_the_contract(fake::embedder(settings).unwrap()).await;
}

#[tokio::test]
async fn local_keeps_the_contract() {
    let Some(settings) = local_settings() else { return };
    keeps_the_contract(local::embedder(settings).unwrap()).await;
}

#[tokio::test]
async fn openai_keeps_the_contract() {
    let server = serve(Vectors { api: Api::OpenAi, shuffled: true }).await;
    keeps_the_contract(Api::OpenAi.embedder(&server.uri(), 10_000)).await;
}

#[tokio::test]
async fn ollama_keeps_the_contract() {
    let server = serve(Vectors { api: Api::Ollama, shuffled: false }).await;
    keeps_the_contract(Api::Ollama.embedder(&server.uri(), 10_000)).await;
}

/// The settings of the local model, or a line that says why it is left out.
pub(crate) fn local_settings() -> Option<LocalSettings> {
    let from_environment = std::env::var_os("HTM_LOCAL__MODEL_DIR").map(Into::into);
    let model_dir: std::path::PathBuf = from_environment.unwrap_or_else(local::default_model_dir);
    if !model_dir.join("model.safetensors").exists() {
        htm_tests::skipped(&format!("no model at {}; `./justw setup` fetches it", model_dir.display()));
        return None;
    }
    Some(LocalSettings { model_dir, ..LocalSettings::default() })
}

/// Texts that providers stumble over.
pub(crate) fn awkward_texts() -> Vec<String> {
    let long = "A sentence of a very long text, which goes on. ".repeat(60_000 / 47);
    let texts = [
        "",
        " \n\t ",
        "🦀👩‍👩‍👧 ok",
        "שלום עולם، مرحبا بالعالم",
        "\u{0}\u{202e}\u{feff}",
        "\"}], {\"input\": [",
        &long,
    ];
    texts.map(str::to_owned).to_vec()
}

async fn keeps_the_contract(embedder: Arc<dyn Embedder>) {
    let dimensions = embedder.dimensions().await.unwrap();
    let embed = async |texts: &[String]| {
        let embeddings = embedder.embed(texts, Purpose::Document).await.unwrap();
        assert_eq!(embeddings.len(), texts.len());
        for (Embedding { vector, parts }, text) in embeddings.iter().zip(texts) {
            // The long one is longer than every window.
            assert_eq!(*parts > 1, text.len() > 50_000, "{parts} parts of {} bytes", text.len());
            assert_eq!(vector.len(), dimensions);
            assert!(vector.iter().all(|x| x.is_finite()));
            let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            assert!((length - 1.0).abs() < 1e-4, "length {length}");
        }
        embeddings
    };

    assert!(embed(&[]).await.is_empty());

    let batch: Vec<String> =
        (0..64).map(|i| format!("Memory number {i} {}", "tells of a day at sea. ".repeat(i % 7))).collect();
    let together = embed(&batch).await;
    for index in [0, 1, 31, 63] {
        let alone = embed(&batch[index..=index]).await;
        same(&alone[0], &together[index], &format!("text {index} of 64"));
    }

    let awkward = awkward_texts();
    let together = embed(&awkward).await;
    for (text, together) in awkward.iter().zip(&together) {
        let alone = embed(std::slice::from_ref(text)).await;
        same(&alone[0], together, &format!("an awkward text of {} bytes", text.len()));
    }
    assert_eq!(embedder.embed(&batch[..1], Purpose::Query).await.unwrap()[0].vector.len(), dimensions);
}

fn same(a: &Embedding, b: &Embedding, what: &str) {
    assert_eq!(a.parts, b.parts, "{what}");
    let far = a.vector.iter().zip(&b.vector).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(far < 1e-4, "{what}: alone and in a batch are {far} apart");
}
