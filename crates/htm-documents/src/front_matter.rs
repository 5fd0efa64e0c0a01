//! The front matter of a text: YAML between two lines of `---`, or TOML between two lines of `+++`.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use serde_json::{Map, Value};

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
}

/// Splits the front matter off a text. Returns it with the place where the text begins. Unparsable front matter is text.
pub(crate) fn split(text: &str) -> (FrontMatter, usize) {
    let parsed = block(text, "---").and_then(|(inner, end)| Some((yaml(inner)?, end)));
    let parsed = parsed.or_else(|| block(text, "+++").and_then(|(inner, end)| Some((toml(inner)?, end))));
    parsed.map_or((FrontMatter::default(), 0), |(fields, end)| (read(&fields), end))
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

fn yaml(text: &str) -> Option<Map<String, Value>> {
    serde_saphyr::from_str(text).ok()
}

fn toml(text: &str) -> Option<Map<String, Value>> {
    let table: toml::Table = text.parse().ok()?;
    match serde_json::to_value(table) {
        Ok(Value::Object(fields)) => Some(fields),
        _ => None,
    }
}

fn read(fields: &Map<String, Value>) -> FrontMatter {
    let field = |names: &[&str]| {
        fields.iter().find(|(name, _)| names.contains(&name.to_lowercase().as_str())).map(|(_, value)| value)
    };
    let mut tags: Vec<String> =
        ["tags", "tag", "keywords"].iter().filter_map(|name| field(&[name])).flat_map(texts).collect();
    tags.sort();
    tags.dedup();
    FrontMatter {
        title: field(&["title"])
            .and_then(Value::as_str)
            .map(crate::outline::one_line)
            .filter(|it| !it.is_empty()),
        description: field(&["description", "summary"])
            .and_then(Value::as_str)
            .map(one_line_of)
            .filter(|it| !it.is_empty()),
        tags,
        date: field(&["date", "created", "created_at"]).and_then(date),
    }
}

/// A description on one line, of at most 1,000 characters.
fn one_line_of(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(1_000).collect()
}

/// The names of a list, or of a text with commas or blanks between them. Levels may be divided by `/`, as in Obsidian.
fn texts(value: &Value) -> Vec<String> {
    let parts: Vec<String> = match value {
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::String(text) if text.contains(',') => text.split(',').map(str::to_owned).collect(),
        Value::String(text) => text.split_whitespace().map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let tag = |text: &String| text.trim().trim_start_matches('#').replace('/', ":");
    parts.iter().map(tag).filter(|tag| !tag.is_empty()).collect()
}

/// A day, which begins at midnight UTC, or a time.
fn date(value: &Value) -> Option<DateTime<Utc>> {
    // TOML's dates are an object with one field.
    let text = match value {
        Value::Object(fields) => fields.values().next()?.as_str()?,
        value => value.as_str()?,
    };
    let text = text.trim();
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Some(time.to_utc());
    }
    let naive = ["%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M"]
        .iter()
        .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok());
    let day = || NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().map(|day| day.and_time(NaiveTime::MIN));
    naive.or_else(day).map(|time| time.and_utc())
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
    fn what_is_no_front_matter_is_text() {
        for text in [
            "",
            "---\n",
            "---\na: [\n---\n",
            "--- a\nb: 1\n---\n",
            "# A\n---\nb: 1\n---\n",
            "---\njust words\n---\n",
        ] {
            assert_eq!(split(text), (FrontMatter::default(), 0), "{text}");
        }
    }

    #[test]
    fn tags_are_a_list_or_a_line() {
        let tags = |line: &str| split(&format!("---\n{line}\n---\n")).0.tags;
        assert_eq!(tags("tags: one two"), ["one", "two"]);
        assert_eq!(tags("Keywords: machine learning, sql"), ["machine learning", "sql"]);
        assert_eq!(tags("tags: 7"), Vec::<String>::new());
        assert_eq!(tags("tags:"), Vec::<String>::new());
    }
}
