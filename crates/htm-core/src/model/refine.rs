//! The computations of refinement.

pub(crate) mod diversity;
pub(crate) mod fuse;

use std::time::Duration;

use crate::model::error::{Error, Result, codes};

/// The settings of refinement, from the configuration.
#[derive(Clone, Debug)]
pub struct RefineSettings {
    /// The candidates to re-rank.
    pub rerank_top: usize,
    /// The re-ranker's timeout; after it the order stays.
    pub rerank_timeout: Duration,
    /// The number of phrasings.
    pub expansions: usize,
    /// The expander's timeout; after it the query is searched alone.
    pub expand_timeout: Duration,
}

impl Default for RefineSettings {
    fn default() -> Self {
        Self {
            rerank_top: 50,
            rerank_timeout: Duration::from_secs(2),
            expansions: 3,
            expand_timeout: Duration::from_secs(10),
        }
    }
}

pub(crate) fn validate_diversity(diversity: Option<f64>) -> Result<()> {
    match diversity {
        // NaN is not contained either.
        Some(value) if !(0.0..=1.0).contains(&value) => {
            Err(Error::new(codes::DIVERSITY_OUT_OF_RANGE, format!("diversity {value} is outside 0 to 1")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diversity_is_a_share() {
        validate_diversity(Some(0.0)).unwrap();
        validate_diversity(None).unwrap();
        for value in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            let error = validate_diversity(Some(value)).unwrap_err();
            assert_eq!((error.code(), error.hint().is_empty()), ("diversity_out_of_range", false));
        }
    }
}
