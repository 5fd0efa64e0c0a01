//! Fields of JSON of unknown shape. A field of another type is as good as none.

use chrono::{DateTime, Utc};
use htm_core::read_timestamp;
use serde_json::{Map, Value};

/// A text that is not blank.
pub(crate) fn text<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    object.get(name)?.as_str().filter(|it| !it.trim().is_empty())
}

/// The elements of a list; nothing of anything else.
pub(crate) fn list<'a>(object: &'a Value, name: &str) -> &'a [Value] {
    object.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A time: a text of [`read_timestamp`], or seconds or milliseconds since 1970.
pub(crate) fn time(object: &Value, name: &str) -> Option<DateTime<Utc>> {
    match object.get(name)? {
        Value::String(text) => read_timestamp(text),
        Value::Number(number) => {
            let number = number.as_f64().filter(|it| *it > 0.0 && *it < 1e14)?;
            // So many seconds would be in the year 5138 or later.
            let seconds = if number < 1e11 { number } else { number / 1e3 };
            DateTime::from_timestamp_micros((seconds * 1e6).round() as i64)
        }
        _ => None,
    }
}

/// Whether an object has a time that cannot be read. Zero is none.
pub(crate) fn has_strange_time(object: &Value, name: &str) -> bool {
    let is_none = |it: &Value| {
        it.is_null() || it.as_str().is_some_and(|it| it.trim().is_empty()) || it.as_f64() == Some(0.0)
    };
    object.get(name).is_some_and(|it| !is_none(it)) && time(object, name).is_none()
}

/// The names of an object's fields, for a message about what was found in place of what was looked for.
pub(crate) fn fields(value: &Value) -> String {
    match value {
        Value::Object(object) if object.is_empty() => "no fields".into(),
        Value::Object(object) => {
            let mut names: Vec<&str> = object.keys().map(String::as_str).collect();
            names.sort_unstable();
            names.truncate(12);
            format!("the fields {}", names.join(", "))
        }
        Value::Array(_) => "a list".into(),
        Value::String(_) => "a text".into(),
        Value::Null => "null".into(),
        _ => "a number or a truth value".into(),
    }
}

/// Adds an entry unless its value is null or an empty text, list or object.
pub(crate) fn keep(metadata: &mut Map<String, Value>, name: &str, value: Option<&Value>) {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.is_empty(),
        _ => false,
    };
    if let Some(value) = value.filter(|it| !is_empty(it)) {
        metadata.insert(name.into(), value.clone());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_of_many_spellings_are_read() {
        let expected: DateTime<Utc> = "2025-06-01T10:00:00Z".parse().unwrap();
        for written in [
            json!("2025-06-01T10:00:00Z"),
            json!("2025-06-01T12:00:00+02:00"),
            json!("2025-06-01 03:00:00.000000-07:00"),
            json!("2025-06-01 10:00:00+00"),
            json!("2025-06-01 10:00:00.000000"),
            json!("2025-06-01T10:00"),
            json!("2025-06-01T12:00+02:00"),
            json!(" 2025-06-01 12:00 +0200"),
            json!("2025-06-01 10:00 Z"),
            json!(1_748_772_000),
            json!(1_748_772_000.0),
            json!(1_748_772_000_000_i64),
        ] {
            assert_eq!(time(&json!({"at": written}), "at"), Some(expected), "{written}");
        }
        for none in [
            json!("yesterday"),
            json!("2025-06-01 10:00-11:30"),
            json!(1_748_772_000_000_000_i64),
            json!(""),
            json!(-5),
            json!(1e300),
            json!([]),
            json!(null),
        ] {
            assert_eq!(time(&json!({"at": none}), "at"), None, "{none}");
        }
        let day = time(&json!({"at": "2025-06-01"}), "at");
        assert_eq!(day, Some("2025-06-01T00:00:00Z".parse().unwrap()));
    }
}
