//! The front matter of a text: YAML between two lines of `---`, or TOML between two lines of `+++`.

use chrono::{DateTime, Utc};
use htm_core::read_timestamp;
use serde_json::{Map, Value};
use serde_saphyr::{SnippetMode, UserMessageFormatter};

use crate::outline::one_line;

/// The most bytes of a front matter. A longer one is text.
const MAX_BYTES: usize = 64 << 10;

/// The statements of a front matter about its text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FrontMatter {
    pub(crate) title: Option<String>,
    /// The subject of the text.
    pub(crate) description: Option<String>,
    /// As they are written.
    pub(crate) tags: Vec<String>,
    /// When the text was written.
    pub(crate) date: Option<DateTime<Utc>>,
    /// A date that cannot be read.
    pub(crate) date_left_out: Option<String>,
    /// Why it cannot be read as a whole.
    pub(crate) left_out: Option<String>,
}

/// Splits the front matter off a text. Returns it with the place where the text begins. A block that cannot be read is
/// left out, with the reason, if it has fields alone and text follows it. Otherwise it is text.
pub(crate) fn split(text: &str) -> (FrontMatter, usize) {
    let of = |fence, sign, parse: fn(&str) -> Result<Map<String, Value>, String>| {
        let (inner, end) = block(text, fence)?;
        let matter = match parse(inner) {
            Ok(fields) => read(&fields),
            Err(_) if !has_fields_alone(inner, sign) || text[end..].trim().is_empty() => return None,
            Err(reason) => FrontMatter { left_out: Some(reason), ..FrontMatter::default() },
        };
        Some((matter, end))
    };
    of("---", ':', yaml).or_else(|| of("+++", '=', toml)).unwrap_or_default()
}

/// Whether a block begins with a field, and no paragraph begins in it: what is between two rules may be text.
fn has_fields_alone(text: &str, sign: char) -> bool {
    // Comments, tables or items of lists, and what is indented.
    let others = if sign == '=' { "#[ \t" } else { "#- \t" };
    let is_of_block = |line: &str| is_field(line, sign) || line.starts_with(|c| others.contains(c));
    let is_blank = |line: &str| line.trim().is_empty();
    let lines: Vec<&str> = text.lines().collect();
    let paragraph = |pair: &[&str]| is_blank(pair[0]) && !is_blank(pair[1]) && !is_of_block(pair[1]);
    let first = lines.iter().find(|line| !is_blank(line));
    first.is_some_and(|line| is_field(line, sign)) && !lines.windows(2).any(paragraph)
}

/// Whether a line is a name with a sign behind it.
fn is_field(line: &str, sign: char) -> bool {
    let is_of_name = |c: char| c.is_alphanumeric() || "_- ".contains(c);
    let name = line.split_once(sign).map(|(name, _)| name);
    name.is_some_and(|name| name.starts_with(char::is_alphanumeric) && name.chars().all(is_of_name))
}

/// The lines between a first line and the next one like it, and where the text after them begins.
fn block<'a>(text: &'a str, fence: &str) -> Option<(&'a str, usize)> {
    let first = text.split_inclusive('\n').next().filter(|line| line.trim_end() == fence)?;
    let mut at = first.len();
    for line in text[at..].split_inclusive('\n') {
        let is_end = line.trim_end() == fence || (fence == "---" && line.trim_end() == "...");
        if is_end {
            return Some((&text[first.len()..at], at + line.len()));
        }
        at += line.len();
        if at > MAX_BYTES {
            return None;
        }
    }
    None
}

fn yaml(text: &str) -> Result<Map<String, Value>, String> {
    serde_saphyr::from_str(text).map_err(|error: serde_saphyr::Error| {
        // Its other formatter advises programmers. The first line of the file is the fence.
        let options = serde_saphyr::render_options! {
            formatter: &UserMessageFormatter,
            snippets: SnippetMode::Off,
            line_offset: 1,
        };
        one_line(&error.render_with_options(options))
    })
}

fn toml(text: &str) -> Result<Map<String, Value>, String> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let before = error.span().and_then(|span| text.get(..span.start));
        let place = before.map(|before| {
            let line = before.matches('\n').count() + 2;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            format!(" at line {line}, column {column}")
        });
        one_line(&format!("{}{}", error.message(), place.unwrap_or_default()))
    })?;
    let fields = serde_json::to_value(table).and_then(serde_json::from_value);
    fields.map_err(|error| one_line(&error.to_string()))
}

