//! Parsing of a language model's tags: lenient in form, strict in content.
//!
//! The schema asks for `{"results": [{"index", "tags": [{"tag", "confidence"}]}]}`. Small models and servers without
//! structured output write prose around the JSON, code fences, other keys, or one tag per line. Each form is accepted
//! if it is unambiguous. A tag that breaks the rules is invalid, and the model is told the rule, once.

pub(crate) mod form;

use std::fmt::Display;

use htm_core::provider::TagSuggestion;
use htm_core::tag::{InvalidTag, TagPath, TagRules};
use serde_json::Value;

/// The parameters of parsing an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'a> {
    /// The number of texts in the question.
    pub(crate) texts: usize,
    /// The most tags to keep of each text.
    pub(crate) max_tags: usize,
    /// The rules of tags.
    pub(crate) rules: &'a TagRules,
}

/// A parsed answer. It may leave out texts.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    max_tags: usize,
    /// The tags of each text; none for a text that the answer leaves out.
    lists: Vec<Option<Vec<TagSuggestion>>>,
    /// The invalid tags.
    pub(crate) invalid: Vec<Invalid>,
}

/// An invalid tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Invalid {
    /// The index of its text.
    pub(crate) index: usize,
    /// The tag, shortened.
    pub(crate) tag: String,
    /// The rule that it breaks.
    pub(crate) rule: String,
}

/// Parses an answer. The error is the reason in words.
pub(crate) fn parse(answer: &str, reading: Reading<'_>) -> Result<Draft, String> {
    // Some reasoning models put their thoughts before the answer.
    let answer = answer.rsplit_once("</think>").map_or(answer, |(_, after)| after);
    let mut reason = "it holds no JSON".to_owned();
    for value in form::json_values(answer) {
        match lists(&value, reading.texts) {
            Ok(lists) => return Ok(Draft::new(reading, lists)),
            Err(why) => reason = why,
        }
    }
    if reading.texts == 1 {
        let tags = tags_in_lines(answer, reading);
        if !tags.is_empty() {
            return Ok(Draft { max_tags: reading.max_tags, lists: vec![Some(tags)], invalid: Vec::new() });
        }
    }
    Err(reason)
}

impl Draft {
    fn new(reading: Reading<'_>, given: Vec<Option<&Value>>) -> Self {
        let lists = Vec::with_capacity(given.len());
        let mut draft = Self { max_tags: reading.max_tags, lists, invalid: Vec::new() };
        for (index, tags) in given.into_iter().enumerate() {
            let proposals = tags.and_then(proposals);
            let list = proposals.map(|proposals| draft.suggestions(index, proposals, reading.rules));
            draft.lists.push(list);
        }
        draft
    }

    /// The distinct valid tags of a text. Invalid ones are recorded.
    fn suggestions(
        &mut self,
        index: usize,
        proposals: Vec<Proposal<'_>>,
        rules: &TagRules,
    ) -> Vec<TagSuggestion> {
        let mut found: Vec<TagSuggestion> = Vec::new();
        for proposal in proposals {
            if found.len() == self.max_tags {
                break;
            }
            let invalid = |tag, rule: &dyn Display| Invalid { index, tag, rule: rule.to_string() };
            match proposal.map(|(text, confidence)| (text, tag(text, rules), confidence)) {
                Ok((_, Ok(path), _)) if found.iter().any(|known| known.path == path) => {}
                Ok((_, Ok(path), confidence)) => found.push(TagSuggestion { path, confidence }),
                Ok((text, Err(_), _)) if bare(text).is_empty() => {}
                Ok((_, Err(InvalidTag { tag, rule }), _)) => self.invalid.push(invalid(tag, &rule)),
                Err(item) => self.invalid.push(invalid(item.to_string().chars().take(80).collect(), &NO_TAG)),
            }
        }
        found
    }

    /// Whether it has a list for every text.
    pub(crate) fn is_complete(&self) -> bool {
        self.lists.iter().all(Option::is_some)
    }

