//! Texts for models. Stored text is data: control characters are not passed, and a memory's text is one quoted string on
//! its own line, so that it cannot look like a part of the answer.

mod budget;
mod harmless;

use htm_core::{Hit, MatchedBy, Node, TokenEncoding, Zone};
use serde_json::Value;

pub(crate) use self::budget::{Budget, Shown, ShownMemory, memories, rows};
pub use self::harmless::{is_deceptive, plain};
pub(crate) use self::harmless::{plain_json, quoted};

/// The most tags of a memory that are shown.
const MAX_TAGS: usize = 6;

/// The most successors of a memory that are shown.
pub(crate) const MAX_SUCCESSORS: usize = 3;

/// The most characters of a name (a robot, a key, a kind) that are shown.
const MAX_NAME: usize = 60;

/// The most characters of a passage's place that are shown.
const MAX_PLACE: usize = 160;

/// A name as it is if it has only letters, digits and a few signs. Otherwise it is quoted.
pub(crate) fn name(text: &str) -> String {
    let cut: String = match text.chars().count() > MAX_NAME {
        true => text.chars().take(MAX_NAME - 1).chain(['…']).collect(),
        false => text.into(),
    };
    let is_simple = |c: char| c.is_alphanumeric() || "_-.:/@+#…".contains(c);
    match !cut.is_empty() && cut.chars().all(is_simple) {
        true => cut,
        false => quoted(&cut),
    }
}

/// Names, separated by spaces.
pub(crate) fn names<T: ToString>(all: impl IntoIterator<Item = T>) -> String {
    all.into_iter().map(|it| name(&it.to_string())).collect::<Vec<_>>().join(" ")
}

/// A number of things: `1 memory`, `2 memories`, `2 hits`.
pub(crate) fn count(number: impl ToString, what: &str) -> String {
    let number = number.to_string();
    match (number.as_str(), what.strip_suffix('y')) {
        ("1", _) => format!("1 {what}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        (_, None) => format!("{number} {what}s"),
    }
}

/// The head of a memory's line, before its text: `[41] 2026-03-01 09:12 | ada | type decision`.
pub(crate) fn head(node: &Node, zone: &Zone) -> String {
    let mut text = format!(
        "[{}] {} | {}",
        node.id,
        zone.local(node.created_at).format("%Y-%m-%d %H:%M"),
        name(node.speaker.as_ref().unwrap_or(&node.robot))
    );
    // The first words of the successors are quoted: they are data as well.
    for successor in node.superseded_by.iter().take(MAX_SUCCESSORS) {
        let reason =
            successor.reason.as_ref().map(|it| format!(", because {}", quoted(it))).unwrap_or_default();
        let begins: String = successor.excerpt.chars().take(60).collect();
        let day = zone.local(successor.created_at).format("%Y-%m-%d");
        text.push_str(&format!(" | superseded by [{}] {day} {}{reason}", successor.node, quoted(&begins)));
    }
    if node.superseded_by.len() > MAX_SUCCESSORS {
        text.push_str(&format!(" and {} more", node.superseded_by.len() - MAX_SUCCESSORS));
    }
    let passage = node.passage();
    if let Some(place) = &passage {
        text.push_str(&format!(
            " | from {}",
            quoted(&place.to_string().chars().take(MAX_PLACE).collect::<String>())
        ));
    }
    if let Some(kind) = node.kind.as_ref().filter(|_| passage.is_none()) {
        text.push_str(&format!(" | type {}", name(kind)));
    }
    // The key of a passage is a digest, which says nothing.
    if let Some(key) = node.key.as_ref().filter(|_| passage.is_none()) {
        text.push_str(&format!(" | key {}", name(key)));
    }
    if node.importance > 1.0 {
        text.push_str(&format!(" | importance {}", node.importance));
    }
    if let Some(expires) = node.expires_at {
        text.push_str(&format!(" | expires {}", zone.local(expires).format("%Y-%m-%d %H:%M")));
    }
    if !node.tags.is_empty() {
        text.push_str(&format!(" | tags {}", names(node.tags.iter().take(MAX_TAGS))));
        if node.tags.len() > MAX_TAGS {
            text.push_str(&format!(" and {} more", node.tags.len() - MAX_TAGS));
        }
    }
    text
}

/// The beginning of a [`head`]: the id and the time.
pub(crate) fn brief_head(head: &str) -> &str {
    head.split(" | ").next().unwrap_or_default()
}

/// As [`head`], with the reason why the memory was found.
pub(crate) fn hit_head(hit: &Hit, zone: &Zone) -> String {
    let why = match hit.matched_by {
        MatchedBy::Vector => "by meaning",
        MatchedBy::Text => "by words",
        MatchedBy::Both => "by words and meaning",
        MatchedBy::Time => "by time",
        MatchedBy::Tag => "by tag",
        MatchedBy::Neighbour => "beside a hit",
    };
    let mut text = match hit.matched_by {
        MatchedBy::Time => format!("{} | {why}", head(&hit.node, zone)),
        _ => format!("{} | {why} {:.2}", head(&hit.node, zone), hit.scores.score),
    };
    if let Some(from) = &hit.followed_from {
        text.push_str(&format!(" | in place of [{}], which it supersedes", from.node));
    }
    text
}

/// Memories as a text for a model, outside the protocol: `header`, and a line for each memory with its text in quotes, in
/// at most `max_tokens`.
pub fn quoted_memories(
    header: &str,
    nodes: &[Node],
    zone: &Zone,
    max_tokens: usize,
    encoding: TokenEncoding,
) -> String {
    let all: Vec<ShownMemory<'_>> =
        nodes.iter().map(|node| ShownMemory::new(node, head(node, zone), encoding)).collect();
    let budget = Budget { max_tokens, encoding, is_argument: false };
    memories(header, &all, None, &[], budget).text
}

/// A value without the fields that are null or empty, and with four decimals: clients may show it to a model.
pub(crate) fn compact(value: impl serde::Serialize) -> Value {
    let mut value = serde_json::to_value(value).unwrap_or_default();
    shorten(&mut value);
    plain_json(value)
}

fn shorten(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            let rounded = number.as_f64().map(|it| (it * 10_000.0).round() / 10_000.0);
            *value = rounded.into();
        }
        Value::Object(fields) => {
            fields.values_mut().for_each(shorten);
            fields.retain(|_, value| match value {
                Value::Null => false,
                Value::Array(items) => !items.is_empty(),
                Value::Object(fields) => !fields.is_empty(),
                _ => true,
            });
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_be_something_else_are_quoted() {
        assert_eq!(name("database:postgresql"), "database:postgresql");
        assert_eq!(name("ada | type decision"), "\"ada | type decision\"");
        assert_eq!(name("a\nb"), "\"a\\nb\"");
        assert_eq!(name(""), "\"\"");
        assert_eq!(name(&"x".repeat(100)).chars().count(), MAX_NAME);
    }

    #[test]
    fn counts_agree_with_their_noun() {
        assert_eq!(
            [count(1, "memory"), count(0, "memory"), count(2, "hit")],
            ["1 memory", "0 memories", "2 hits"]
        );
    }

    #[test]
    fn a_compact_value_has_no_empty_fields() {
        let value = serde_json::json!({ "a": null, "b": [], "c": { "d": null }, "e": 0, "f": [{ "g": null }], "h": 1.0 / 3.0 });
        assert_eq!(compact(value), serde_json::json!({ "e": 0, "f": [{}], "h": 0.3333 }));
    }
}
