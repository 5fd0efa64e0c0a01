//! The BERT encoder, for sentence embeddings and for pairs of texts, on one thread (Devlin et al. 2019, arXiv
//! 1810.04805). `family` and `distance` have the differences of other families.
//!
//! Sequences are packed one after another, without padding or mask. The linear layers see one matrix of all tokens, and
//! attention runs sequence by sequence. `tests::agrees_with_candle` compares it with candle's BERT, which it replaces
//! for speed: over the same 1,000 short texts in one run, sorted by length, candle's was 2.5 to 4 times slower at every
//! batch size tried (8 to 64).

use super::config::Config;
use super::distance::Distances;
use super::kernels::{add_norm, layer_norm, softmax, softmax_biased};
use super::linear::Finish;
use super::matmul::{Matrix, multiply};
use super::pooling::Pooling;
use super::weights::{Norm, Weights};

/// The model's weights, ready to run.
pub(super) struct Encoder {
    pub(super) config: Config,
    pub(super) weights: Weights,
}

/// A sequence of tokens.
#[derive(Clone, Copy)]
pub(super) struct Sequence<'a> {
    /// At least one token, at most one for each position. All are below the vocabulary's size.
    pub(super) tokens: &'a [u32],
    /// The number of tokens of type 0, the first text. The others are of type 1.
    pub(super) first: usize,
}

impl Encoder {
    /// The pooled vector of each sequence, not normalised.
    ///
    /// Each sequence has at least one token and at most one for each position. [`Marked`](super::windows::Marked)
    /// checks that the tokenizer has no token beyond the vocabulary.
    pub(super) fn pooled(&self, sequences: &[&[u32]], pooling: Pooling) -> Vec<Vec<f32>> {
        let width = self.config.hidden_size;
        let single: Vec<Sequence> =
            sequences.iter().map(|tokens| Sequence { tokens, first: tokens.len() }).collect();
        let hidden = self.encode(&single);
        let mut rest = hidden.as_slice();
        sequences
            .iter()
            .map(|sequence| {
                let (rows, after) = rest.split_at(sequence.len() * width);
                rest = after;
                pooling.of(rows, width)
            })
            .collect()
    }

    /// The vector of each sequence's first token, `[CLS]`, which represents the sequence.
    pub(super) fn first_tokens(&self, sequences: &[Sequence<'_>]) -> Vec<Vec<f32>> {
        let width = self.config.hidden_size;
        let hidden = self.encode(sequences);
        let mut at = 0;
        sequences
            .iter()
            .map(|sequence| {
                let row = hidden[at * width..][..width].to_vec();
                at += sequence.tokens.len();
                row
            })
            .collect()
    }

    /// A row for each token, the sequences one after another.
    fn encode(&self, sequences: &[Sequence<'_>]) -> Vec<f32> {
        let tokens: usize = sequences.iter().map(|sequence| sequence.tokens.len()).sum();
        let mut hidden = self.embed(sequences, tokens);
        let mut scratch = Scratch::new(tokens, self, sequences);
        for layer in &self.weights.layers {
            let Scratch { qkv, packed, .. } = &mut scratch;
            layer.qkv.apply(&hidden, qkv, Finish::Bias, packed);
            self.attend(sequences, &mut scratch);
            let Scratch { context, out, inner, packed, .. } = &mut scratch;
            layer.dense.apply(context, out, Finish::Nothing, packed);
            self.add_norm(&mut hidden, out, layer.dense.bias(), &layer.attention_norm);
            layer.up.apply(&hidden, inner, Finish::Gelu, packed);
            layer.down.apply(inner, out, Finish::Nothing, packed);
            self.add_norm(&mut hidden, out, layer.down.bias(), &layer.output_norm);
        }
        hidden
    }

    fn embed(&self, sequences: &[Sequence<'_>], tokens: usize) -> Vec<f32> {
        let (width, weights) = (self.config.hidden_size, &self.weights);
        let mut hidden = Vec::with_capacity(tokens * width);
        for sequence in sequences {
            for (position, token) in sequence.tokens.iter().enumerate() {
                let word = &weights.words[*token as usize * width..][..width];
                // The table of positions has the vector of token type 0 added in.
                let place = &weights.positions[position * width..][..width];
                hidden.extend(word.iter().zip(place).map(|(word, place)| word + place));
                if position >= sequence.first {
                    let start = hidden.len() - width;
                    hidden[start..].iter_mut().zip(&weights.second).for_each(|(x, second)| *x += second);
                }
            }
        }
        let Norm { scale, shift } = &weights.embedding_norm;
        layer_norm(&mut hidden, scale, shift, self.config.layer_norm_eps);
        hidden
    }

    /// `context = softmax(Q · Kᵀ / √d) · V`, for one sequence and head at a time.
    fn attend(&self, sequences: &[Sequence<'_>], scratch: &mut Scratch) {
        let (width, heads) = (self.config.hidden_size, self.config.heads);
        let (size, stride) = (width / heads, 3 * width);
        let factor = 1.0 / (size as f32).sqrt();
        let mut first = 0;
        for sequence in sequences {
            let length = sequence.tokens.len();
            for head in 0..heads {
                let part = |kind: usize| {
                    let start = first * stride + kind * width + head * size;
                    Matrix::rows(&scratch.qkv[start..], length, size, stride)
                };
                let scores = &mut scratch.scores[..length * length];
                multiply(scores, length, part(0), part(1).transposed());
                match scratch.distances.head(head) {
                    None => softmax(scores, length, factor),
                    Some(biases) => softmax_biased(scores, length, factor, biases),
                }
                let context = &mut scratch.context[first * width + head * size..];
                multiply(context, width, Matrix::rows(scores, length, length, length), part(2));
            }
            first += length;
        }
    }

    fn add_norm(&self, hidden: &mut [f32], out: &[f32], bias: &[f32], norm: &Norm) {
        add_norm(hidden, out, bias, &norm.scale, &norm.shift, self.config.layer_norm_eps);
    }
}

/// The layers' intermediate results. They are allocated once per call, not per layer.
struct Scratch {
    qkv: Vec<f32>,
    scores: Vec<f32>,
    context: Vec<f32>,
    out: Vec<f32>,
    inner: Vec<f32>,
    /// The packed input of a product.
    packed: Vec<f32>,
    distances: Distances,
}

impl Scratch {
    fn new(tokens: usize, encoder: &Encoder, sequences: &[Sequence<'_>]) -> Self {
        let config = &encoder.config;
        let longest = sequences.iter().map(|sequence| sequence.tokens.len()).max().unwrap_or(0);
        Self {
            qkv: vec![0.0; tokens * 3 * config.hidden_size],
            scores: vec![0.0; longest * longest],
            context: vec![0.0; tokens * config.hidden_size],
            out: vec![0.0; tokens * config.hidden_size],
            inner: vec![0.0; tokens * config.intermediate_size],
            packed: Vec::new(),
            distances: Distances::new(&encoder.weights.distance_bias, config.heads, longest),
        }
    }
}
