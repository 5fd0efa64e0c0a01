//! The cross-encoder against numbers of a reference implementation, and the errors of unusable directories.

use std::path::Path;

use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde_json::json;
use tempfile::TempDir;

const WIDTH: usize = 16;
const INNER: usize = 32;
const POSITIONS: usize = 24;
const VOCABULARY: [&str; 18] = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "who", "likes", "tabs", "##s", "tab", "mara", "prefer", "the", "sea",
    "is", "cold", "space", ".", "?",
];

/// The model of `tests/data/cross_encoder/reference.py`: each element by its tensor's number and its place.
#[derive(Default)]
struct Made {
    tensors: Vec<(String, Vec<usize>, Vec<u8>)>,
}

impl Made {
    fn tensor(&mut self, name: &str, shape: &[usize], scale: f64, shift: f64) {
        let number = (self.tensors.len() + 1) as f64;
        let numbers = (0..shape.iter().product())
            .map(|place: usize| (shift + scale * (0.37 * place as f64 + 1.3 * number).sin()) as f32);
        let bytes = numbers.flat_map(f32::to_le_bytes).collect();
        self.tensors.push((name.into(), shape.into(), bytes));
    }

    fn linear(&mut self, name: &str, inputs: usize, outputs: usize) {
        self.tensor(&format!("{name}.weight"), &[outputs, inputs], 0.3, 0.0);
        self.tensor(&format!("{name}.bias"), &[outputs], 0.1, 0.0);
    }

    fn norm(&mut self, name: &str) {
        self.tensor(&format!("{name}.weight"), &[WIDTH], 0.2, 1.0);
        self.tensor(&format!("{name}.bias"), &[WIDTH], 0.1, 0.0);
    }
}

/// A directory with the form of ms-marco-MiniLM-L-6-v2's, with a vocabulary instead of a tokenizer.
fn directory(labels: usize) -> TempDir {
    let mut made = Made::default();
    let embeddings = "bert.embeddings";
    made.tensor(&format!("{embeddings}.word_embeddings.weight"), &[VOCABULARY.len(), WIDTH], 0.6, 0.0);
    made.tensor(&format!("{embeddings}.position_embeddings.weight"), &[POSITIONS, WIDTH], 0.6, 0.0);
    made.tensor(&format!("{embeddings}.token_type_embeddings.weight"), &[2, WIDTH], 0.6, 0.0);
    made.norm(&format!("{embeddings}.LayerNorm"));
    for layer in 0..2 {
        let at = |name: &str| format!("bert.encoder.layer.{layer}.{name}");
        for kind in ["query", "key", "value"] {
            made.linear(&at(&format!("attention.self.{kind}")), WIDTH, WIDTH);
        }
        made.linear(&at("attention.output.dense"), WIDTH, WIDTH);
        made.norm(&at("attention.output.LayerNorm"));
        made.linear(&at("intermediate.dense"), WIDTH, INNER);
        made.linear(&at("output.dense"), INNER, WIDTH);
        made.norm(&at("output.LayerNorm"));
    }
    made.linear("bert.pooler.dense", WIDTH, WIDTH);
    made.linear("classifier", WIDTH, labels);
    let dir = tempfile::tempdir().unwrap();
    let views = made
        .tensors
        .iter()
        .map(|(name, shape, bytes)| (name, TensorView::new(Dtype::F32, shape.clone(), bytes).unwrap()));
    safetensors::serialize_to_file(views, None, &dir.path().join("model.safetensors")).unwrap();
    let config = json!({
        "model_type": "bert", "hidden_act": "gelu", "hidden_size": WIDTH, "num_hidden_layers": 2,
        "num_attention_heads": 2, "intermediate_size": INNER, "max_position_embeddings": POSITIONS,
        "vocab_size": VOCABULARY.len(), "layer_norm_eps": 1e-12,
    });
    std::fs::write(dir.path().join("config.json"), config.to_string()).unwrap();
    std::fs::write(dir.path().join("vocab.txt"), VOCABULARY.join("\n")).unwrap();
    dir
}

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 2e-5, "{found} is not {expected}");
    }
}

#[tokio::test]
async fn scores_are_those_of_the_reference() {
    let dir = directory(1);
    let reranker = crate::local::reranker(dir.path(), 2).unwrap();
    let long = "the sea is cold . ".repeat(6);
    let texts =
        ["Mara prefers tabs.", "The sea is cold.", "", "Mara prefers tabs.", &long].map(str::to_owned);
    close(
        &reranker.rerank("Who likes tabs?", &texts).await.unwrap(),
        &[-0.284_099_771, -0.340_215_582, -0.225_148_570, -0.284_099_771, -0.358_787_597],
    );
    // A query that fills the window leaves half of it to the text.
    let texts = ["tabs".to_owned(), long.clone()];
    close(&reranker.rerank(&long, &texts).await.unwrap(), &[0.703_349_988, -0.327_403_529]);
    assert!(reranker.rerank("tabs", &[]).await.unwrap().is_empty());
    assert_eq!(reranker.model().provider, "local");
}

#[tokio::test]
async fn many_texts_in_batches_have_the_scores_that_they_have_alone() {
    let dir = directory(1);
    let reranker = crate::local::reranker(dir.path(), 2).unwrap();
    let words = ["mara ", "prefers ", "the cold sea ", "tabs . "];
    let texts: Vec<String> = (0..120).map(|text| words[text % 4].repeat(text * 7 % 11)).collect();
    let together = reranker.rerank("who likes tabs", &texts).await.unwrap();
    for (text, score) in texts.iter().zip(&together) {
        close(&reranker.rerank("who likes tabs", std::slice::from_ref(text)).await.unwrap(), &[*score]);
    }
}

#[test]
fn a_call_that_is_given_up_ends() {
    let dir = directory(1);
    let model = super::CrossEncoder::load(dir.path(), 1).unwrap();
    let call = super::Call::default();
    let given_up = call.given_up.clone();
    assert!(model.scores("tabs", &["tabs".into()], &given_up).is_ok());
    drop(call);
    assert_eq!(model.scores("tabs", &["tabs".into()], &given_up).unwrap_err(), "the call was given up");
}

#[tokio::test]
async fn a_text_that_spells_a_mark_has_none_for_that() {
    let dir = directory(1);
    let reranker = crate::local::reranker(dir.path(), 1).unwrap();
    let scores = reranker.rerank("tabs", &["[SEP]".into(), "[UNK]".into(), "zebra".into()]).await.unwrap();
    assert!(scores.iter().all(|score| score.is_finite()));
}

#[test]
fn what_is_no_cross_encoder_is_refused_by_name() {
    let refusal = |dir: &Path| crate::local::reranker(dir, 1).err().unwrap().to_string();
    assert_eq!(refusal(Path::new("/nowhere/model")), "/nowhere/model/config.json is missing");
    let two = directory(2);
    assert!(
        refusal(two.path()).contains("classifier.weight has the shape [2, 16], not [1, 16]"),
        "{}",
        refusal(two.path())
    );
    let dir = directory(1);
    std::fs::remove_file(dir.path().join("vocab.txt")).unwrap();
    assert!(refusal(dir.path()).ends_with("tokenizer.json is missing"));
    if crate::local::default_model_dir().join("model.safetensors").exists() {
        // An embedding model has no classifier.
        assert!(refusal(&crate::local::default_model_dir()).contains("classifier"));
    }
}
