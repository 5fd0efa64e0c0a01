//! Reading a language model's tags: leniently in form, strictly in content.
//!
//! The schema asks for `{"results": [{"index", "tags"}]}`. Small models and servers without structured output
//! give prose around JSON, code fences, other keys, or one tag a line; each is understood where it can mean
//! only one thing. A tag that [`TagPath`] refuses after harmless repairs is dropped.

mod form;

use htm_core::provider::TagSuggestion;
use htm_core::tag::TagPath;
use serde_json::Value;

/// The most tags that are kept of one text; the prompt asks for five.
const MAX_TAGS: usize = 8;

/// One list a text, or why the answer cannot be understood.
pub(crate) fn parse(answer: &str, count: usize) -> Result<Vec<Vec<TagSuggestion>>, String> {
    // A thinking model that was not asked to hide its thoughts.
    let answer = answer.rsplit_once("</think>").map_or(answer, |(_, after)| after);
    let mut reason = "it holds no JSON".to_owned();
    for value in form::json_values(answer) {
        match lists(&value, count) {
            Ok(lists) => return Ok(lists),
            Err(why) => reason = why,
        }
    }
    if count == 1 {
        let tags = tags_in_lines(answer);
        if !tags.is_empty() {
            return Ok(vec![tags]);
        }
    }
    Err(reason)
}

/// The lists in `value`, if it says for each which text it belongs to.
fn lists(value: &Value, count: usize) -> Result<Vec<Vec<TagSuggestion>>, String> {
    if let Some(results) = ["results", "texts", "items"].iter().find_map(|key| value.get(key)) {
        return lists(results, count);
    }
    match value {
        Value::Object(fields) => {
            if count == 1 && !fields.contains_key("0") {
                let tags = tags_of(value).ok_or("it has no tags")?;
                return Ok(vec![suggestions(tags)]);
            }
            let pairs =
                fields.iter().map(|(key, value)| Some((key.parse().ok()?, tags_of(value).unwrap_or(value))));
            placed(pairs.collect::<Option<Vec<_>>>().ok_or("it has no results")?, count)
        }
        Value::Array(items) if items.iter().any(|item| item.get("index").is_some()) => {
            let pairs = items.iter().map(|item| {
                let index = item.get("index")?;
                let index = index.as_u64().or_else(|| index.as_str()?.trim().parse().ok())?;
                Some((usize::try_from(index).ok()?, tags_of(item)?))
            });
            placed(pairs.collect::<Option<Vec<_>>>().ok_or("a result has no index or no tags")?, count)
        }
        // A list of tags for the only text.
        Value::Array(items) if count == 1 && items.iter().all(|item| tag_and_confidence(item).is_some()) => {
            Ok(vec![suggestions(value)])
        }
        // A list a text, in order.
        Value::Array(items) if items.len() == count => {
            let tags = items.iter().map(|item| tags_of(item).or(item.is_array().then_some(item)));
            let tags = tags.collect::<Option<Vec<_>>>().ok_or("a result is no list of tags")?;
            Ok(tags.into_iter().map(suggestions).collect())
        }
        _ => Err(format!("its results are not {count}")),
    }
}

/// Every text's list at its index, each exactly once.
fn placed(pairs: Vec<(usize, &Value)>, count: usize) -> Result<Vec<Vec<TagSuggestion>>, String> {
    let mut lists: Vec<Option<Vec<TagSuggestion>>> = vec![None; count];
    for (index, tags) in pairs {
        let place = lists.get_mut(index).ok_or_else(|| format!("it has index {index} of {count} texts"))?;
        if place.replace(suggestions(tags)).is_some() {
            return Err(format!("it has index {index} twice"));
        }
    }
    let missing = lists.iter().position(Option::is_none);
    match missing {
        Some(index) => Err(format!("it leaves out index {index} of {count} texts")),
        None => Ok(lists.into_iter().flatten().collect()),
    }
}

fn tags_of(item: &Value) -> Option<&Value> {
    ["tags", "labels", "keywords"].iter().find_map(|key| item.get(key))
}

fn suggestions(tags: &Value) -> Vec<TagSuggestion> {
    let mut found: Vec<TagSuggestion> = Vec::new();
    let mut add = |text: &str, confidence: Option<f32>| {
        if let Some(path) = tag(text)
            && found.len() < MAX_TAGS
            && !found.iter().any(|known| known.path == path)
        {
            found.push(TagSuggestion { path, confidence });
        }
    };
    match tags {
        Value::Array(items) => {
            items.iter().filter_map(tag_and_confidence).for_each(|(text, confidence)| add(text, confidence))
        }
        Value::String(text) => text.split([',', '\n']).for_each(|text| add(text, None)),
        _ => {}
    }
    found
}

/// `"tag"` or `{"tag": "…", "confidence": 0.9}`.
fn tag_and_confidence(item: &Value) -> Option<(&str, Option<f32>)> {
    if let Some(text) = item.as_str() {
        return Some((text, None));
    }
    let text = ["tag", "path", "name"].iter().find_map(|key| item.get(key)?.as_str())?;
    let confidence =
        item.get("confidence").and_then(Value::as_f64).filter(|value| (0.0..=1.0).contains(value));
    Some((text, confidence.map(|value| value as f32)))
}

/// A tag after harmless repairs: case, white space and `_` inside a level, a leading `#`, quotes around it.
fn tag(text: &str) -> Option<TagPath> {
    let text = text.trim().trim_matches(['"', '\'', '`', '#']).trim().to_lowercase();
    let levels = text.split(':').map(|level| {
        let words: Vec<&str> =
            level.split(|c: char| c.is_whitespace() || c == '_').filter(|word| !word.is_empty()).collect();
        words.join("-")
    });
    let path = levels.collect::<Vec<_>>().join(":");
    // The table allows a level of hyphens only; as a proposal it says nothing.
    let says_something = path.split(':').all(|level| level.bytes().any(|byte| byte.is_ascii_alphanumeric()));
    path.parse().ok().filter(|_| says_something)
}

/// One tag a line or several with commas. Only lines that are nothing but valid tags count: prose stays out.
fn tags_in_lines(answer: &str) -> Vec<TagSuggestion> {
    let mut found: Vec<TagSuggestion> = Vec::new();
    for line in answer.lines().map(form::without_bullet).filter(|line| !line.is_empty()) {
        let parts =
            line.split(',').map(|part| part.trim().trim_matches(['`', '"', '\'']).parse::<TagPath>().ok());
        for path in parts.collect::<Option<Vec<_>>>().into_iter().flatten() {
            let says_something = path.as_str().bytes().any(|byte| byte.is_ascii_alphabetic());
            if says_something && found.len() < MAX_TAGS && !found.iter().any(|known| known.path == path) {
                found.push(TagSuggestion { path, confidence: None });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
