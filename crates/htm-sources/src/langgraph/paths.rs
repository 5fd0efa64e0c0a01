//! The paths of LangGraph's index, and the texts at them.

use serde_json::Value;

/// The text of the value that a vector is of. The vectors of several texts at one path have the path and a number as their
/// field. None if the value has no such text.
pub(super) fn text_of(value: &Value, field: &str) -> Option<String> {
    if let Some((path, number)) = field.rsplit_once('.')
        && let Ok(number) = number.parse::<usize>()
    {
        let mut texts = texts_at(value, path);
        if texts.len() > 1 && number < texts.len() {
            return Some(texts.swap_remove(number));
        }
    }
    let texts = texts_at(value, field);
    <[String; 1]>::try_from(texts).ok().map(|[text]| text)
}

/// The texts at a path: `$` is the whole value, `a.b` a field, `a[0]`, `a[-1]` and `a[*]` elements, `*` all fields or
/// elements, `{a,b.c}` several fields.
fn texts_at(value: &Value, path: &str) -> Vec<String> {
    if path.is_empty() || path == "$" {
        return vec![dumped(value)];
    }
    let mut found = vec![value];
    for token in tokens(path) {
        found = found.into_iter().flat_map(|value| step(value, &token)).collect();
    }
    found.into_iter().filter_map(text).collect()
}

fn step<'a>(value: &'a Value, token: &str) -> Vec<&'a Value> {
    if let Some(index) = inner(token, '[', ']') {
        let Some(list) = value.as_array() else { return Vec::new() };
        if index == "*" {
            return list.iter().collect();
        }
        let place = index.parse::<i64>().ok().map(|it| if it < 0 { it + list.len() as i64 } else { it });
        return place.and_then(|it| list.get(usize::try_from(it).ok()?)).into_iter().collect();
    }
    if let Some(fields) = inner(token, '{', '}') {
        let field = |field: &str| {
            tokens(field.trim()).iter().try_fold(value, |value, name| value.as_object()?.get(name))
        };
        return fields.split(',').filter_map(field).collect();
    }
    match (token, value) {
        ("*", Value::Object(object)) => object.values().collect(),
        ("*", Value::Array(list)) => list.iter().collect(),
        (name, Value::Object(object)) => object.get(name).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn inner(token: &str, open: char, close: char) -> Option<&str> {
    token.strip_prefix(open)?.strip_suffix(close)
}

/// The steps of a path. A dot within brackets does not part them.
fn tokens(path: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut token = String::new();
    let mut depth = 0;
    for c in path.chars() {
        match c {
            '[' | '{' if depth == 0 => {
                tokens.push(std::mem::replace(&mut token, c.into()));
                depth = 1;
            }
            '.' if depth == 0 => tokens.push(std::mem::take(&mut token)),
            c => {
                token.push(c);
                match c {
                    '[' | '{' => depth += 1,
                    ']' | '}' if depth == 1 => {
                        tokens.push(std::mem::take(&mut token));
                        depth = 0;
                    }
                    ']' | '}' => depth -= 1,
                    _ => {}
                }
            }
        }
    }
    tokens.push(token);
    tokens.retain(|token| !token.is_empty());
    tokens
}

/// The text of a value as Python writes it.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Bool(true) => Some("True".into()),
        Value::Bool(false) => Some("False".into()),
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(_) | Value::Object(_) => Some(dumped(value)),
    }
}

/// The JSON of a value as Python writes it: keys in order, with spaces.
fn dumped(value: &Value) -> String {
    let quoted = |text: &String| Value::String(text.clone()).to_string();
    match value {
        Value::Array(list) => format!("[{}]", list.iter().map(dumped).collect::<Vec<_>>().join(", ")),
        Value::Object(object) => {
            let mut fields: Vec<_> = object.iter().collect();
            fields.sort_by_key(|(name, _)| name.as_str());
            let field = |(name, value)| format!("{}: {}", quoted(name), dumped(value));
            format!("{{{}}}", fields.into_iter().map(field).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_finds_what_langgraph_finds() {
        let value = json!({"text": "t", "a": {"b": "ab", "c": 7}, "items": [{"text": "x"}, {"text": "y"}, {}],
                           "done": true, "none": null, "a.b": "dotted"});
        for (path, texts) in [
            ("text", &["t"][..]),
            ("a.b", &["ab"]),
            ("a", &[r#"{"b": "ab", "c": 7}"#]),
            ("items[0].text", &["x"]),
            ("items[-1]", &["{}"]),
            ("items[*].text", &["x", "y"]),
            ("a.*", &["ab", "7"]),
            ("{text,a.b, none}", &["t", "ab"]),
            ("done", &["True"]),
            ("none", &[]),
            ("missing.deep", &[]),
            ("items[9]", &[]),
            ("items[x]", &[]),
        ] {
            assert_eq!(texts_at(&value, path), texts, "{path}");
        }
        assert_eq!(texts_at(&json!({"b": [1, "ß"], "a": 1.5}), "$"), [r#"{"a": 1.5, "b": [1, "ß"]}"#]);
    }

    #[test]
    fn a_vector_of_several_texts_has_a_number() {
        let value = json!({"items": ["x", "y"], "one": ["z"]});
        assert_eq!(text_of(&value, "items[*].1").as_deref(), Some("y"));
        assert_eq!(text_of(&value, "one[*]").as_deref(), Some("z"));
        // The value was changed after the vector was made.
        assert_eq!(text_of(&value, "items[*].2"), None);
        assert_eq!(text_of(&value, "items[*]"), None);
    }

    proptest! {
        #[test]
        fn any_path_is_read_without_a_panic(path in "[a\\[\\]{},.*0-9$-]{0,12}") {
            let _ = text_of(&json!({"a": [{"a": 1}, [2]]}), &path);
        }
    }
}