    /// The faults of the answer, to tell the model.
    pub(crate) fn trouble(&self) -> Vec<String> {
        let left_out = self.lists.iter().enumerate().filter(|(_, list)| list.is_none());
        let left_out =
            left_out.map(|(index, _)| format!("index {index} is left out, or has no list of tags"));
        let invalid =
            self.invalid.iter().map(|Invalid { index, tag, rule }| format!("index {index}: `{tag}`: {rule}"));
        left_out.chain(invalid).collect()
    }

    /// Adds the second answer's tags for the texts with faults in the first. Valid tags of the first answer stay.
    pub(crate) fn mended_by(mut self, second: Draft) -> Self {
        let troubled: Vec<bool> = (0..self.lists.len())
            .map(|index| self.lists[index].is_none() || self.invalid.iter().any(|tag| tag.index == index))
            .collect();
        for (index, list) in second.lists.into_iter().enumerate().filter(|(index, _)| troubled[*index]) {
            let Some(list) = list else { continue };
            // The second answer replaces the first one's invalid tags.
            self.invalid.retain(|tag| tag.index != index);
            let first = self.lists[index].get_or_insert_default();
            for suggestion in list {
                if first.len() < self.max_tags && !first.iter().any(|known| known.path == suggestion.path) {
                    first.push(suggestion);
                }
            }
            self.invalid.extend(second.invalid.iter().filter(|tag| tag.index == index).cloned());
        }
        self
    }

    /// One list for each text. The error names a text that the answer leaves out.
    pub(crate) fn into_lists(self) -> Result<Vec<Vec<TagSuggestion>>, String> {
        let count = self.lists.len();
        match self.lists.iter().position(Option::is_none) {
            Some(index) => Err(format!("it leaves out index {index} of {count} texts")),
            None => Ok(self.lists.into_iter().flatten().collect()),
        }
    }
}

/// The list of each text in `value`. An error if a list's text is unclear.
fn lists(value: &Value, count: usize) -> Result<Vec<Option<&Value>>, String> {
    if let Some(results) = ["results", "texts", "items"].iter().find_map(|key| value.get(key)) {
        return lists(results, count);
    }
    match value {
        Value::Object(fields) => {
            if count == 1 && !fields.contains_key("0") {
                return Ok(vec![Some(tags_of(value).ok_or("it has no tags")?)]);
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
        // The tags of the only text.
        Value::Array(items) if count == 1 && items.iter().all(|item| tag_and_confidence(item).is_some()) => {
            Ok(vec![Some(value)])
        }
        // A list for each text, in order.
        Value::Array(items) if items.len() == count => {
            let tags = items.iter().map(|item| tags_of(item).or(item.is_array().then_some(item)));
            let tags = tags.collect::<Option<Vec<_>>>().ok_or("a result is no list of tags")?;
            Ok(tags.into_iter().map(Some).collect())
        }
        _ => Err(format!("its results are not {count}")),
    }
}

/// Puts lists at their indexes. The indexes may count from 1 if they are all there, and the only result for the only
/// text may have any. An error for no list, an index out of range or an index twice.
fn placed(pairs: Vec<(usize, &Value)>, count: usize) -> Result<Vec<Option<&Value>>, String> {
    if pairs.is_empty() {
        return Err("it has no results".to_owned());
    }
    if let ([(_, tags)], 1) = (&pairs[..], count) {
        return Ok(vec![Some(*tags)]);
    }
    // As many results as texts, none of them for index 0: from 1, unless one is out of range or there twice.
    let from_one = pairs.len() == count && pairs.iter().all(|(index, _)| (1..=count).contains(index));
    let mut lists: Vec<Option<&Value>> = vec![None; count];
    for (index, tags) in pairs {
        let at = index - usize::from(from_one);
        let place = lists.get_mut(at).ok_or_else(|| format!("it has index {index} of {count} texts"))?;
        if place.replace(tags).is_some() {
            return Err(format!("it has index {index} twice"));
        }
    }
    Ok(lists)
}

fn tags_of(item: &Value) -> Option<&Value> {
    ["tags", "labels", "keywords"].iter().find_map(|key| item.get(key))
}

/// A proposed tag, valid or not, with its confidence. The error is an item of another form.
type Proposal<'a> = Result<(&'a str, Option<f32>), &'a Value>;

/// The rule that an item of another form breaks.
const NO_TAG: &str = "it is neither a text nor an object with `tag`";

/// The proposals of a list, of an object from tags to confidences, or of a text with commas. None for another form, which
/// would hide what it proposes.
fn proposals(tags: &Value) -> Option<Vec<Proposal<'_>>> {
    match tags {
        Value::Array(items) => {
            let items = items.iter().filter(|item| !item.is_null());
            Some(items.map(|item| tag_and_confidence(item).ok_or(item)).collect())
        }
        Value::Object(fields) if is_by_tag(fields) => {
            Some(fields.iter().map(|(tag, value)| Ok((tag.as_str(), confidence(value)))).collect())
        }
        Value::String(text) => Some(text.split([',', '\n']).map(|text| Ok((text, None))).collect()),
        Value::Null => Some(Vec::new()),
        _ => None,
    }
}

