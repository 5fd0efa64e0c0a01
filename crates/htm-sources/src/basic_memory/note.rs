//! The parts of a note.

use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::json;

/// The fields of the front matter that have a place of their own in a memory.
const KNOWN: [&str; 4] = ["title", "type", "permalink", "tags"];
/// The fields of the front matter that say when the note was made.
pub(super) const CREATED: [&str; 3] = ["created", "created_at", "date"];
/// The fields of the front matter that say when its text was written.
pub(super) const UPDATED: [&str; 3] = ["modified", "updated", "updated_at"];

/// A note.
#[derive(Debug, PartialEq)]
pub(super) struct Note<'a> {
    /// The front matter: an object.
    pub(super) front: Value,
    /// The text after the front matter.
    pub(super) body: &'a str,
    /// The tags of the front matter and of the observations.
    pub(super) tags: Vec<String>,
    pub(super) relations: Vec<Relation>,
}

/// A relation to another note.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Relation {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) target: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) context: Option<String>,
}

impl<'a> Note<'a> {
    /// Reads a note. The error says what is wrong with its front matter.
    pub(super) fn parse(text: &'a str) -> Result<Self, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (front, body) = parts(text)?;
        let body = body.trim();
        let mut note = Self { tags: tags(&front), front, body, relations: Vec::new() };
        let mut is_code = false;
        for line in body.lines().map(str::trim) {
            if line.starts_with("```") || line.starts_with("~~~") {
                is_code = !is_code;
            }
            let item = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
            let Some(item) = item.filter(|_| !is_code).map(str::trim) else { continue };
            match relation(item) {
                Some(relation) => note.relations.push(relation),
                None => note.tags.extend(observed(item)),
            }
        }
        Ok(note)
    }

    /// The permalink; none of a note without a text. The path of a note without one ends in `.md`, so it is no other note's
    /// permalink.
    pub(super) fn permalink(&self) -> Option<&str> {
        let permalink = json::text(&self.front, "permalink").filter(|_| !self.body.is_empty())?;
        (!super::is_note(Path::new(permalink))).then_some(permalink)
    }

    /// The fields of the front matter that have no place of their own.
    pub(super) fn further(&self) -> Map<String, Value> {
        let has_place = |name: &str| [&KNOWN[..], &CREATED, &UPDATED].iter().any(|it| it.contains(&name));
        let fields = self.front.as_object().into_iter().flatten();
        fields
            .filter(|(name, value)| !has_place(name) && !value.is_null())
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }
}

/// The front matter and the rest.
fn parts(text: &str) -> Result<(Value, &str), String> {
    let none = || Ok((Value::Object(Map::new()), text));
    let Some((first, rest)) = text.split_once('\n') else { return none() };
    if first.trim_end() != "---" {
        return none();
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            let yaml = &rest[..at];
            let front: Option<Value> = serde_saphyr::from_str(yaml).map_err(|error| {
                format!("its front matter is no YAML ({})", first_line(&error.to_string()))
            })?;
            return match front {
                None => Ok((Value::Object(Map::new()), &rest[at + line.len()..])),
                Some(front @ Value::Object(_)) => Ok((front, &rest[at + line.len()..])),
                Some(_) => Err("its front matter has no fields".into()),
            };
        }
        at += line.len();
    }
    // A rule at the beginning of a text.
    none()
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// A tag in HTM's levels: programs for notes write `db/postgres`.
fn levels(tag: &str) -> String {
    tag.replace('/', ":")
}

/// The tags of the front matter: a list, or a text with commas.
fn tags(front: &Value) -> Vec<String> {
    let named = |text: &str| levels(text.trim().trim_start_matches('#'));
    let tags: Vec<String> = match front.get("tags") {
        Some(Value::Array(list)) => list
            .iter()
            .filter_map(|tag| match tag {
                Value::String(text) => Some(named(text)),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            })
            .collect(),
        Some(Value::String(text)) => text.split(',').map(named).collect(),
        _ => Vec::new(),
    };
    tags.into_iter().filter(|tag| !tag.is_empty()).collect()
}

/// The tags of an observation; none of a line that is no observation.
fn observed(item: &str) -> Vec<String> {
    let is_task = ["[ ]", "[x]", "[X]", "[-]"].iter().any(|mark| item.starts_with(mark));
    if is_task {
        return Vec::new();
    }
    item.split_whitespace()
        .filter_map(|word| word.strip_prefix('#'))
        .flat_map(|word| word.split('#'))
        .map(|tag| levels(tag.trim_end_matches([',', '.', ';', ')'])))
        .filter(|tag| !tag.is_empty())
        .collect()
}

/// The relation of a line: a type of one word or in quotation marks, the target, and a context in parentheses.
fn relation(item: &str) -> Option<Relation> {
    let (kind, rest) = item.split_once("[[")?;
    let (target, rest) = rest.split_once("]]")?;
    let (kind, target, rest) = (kind.trim(), target.trim(), rest.trim());
    let quoted = ['"', '\''].iter().find_map(|mark| kind.strip_prefix(*mark)?.strip_suffix(*mark));
    let kind = match quoted {
        Some(quoted) => quoted.trim(),
        None if kind.contains(char::is_whitespace) => return None,
        None => kind,
    };
    let context = match rest {
        "" => None,
        rest => Some(rest.strip_prefix('(')?.strip_suffix(')')?.trim().to_owned()),
    };
    let is_whole = !kind.is_empty() && !target.is_empty();
    is_whole.then(|| Relation { kind: kind.into(), target: target.into(), context })
}
