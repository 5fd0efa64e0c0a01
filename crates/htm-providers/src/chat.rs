//! A conversation with a language model, and what is asked in one about tags: the question and, when the answer is not quite one, one round in
//! which the model is told what is wrong with it.

use async_trait::async_trait;
use htm_core::provider::{Calls, ModelName, ProviderError, ProviderErrorKind, TagSuggestion};
use htm_core::tag::KnownTag;
use serde_json::Value;

use crate::answer::{self, Draft, Reading};
use crate::prompt::{self, Prompt};

/// A provider's API for conversations.
#[async_trait]
pub(crate) trait Chat: Send + Sync {
    /// Which model is asked.
    fn model(&self) -> &ModelName;

    /// What the model says next. `schema` is what it should look like; `texts` are the memories in `turns`.
    async fn say(
        &self,
        turns: &[Turn],
        schema: Value,
        texts: &[String],
        calls: &dyn Calls,
    ) -> Result<Said, ProviderError>;
}

/// Something that was said.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub(crate) speaker: Speaker,
    pub(crate) content: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// Our rules.
    System,
    /// We, with the texts.
    User,
    /// The model.
    Assistant,
}

/// What a model said.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) content: String,
    /// At the limit of its tokens, in the midst of it.
    pub(crate) cut_off: bool,
}

/// Asks for the tags of `texts`, in one request or two. Valid tags of the first answer stay, whatever the second says.
///
/// A text that both answers leave out, as an answer that cannot be understood, fails the call: about fewer texts the
/// model may do better. Single tags that are still invalid are dropped.
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
    let turn = |speaker, content| Turn { speaker, content };
    let mut turns = vec![
        turn(Speaker::System, prompt.system.clone()),
        turn(Speaker::User, prompt::user_message(prompt, texts, ontology)),
    ];
    let schema = prompt::schema(prompt, texts.len());
    let said = chat.say(&turns, schema.clone(), texts, calls).await?;
    let first = read(&said, reading);
    let trouble = match &first {
        Ok(draft) => draft.trouble(),
        Err(reason) => vec![reason.clone()],
    };
    if trouble.is_empty() {
        return settle(chat, first, None, &said.content);
    }
    // Fewer texts have a shorter answer: the worker halves the call.
    if said.cut_off && texts.len() > 1 {
        return settle(chat, first, Some(Err("it was cut off".to_owned())), &said.content);
    }
    tracing::debug!(model = %chat.model(), troubles = trouble.len(), "asking a model to mend its answer");
    if !calls.another().await {
        return settle(chat, first, None, &said.content);
    }
    turns.push(turn(Speaker::Assistant, prompt::excerpt(&said.content, prompt::ANSWER_CHARS)));
    turns.push(turn(Speaker::User, prompt::repair_message(&trouble)));
    match chat.say(&turns, schema, texts, calls).await {
        Ok(said) => {
            let second = read(&said, reading);
            settle(chat, first, Some(second), &said.content)
        }
        // What the first answer gave is not lost to a second that never came.
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
    // Small models give a whole answer and then go on without end.
    let whole = said.content.rfind(['}', ']']).map_or("", |end| &said.content[..=end]);
    let draft = answer::parse(whole, reading).ok().filter(Draft::is_complete);
    draft.ok_or_else(|| "it is too long and was cut off: say less".to_owned())
}

/// The tags by both answers, the second only if there was one; `said` is the last.
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
    // Who could not be told what is wrong may be asked again.
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
