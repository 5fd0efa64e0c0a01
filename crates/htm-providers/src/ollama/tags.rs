//! `POST {base_url}/api/chat`, with the answer's JSON schema as `format` (Ollama 0.5 and later).

use async_trait::async_trait;
use htm_core::provider::{
    ModelName, ProviderError, ProviderErrorKind, TagExtractor, TagOrigin, TagSuggestion,
};
use htm_core::tag::TagPath;
use ollama_rs::generation::chat::ChatMessage;
use ollama_rs::generation::chat::request::ChatMessageRequest;
use ollama_rs::generation::parameters::{FormatType, JsonStructure};
use ollama_rs::models::ModelOptions;
use serde::Deserialize;
use serde_json::json;

use super::OllamaSettings;
use crate::answer;
use crate::http::Http;
use crate::prompt::{self, Prompt};

/// Windows that are asked for, in tokens: few different ones, because Ollama loads the model anew for each.
const WINDOWS: [u64; 4] = [4_096, 8_192, 16_384, 32_768];
/// Room for the answer, in tokens a text.
const ANSWER_TOKENS: usize = 80;

pub(super) struct OllamaTagger {
    http: Http,
    prompt: Prompt,
}

/// Of the answer only what we use.
#[derive(Deserialize)]
struct Answer {
    message: Message,
    #[serde(default)]
    done_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    content: String,
}

impl OllamaTagger {
    pub(super) fn new(settings: OllamaSettings, http: Http) -> Self {
        Self { http, prompt: Prompt::new(settings.prompt) }
    }

    fn request(&self, texts: &[String], ontology: &[TagPath]) -> Result<ChatMessageRequest, ProviderError> {
        let user = prompt::user_message(texts, ontology);
        let schema: JsonStructure = serde_json::from_value(json!(prompt::schema())).map_err(|error| {
            ProviderError::new(
                self.model(),
                ProviderErrorKind::Server,
                format!("the schema is broken: {error}"),
            )
        })?;
        let window = window(self.prompt.system.len() + user.len(), texts.len());
        let messages = vec![ChatMessage::system(self.prompt.system.clone()), ChatMessage::user(user)];
        Ok(ChatMessageRequest::new(self.model().name.clone(), messages)
            .format(FormatType::StructuredJson(Box::new(schema)))
            .options(ModelOptions::default().temperature(0.0).num_ctx(window)))
    }
}

#[async_trait]
impl TagExtractor for OllamaTagger {
    fn model(&self) -> &ModelName {
        self.http.model()
    }

    fn origin(&self) -> TagOrigin {
        TagOrigin::Llm
    }

    fn version(&self) -> &str {
        &self.prompt.version
    }

    async fn extract(
        &self,
        texts: &[String],
        ontology: &[TagPath],
    ) -> Result<Vec<Vec<TagSuggestion>>, ProviderError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let answer: Answer = self.http.post("api/chat", &self.request(texts, ontology)?, texts).await?;
        let broken =
            |message: String| ProviderError::new(self.model(), ProviderErrorKind::BadResponse, message);
        if answer.done_reason.as_deref() == Some("length") {
            return Err(broken("the answer was cut off at its token limit".to_owned()));
        }
        answer::parse(&answer.message.content, texts.len())
            .map_err(|reason| broken(format!("the model's answer is not tags: {reason}")))
    }
}

/// The least window that holds a prompt of `bytes` and the answer for `texts`. Ollama's own default drops the
/// beginning of a longer prompt, which is our rules, and says nothing. Three bytes a token is cautious for
/// most languages.
fn window(bytes: usize, texts: usize) -> u64 {
    let needed = (bytes / 3 + texts * ANSWER_TOKENS + 256) as u64;
    WINDOWS.into_iter().find(|window| *window >= needed).unwrap_or(WINDOWS[WINDOWS.len() - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_grows_with_the_prompt() {
        assert_eq!(window(3_000, 1), 4_096);
        assert_eq!(window(30_000, 4), 16_384);
        assert_eq!(window(10_000_000, 64), 32_768);
    }
}
