//! Namespaces: a path of labels, such as `tenant-7/agents/ada`. A namespace is created by its first memory.

use crate::model::error::Result;
use crate::model::filter::{MAX_LIMIT, validate_limit, within};
use crate::model::memory::validate_namespace;

/// A namespace in which no memory is stored.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UnknownNamespace {
    /// The name as given.
    pub namespace: String,
    /// Up to three existing namespaces that the handle sees, the most similar name first.
    pub nearest: Vec<String>,
}

/// The namespace of these labels. `/` and `%` within a label are written `%2F` and `%25`.
///
/// ```
/// assert_eq!(htm_core::namespace_of(["tenants", "a/b"]).unwrap(), "tenants/a%2Fb");
/// assert_eq!(htm_core::labels_of("tenants/a%2Fb"), ["tenants", "a/b"]);
/// ```
///
/// # Errors
/// `namespace_invalid`.
pub fn namespace_of(labels: impl IntoIterator<Item = impl AsRef<str>>) -> Result<String> {
    let encoded: Vec<String> =
        labels.into_iter().map(|label| label.as_ref().replace('%', "%25").replace('/', "%2F")).collect();
    let namespace = encoded.join("/");
    validate_namespace(&namespace)?;
    Ok(namespace)
}

/// The labels of a namespace, decoded.
pub fn labels_of(namespace: &str) -> Vec<String> {
    // `%25` last: `%252F` is the label `%2F`.
    let decoded = |label: &str| label.replace("%2F", "/").replace("%25", "%");
    namespace.split('/').map(decoded).collect()
}

/// A question for namespaces.
///
/// ```
/// use htm_core::NamespaceQuery;
/// let tenants = NamespaceQuery::new().prefix("tenants").depth(2);
/// let notes = NamespaceQuery::new().prefix("tenants/*").suffix("notes");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceQuery {
    /// The first labels; the label `*` stands for any.
    pub prefix: Option<String>,
    /// The last labels; the label `*` stands for any.
    pub suffix: Option<String>,
    /// The most labels. Deeper namespaces are cut to this number of labels, and each is listed once.
    pub depth: Option<usize>,
    /// The last namespace of the previous page.
    pub after: Option<String>,
    /// The most namespaces, 1 to 10,000.
    pub limit: usize,
}

impl Default for NamespaceQuery {
    fn default() -> Self {
        Self { prefix: None, suffix: None, depth: None, after: None, limit: 100 }
    }
}

impl NamespaceQuery {
    /// All namespaces, 100 a page.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the first labels.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// Sets the last labels.
    pub fn suffix(mut self, suffix: impl Into<String>) -> Self {
        self.suffix = Some(suffix.into());
        self
    }

    /// Sets the most labels.
    pub fn depth(mut self, depth: usize) -> Self {
        self.depth = Some(depth);
        self
    }

    /// Sets the last namespace of the previous page.
    pub fn after(mut self, namespace: impl Into<String>) -> Self {
        self.after = Some(namespace.into());
        self
    }

    /// Sets the most namespaces.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Checks the limit, the depth and the labels.
    ///
    /// # Errors
    /// `limit_out_of_range` (also for a depth of 0), `namespace_invalid`.
    pub fn validate(&self) -> Result<()> {
        validate_limit(self.limit)?;
        self.depth.map_or(Ok(()), |depth| within("depth", depth, 1..=MAX_LIMIT))?;
        [&self.prefix, &self.suffix, &self.after]
            .into_iter()
            .flatten()
            .try_for_each(|it| validate_namespace(it))
    }

    /// Whether a namespace has the labels. By whole labels: `acme` is no prefix of `acme-corp`.
    pub(crate) fn matches(&self, namespace: &str) -> bool {
        fn begins<'a>(
            mut labels: impl Iterator<Item = &'a str>,
            wanted: impl Iterator<Item = &'a str>,
        ) -> bool {
            { wanted }.all(|wanted| labels.next().is_some_and(|label| wanted == "*" || wanted == label))
        }
        self.prefix.as_deref().is_none_or(|prefix| begins(namespace.split('/'), prefix.split('/')))
            && self.suffix.as_deref().is_none_or(|suffix| begins(namespace.rsplit('/'), suffix.rsplit('/')))
    }

    /// The labels before the first `*` of the prefix.
    pub(crate) fn fixed_prefix(&self) -> Option<&str> {
        let prefix = self.prefix.as_deref()?;
        let mut end = 0;
        for label in prefix.split('/').take_while(|label| *label != "*") {
            end += label.len() + 1;
        }
        prefix.get(..end.saturating_sub(1)).filter(|fixed| !fixed.is_empty())
    }

    /// The namespace, cut to the depth.
    pub(crate) fn cut<'a>(&self, namespace: &'a str) -> &'a str {
        let end = self.depth.and_then(|depth| namespace.match_indices('/').nth(depth - 1));
        end.map_or(namespace, |(end, _)| &namespace[..end])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_depth_is_called_so() {
        let refused = NamespaceQuery::new().depth(0).validate().unwrap_err();
        assert_eq!(refused.code(), "limit_out_of_range");
        assert_eq!(refused.to_string(), "depth 0 is outside 1 to 10000");
    }

    #[test]
    fn labels_are_matched_whole() {
        let query = NamespaceQuery::new().prefix("acme");
        assert!(query.matches("acme") && query.matches("acme/notes"));
        assert!(!query.matches("acme-corp") && !query.matches("x/acme"));
        let query = NamespaceQuery::new().prefix("users/*/memories").suffix("2026");
        assert!(query.matches("users/7/memories/2026"));
        assert!(!query.matches("users/7/notes/2026") && !query.matches("users/7/memories/12026"));
        assert_eq!(query.fixed_prefix(), Some("users"));
        assert_eq!(NamespaceQuery::new().prefix("*/a").fixed_prefix(), None);
        assert_eq!(NamespaceQuery::new().prefix("a/b").fixed_prefix(), Some("a/b"));
    }

    #[test]
    fn deep_namespaces_are_cut() {
        let query = NamespaceQuery::new().depth(2);
        assert_eq!(["a", "a/b", "a/b/c"].map(|namespace| query.cut(namespace)), ["a", "a/b", "a/b"]);
        assert_eq!(NamespaceQuery::new().cut("a/b/c"), "a/b/c");
    }

    #[test]
    fn bad_questions_are_refused() {
        for query in [NamespaceQuery::new().limit(0), NamespaceQuery::new().depth(0)] {
            assert_eq!(query.validate().unwrap_err().code(), "limit_out_of_range");
        }
        assert_eq!(NamespaceQuery::new().prefix("a/").validate().unwrap_err().code(), "namespace_invalid");
    }

    proptest! {
        #[test]
        fn labels_survive(labels in prop::collection::vec("[a-z%/2F5 ]{0,5}[a-z%/]", 1..6)) {
            let namespace = namespace_of(&labels).unwrap();
            prop_assert_eq!(labels_of(&namespace), labels);
        }
    }
}
