//! Every family of encoders against sentence-transformers, on tiny models with random weights (`data/reference.py`
//! makes them), and what is said of a directory that cannot be used.
#![cfg(feature = "local")]
// A helper of a test may unwrap, as a test may.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Arc;

use htm_core::Result;
use htm_core::provider::{Embedder, Purpose};
use htm_providers::local::{self, LocalSettings};
use serde_json::{Value, json};
use tempfile::TempDir;

const FAMILIES: [&str; 6] = ["bert", "bge", "mpnet", "xlm-roberta", "roberta", "distilbert"];

#[derive(serde::Deserialize)]
struct Expected {
    texts: Vec<String>,
    document: Vec<Vec<f32>>,
    query: Vec<Vec<f32>>,
    parts: Vec<u32>,
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn embedder(model_dir: &Path) -> Result<Arc<dyn Embedder>> {
    local::embedder(LocalSettings { model_dir: model_dir.into(), threads: 2, ..LocalSettings::default() })
}

#[track_caller]
fn close(found: &[f32], expected: &[f32], what: &str) {
    assert_eq!(found.len(), expected.len());
    let far = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(far <= 1e-4, "{what}: {far} apart");
}

#[tokio::test]
async fn every_family_agrees_with_sentence_transformers() {
    for name in FAMILIES {
        let expected: Expected =
            serde_json::from_slice(&fs::read(data(name).join("expected.json")).unwrap()).unwrap();
        let embedder = embedder(&data(name)).unwrap();
        assert_eq!(embedder.dimensions().await.unwrap(), 24);
        let found = embedder.embed(&expected.texts, Purpose::Document).await.unwrap();
        for ((text, found), vector) in expected.texts.iter().zip(&found).zip(&expected.document) {
            close(&found.vector, vector, &format!("{name}, document {text:?}"));
        }
        let parts: Vec<u32> = found.iter().map(|embedding| embedding.parts).collect();
        assert_eq!(parts, expected.parts, "{name}");
        let mut compared = 0;
        for (text, vector) in expected.texts.iter().zip(&expected.query) {
            // A query of unknown words alone is refused.
            if let Ok(found) = embedder.embed(slice::from_ref(text), Purpose::Query).await {
                close(&found[0].vector, vector, &format!("{name}, query {text:?}"));
                compared += 1;
            }
        }
        assert!(compared >= 6, "{name}: {compared} queries");
        assert!(expected.parts.iter().any(|parts| *parts > 1), "{name}: no text is beyond the window");
    }
}

#[tokio::test]
async fn a_text_is_the_same_alone_and_among_others() {
    let texts: Vec<String> = (0..150).map(|text| "the index of the planner ".repeat(text % 17)).collect();
    for name in ["mpnet", "xlm-roberta"] {
        let embedder = embedder(&data(name)).unwrap();
        let together = embedder.embed(&texts, Purpose::Document).await.unwrap();
        for (text, together) in texts.iter().zip(&together).step_by(7) {
            let alone = embedder.embed(std::slice::from_ref(text), Purpose::Document).await.unwrap();
            close(&alone[0].vector, &together.vector, name);
        }
    }
}

#[test]
fn a_directory_says_what_it_holds() {
    let facts = |name: &str| serde_json::to_value(local::facts(&data(name)).unwrap()).unwrap();
    assert_eq!(
        facts("xlm-roberta"),
        json!({
            "family": "RoBERTa", "layers": 2, "dimensions": 24, "window": 64, "pooling": "mean", "normalised": true,
            "document_prefix": "passage: ", "query_prefix": "query: ",
        })
    );
    assert_eq!(facts("bge")["pooling"], "cls");
    assert_eq!(facts("roberta")["pooling"], "max");
    assert_eq!(
        (&facts("bert")["window"], &facts("bert")["query_prefix"]),
        (&json!(48), &Value::String("".into()))
    );
    assert_eq!((&facts("mpnet")["family"], &facts("mpnet")["window"]), (&json!("MPNet"), &json!(176)));
    assert_eq!(facts("distilbert")["family"], "DistilBERT");
}

#[tokio::test]
async fn settings_go_before_the_prefixes_of_the_files() {
    let with = |name: &str, query: Option<&str>| {
        let query_prefix = query.map(str::to_owned);
        local::embedder(LocalSettings { model_dir: data(name), query_prefix, ..LocalSettings::default() })
    };
    let text = ["the planner".to_owned()];
    let query = |embedder: Arc<dyn Embedder>| {
        let text = text.clone();
        async move { embedder.embed(&text, Purpose::Query).await.unwrap().remove(0).vector }
    };
    let plain = embedder(&data("bert")).unwrap();
    let prefixed = plain.embed(&["query: the planner".into()], Purpose::Query).await.unwrap();
    close(&query(with("bert", Some("query: ")).unwrap()).await, &prefixed[0].vector, "set");
    let none = query(with("xlm-roberta", Some("")).unwrap()).await;
    let own = query(with("xlm-roberta", None).unwrap()).await;
    assert_ne!(none, own);

    let error = with("bert", Some(&"far too long ".repeat(20))).err().unwrap();
    assert_eq!(error.code(), "provider_settings_value");
    assert!(error.to_string().starts_with("embedding.query_prefix has "), "{error}");
}

/// A copy of a fixture that can be spoilt.
fn copy(name: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for part in ["", "1_Pooling"] {
        fs::create_dir_all(dir.path().join(part)).unwrap();
        for entry in fs::read_dir(data(name).join(part)).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_file() {
                fs::copy(entry.path(), dir.path().join(part).join(entry.file_name())).unwrap();
            }
        }
    }
    dir
}

