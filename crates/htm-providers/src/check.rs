//! Validation of a provider's vectors.

use htm_core::provider::{ModelName, ProviderError, ProviderErrorKind};
use serde::Deserialize;

/// Returns `vectors` if there are `count` of them, all finite, not of length zero, and with `dimensions` components. If
/// `dimensions` is not known yet, all must have the same number. If all have the same other number, another model made
/// them.
pub(crate) fn vectors(
    model: &ModelName,
    count: usize,
    dimensions: Option<usize>,
    vectors: Vec<Vec<f32>>,
) -> Result<Vec<Vec<f32>>, ProviderError> {
    let broken = |message: String| Err(ProviderError::new(model, ProviderErrorKind::BadResponse, message));
    if vectors.len() != count {
        return broken(format!("{} vectors came for {count} texts", vectors.len()));
    }
    let Some(first) = vectors.first().map(Vec::len) else { return Ok(vectors) };
    let expected = dimensions.unwrap_or(first);
    if first != expected && first > 0 && vectors.iter().all(|vector| vector.len() == first) {
        return Err(ProviderError::other_dimensions(model, first, expected));
    }
    let flaw = |vector: &Vec<f32>| {
        if vector.len() != expected {
            Some(format!("has {} dimensions, not {expected}", vector.len()))
        } else if !vector.iter().all(|component| component.is_finite()) {
            Some("has a component that is not finite".into())
        } else {
            vector.iter().all(|component| *component == 0.0).then(|| "has length zero".into())
        }
    };
    let flaws: Vec<Option<String>> = vectors.iter().map(flaw).collect();
    let spares_others = flaws.iter().any(Option::is_none);
    match flaws.into_iter().enumerate().find_map(|(index, flaw)| Some((index, flaw?))) {
        Some((index, flaw)) => {
            broken(format!("vector {index} {flaw}")).map_err(|error| ProviderError { spares_others, ..error })
        }
        None => Ok(vectors),
    }
}

/// A vector of an answer. JSON has no NaN: servers write `null` for it, or for the whole vector.
#[derive(Deserialize)]
#[serde(from = "Option<Vec<Option<f32>>>")]
pub(crate) struct Numbers(pub(crate) Vec<f32>);

impl From<Option<Vec<Option<f32>>>> for Numbers {
    fn from(numbers: Option<Vec<Option<f32>>>) -> Self {
        let numbers = numbers.unwrap_or_default().into_iter();
        Self(numbers.map(|number| number.unwrap_or(f32::NAN)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(count: usize, dimensions: Option<usize>, given: Vec<Vec<f32>>) -> Result<Vec<Vec<f32>>, String> {
        vectors(&ModelName::new("test", "m"), count, dimensions, given).map_err(|error| error.message)
    }

    #[test]
    fn good_vectors_come_back() {
        assert_eq!(check(1, Some(2), vec![vec![3.0, 4.0]]).unwrap(), [[3.0, 4.0]]);
        assert_eq!(check(1, None, vec![vec![f32::MAX, 0.0]]).unwrap(), [[f32::MAX, 0.0]]);
        assert!(check(0, None, vec![]).unwrap().is_empty());
    }

    #[test]
    fn a_breach_of_some_vectors_spares_the_others() {
        let spares = |given: &str| {
            let given: Vec<Numbers> = serde_json::from_str(given).unwrap();
            let given: Vec<_> = given.into_iter().map(|Numbers(numbers)| numbers).collect();
            let error = vectors(&ModelName::new("test", "m"), given.len(), Some(2), given).unwrap_err();
            (error.spares_others && error.is_about_texts(), error.message)
        };
        let not_finite = "vector 1 has a component that is not finite".to_owned();
        assert_eq!(spares("[[1, 0], [null, 1], [1, 1]]"), (true, not_finite));
        assert_eq!(spares("[[1, 0], null]"), (true, "vector 1 has 0 dimensions, not 2".into()));
        for all in ["[[null, 1]]", "[[null, null], null, [0, 0]]"] {
            assert!(!spares(all).0, "{all}");
        }
    }

    #[test]
    fn each_breach_is_named() {
        for (count, given, words) in [
            (2, vec![vec![1.0, 0.0]], "1 vectors came for 2"),
            (2, vec![vec![3.0, 4.0], vec![1.0]], "vector 1 has 1 dimensions, not 2"),
            (1, vec![vec![]], "vector 0 has 0 dimensions, not 2"),
            (1, vec![vec![1.0, f32::NAN]], "not finite"),
            (1, vec![vec![1.0, f32::INFINITY]], "not finite"),
            (1, vec![vec![0.0, 0.0]], "length zero"),
        ] {
            let message = check(count, Some(2), given).unwrap_err();
            assert!(message.contains(words), "{message}");
        }
        assert!(check(2, None, vec![vec![1.0], vec![1.0, 0.0]]).unwrap_err().contains("vector 1"));
    }

    #[test]
    fn all_of_another_length_are_of_another_model() {
        let kind = |given: Vec<Vec<f32>>| {
            vectors(&ModelName::new("test", "m"), given.len(), Some(2), given).unwrap_err().kind
        };
        assert_eq!(kind(vec![vec![1.0], vec![2.0]]), ProviderErrorKind::OtherDimensions);
        assert_eq!(kind(vec![vec![1.0], vec![3.0, 4.0]]), ProviderErrorKind::BadResponse);
    }
}