/// The keys of a tag in an object.
const NAMES: [&str; 3] = ["tag", "path", "name"];

/// Whether an object is `{"a:b": 0.9, "c": 0.4}`, and not the fields of one tag.
fn is_by_tag(fields: &serde_json::Map<String, Value>) -> bool {
    let is_field = |key: &String| key == "confidence" || NAMES.contains(&key.as_str());
    !fields.is_empty() && fields.values().all(Value::is_number) && !fields.keys().any(is_field)
}

/// `"tag"` or `{"tag": "…", "confidence": 0.9}`.
fn tag_and_confidence(item: &Value) -> Option<(&str, Option<f32>)> {
    if let Some(text) = item.as_str() {
        return Some((text, None));
    }
    let text = NAMES.iter().find_map(|key| item.get(key)?.as_str())?;
    Some((text, item.get("confidence").and_then(confidence)))
}

/// A number from 0 to 1.
fn confidence(value: &Value) -> Option<f32> {
    value.as_f64().filter(|value| (0.0..=1.0).contains(value)).map(|value| value as f32)
}

/// Parses a tag.
fn tag(text: &str, rules: &TagRules) -> Result<TagPath, InvalidTag> {
    rules.normalise(bare(text))
}

/// A tag without the white space, quotes and marks that models put around one.
fn bare(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '#'))
}

/// Parses lines with one tag each, or several with commas. A line with anything else is prose and is skipped. In a list
/// item, a level may be up to three words with spaces. Below a refusal, an item of a single level may not: it may be
/// the reason.
fn tags_in_lines(answer: &str, reading: Reading<'_>) -> Vec<TagSuggestion> {
    const WORDS_A_LEVEL: usize = 3;
    let mut found: Vec<TagSuggestion> = Vec::new();
    let mut is_below_refusal = false;
    for (line, is_item) in answer.lines().map(form::item).filter(|(line, _)| !line.is_empty()) {
        let is_tag = |part: &&str| match is_item {
            true if is_below_refusal && !part.contains(':') => !part.contains(char::is_whitespace),
            true => part.split(':').all(|level| level.split_whitespace().count() <= WORDS_A_LEVEL),
            false => part.parse::<TagPath>().is_ok(),
        };
        let parts: Vec<&str> =
            line.split(',').map(|part| part.trim().trim_matches(['`', '"', '\'', '*'])).collect();
        let Some(paths) = parts
            .iter()
            .map(|part| is_tag(part).then(|| tag(part, reading.rules).ok()).flatten())
            .collect::<Option<Vec<_>>>()
        else {
            is_below_refusal |= !is_item && refuses(line);
            continue;
        };
        for path in paths {
            let says_something = path.as_str().bytes().any(|byte| byte.is_ascii_alphabetic());
            let is_new = !found.iter().any(|known| known.path == path);
            if says_something && is_new && found.len() < reading.max_tags {
                found.push(TagSuggestion { path, confidence: None });
            }
        }
    }
    found
}

/// Whether a line refuses: `I cannot give tags because:`, not `Here are the tags:`.
fn refuses(line: &str) -> bool {
    let line = line.to_lowercase().replace('’', "'");
    let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words.any(|word| word.ends_with("n't") || matches!(word, "not" | "cannot" | "unable"))
}

#[cfg(test)]
mod tests;
