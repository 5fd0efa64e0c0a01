//! The quota of a namespace.

use crate::model::error::{Error, Result, codes};

/// The quota of a namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Quota {
    /// The most live memories. None: no limit.
    pub max_memories: Option<i64>,
    /// The most bytes of their texts. None: no limit.
    pub max_bytes: Option<i64>,
}

impl Quota {
    /// Checks the range.
    ///
    /// # Errors
    /// `limit_out_of_range`.
    pub fn validate(&self) -> Result<()> {
        for (what, limit) in [("memories", self.max_memories), ("bytes", self.max_bytes)] {
            if let Some(limit) = limit.filter(|limit| *limit < 0) {
                let message = format!("a quota of {limit} {what} is less than 0");
                return Err(Error::new(codes::LIMIT_OUT_OF_RANGE, message));
            }
        }
        Ok(())
    }

    /// Whether it limits nothing.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// What a namespace uses of its quota.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuotaUse {
    /// The live memories.
    pub memories: i64,
    /// The bytes of their texts.
    pub bytes: i64,
}

impl QuotaUse {
    /// The sum.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { memories: self.memories + other.memories, bytes: self.bytes + other.bytes }
    }

    /// Refuses a use beyond the quota.
    pub(crate) fn within(self, namespace: &str, quota: Quota) -> Result<Self> {
        let limits =
            [("memories", self.memories, quota.max_memories), ("bytes", self.bytes, quota.max_bytes)];
        for (what, used, limit) in limits {
            if let Some(limit) = limit.filter(|limit| used > *limit) {
                let message =
                    format!("namespace `{namespace}` would have {used} {what}, and its quota is {limit}");
                return Err(Error::new(codes::QUOTA_EXCEEDED, message)
                    .with_value("namespace", namespace)
                    .with_value("limit", limit));
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_is_compared_with_each_limit() {
        let used = QuotaUse { memories: 3, bytes: 10 };
        let quota = |max_memories, max_bytes| Quota { max_memories, max_bytes };
        assert_eq!(used.within("a", quota(Some(3), Some(10))).unwrap(), used);
        let error = used.within("a", quota(Some(2), None)).unwrap_err();
        assert_eq!((error.code(), error.to_string().contains("quota is 2")), ("quota_exceeded", true));
        assert_eq!(used.within("a", quota(None, Some(9))).unwrap_err().code(), "quota_exceeded");
        assert_eq!(quota(Some(-1), None).validate().unwrap_err().code(), "limit_out_of_range");
    }
}
