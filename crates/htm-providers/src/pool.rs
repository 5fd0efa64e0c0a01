//! Pooling of a text's parts into one embedding.

use htm_core::provider::Embedding;

/// The mean of the parts' vectors at unit length, each weighted by its tokens. The mean is brought to unit length too.
/// None if it is zero. Sums are in f64, because in f32 a sum of 3,072 squares loses digits, and large components
/// overflow.
pub(crate) fn pool(parts: &[(Vec<f32>, usize)]) -> Option<Embedding> {
    let mut sum = vec![0.0_f64; parts.first()?.0.len()];
    for (vector, tokens) in parts {
        let weight = (*tokens).max(1) as f64 / length(vector.iter().map(|x| f64::from(*x)));
        sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += weight * f64::from(*x));
    }
    let length = length(sum.iter().copied());
    (length > 0.0).then(|| Embedding {
        vector: sum.iter().map(|x| (x / length) as f32).collect(),
        parts: parts.len() as u32,
    })
}

fn length(components: impl Iterator<Item = f64>) -> f64 {
    components.map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_part_comes_at_unit_length() {
        for (given, unit) in [([3.0, 4.0], [0.6, 0.8]), ([f32::MAX, 0.0], [1.0, 0.0])] {
            assert_eq!(pool(&[(given.to_vec(), 7)]), Some(Embedding { vector: unit.to_vec(), parts: 1 }));
        }
        assert_eq!(pool(&[(vec![1.0], 0)]).unwrap().vector, [1.0]);
    }

    #[test]
    fn parts_count_by_their_tokens_and_not_by_their_length() {
        let pooled = pool(&[(vec![10.0, 0.0], 3), (vec![0.0, 0.1], 4)]).unwrap();
        assert_eq!(pooled, Embedding { vector: vec![0.6, 0.8], parts: 2 });
    }

    #[test]
    fn what_has_no_length_is_none() {
        assert_eq!(pool(&[]), None);
        assert_eq!(pool(&[(vec![0.0, 0.0], 1)]), None);
        assert_eq!(pool(&[(vec![1.0, 0.0], 2), (vec![-1.0, 0.0], 2)]), None);
    }
}
