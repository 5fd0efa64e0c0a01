//! Pooling: from the vectors of a text's tokens to one vector.

use super::kernels::add_rows;

/// The kind of pooling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pooling {
    /// The mean. `mean_sqrt_len_tokens` has the same direction, and vectors are normalised afterwards.
    Mean,
    /// The vector of the first token.
    First,
    /// The maximum of each component.
    Max,
}

impl Pooling {
    /// Every word that [`of_word`](Self::of_word) knows.
    pub(super) const WORDS: &'static str = "mean, mean_sqrt_len_tokens, cls, max";

    /// The pooling of a name in sentence-transformers.
    pub(super) fn of_word(word: &str) -> Option<Self> {
        match word {
            "mean" | "mean_sqrt_len_tokens" => Some(Self::Mean),
            "cls" => Some(Self::First),
            "max" => Some(Self::Max),
            _ => None,
        }
    }

    /// The name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::First => "cls",
            Self::Max => "max",
        }
    }

    /// Pools `rows` of `width` components, at least one.
    pub(super) fn of(self, rows: &[f32], width: usize) -> Vec<f32> {
        match self {
            Self::Mean => {
                let mut mean = vec![0.0; width];
                add_rows(&mut mean, rows);
                let count = (rows.len() / width) as f32;
                mean.iter_mut().for_each(|x| *x /= count);
                mean
            }
            Self::First => rows[..width].to_vec(),
            Self::Max => {
                let mut max = rows[..width].to_vec();
                for row in rows.chunks_exact(width) {
                    max.iter_mut().zip(row).for_each(|(max, x)| *max = max.max(*x));
                }
                max
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_pools_in_its_way() {
        let rows = [1.0, 5.0, 3.0, -1.0];
        let of = |word| Pooling::of_word(word).unwrap().of(&rows, 2);
        assert_eq!(of("mean"), [2.0, 2.0]);
        assert_eq!(of("cls"), [1.0, 5.0]);
        assert_eq!(of("max"), [3.0, 5.0]);
        assert!(Pooling::WORDS.split(", ").all(|word| Pooling::of_word(word).is_some()));
        assert_eq!(Pooling::of_word("lasttoken"), None);
    }
}
