//! The quota of a namespace.

use std::collections::BTreeSet;

use crate::model::error::{Error, Result, codes};
use crate::model::wall::above;

/// The quota of a namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Quota {
    /// The most live memories. None: no limit.
    pub max_memories: Option<i64>,
    /// The most bytes of their texts. None: no limit.
    pub max_bytes: Option<i64>,
    /// The most requests a minute to servers, of all callers that are bound to the namespace. None: no limit.
    pub requests_per_minute: Option<i32>,
}

impl Quota {
    /// Checks the ranges. A quota of `tenant-7/*` limits requests alone.
    ///
    /// # Errors
    /// `limit_out_of_range`.
    pub fn validate(&self, namespace: &str) -> Result<()> {
        let out_of_range = |message: String, hint: &'static str| {
            Err(Error::new(codes::LIMIT_OUT_OF_RANGE, message).with_hint(hint))
        };
        if above(namespace).is_some() && (self.max_memories, self.max_bytes) != (None, None) {
            let message = format!(
                "`{namespace}` stands for several namespaces, and memories and bytes are limited in each"
            );
            return out_of_range(message, "limit them for each namespace by its name");
        }
        if let Some(limit) = self.requests_per_minute.filter(|limit| *limit < 1) {
            let message = format!("{limit} requests a minute are outside 1 to {}", i32::MAX);
            return out_of_range(message, "give 1 or more, or none for no limit");
        }
        for (what, limit) in [("memories", self.max_memories), ("bytes", self.max_bytes)] {
            if let Some(limit) = limit.filter(|limit| *limit < 0) {
                let message = format!("a quota of {limit} {what} is less than 0");
                return out_of_range(message, "give 0 or more, or none for no limit");
            }
        }
        Ok(())
    }

    /// Whether it limits what a namespace has, which must be counted.
    pub(crate) fn limits_memories(&self) -> bool {
        self.max_memories.is_some() || self.max_bytes.is_some()
    }

    /// Whether it limits nothing.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// The namespaces whose quotas of requests count a caller that sees these: each, and the patterns that it is below.
pub(crate) fn counting(namespaces: &[String]) -> Vec<String> {
    let mut found = BTreeSet::new();
    for namespace in namespaces {
        found.insert(namespace.clone());
        found.extend(namespace.match_indices('/').map(|(at, _)| format!("{}*", &namespace[..=at])));
    }
    found.into_iter().collect()
}

/// The use of a namespace's quota.
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

    /// The difference.
    pub(crate) fn less(self, other: Self) -> Self {
        Self { memories: self.memories - other.memories, bytes: self.bytes - other.bytes }
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
                    .with_value("what", what)
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
        let quota = |max_memories, max_bytes| Quota { max_memories, max_bytes, ..Quota::default() };
        assert_eq!(used.within("a", quota(Some(3), Some(10))).unwrap(), used);
        let error = used.within("a", quota(Some(2), None)).unwrap_err();
        assert_eq!((error.code(), error.to_string().contains("quota is 2")), ("quota_exceeded", true));
        assert_eq!(used.within("a", quota(None, Some(9))).unwrap_err().code(), "quota_exceeded");
        let requests = |limit| Quota { requests_per_minute: Some(limit), ..Quota::default() };
        for (namespace, quota) in
            [("a", quota(Some(-1), None)), ("a", requests(0)), ("tenant-7/*", quota(None, Some(1)))]
        {
            assert_eq!(quota.validate(namespace).unwrap_err().code(), "limit_out_of_range", "{namespace}");
        }
        requests(1).validate("tenant-7/*").unwrap();
    }

    #[test]
    fn a_caller_counts_for_its_namespaces_and_the_patterns_above() {
        let counting = |namespaces: &[&str]| {
            super::counting(&namespaces.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(counting(&["atlas"]), ["atlas"]);
        assert_eq!(counting(&["tenant-7/*"]), ["tenant-7/*"]);
        assert_eq!(counting(&["tenant-7/a/b", "tenant-7/*"]), ["tenant-7/*", "tenant-7/a/*", "tenant-7/a/b"]);
        // A quota counts a caller if it covers every namespace that the caller sees.
        for namespace in counting(&["tenant-7/a/b"]) {
            assert!(crate::model::wall::is_within("tenant-7/a/b", &[namespace]));
        }
    }
}