fn change(dir: &TempDir, file: &str, key: &str, value: Value) {
    let path = dir.path().join(file);
    let mut object: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    object[key] = value;
    fs::write(path, object.to_string()).unwrap();
}

#[track_caller]
fn refused(dir: &TempDir, code: &str, parts: &[&str]) {
    let error = embedder(dir.path()).err().expect("the directory is refused");
    assert_eq!(error.code(), code, "{error}");
    for part in parts {
        assert!(error.to_string().contains(part), "{error}");
    }
    assert!(!error.hint().is_empty());
}

#[test]
fn what_cannot_be_run_is_refused_with_what_can() {
    let code = "provider_settings_unsupported";
    let dir = copy("bert");
    change(&dir, "config.json", "model_type", json!("nomic_bert"));
    refused(
        &dir,
        code,
        &["config.json", "model_type `nomic_bert`", "bert, distilbert, mpnet, roberta, xlm-roberta"],
    );
    change(&dir, "config.json", "model_type", Value::Null);
    change(&dir, "config.json", "architectures", json!(["T5EncoderModel"]));
    refused(&dir, code, &["architectures `T5EncoderModel`", "MPNetModel"]);
    change(&dir, "config.json", "architectures", json!(["BertModel"]));
    assert!(embedder(dir.path()).is_ok());
    change(&dir, "config.json", "hidden_act", json!("relu"));
    refused(&dir, code, &["hidden_act `relu`"]);

    let dir = copy("bge");
    change(&dir, "config.json", "position_embedding_type", json!("relative_key"));
    refused(&dir, code, &["position_embedding_type `relative_key`"]);
    let dir = copy("bge");
    change(&dir, "1_Pooling/config.json", "pooling_mode", json!("lasttoken"));
    refused(&dir, code, &["1_Pooling", "pooling_mode `lasttoken`", "cls"]);
    let dir = copy("bge");
    let dense =
        json!([{"idx": 0, "name": "0", "path": "2_Dense", "type": "sentence_transformers.models.Dense"}]);
    fs::write(dir.path().join("modules.json"), dense.to_string()).unwrap();
    refused(&dir, code, &["modules.json", "models.Dense"]);
}

