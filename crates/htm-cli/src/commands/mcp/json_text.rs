//! Changes of a JSON text that leave the rest of it as it is: the order, the spaces, the comments.

mod scan;

#[cfg(test)]
mod tests;

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

use self::scan::{Member, Node, scan};
use super::install::{Entry, Unusable};

/// The text with the entry.
pub(super) fn with(text: &str, entry: &Entry<'_>) -> Result<String, Unusable> {
    if text.trim().is_empty() {
        return with("{}\n", entry);
    }
    let mut text = text.to_owned();
    let root = scan(&text)?;
    let servers = child(&text, &root, None, entry.section)?;
    let server = match servers {
        Some(servers) => child(&text, servers, Some(entry.section), entry.name)?,
        None => None,
    };
    let Some(server) = server else {
        let fields: Value =
            entry.fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        return Ok(match servers {
            Some(servers) => inserted(&text, servers, entry.name, &fields),
            None => inserted(&text, &root, entry.section, &serde_json::json!({ entry.name: fields })),
        });
    };
    members(&text, server, Some(entry.name))?;
    for (name, wanted) in &entry.fields {
        let root = scan(&text)?;
        let server = root.at(&[entry.section, entry.name]).expect("it was there before");
        text = match server.at(&[name]) {
            Some(value) if value.read(&text).as_ref() == Some(wanted) => continue,
            Some(value) => replaced(&text, value, wanted),
            None => inserted(&text, server, name, wanted),
        };
    }
    Ok(text)
}

/// The text without the entry.
pub(super) fn without(text: &str, entry: &Entry<'_>) -> Result<String, Unusable> {
    if text.trim().is_empty() {
        return Ok(text.to_owned());
    }
    let root = scan(text)?;
    let Some(servers) = child(text, &root, None, entry.section)? else { return Ok(text.to_owned()) };
    let members = members(text, servers, Some(entry.section))?;
    Ok(match members.iter().rposition(|member| member.name == entry.name) {
        Some(place) => removed(text, servers, members, place),
        None => text.to_owned(),
    })
}

/// The names in the `env` of the entry.
pub(super) fn env(text: &str, entry: &Entry<'_>) -> Vec<String> {
    let Ok(root) = scan(text) else { return Vec::new() };
    let env = root.at(&[entry.section, entry.name, "env"]).and_then(|env| env.members.as_ref());
    env.into_iter().flatten().map(|member| member.name.clone()).collect()
}

/// The members of an object. `name` is what the object is called; none: the whole text.
fn members<'a>(text: &str, node: &'a Node, name: Option<&str>) -> Result<&'a [Member], Unusable> {
    node.members.as_deref().ok_or_else(|| Unusable {
        line: Some(line_of(text, node.start)),
        reason: format!("{} is not an object", name.map_or("it".into(), |name| format!("`{name}`"))),
    })
}

fn child<'a>(
    text: &str,
    node: &'a Node,
    name: Option<&str>,
    child: &str,
) -> Result<Option<&'a Node>, Unusable> {
    members(text, node, name)?;
    Ok(node.at(&[child]))
}

/// The number of the line with a place, from 1.
pub(super) fn line_of(text: &str, place: usize) -> usize {
    text[..place].matches('\n').count() + 1
}

/// The white space that begins the line with a place.
fn indent_of(text: &str, place: usize) -> &str {
    let line = &text[text[..place].rfind('\n').map_or(0, |it| it + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The white space of one level: that of the first member that begins a line of the text.
fn unit(text: &str) -> String {
    let indents = text.lines().map(|line| &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]);
    indents.into_iter().find(|indent| !indent.is_empty()).unwrap_or("  ").to_owned()
}

fn written(text: &str, value: &Value, indent: &str, is_inline: bool) -> String {
    if is_inline {
        return value.to_string();
    }
    let (unit, mut bytes) = (unit(text), Vec::new());
    let mut serializer =
        Serializer::with_formatter(&mut bytes, PrettyFormatter::with_indent(unit.as_bytes()));
    value.serialize(&mut serializer).expect("a value is written to memory");
    let lines = String::from_utf8(bytes).expect("JSON is UTF-8");
    lines.replace('\n', &format!("{}{indent}", line_end(text)))
}

fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn replaced(text: &str, node: &Node, value: &Value) -> String {
    let is_inline = !text[node.start..node.end].contains('\n');
    let value = written(text, value, indent_of(text, node.start), is_inline);
    format!("{}{value}{}", &text[..node.start], &text[node.end..])
}

/// The text with a member at the end of an object.
fn inserted(text: &str, object: &Node, name: &str, value: &Value) -> String {
    let members = object.members.as_deref().unwrap_or_default();
    let inside = &text[object.start + 1..object.end - 1];
    let name = Value::from(name).to_string();
    // After the comments at the end of the object.
    let end = object.start + 1 + inside.trim_end().len();
    let mut changed = text[..end].to_owned();
    if let Some(last) = members.last()
        && last.comma.is_none()
    {
        changed.insert(last.value.end, ',');
    }
    if !members.is_empty() && !inside.contains('\n') {
        return format!("{changed} {name}: {}{}", written(text, value, "", true), &text[object.end - 1..]);
    }
    let outer = indent_of(text, object.start);
    let own = match members.first() {
        Some(first) => indent_of(text, first.start).to_owned(),
        None => format!("{outer}{}", unit(text)),
    };
    let (value, break_) = (written(text, value, &own, false), line_end(text));
    format!("{changed}{break_}{own}{name}: {value}{break_}{outer}{}", &text[object.end - 1..])
}

/// The text without a member of an object.
fn removed(text: &str, object: &Node, members: &[Member], place: usize) -> String {
    let member = &members[place];
    let before = place.checked_sub(1).map(|place| &members[place]);
    let from = before.map_or(object.start + 1, |before| before.comma.map_or(before.value.end, |it| it + 1));
    let gap = &text[from..member.start];
    // Comments on the lines above are about something else.
    let start = from
        + gap.rfind('\n').map_or(gap.len() - gap.trim_start().len(), |it| {
            if gap[..it].ends_with('\r') { it - 1 } else { it }
        });
    let start = if gap.contains('\n') { start } else { from };
    let end = member.comma.map_or(member.value.end, |it| it + 1);
    let is_only = members.len() == 1;
    let end = if is_only { end + (text[end..].len() - text[end..].trim_start().len()) } else { end };
    let mut changed = format!("{}{}", &text[..start], &text[end..]);
    if let (None, Some(comma)) = (member.comma, before.and_then(|it| it.comma)) {
        changed.remove(comma);
    }
    changed
}
