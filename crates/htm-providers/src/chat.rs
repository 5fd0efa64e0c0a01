//! Conversations with language models, and the conversation about tags: the question and, after a faulty answer, one
//! round that names its faults.

use async_trait::async_trait;
use htm_core::provider::{Calls, Further, ModelName, ProviderError, ProviderErrorKind, TagSuggestion};
use htm_core::tag::KnownTag;
use serde_json::Value;

use crate::answer::{self, Draft, Reading};
use crate::prompt::{self, Prompt};

/// A provider's API for conversations.
#[async_trait]
pub(crate) trait Chat: Send + Sync {
    /// The model.
    fn model(&self) -> &ModelName;

    /// Asks for the model's next message. `schema` is the JSON schema of the answer. `texts` are the memories in `messages`,
    /// which an error must not quote.
    async fn say(
        &self,
        messages: &[Message],
        schema: Value,
        texts: &[String],
        calls: &dyn Calls,
    ) -> Result<Said, ProviderError>;
}

/// A message of a conversation with a model.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) speaker: Speaker,
    pub(crate) content: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// HTM, with the rules.
    System,
    /// HTM, with the texts.
    User,
    /// The model.
    Assistant,
}

/// A model's answer.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) content: String,
    /// Whether the answer ended at the token limit.
    pub(crate) cut_off: bool,
}

/// Asks for the tags of `texts`, in one request or two. Valid tags of the first answer are kept.
///
/// The call fails if both answers are unusable, or if both leave out the same text. The model may do better with fewer
/// texts. Single tags that are still invalid are dropped.
pub(crate) async fn extract(
    chat: &dyn Chat,
    prompt: &Prompt,
    texts: &[String],
    ontology: &[KnownTag],
    calls: &dyn Calls,
) -> Result<Vec<Vec<TagSuggestion>>, ProviderError> {
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let reading = Reading { texts: texts.len(), max_tags: prompt.max_tags, rules: &prompt.rules };
    let message = |speaker, content| Message { speaker, content };
    let mut messages = vec![
        message(Speaker::System, prompt.system.clone()),
        message(Speaker::User, prompt::user_message(prompt, texts, ontology)),
    ];
    let schema = prompt::schema(prompt, texts.len());
    let said = chat.say(&messages, schema.clone(), texts, calls).await?;
    let first = read(&said, reading);
    let trouble = match &first {
        Ok(draft) => draft.trouble(),
        Err(reason) => vec![reason.clone()],
    };
    if trouble.is_empty() {
        return settle(chat, first, None, &said.content);
    }
    // The worker halves the call, and fewer texts have a shorter answer.
    if said.cut_off && texts.len() > 1 {
        return settle(chat, first, Some(Err("it was cut off".to_owned())), &said.content);
    }
    tracing::debug!(model = %chat.model(), troubles = trouble.len(), "asking a model to correct its answer");
    if !calls.another(Further::Again).await {
        return settle(chat, first, None, &said.content);
    }
    messages.push(message(Speaker::Assistant, prompt::excerpt(&said.content, prompt::ANSWER_CHARS)));
    messages.push(message(Speaker::User, prompt::repair_message(&trouble)));
    match chat.say(&messages, schema, texts, calls).await {
        Ok(said) => {
            let second = read(&said, reading);
            settle(chat, first, Some(second), &said.content)
        }
        // A complete first answer is usable without the second.
        Err(error) => match first {
            Ok(draft) if draft.is_complete() => settle(chat, Ok(draft), None, &said.content),
            _ => Err(error),
        },
    }
}

fn read(said: &Said, reading: Reading<'_>) -> Result<Draft, String> {
    if !said.cut_off {
        return answer::parse(&said.content, reading);
    }
    // Small models may write a whole answer and then go on until the limit.
    let whole = said.content.rfind(['}', ']']).map_or("", |end| &said.content[..=end]);
    let draft = answer::parse(whole, reading).ok().filter(Draft::is_complete);
    draft.ok_or_else(|| "it is too long and was cut off: say less".to_owned())
}

/// The tags of the first answer and, if there was one, the second. `said` is the last answer, for the error.
fn settle(
    chat: &dyn Chat,
    first: Result<Draft, String>,
    second: Option<Result<Draft, String>>,
    said: &str,
) -> Result<Vec<Vec<TagSuggestion>>, ProviderError> {
    let was_told = second.is_some();
    let draft = match (first, second) {
        (Ok(first), Some(Ok(second))) => Ok(first.mended_by(second)),
        (Ok(draft), None | Some(Err(_))) | (Err(_), Some(Ok(draft))) => Ok(draft),
        (Err(reason), None) | (Err(_), Some(Err(reason))) => Err(reason),
    };
    let reason = match draft {
        Ok(draft) => {
            let dropped = draft.invalid.len();
            if dropped > 0 {
                let mut rules: Vec<&str> = draft.invalid.iter().map(|tag| tag.rule.as_str()).collect();
                rules.sort_unstable();
                rules.dedup();
                tracing::warn!(model = %chat.model(), dropped, ?rules, "a model's invalid tags were dropped");
            }
            match draft.into_lists() {
                Ok(lists) => return Ok(lists),
                Err(reason) => reason,
            }
        }
        Err(reason) => reason,
    };
    // A model that was not told the faults may be asked again.
    let kind = if was_told { ProviderErrorKind::UnusableAnswer } else { ProviderErrorKind::BadResponse };
    let message = format!("the model's answer is not tags: {reason}");
    Err(ProviderError::new(chat.model(), kind, message).with_answer(said))
}

#[cfg(test)]
mod tests {
    use htm_core::tag::TagRules;

    use super::*;

    #[test]
    fn an_answer_that_is_cut_off_counts_if_it_was_whole_before() {
        let rules = TagRules::default();
        let reading = Reading { texts: 1, max_tags: 5, rules: &rules };
        let tags = |content: &str| {
            let said = Said { content: content.to_owned(), cut_off: true };
            Some(read(&said, reading).ok()?.into_lists().unwrap().remove(0).len())
        };
        assert_eq!(tags(r#"{"results":[{"index":0,"tags":["a","b"]}]} and so on and so"#), Some(2));
        assert_eq!(tags(r#"{"results":[{"index":0,"tags":["a","bro"#), None);
        assert_eq!(tags("- a\n- b\n- bro"), None);
    }
}
