//! The model against candle's BERT, its windows, and its speed. Without the weights they print why they skip.

use std::time::Instant;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::BertModel;
use htm_core::provider::TagExtractor;

use super::model::Model;
use super::*;

/// The directory of the weights, or a line that says what is missing.
fn model_dir() -> Option<PathBuf> {
    let dir = std::env::var_os("HTM_LOCAL__MODEL_DIR").map_or_else(default_model_dir, PathBuf::from);
    if !dir.join("model.safetensors").exists() {
        eprintln!("skipped: no model at {} (`./justw setup` fetches it)", dir.display());
        return None;
    }
    Some(dir)
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// candle's answer for one text that fits the window.
fn reference(dir: &std::path::Path, text: &str) -> Vec<f32> {
    let config = serde_json::from_slice(&std::fs::read(dir.join("config.json")).unwrap()).unwrap();
    let weights = std::fs::read(dir.join("model.safetensors")).unwrap();
    let variables = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu).unwrap();
    let bert = BertModel::load(variables, &config).unwrap();
    let mut tokenizer = tokenizers::Tokenizer::from_file(dir.join("tokenizer.json")).unwrap();
    tokenizer.with_truncation(None).unwrap().with_padding(None);
    let encoding = tokenizer.encode(text, true).unwrap();
    let ids = Tensor::new(encoding.get_ids(), &Device::Cpu).unwrap().unsqueeze(0).unwrap();
    let hidden = bert.forward(&ids, &ids.zeros_like().unwrap(), None).unwrap();
    let mean = hidden.mean(1).unwrap().squeeze(0).unwrap();
    let length = mean.sqr().unwrap().sum_all().unwrap().sqrt().unwrap();
    mean.broadcast_div(&length).unwrap().to_vec1().unwrap()
}

#[test]
fn agrees_with_candle() {
    let Some(dir) = model_dir() else { return };
    let texts = owned(&[
        "",
        "The cat sat on the mat.",
        "naïve café 🦀 שלום",
        &"HNSW indexes vectors in layers. ".repeat(25),
    ]);
    let ours = Model::shared(&dir, 2).unwrap().embed_blocking(&texts).unwrap();
    for (text, ours) in texts.iter().zip(&ours) {
        let theirs = reference(&dir, text);
        let far = ours.iter().zip(&theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(far < 2e-5, "{far} apart for a text of {} bytes", text.len());
    }
}

#[test]
fn meaning_is_near() {
    let Some(dir) = model_dir() else { return };
    let texts = owned(&["A man is eating food.", "Someone has a meal.", "The stock market fell sharply."]);
    let vectors = Model::shared(&dir, 0).unwrap().embed_blocking(&texts).unwrap();
    assert!(dot(&vectors[0], &vectors[1]) > 0.5 && dot(&vectors[0], &vectors[2]) < 0.2);
}

#[test]
fn the_end_of_a_long_text_counts() {
    let Some(dir) = model_dir() else { return };
    let filler = "The committee met and spoke about the budget of the year. ".repeat(100);
    let texts = vec![filler.clone(), format!("{filler}{}", "Penguins swim in the cold sea. ".repeat(100))];
    let vectors = Model::shared(&dir, 0).unwrap().embed_blocking(&texts).unwrap();
    let query = &Model::shared(&dir, 0).unwrap().embed_blocking(&owned(&["penguins"])).unwrap()[0];
    assert!(dot(query, &vectors[1]) > dot(query, &vectors[0]) + 0.2);
}

#[test]
fn a_missing_file_is_named_with_what_to_do() {
    let settings = LocalSettings { model_dir: "/nowhere/model".into(), ..LocalSettings::default() };
    let error = embedder(settings).err().unwrap();
    assert_eq!(error.to_string(), "/nowhere/model/config.json is missing");
    assert!(error.hint().contains("./justw setup"));
}

/// `HTM_BENCH_TEXTS=corpus.jsonl cargo test --release -p htm-providers bench -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
fn bench() {
    let Some(dir) = model_dir() else { return };
    let corpus = std::env::var("HTM_BENCH_TEXTS").expect("a JSON-lines file with `text`");
    let texts: Vec<String> = std::fs::read_to_string(corpus)
        .unwrap()
        .lines()
        .take(1000)
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["text"].as_str().unwrap().to_owned()
        })
        .collect();
    let model = Model::shared(&dir, 0).unwrap();
    for round in 0..4 {
        for size in [64, texts.len()] {
            let start = Instant::now();
            for batch in texts.chunks(size) {
                model.embed_blocking(batch).unwrap();
            }
            let took = start.elapsed().as_secs_f64();
            println!("round {round}, batch {size}: {:.0} texts/s", texts.len() as f64 / took);
        }
    }
}
