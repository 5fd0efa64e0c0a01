//! `model.safetensors` of a model directory: the encoder's weights, by its family's names.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use htm_core::Result;
use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};

use super::config::Config;
use super::files::{bad, unreadable};
use super::linear::Linear;

/// The most bytes of a tensor that are read at once. They stay in the processor's cache until they are converted.
const CHUNK: usize = 256 * 1024;

/// All weights, in f32.
pub(super) struct Weights {
    pub(super) words: Vec<f32>,
    /// A row for each position of a text: its vector plus that of token type 0.
    pub(super) positions: Vec<f32>,
    /// The vector of token type 1 less that of type 0. Empty without a second type.
    pub(super) second: Vec<f32>,
    pub(super) embedding_norm: Norm,
    pub(super) layers: Vec<Layer>,
    /// The bias of attention, with a row for each bucket of distances and a column for each head. Empty for no bias.
    pub(super) distance_bias: Vec<f32>,
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

/// A layer norm's two vectors.
pub(super) struct Norm {
    pub(super) scale: Vec<f32>,
    pub(super) shift: Vec<f32>,
}

impl Weights {
    /// Reads `model.safetensors` of `dir`.
    pub(super) fn load(dir: &Path, config: &Config) -> Result<Self> {
        Self::of(&Tensors::open(dir.join("model.safetensors"), config)?, config)
    }

    /// Reads the encoder's weights.
    pub(super) fn of(tensors: &Tensors, config: &Config) -> Result<Self> {
        let (width, inner) = (config.hidden_size, config.intermediate_size);
        let rows = config.position_rows;
        let mut positions = tensors.get("embeddings.position_embeddings.weight", &[rows, width])?;
        positions.drain(..config.first_position * width);
        let types = config.token_types;
        let mut second = Vec::new();
        if types > 0 {
            let kinds = tensors.get("embeddings.token_type_embeddings.weight", &[types, width])?;
            for row in positions.chunks_exact_mut(width) {
                row.iter_mut().zip(&kinds[..width]).for_each(|(place, kind)| *place += kind);
            }
            let (first, others) = kinds.split_at(width);
            second = others.iter().zip(first).map(|(second, first)| second - first).collect();
        }
        let (family, names) = (config.family, config.family.layer_names());
        let layers = (0..config.layers).map(|index| {
            let at = |name: &str| format!("{}.{index}.{name}", family.layers());
            let (mut weight, mut bias) = (Vec::new(), Vec::new());
            for name in [names.query, names.key, names.value].map(at) {
                weight.extend(tensors.get(&format!("{name}.weight"), &[width, width])?);
                bias.extend(tensors.get(&format!("{name}.bias"), &[width])?);
            }
            Ok(Layer {
                qkv: Linear::new(&weight, bias),
                dense: tensors.linear(&at(names.dense), width, width)?,
                attention_norm: tensors.norm(&at(names.attention_norm), width)?,
                up: tensors.linear(&at(names.up), width, inner)?,
                down: tensors.linear(&at(names.down), inner, width)?,
                output_norm: tensors.norm(&at(names.output_norm), width)?,
            })
        });
        let distance_bias = match config.distance_buckets {
            0 => Vec::new(),
            buckets => tensors.get("encoder.relative_attention_bias.weight", &[buckets, config.heads])?,
        };
        Ok(Self {
            layers: layers.collect::<Result<_>>()?,
            words: tensors.get("embeddings.word_embeddings.weight", &[config.vocab_size, width])?,
            positions,
            second,
            embedding_norm: tensors.norm("embeddings.LayerNorm", width)?,
            distance_bias,
        })
    }
}

/// The tensors of a file. Each is read when it is asked for: the file as a whole would be in memory beside its weights.
pub(super) struct Tensors {
    file: File,
    path: PathBuf,
    tensors: Metadata,
    /// The place of the first tensor in the file.
    start: u64,
    /// The optional prefix of names.
    prefix: &'static str,
}

impl Tensors {
    /// Opens the file at `path`.
    pub(super) fn open(path: PathBuf, config: &Config) -> Result<Self> {
        let file = File::open(&path).map_err(|error| unreadable(&path, error))?;
        let (tensors, start) = header(&file).map_err(|error| bad(&path, error))?;
        Ok(Self { file, path, tensors, start, prefix: config.family.prefix() })
    }

