//! Whether a provider's vectors are what [`Embedder`](htm_core::provider::Embedder) promises.

use htm_core::provider::{ModelName, ProviderError, ProviderErrorKind};

/// `vectors` at unit length, if there are `count` of them, all of `dimensions` (or, when that is not known
/// yet, of one length) and finite.
pub(crate) fn vectors(
    model: &ModelName,
    count: usize,
    dimensions: Option<usize>,
    mut vectors: Vec<Vec<f32>>,
) -> Result<Vec<Vec<f32>>, ProviderError> {
    let broken = |message: String| Err(ProviderError::new(model, ProviderErrorKind::BadResponse, message));
    if vectors.len() != count {
        return broken(format!("{} vectors came for {count} texts", vectors.len()));
    }
    let Some(expected) = dimensions.or_else(|| vectors.first().map(Vec::len)) else { return Ok(vectors) };
    for (index, vector) in vectors.iter_mut().enumerate() {
        if vector.len() != expected {
            return broken(format!("vector {index} has {} dimensions, not {expected}", vector.len()));
        }
        if !vector.iter().all(|component| component.is_finite()) {
            return broken(format!("vector {index} has a component that is not finite"));
        }
        if !normalise(vector) {
            return broken(format!("vector {index} has length zero"));
        }
    }
    Ok(vectors)
}

/// Brings `vector` to unit length; false if it has none. Sums in f64: 3,072 squares lose digits in f32, and
/// large components overflow.
fn normalise(vector: &mut [f32]) -> bool {
    let length = vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    if length == 0.0 {
        return false;
    }
    for x in vector.iter_mut() {
        *x = (f64::from(*x) / length) as f32;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(count: usize, dimensions: Option<usize>, given: Vec<Vec<f32>>) -> Result<Vec<Vec<f32>>, String> {
        vectors(&ModelName::new("test", "m"), count, dimensions, given).map_err(|error| error.message)
    }

    #[test]
    fn good_vectors_come_back_at_unit_length() {
        assert_eq!(check(1, Some(2), vec![vec![3.0, 4.0]]).unwrap(), [[0.6, 0.8]]);
        assert_eq!(check(1, None, vec![vec![f32::MAX, 0.0]]).unwrap(), [[1.0, 0.0]]);
        assert!(check(0, None, vec![]).unwrap().is_empty());
    }

    #[test]
    fn each_breach_is_named() {
        for (count, given, words) in [
            (2, vec![vec![1.0, 0.0]], "1 vectors came for 2"),
            (1, vec![vec![1.0]], "1 dimensions, not 2"),
            (1, vec![vec![1.0, f32::NAN]], "not finite"),
            (1, vec![vec![1.0, f32::INFINITY]], "not finite"),
            (1, vec![vec![0.0, 0.0]], "length zero"),
        ] {
            let message = check(count, Some(2), given).unwrap_err();
            assert!(message.contains(words), "{message}");
        }
        assert!(check(2, None, vec![vec![1.0], vec![1.0, 0.0]]).unwrap_err().contains("vector 1"));
    }
}