fn read(fields: &Map<String, Value>) -> FrontMatter {
    let field = |name: &str| fields.iter().find(|(it, _)| it.to_lowercase() == name).map(|(_, value)| value);
    let mut tags: Vec<String> =
        ["tags", "tag", "keywords"].into_iter().filter_map(field).flat_map(texts).collect();
    tags.sort();
    tags.dedup();
    // The first of the names with a value, in this order.
    let written = ["date", "created", "created_at"].into_iter().find_map(|name| written(field(name)?));
    let described = |name| field(name)?.as_str().map(one_line_of).filter(|text| !text.is_empty());
    let date = written.as_deref().and_then(read_timestamp);
    FrontMatter {
        title: field("title").and_then(Value::as_str).map(one_line).filter(|it| !it.is_empty()),
        description: ["description", "summary"].into_iter().find_map(described),
        tags,
        date_left_out: written.filter(|_| date.is_none()),
        date,
        left_out: None,
    }
}

/// A description on one line, of at most 1,000 characters.
fn one_line_of(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(1_000).collect()
}

/// The names of a list, or of a text with commas or blanks between them. Levels may be divided by `/`, as in Obsidian. A
/// name of digits alone, such as `2026`, is a number to YAML.
fn texts(value: &Value) -> Vec<String> {
    let name = |item: &Value| match item {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let parts: Vec<String> = match value {
        Value::Array(items) => items.iter().filter_map(name).collect(),
        Value::Number(_) => name(value).into_iter().collect(),
        Value::String(text) if text.contains(',') => text.split(',').map(str::to_owned).collect(),
        Value::String(text) => text.split_whitespace().map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let tag = |text: &String| text.trim().trim_start_matches('#').replace('/', ":");
    parts.iter().map(tag).filter(|tag| !tag.is_empty()).collect()
}

/// A date as it is written, on one line. TOML's are an object with one field.
fn written(value: &Value) -> Option<String> {
    let text = match value {
        Value::Null => return None,
        Value::String(text) => one_line(text),
        Value::Object(fields) => one_line(fields.values().next()?.as_str()?),
        value => one_line(&value.to_string()),
    };
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_and_toml_say_title_tags_and_date() {
        let (yaml, at) =
            split("---\ntitle: A guide\ntags: [db/postgres, \"#ops\"]\ndate: 2026-03-01\n---\nText\n");
        assert_eq!(at, 68);
        assert_eq!(yaml.title.as_deref(), Some("A guide"));
        assert_eq!(yaml.tags, ["db:postgres", "ops"]);
        assert_eq!(yaml.date.unwrap().to_rfc3339(), "2026-03-01T00:00:00+00:00");
        let (toml, at) = split("+++\ntitle = \"B\"\ndate = 2026-03-01T12:00:00Z\ntags = [\"x\"]\n+++\n");
        assert_eq!((toml.title.as_deref(), at), (Some("B"), 61));
        assert_eq!(toml.date.unwrap().to_rfc3339(), "2026-03-01T12:00:00+00:00");
    }

    #[test]
    fn a_date_is_a_day_or_a_time_of_any_zone() {
        let of = |line: &str| split(&format!("---\n{line}\n---\n")).0;
        for date in [
            "2026-03-01T11:00:00Z",
            "2026-03-01T12:00:00+01:00",
            "2026-03-01T12:00:00+0100",
            "2026-03-01 12:00:00 +0100",
            "2026-03-01 12:00:00.0 +01:00",
            "2026-03-01 12:00 +0100",
            "2026-03-01T12:00+01:00",
            "2026-03-01 11:00Z",
            "2026-03-02 01:00:00+14:00",
            "2026-02-28T23:00:00-12:00",
            "2026-03-01 06:00:00-0500",
            "2026-03-01 11:00:00 Z",
            "2026-03-01 11:00:00.0",
            "2026-03-01T11:00",
            "\"2026-03-01  11:00\"",
        ] {
            let date = of(&format!("date: {date}"));
            assert_eq!(date.date, Some("2026-03-01T11:00:00Z".parse().unwrap()), "{date:?}");
            assert_eq!(date.date_left_out, None);
        }
        for (line, unread) in [
            ("date: 1st of May", Some("1st of May")),
            ("created: 2026", Some("2026")),
            ("date: 2026-02-30", Some("2026-02-30")),
            ("date: 2026-03-01 16:00-17:30", Some("2026-03-01 16:00-17:30")),
            ("date: 2026-03-01 10:00-11:30", Some("2026-03-01 10:00-11:30")),
            ("date: 2026-03-01T12:00:00+14:30", Some("2026-03-01T12:00:00+14:30")),
            ("date: 2026-03-01 12:00 -1230", Some("2026-03-01 12:00 -1230")),
            ("date:", None),
            ("date: \"\"", None),
            ("title: x", None),
        ] {
            let read = of(line);
            assert_eq!((read.date, read.date_left_out.as_deref()), (None, unread), "{line}");
        }
    }

    #[test]
    fn what_is_no_front_matter_is_text() {
        for text in [
            "",
            "---\n",
            "---\na: [\n---\n",
            "--- a\nb: 1\n---\n",
            "# A\n---\nb: 1\n---\n",
            "---\njust words\n---\n",
            "---\n\nNote: never do this: it burns.\n\nHydrogen does, too.\n\n---\n\nText.\n",
            "+++\na = 1, they say\n\nWords.\n+++\nText.\n",
        ] {
            assert_eq!(split(text), (FrontMatter::default(), 0), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_left_out_with_the_reason() {
        for block in [
            "title: Ops: how we deploy",
            "related: [[A]], [[B]]",
            "title: a\ntitle: b",
            "title: a\n\ttags: b",
            "title: {{title}}\ndate: {{date}}",
            "title: Ops: how we deploy\n\n# Tags\ntags:\n\n- a\n\n  - b\n\ndate: 2026-03-01",
            "a: [",
        ] {
            let front = format!("---\n{block}\n---\n");
            let (read, at) = split(&format!("{front}Text.\n"));
            assert_eq!(at, front.len(), "{block}");
            assert!(read.left_out.is_some_and(|reason| !reason.is_empty()), "{block}");
            assert_eq!((read.title, read.tags.len()), (None, 0), "{block}");
        }
        let (read, at) = split("+++\ntitle = b\n\n[params]\na = 1\n+++\nText.\n");
        assert!(at > 0 && read.left_out.is_some());
        assert_eq!(split("---\na: [\n---\n"), (FrontMatter::default(), 0), "there is no other text");
    }

    #[test]
    fn a_reason_has_the_line_of_the_file_and_no_advice_for_programmers() {
        let reason = |text: &str| split(text).0.left_out.unwrap();
        let twice = reason("---\ntitle: a\ntitle: b\n---\nText.\n");
        let said = "duplicate mapping key: title not allowed here at line 3, column ";
        assert!(twice.starts_with(said), "{twice}");
        let nested = reason("---\ndate: 2026-03-01\ntitle: Ops: how we deploy\n---\nText.\n");
        assert!(nested.contains(" at line 3, column ") && !nested.starts_with("error"), "{nested}");
        let toml = reason("+++\ndate = 2026-03-01\ntitle = b\n+++\nText.\n");
        assert!(toml.contains(" at line 3, column ") && !toml.starts_with("TOML parse error"), "{toml}");
        let twice = reason("+++\ntitle = \"a\"\ntitle = \"b\"\n+++\nText.\n");
        assert!(twice.starts_with("duplicate key at line 3, column "), "{twice}");
    }

    #[test]
    fn tags_are_a_list_or_a_line() {
        let tags = |line: &str| split(&format!("---\n{line}\n---\n")).0.tags;
        assert_eq!(tags("tags: one two"), ["one", "two"]);
        assert_eq!(tags("Keywords: machine learning, sql"), ["machine learning", "sql"]);
        assert_eq!(tags("tags: 7"), ["7"]);
        assert_eq!(tags("tags: [2026, release/1.5, 1.5, true, [x]]"), ["1.5", "2026", "release:1.5"]);
        assert_eq!(tags("tags:"), Vec::<String>::new());
    }
}
