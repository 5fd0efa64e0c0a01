//! `config.json` of a model directory: the encoder's family and shape.

use std::path::Path;

use htm_core::Result;
use serde::Deserialize;
use serde_json::Value;

use super::family::Family;
use super::files::{bad, read, unsupported};

/// The longest vector that can be indexed: pgvector's HNSW accepts `halfvec` up to 4,000 dimensions.
const MAX_DIMENSIONS: usize = 4000;

/// The encoder's shape.
#[derive(Debug)]
pub(super) struct Config {
    pub(super) family: Family,
    pub(super) hidden_size: usize,
    pub(super) layers: usize,
    pub(super) heads: usize,
    pub(super) intermediate_size: usize,
    /// The rows of the position table.
    pub(super) position_rows: usize,
    /// The row of the first token. Earlier rows are unused.
    pub(super) first_position: usize,
    pub(super) vocab_size: usize,
    /// The number of token types; 0 if the family has none.
    pub(super) token_types: usize,
    pub(super) layer_norm_eps: f32,
    /// The buckets of the relative distances that bias attention; 0 for no bias.
    pub(super) distance_buckets: usize,
}

/// The file's fields. The aliases are DistilBERT's names.
#[derive(Deserialize)]
struct File {
    #[serde(alias = "dim")]
    hidden_size: usize,
    #[serde(alias = "n_layers")]
    num_hidden_layers: usize,
    #[serde(alias = "n_heads")]
    num_attention_heads: usize,
    #[serde(alias = "hidden_dim")]
    intermediate_size: usize,
    max_position_embeddings: usize,
    vocab_size: usize,
    type_vocab_size: Option<usize>,
    layer_norm_eps: Option<f32>,
    #[serde(alias = "activation")]
    hidden_act: String,
    position_embedding_type: Option<String>,
    pad_token_id: Option<usize>,
    relative_attention_num_buckets: Option<usize>,
}

impl Config {
    /// Reads `config.json` of `dir`.
    pub(super) fn load(dir: &Path) -> Result<Self> {
        let path = dir.join("config.json");
        let value: Value = serde_json::from_slice(&read(&path)?).map_err(|error| bad(&path, error))?;
        let family = family(&path, &value)?;
        let file: File = serde_json::from_value(value).map_err(|error| bad(&path, error))?;
        if file.hidden_act != "gelu" {
            return Err(unsupported(&path, "hidden_act", file.hidden_act, "gelu"));
        }
        let kind = file.position_embedding_type.unwrap_or_else(|| "absolute".into());
        if kind != "absolute" {
            return Err(unsupported(&path, "position_embedding_type", kind, "absolute"));
        }
        let sizes = [file.hidden_size, file.num_attention_heads, file.intermediate_size, file.vocab_size];
        if sizes.contains(&0) || !file.hidden_size.is_multiple_of(file.num_attention_heads) {
            return Err(bad(&path, "hidden_size is not a multiple of num_attention_heads, or a size is 0"));
        }
        if file.hidden_size > MAX_DIMENSIONS {
            let reason = format!(
                "hidden_size is {}; vectors of at most {MAX_DIMENSIONS} dimensions can be indexed",
                file.hidden_size
            );
            return Err(bad(&path, reason));
        }
        let first_position = family.first_position(file.pad_token_id);
        if file.max_position_embeddings <= first_position {
            return Err(bad(&path, format!("max_position_embeddings must be above {first_position}")));
        }
        let distance_buckets = match family {
            Family::Mpnet => file.relative_attention_num_buckets.unwrap_or(32),
            _ => 0,
        };
        // Half of them are for tokens after, half for tokens before.
        if distance_buckets == 1 {
            return Err(bad(&path, "relative_attention_num_buckets must be 2 or more"));
        }
        Ok(Self {
            family,
            hidden_size: file.hidden_size,
            layers: file.num_hidden_layers,
            heads: file.num_attention_heads,
            intermediate_size: file.intermediate_size,
            position_rows: file.max_position_embeddings,
            first_position,
            vocab_size: file.vocab_size,
            token_types: if family.has_token_types() { file.type_vocab_size.unwrap_or(2) } else { 0 },
            layer_norm_eps: file.layer_norm_eps.unwrap_or(1e-12),
            distance_buckets,
        })
    }

    /// The most tokens in one sequence.
    pub(super) fn positions(&self) -> usize {
        self.position_rows - self.first_position
    }
}

/// The family by `model_type`, else by the first of `architectures`.
fn family(path: &Path, config: &Value) -> Result<Family> {
    let word = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(kind) = config.get("model_type").and_then(word) {
        return Family::of_model_type(&kind)
            .ok_or_else(|| unsupported(path, "model_type", kind, Family::MODEL_TYPES));
    }
    let architecture = config.pointer("/architectures/0").and_then(word).unwrap_or_default();
    Family::of_architecture(&architecture)
        .ok_or_else(|| unsupported(path, "architectures", architecture, Family::ARCHITECTURES))
}
