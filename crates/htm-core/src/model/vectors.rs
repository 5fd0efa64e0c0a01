//! Vectors that callers bring.

use crate::model::error::{Error, Result, codes};

/// The largest number of a vector of half precision, as vectors are stored.
pub(crate) const LARGEST: f32 = 65_504.0;

/// The smallest number of half precision. Smaller ones may be stored as 0.
const SMALLEST: f32 = 1.0 / 16_777_216.0;

pub(crate) fn unfit(label: &str, what: impl std::fmt::Display) -> Error {
    let error = Error::new(codes::VECTOR_UNFIT, format!("the vector of `{label}` {what}"));
    error.with_value("label", label)
}

/// Whether a number fits into half precision. NaN does not.
pub(crate) fn is_storable(number: f32) -> bool {
    (-LARGEST..=LARGEST).contains(&number)
}

/// Refuses a vector that cannot be stored, or that no direction can be compared with.
pub(crate) fn validate_vector(label: &str, vector: &[f32]) -> Result<()> {
    if let Some((place, number)) = vector.iter().enumerate().find(|(_, number)| !is_storable(**number)) {
        let what = format!("has {number} at place {place}, outside ±{LARGEST}");
        return Err(unfit(label, what));
    }
    match vector.iter().any(|it| it.abs() >= SMALLEST) {
        true => Ok(()),
        false => Err(unfit(label, "has only zeros, so it has no direction")),
    }
}

/// Refuses a vector of another length than the model's.
pub(crate) fn check_dimensions(label: &str, vector: &[f32], dimensions: usize) -> Result<()> {
    match vector.len() == dimensions {
        true => Ok(()),
        false => Err(unfit(label, format_args!("has {} numbers, not {dimensions}", vector.len()))),
    }
}

/// The receipt of a vector that was brought later.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct VectorSet {
    /// The node.
    pub node: crate::model::id::NodeId,
    /// The revision of its text.
    pub revision: i32,
    /// The label of the model.
    pub model: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_vectors_with_a_direction_are_stored() {
        for good in [&[1.0, 0.0][..], &[-65_504.0], &[0.0, 6e-8]] {
            validate_vector("caller/x", good).unwrap();
        }
        for (bad, what) in [
            (&[0.0, f32::NAN][..], "NaN at place 1"),
            (&[f32::INFINITY], "inf at place 0"),
            (&[f32::NEG_INFINITY], "-inf"),
            (&[1e6], "1000000"),
            (&[0.0, -0.0], "only zeros"),
            (&[1e-9], "only zeros"),
            (&[], "only zeros"),
        ] {
            let error = validate_vector("caller/x", bad).unwrap_err();
            assert_eq!((error.code(), error.value("label")), ("vector_unfit", Some("caller/x")));
            assert!(error.to_string().contains(what), "{error}");
        }
        check_dimensions("caller/x", &[1.0], 1).unwrap();
        assert!(
            check_dimensions("caller/x", &[1.0], 2).unwrap_err().to_string().contains("1 numbers, not 2")
        );
    }
}
