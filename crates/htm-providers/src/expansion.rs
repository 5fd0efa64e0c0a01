//! Query expansion by a language model. Its answer is parsed leniently.

use async_trait::async_trait;
use htm_core::provider::{ModelName, ProviderError, ProviderErrorKind, QueryExpander, Ungoverned};
use serde_json::{Value, json};

use crate::answer::form;
use crate::chat::{Chat, Message, Speaker};

/// The built-in system prompt.
const DEFAULT: &str = include_str!("../../../config/prompts/expansion.md");
/// The most characters of a phrasing. A longer one answers the query instead of rephrasing it, and is dropped.
const MAX_CHARS: usize = 300;

/// The query expander of a chat model, for any provider.
pub(crate) struct Expander<C> {
    chat: C,
    system: String,
}

impl<C> Expander<C> {
    /// Makes an expander with the system prompt `prompt`, or else the built-in one.
    pub(crate) fn new(chat: C, prompt: Option<String>) -> Self {
        let system = prompt.filter(|text| !text.trim().is_empty()).unwrap_or_else(|| DEFAULT.to_owned());
        Self { chat, system }
    }
}

#[async_trait]
impl<C: Chat> QueryExpander for Expander<C> {
    fn model(&self) -> &ModelName {
        self.chat.model()
    }

    async fn expand(&self, query: &str, count: usize) -> Result<Vec<String>, ProviderError> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let message = |speaker, content| Message { speaker, content };
        // JSON, so that a query stays a string and cannot act as an instruction.
        let asked = json!({ "query": query, "count": count }).to_string();
        let messages = [message(Speaker::System, self.system.clone()), message(Speaker::User, asked)];
        let said = self.chat.say(&messages, schema(count), &[query.to_owned()], &Ungoverned).await?;
        parse(&said.content, query, count).ok_or_else(|| {
            let message = "the model's answer is not a list of queries";
            ProviderError::new(self.chat.model(), ProviderErrorKind::UnusableAnswer, message)
                .with_answer(&said.content)
        })
    }
}

/// The JSON schema of the answer.
fn schema(count: usize) -> Value {
    json!({
        "type": "object",
        "properties": {
            "queries": { "type": "array", "maxItems": count, "items": { "type": "string" } },
        },
        "required": ["queries"],
        "additionalProperties": false,
    })
}

/// Parses the phrasings of an answer: a JSON list under `queries`, a JSON list alone, or lines with bullets. None for
/// any other form.
fn parse(answer: &str, query: &str, count: usize) -> Option<Vec<String>> {
    // Some reasoning models put their thoughts before the answer.
    let answer = answer.rsplit_once("</think>").map_or(answer, |(_, after)| after);
    let listed = form::json_values(answer).find_map(|value| listed(&value));
    let bulleted = || {
        let items = answer.lines().map(form::item).filter(|(_, is_item)| *is_item);
        let items: Vec<String> = items.map(|(text, _)| text.to_owned()).collect();
        (!items.is_empty()).then_some(items)
    };
    let mut phrasings: Vec<String> = Vec::new();
    for text in listed.or_else(bulleted)? {
        let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
        let text = words.collect::<Vec<_>>().join(" ");
        // White space may stand within the quotes, too.
        let text = text.trim_matches(['"', '`', ' ']).to_owned();
        let is_new = text != query && !phrasings.contains(&text);
        if !text.is_empty() && text.chars().count() <= MAX_CHARS && is_new && phrasings.len() < count {
            phrasings.push(text);
        }
    }
    Some(phrasings)
}

fn listed(value: &Value) -> Option<Vec<String>> {
    let list = ["queries", "phrasings", "expansions"].iter().find_map(|key| value.get(key)).unwrap_or(value);
    let text = |item: &Value| item.as_str().or_else(|| item.get("query")?.as_str()).map(str::to_owned);
    list.as_array()?.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_form_of_an_answer_is_understood() {
        for answer in [
            r#"{"queries":["tabs or spaces","indentation"]}"#,
            "Sure!\n```json\n[\"tabs or spaces\", \"indentation\"]\n```",
            r#"{"queries":[{"query":"tabs or spaces"},{"query":" indentation\n"}]}"#,
            "<think>1. who?</think>\n1. tabs or spaces\n2. \"indentation\"",
            "Here they are:\n- tabs or spaces\n- indentation",
            "- \" tabs or spaces \"\n- ` indentation`",
        ] {
            assert_eq!(
                parse(answer, "who prefers tabs", 3).unwrap(),
                ["tabs or spaces", "indentation"],
                "{answer}"
            );
        }
    }

    #[test]
    fn the_query_itself_repetitions_and_essays_are_left_out() {
        let long = "x".repeat(MAX_CHARS + 1);
        let answer =
            json!({ "queries": ["q", "\" q \"", "a", "", "\" \"", "a", long, "b", "c"] }).to_string();
        assert_eq!(parse(&answer, "q", 2).unwrap(), ["a", "b"]);
        assert_eq!(parse(r#"{"queries":[]}"#, "q", 2).unwrap(), [""; 0]);
    }

    #[test]
    fn what_is_no_list_is_none() {
        for answer in
            ["", "I cannot do that.", r#"{"queries":"tabs"}"#, r#"{"tags":[{"tag":"a"}]}"#, "[1, 2]"]
        {
            assert_eq!(parse(answer, "q", 3), None, "{answer}");
        }
    }

    proptest! {
        #[test]
        fn no_answer_gives_what_cannot_be_searched_for(answer in "\\PC{0,200}|[\\[{\"a\\x00\\n:,\\]} -]{0,60}", count in 1_usize..4) {
            for text in parse(&answer, "a", count).unwrap_or_default() {
                prop_assert!(!text.trim().is_empty() && !text.contains('\0') && text != "a");
            }
        }
    }
}