    fn get(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        // In a file with more than the encoder, the names have a prefix such as `bert.`.
        let tensor = self
            .tensors
            .info(name)
            .or_else(|| self.tensors.info(&format!("{}{name}", self.prefix)))
            .ok_or_else(|| bad(&self.path, format!("it has no tensor {name}")))?;
        if tensor.shape != shape {
            return Err(bad(&self.path, format!("{name} has the shape {:?}, not {shape:?}", tensor.shape)));
        }
        match tensor.dtype {
            Dtype::F32 => self.numbers(tensor, f32::from_le_bytes),
            Dtype::F16 => self.numbers(tensor, |bytes| half(u16::from_le_bytes(bytes))),
            Dtype::BF16 => {
                self.numbers(tensor, |bytes| f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16))
            }
            other => Err(bad(&self.path, format!("{name} is {other:?}, not F32, F16 or BF16"))),
        }
    }

    /// The numbers of a tensor, of `SIZE` bytes each.
    fn numbers<const SIZE: usize>(
        &self,
        tensor: &TensorInfo,
        number: impl Fn([u8; SIZE]) -> f32,
    ) -> Result<Vec<f32>> {
        let (start, end) = tensor.data_offsets;
        let mut numbers = Vec::with_capacity((end - start) / SIZE);
        let mut chunk = vec![0; CHUNK.min(end - start)];
        for at in (start..end).step_by(CHUNK) {
            let chunk = &mut chunk[..CHUNK.min(end - at)];
            let read = self.file.read_exact_at(chunk, self.start + at as u64);
            read.map_err(|error| bad(&self.path, error))?;
            numbers.extend(chunk.as_chunks().0.iter().map(|bytes| number(*bytes)));
        }
        Ok(numbers)
    }

    /// The layer of this name.
    pub(super) fn linear(&self, name: &str, inputs: usize, outputs: usize) -> Result<Linear> {
        let weight = self.get(&format!("{name}.weight"), &[outputs, inputs])?;
        Ok(Linear::new(&weight, self.get(&format!("{name}.bias"), &[outputs])?))
    }

    fn norm(&self, name: &str, width: usize) -> Result<Norm> {
        Ok(Norm {
            scale: self.get(&format!("{name}.weight"), &[width])?,
            shift: self.get(&format!("{name}.bias"), &[width])?,
        })
    }
}

/// The tensors that a file names, and the place of the first. They fill the rest of the file.
fn header(file: &File) -> io::Result<(Metadata, u64)> {
    let no_header = || io::Error::other("it has no header");
    let size = file.metadata()?.len();
    let mut length = [0; 8];
    file.read_exact_at(&mut length, 0).map_err(|_| no_header())?;
    let start = u64::from_le_bytes(length).checked_add(8).filter(|start| *start <= size);
    let start = start.ok_or_else(no_header)?;
    let mut header = vec![0; (start - 8) as usize];
    file.read_exact_at(&mut header, 8)?;
    let tensors: Metadata = serde_json::from_slice(&header)?;
    match size - start == tensors.data_len() as u64 {
        true => Ok((tensors, start)),
        false => Err(io::Error::other("its length is not that of its tensors")),
    }
}

/// The value of an IEEE 754 binary16.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (u32::from(bits >> 10) & 0x1f, u32::from(bits) & 0x3ff);
    sign * match exponent {
        0 => fraction as f32 * 2.0_f32.powi(-24),
        0x1f => f32::from_bits(0x7f80_0000 | (fraction << 13)),
        _ => f32::from_bits(((exponent + 112) << 23) | (fraction << 13)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_is_read() {
        for (bits, number) in [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x7bff, 65504.0),
            (0x0001, 5.960_464_5e-8),
            (0x83ff, -6.097_555e-5),
            (0xfc00, f32::NEG_INFINITY),
        ] {
            assert_eq!(half(bits), number, "{bits:#x}");
        }
        assert!(half(0x7e00).is_nan());
    }
}
