//! A model directory's files, as Hugging Face lays them out: `config.json`, `model.safetensors`.

use std::path::{Path, PathBuf};

use safetensors::{Dtype, SafeTensors};
use serde::Deserialize;

use super::matmul::Matrix;
use crate::SettingsError;

/// What of `config.json` the encoder needs.
#[derive(Debug, Deserialize)]
pub(super) struct Config {
    pub(super) hidden_size: usize,
    pub(super) num_hidden_layers: usize,
    pub(super) num_attention_heads: usize,
    pub(super) intermediate_size: usize,
    pub(super) max_position_embeddings: usize,
    pub(super) vocab_size: usize,
    pub(super) layer_norm_eps: f32,
    hidden_act: String,
    model_type: String,
    #[serde(default = "absolute")]
    position_embedding_type: String,
}

/// All weights, in f32.
pub(super) struct Weights {
    pub(super) words: Vec<f32>,
    /// A row a position: its own vector plus that of token type 0.
    pub(super) positions: Vec<f32>,
    /// What token type 1 has more than type 0.
    pub(super) second: Vec<f32>,
    pub(super) embedding_norm: Norm,
    pub(super) layers: Vec<Layer>,
}

/// One encoder layer.
pub(super) struct Layer {
    /// Query, key and value as one product.
    pub(super) qkv: Linear,
    pub(super) dense: Linear,
    pub(super) attention_norm: Norm,
    pub(super) up: Linear,
    pub(super) down: Linear,
    pub(super) output_norm: Norm,
}

/// `x · weightᵀ + bias`.
pub(super) struct Linear {
    weight: Vec<f32>,
    pub(super) bias: Vec<f32>,
}

/// A layer norm's two vectors.
pub(super) struct Norm {
    pub(super) scale: Vec<f32>,
    pub(super) shift: Vec<f32>,
}

impl Linear {
    /// The weight as the right side of a product: inputs × outputs.
    pub(super) fn matrix(&self) -> Matrix<'_> {
        let (outputs, inputs) = (self.bias.len(), self.weight.len() / self.bias.len());
        Matrix::rows(&self.weight, outputs, inputs, inputs).transposed()
    }
}

impl Config {
    /// Reads `config.json` of `dir`.
    pub(super) fn load(dir: &Path) -> Result<Self, SettingsError> {
        let path = dir.join("config.json");
        let config: Config = serde_json::from_slice(&read(&path)?).map_err(|error| bad(&path, error))?;
        let known = config.model_type == "bert"
            && config.hidden_act == "gelu"
            && config.position_embedding_type == "absolute";
        if !known {
            return Err(bad(&path, "only BERT encoders with gelu and absolute positions can be run"));
        }
        if config.num_attention_heads == 0 || !config.hidden_size.is_multiple_of(config.num_attention_heads) {
            return Err(bad(&path, "hidden_size is no multiple of num_attention_heads"));
        }
        Ok(config)
    }
}

impl Weights {
    /// Reads `model.safetensors` of `dir`.
    pub(super) fn load(dir: &Path, config: &Config) -> Result<Self, SettingsError> {
        let path = dir.join("model.safetensors");
        let bytes = read(&path)?;
        Self::of(&Tensors::new(&bytes, path)?, config)
    }

    /// Reads the encoder's weights.
    pub(super) fn of(tensors: &Tensors<'_>, config: &Config) -> Result<Self, SettingsError> {
        let (width, inner) = (config.hidden_size, config.intermediate_size);
        let mut positions =
            tensors.get("embeddings.position_embeddings.weight", config.max_position_embeddings * width)?;
        let kinds = tensors.get("embeddings.token_type_embeddings.weight", 2 * width)?;
        for row in positions.chunks_exact_mut(width) {
            row.iter_mut().zip(&kinds[..width]).for_each(|(place, kind)| *place += kind);
        }
        let (first, second) = kinds.split_at(width);
        let second = second.iter().zip(first).map(|(second, first)| second - first).collect();
        let layers = (0..config.num_hidden_layers).map(|index| {
            let at = |name: &str| format!("encoder.layer.{index}.{name}");
            let [query, key, value] = ["query", "key", "value"]
                .map(|kind| tensors.linear(&at(&format!("attention.self.{kind}")), width, width));
            let (mut qkv, key, value) = (query?, key?, value?);
            for part in [key, value] {
                qkv.weight.extend(part.weight);
                qkv.bias.extend(part.bias);
            }
            Ok(Layer {
                qkv,
                dense: tensors.linear(&at("attention.output.dense"), width, width)?,
                attention_norm: tensors.norm(&at("attention.output.LayerNorm"), width)?,
                up: tensors.linear(&at("intermediate.dense"), width, inner)?,
                down: tensors.linear(&at("output.dense"), inner, width)?,
                output_norm: tensors.norm(&at("output.LayerNorm"), width)?,
            })
        });
        Ok(Self {
            layers: layers.collect::<Result<_, SettingsError>>()?,
            words: tensors.get("embeddings.word_embeddings.weight", config.vocab_size * width)?,
            positions,
            second,
            embedding_norm: tensors.norm("embeddings.LayerNorm", width)?,
        })
    }
}

/// A file's bytes; the error names the file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, SettingsError> {
    std::fs::read(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => SettingsError::MissingFile { path: path.to_owned() },
        _ => bad(path, error),
    })
}

/// That the file at `path` is there and cannot be used.
pub(super) fn bad(path: &Path, reason: impl ToString) -> SettingsError {
    SettingsError::BadFile { path: path.to_owned(), reason: reason.to_string() }
}

fn absolute() -> String {
    "absolute".to_owned()
}

/// The tensors of a file.
pub(super) struct Tensors<'a> {
    file: SafeTensors<'a>,
    path: PathBuf,
}

impl<'a> Tensors<'a> {
    /// Those in `bytes`, which are the file at `path`.
    pub(super) fn new(bytes: &'a [u8], path: PathBuf) -> Result<Self, SettingsError> {
        let file = SafeTensors::deserialize(bytes).map_err(|error| bad(&path, error))?;
        Ok(Self { file, path })
    }

    fn get(&self, name: &str, length: usize) -> Result<Vec<f32>, SettingsError> {
        // Some exports keep the names below `bert.`.
        let tensor = self
            .file
            .tensor(name)
            .or_else(|_| self.file.tensor(&format!("bert.{name}")))
            .map_err(|_| bad(&self.path, format!("it has no tensor {name}")))?;
        if tensor.dtype() != Dtype::F32 {
            return Err(bad(&self.path, format!("{name} is {:?}, not F32", tensor.dtype())));
        }
        let (numbers, _) = tensor.data().as_chunks::<4>();
        if numbers.len() != length {
            return Err(bad(&self.path, format!("{name} has {} numbers, not {length}", numbers.len())));
        }
        Ok(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    /// The layer of this name.
    pub(super) fn linear(&self, name: &str, inputs: usize, outputs: usize) -> Result<Linear, SettingsError> {
        Ok(Linear {
            weight: self.get(&format!("{name}.weight"), inputs * outputs)?,
            bias: self.get(&format!("{name}.bias"), outputs)?,
        })
    }

    fn norm(&self, name: &str, width: usize) -> Result<Norm, SettingsError> {
        Ok(Norm {
            scale: self.get(&format!("{name}.weight"), width)?,
            shift: self.get(&format!("{name}.bias"), width)?,
        })
    }
}
