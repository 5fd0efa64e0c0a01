//! `POST {base_url}/api/chat`, with the answer's JSON schema as `format` (Ollama 0.5 and later).

use async_trait::async_trait;
use htm_core::provider::{Calls, ModelName, ProviderError, ProviderErrorKind};
use ollama_rs::generation::chat::ChatMessage;
use ollama_rs::generation::chat::request::ChatMessageRequest;
use ollama_rs::generation::parameters::{FormatType, JsonStructure};
use ollama_rs::models::ModelOptions;
use serde::Deserialize;
use serde_json::Value;

use crate::chat::{Chat, Message, Said, Speaker};
use crate::http::Http;

/// The possible windows in tokens. They are few, because Ollama reloads the model for each.
const WINDOWS: [u64; 4] = [4_096, 8_192, 16_384, 32_768];
/// The room for the answer, in tokens per text.
const ANSWER_TOKENS: usize = 160;

/// A chat model at Ollama.
pub(super) struct OllamaChat {
    http: Http,
}

/// The used fields of the answer.
#[derive(Deserialize)]
struct Answer {
    message: Reply,
    #[serde(default)]
    done_reason: Option<String>,
}

#[derive(Deserialize)]
struct Reply {
    content: String,
}

impl OllamaChat {
    /// Makes the chat model of `http`.
    pub(super) fn new(http: Http) -> Self {
        Self { http }
    }
}

#[async_trait]
impl Chat for OllamaChat {
    fn model(&self) -> &ModelName {
        self.http.model()
    }

    async fn say(
        &self,
        messages: &[Message],
        schema: Value,
        texts: &[String],
        _calls: &dyn Calls,
    ) -> Result<Said, ProviderError> {
        let model = self.http.model();
        let schema: JsonStructure = serde_json::from_value(schema).map_err(|error| {
            ProviderError::new(model, ProviderErrorKind::Server, format!("the schema is broken: {error}"))
        })?;
        let window = window(messages.iter().map(|message| message.content.len()).sum(), texts.len());
        let request =
            ChatMessageRequest::new(model.name.clone(), messages.iter().map(chat_message).collect())
                .format(FormatType::StructuredJson(Box::new(schema)))
                .options(ModelOptions::default().temperature(0.0).num_ctx(window));
        let answer: Answer = self.http.post("api/chat", &request, texts).await?;
        let cut_off = answer.done_reason.as_deref() == Some("length");
        Ok(Said { content: answer.message.content, cut_off })
    }
}

fn chat_message(message: &Message) -> ChatMessage {
    let content = message.content.clone();
    match message.speaker {
        Speaker::System => ChatMessage::system(content),
        Speaker::User => ChatMessage::user(content),
        Speaker::Assistant => ChatMessage::assistant(content),
    }
}

/// The smallest window for a conversation of `bytes` and the answer for `texts`. With Ollama's default window, the
/// beginning of a longer conversation, which is the system prompt, would be dropped silently. Three bytes per token is
/// a cautious estimate for most languages.
fn window(bytes: usize, texts: usize) -> u64 {
    let needed = (bytes / 3 + texts * ANSWER_TOKENS + 256) as u64;
    WINDOWS.into_iter().find(|window| *window >= needed).unwrap_or(WINDOWS[WINDOWS.len() - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_grows_with_the_conversation() {
        assert_eq!(window(3_000, 1), 4_096);
        assert_eq!(window(30_000, 4), 16_384);
        assert_eq!(window(10_000_000, 64), 32_768);
    }
}