#[test]
fn a_spoilt_directory_is_refused_by_the_file() {
    let code = "provider_settings_bad_file";
    let dir = copy("mpnet");
    change(&dir, "config.json", "hidden_size", json!(4002));
    refused(&dir, code, &["config.json", "hidden_size is 4002", "4000 dimensions"]);
    change(&dir, "config.json", "hidden_size", json!(48));
    refused(&dir, code, &["1_Pooling", "24 dimensions", "48"]);
    change(&dir, "1_Pooling/config.json", "embedding_dimension", json!(48));
    refused(&dir, code, &["model.safetensors", "has the shape [", "24], not [", "48]"]);

    let dir = copy("roberta");
    let weights = dir.path().join("model.safetensors");
    let bytes = fs::read(&weights).unwrap();
    fs::write(&weights, &bytes[..bytes.len() / 2]).unwrap();
    refused(&dir, code, &["model.safetensors", "its length is not that of its tensors"]);
    fs::write(&weights, [&bytes[..], b"more"].concat()).unwrap();
    refused(&dir, code, &["model.safetensors", "its length is not that of its tensors"]);
    // As many bytes as fit into a number.
    let size = usize::MAX / 8;
    let tensor = |at| json!({ "dtype": "U8", "shape": [size], "data_offsets": [at * size, (at + 1) * size] });
    let tensors = (0..8).map(|at| (at.to_string(), tensor(at))).collect::<serde_json::Map<_, _>>();
    let header = serde_json::Value::from(tensors).to_string();
    fs::write(&weights, [&header.len().to_le_bytes(), header.as_bytes()].concat()).unwrap();
    refused(&dir, code, &["model.safetensors", "its length is not that of its tensors"]);
    for no_header in [&b""[..], &bytes[..20], &[0xff; 32]] {
        fs::write(&weights, no_header).unwrap();
        refused(&dir, code, &["model.safetensors", "it has no header"]);
    }
    fs::write(&weights, [&bytes[..8], &bytes[9..], b"x"].concat()).unwrap();
    refused(&dir, code, &["model.safetensors"]);
    fs::remove_file(&weights).unwrap();
    refused(&dir, "provider_settings_missing_file", &["model.safetensors is missing"]);

    let dir = copy("distilbert");
    change(&dir, "config.json", "n_layers", json!(3));
    refused(&dir, code, &["it has no tensor transformer.layer.2.attention.q_lin.weight"]);
    fs::remove_file(dir.path().join("tokenizer.json")).unwrap();
    refused(&dir, "provider_settings_missing_file", &["tokenizer.json is missing"]);
    fs::write(dir.path().join("config.json"), "{").unwrap();
    refused(&dir, code, &["config.json", "EOF"]);

    let dir = copy("bert");
    change(&dir, "sentence_bert_config.json", "max_seq_length", json!(2));
    refused(&dir, code, &["max_seq_length must be 3 or more"]);
    let dir = copy("bert");
    fs::remove_file(dir.path().join("1_Pooling/config.json")).unwrap();
    refused(&dir, "provider_settings_missing_file", &["1_Pooling"]);
    let dir = copy("xlm-roberta");
    change(&dir, "config.json", "vocab_size", json!(100));
    refused(&dir, code, &["tokenizer.json", "more tokens than the model"]);
}

#[test]
fn sizes_that_no_table_has_are_errors_and_no_panics() {
    let code = "provider_settings_bad_file";
    let dir = copy("mpnet");
    change(&dir, "config.json", "relative_attention_num_buckets", json!(1));
    refused(&dir, code, &["config.json", "relative_attention_num_buckets must be 2 or more"]);
    let dir = copy("roberta");
    change(&dir, "config.json", "pad_token_id", json!(u64::MAX));
    refused(&dir, code, &["config.json", "max_position_embeddings must be above"]);
    // As many tokens as the model has, one of them with an id beyond.
    let dir = copy("bert");
    let path = dir.path().join("tokenizer.json");
    let mut tokenizer: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let words = tokenizer["model"]["vocab"].as_object_mut().unwrap();
    let (_, id) = words.iter_mut().find(|(word, _)| word.chars().all(char::is_alphabetic)).unwrap();
    *id = json!(1_000_000);
    fs::write(&path, tokenizer.to_string()).unwrap();
    refused(&dir, code, &["tokenizer.json", "more tokens than the model: the id 1000000"]);
}
