//! Errors of groups.

use crate::model::error::{Error, ErrorKind, codes};

pub(crate) fn unknown(namespace: &str, group: &str) -> Error {
    Error::new(codes::GROUP_UNKNOWN, format!("namespace `{namespace}` has no group `{group}`"))
        .with_value("group", group)
}

pub(crate) fn member_unknown(group: &str, robot: &str) -> Error {
    Error::new(codes::GROUP_MEMBER_UNKNOWN, format!("robot `{robot}` is no member of group `{group}`"))
        .with_value("group", group)
}

/// A passive member does not write.
pub(crate) fn passive(group: &str, robot: &str) -> Error {
    let message =
        format!("robot `{robot}` is a passive member of group `{group}`: it follows, and does not write");
    Error::new(codes::GROUP_MEMBER_PASSIVE, message)
        .with_kind(ErrorKind::NotActive)
        .with_value("group", group)
        .with_value("robot", robot)
}

/// The member was not seen for its lease and another one took over, another process acts for its robot now, or its robot
/// was merged.
pub fn replaced(group: &str, robot: &str) -> Error {
    let message = format!(
        "robot `{robot}` of group `{group}` was replaced: another took over, another process speaks for it now, or it \
         was merged into another robot"
    );
    Error::new(codes::GROUP_MEMBER_REPLACED, message)
}

pub(crate) fn closed(group: &str) -> Error {
    Error::new(codes::GROUP_CLOSED, format!("group `{group}` was shut down")).with_value("group", group)
}

/// The member cannot become active.
pub(crate) fn lost(group: &str, robot: &str) -> Error {
    Error::new(
        codes::GROUP_MEMBER_LOST,
        format!("robot `{robot}` of group `{group}` was not seen for its lease"),
    )
    .with_value("group", group)
    .with_value("robot", robot)
}

pub(crate) fn last_active(group: &str, robot: &str) -> Error {
    Error::new(
        codes::GROUP_LAST_ACTIVE,
        format!("robot `{robot}` is the only active member of group `{group}`, and no passive one is alive"),
    )
    .with_value("group", group)
}

/// A group shares only memories of its own namespace.
pub(crate) fn elsewhere(group: &str, namespace: &str, other: &str) -> Error {
    Error::new(
        codes::GROUP_ELSEWHERE,
        format!("group `{group}` belongs to namespace `{namespace}`, the memory to `{other}`"),
    )
    .with_hint(format!("remember it in namespace `{namespace}`, or without one"))
}

/// The text has more tokens than the whole working memory of the group, and nothing was written. The counts are those
/// of `error`.
pub(crate) fn oversized(group: &str, error: Error) -> Error {
    let (Some(tokens), Some(max_tokens)) = (error.value("tokens"), error.value("max_tokens")) else {
        return error;
    };
    let message = format!(
        "the text has {tokens} tokens, more than the {max_tokens} that the working memory of group `{group}` holds"
    );
    Error::new(codes::NODE_OVERSIZED, message)
        .with_hint("nothing was written; split the text, or remember it without the group: `Htm::remember`")
        .with_value("group", group)
}
