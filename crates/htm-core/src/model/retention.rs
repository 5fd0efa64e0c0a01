//! The retention policy of a namespace, and the receipt of a sweep.

use crate::model::error::{Error, Result, codes};
use crate::model::expiry::LONGEST;
use crate::model::forget::Removed;
use crate::model::purge::Purged;

/// The retention policy of a namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Retention {
    /// The age in seconds at which a memory is forgotten, counted from when it happened, was remembered or was
    /// restored, whichever is latest. None: never.
    pub forget_after_seconds: Option<i64>,
    /// The time in seconds from forgetting to deletion. None: never.
    pub purge_after_seconds: Option<i64>,
}

impl Retention {
    /// Checks the range.
    ///
    /// # Errors
    /// `expiry_out_of_range`.
    pub fn validate(&self) -> Result<()> {
        let longest = LONGEST.as_secs() as i64;
        for (what, seconds, least) in
            [("forgetting", self.forget_after_seconds, 1), ("purging", self.purge_after_seconds, 0)]
        {
            if let Some(seconds) = seconds.filter(|seconds| !(least..=longest).contains(seconds)) {
                let message =
                    format!("{what} after {seconds} seconds is outside {least} to {longest} seconds");
                return Err(Error::new(codes::EXPIRY_OUT_OF_RANGE, message));
            }
        }
        Ok(())
    }

    /// The times that are shorter than those of another policy; the others are none.
    pub(crate) fn stricter_than(self, other: Self) -> Self {
        let shorter =
            |time: Option<i64>, than: Option<i64>| time.filter(|time| than.is_none_or(|than| *time < than));
        Self {
            forget_after_seconds: shorter(self.forget_after_seconds, other.forget_after_seconds),
            purge_after_seconds: shorter(self.purge_after_seconds, other.purge_after_seconds),
        }
    }

    /// Whether it keeps everything.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// The effect of a new policy at the next sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RetentionPlan {
    /// Live memories that are too old.
    pub to_forget: i64,
    /// Memories that were forgotten too long ago.
    pub to_purge: i64,
}

/// The receipt of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Swept {
    /// A row for each namespace with a change, in order.
    pub namespaces: Vec<SweptNamespace>,
}

/// The receipt of a sweep for a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SweptNamespace {
    /// The namespace.
    pub namespace: String,
    /// Memories that had expired and are forgotten now.
    pub expired: u64,
    /// Memories that the retention policy has forgotten.
    pub aged: u64,
    /// Embeddings and assignments of tags that are hidden with them, and deleted jobs.
    pub forgotten: Removed,
    /// Rows that the retention policy has purged.
    pub purged: Purged,
}

impl Swept {
    pub(crate) fn add(&mut self, other: Self) {
        for row in other.namespaces {
            let own = self.of(&row.namespace);
            own.expired += row.expired;
            own.aged += row.aged;
            own.forgotten.add(row.forgotten);
            own.purged.add(row.purged);
        }
    }

    /// The row of a namespace.
    pub(crate) fn of(&mut self, namespace: &str) -> &mut SweptNamespace {
        let place = match self.namespaces.binary_search_by(|it| it.namespace.as_str().cmp(namespace)) {
            Ok(place) => place,
            Err(place) => {
                let row = SweptNamespace { namespace: namespace.to_owned(), ..SweptNamespace::default() };
                self.namespaces.insert(place, row);
                place
            }
        };
        &mut self.namespaces[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_have_a_range() {
        let policy = |forget, purge| Retention { forget_after_seconds: forget, purge_after_seconds: purge };
        for bad in [policy(Some(0), None), policy(None, Some(-1)), policy(Some(i64::MAX), None)] {
            assert_eq!(bad.validate().unwrap_err().code(), "expiry_out_of_range", "{bad:?}");
        }
        assert_eq!(policy(Some(5), Some(5)).stricter_than(policy(Some(5), Some(6))), policy(None, Some(5)));
        assert_eq!(policy(None, Some(5)).stricter_than(policy(Some(5), None)), policy(None, Some(5)));
        policy(Some(1), Some(0)).validate().unwrap();
        assert!(policy(None, None).is_none() && !policy(None, Some(0)).is_none());
    }

    #[test]
    fn a_receipt_has_a_row_a_namespace() {
        let mut swept = Swept::default();
        for namespace in ["b", "a", "b"] {
            swept.of(namespace).expired += 1;
        }
        let rows: Vec<_> = swept.namespaces.iter().map(|row| (row.namespace.as_str(), row.expired)).collect();
        assert_eq!(rows, [("a", 1), ("b", 2)]);
    }
}
