//! Errors of the ontology that occur in more than one place. With each of them, nothing has changed.

use std::fmt::Display;

use crate::model::error::{Error, codes};
use crate::model::tags::TagPath;

/// The namespace has no such tag.
pub(crate) fn unknown(namespace: &str, tag: &str) -> Error {
    Error::new(codes::TAG_UNKNOWN, format!("namespace `{namespace}` has no tag `{tag}`"))
        .with_value("namespace", namespace)
        .with_value("tag", tag)
}

/// The tag that `from` should be merged into is unknown.
pub(crate) fn into_unknown(error: Error, from: &[TagPath]) -> Error {
    let (Some(namespace), Some(tag)) = (error.value("namespace"), error.value("tag")) else { return error };
    let message = format!("namespace `{namespace}` has no tag `{tag}` to merge into");
    let others: Vec<&str> = from.iter().skip(1).map(TagPath::as_str).collect();
    let into = Error::new(codes::TAG_UNKNOWN, message)
        .with_hint("to give a tag this name, rename it: `Ontology::rename`; then merge the others into it")
        .with_value("namespace", namespace)
        .with_value("tag", tag)
        .with_value("others", others.join(" "));
    match from.first() {
        Some(first) => into.with_value("from", first),
        None => into,
    }
}

/// An unknown tag, with the tags of similar names, the nearest first.
pub(crate) fn with_nearest(error: Error, nearest: &[String]) -> Error {
    if nearest.is_empty() {
        return error;
    }
    let hint = format!("the nearest that there are: {}", nearest.join(", "));
    let hint = match error.value("from") {
        Some(_) => format!("{}; {hint}", error.hint()),
        None => hint,
    };
    error.with_hint(hint).with_value("nearest", nearest.join(", "))
}

pub(crate) fn into_itself(tag: &TagPath) -> Error {
    Error::new(codes::TAG_INTO_ITSELF, format!("tag `{tag}` cannot be renamed, merged or split into itself"))
}

pub(crate) fn into_own_child(tag: &TagPath, into: &TagPath) -> Error {
    let message = format!("tag `{tag}` cannot be moved to `{into}`, which stands below it");
    Error::new(codes::TAG_INTO_OWN_CHILD, message).with_value("tag", tag)
}

/// The name is a synonym of a tag.
pub(crate) fn is_synonym(name: &str, tag: &str) -> Error {
    Error::new(codes::TAG_IS_SYNONYM, format!("`{name}` is another name of `{tag}`"))
        .with_value("name", name)
        .with_value("tag", tag)
}

/// The namespace has no room for a new tag.
pub(crate) fn namespace_full(namespace: &str, tag: &str, limit: usize) -> Error {
    let message =
        format!("namespace `{namespace}` has {limit} tags, as many as it may: there is no room for `{tag}`");
    Error::new(codes::NAMESPACE_FULL, message).with_value("namespace", namespace)
}

/// A running change or a long transaction holds names that are needed.
pub(crate) fn held(namespace: &str) -> Error {
    let message =
        format!("somebody else changes tags of namespace `{namespace}`, and takes longer than is waited for");
    Error::new(codes::CONTENDED, message)
        .with_hint("try again in a moment; a change of many nodes is in `Ontology::log` when it is done")
        .with_value("namespace", namespace)
}

pub(crate) fn change_unknown(namespace: &str, change: i64) -> Error {
    Error::new(codes::CHANGE_UNKNOWN, format!("namespace `{namespace}` has no change {change}"))
}

/// A name was changed again since a change.
pub(crate) fn changed_since(change: i64, name: impl Display) -> Error {
    Error::new(codes::CHANGED_SINCE, format!("`{name}` is no longer what change {change} made it"))
        .with_hint("see what it is now: `Ontology::show`")
        .with_value("change", change)
        .with_value("name", name)
}

/// The change `by` builds on what a change made of the name, which may mean the same.
pub(crate) fn built_on(change: i64, name: &str, by: i64) -> Error {
    let message = format!("change {by} of `{name}` builds on change {change}");
    let error =
        Error::new(codes::CHANGED_SINCE, message).with_value("change", change).with_value("name", name);
    changed_by(error, by)
}

/// The change `by` was the last one to touch the name.
pub(crate) fn changed_by(error: Error, by: i64) -> Error {
    error.with_hint(format!("revert change {by} first: `Ontology::revert`")).with_value("by", by)
}
