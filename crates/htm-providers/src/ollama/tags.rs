//! The tagger by a chat model.

use async_trait::async_trait;
use htm_core::provider::{Calls, ModelName, ProviderError, TagExtractor, TagOrigin, TagSuggestion};
use htm_core::tag::KnownTags;

use super::chat::OllamaChat;
use crate::api_settings::ApiSettings;
use crate::chat::{self, Chat};
use crate::http::Http;
use crate::prompt::Prompt;

pub(super) struct OllamaTagger {
    chat: OllamaChat,
    prompt: Prompt,
}

impl OllamaTagger {
    pub(super) fn new(settings: ApiSettings, http: Http) -> Self {
        let prompt = Prompt::new(settings.prompt, settings.max_tags, settings.rules);
        Self { chat: OllamaChat::new(http), prompt }
    }
}

#[async_trait]
impl TagExtractor for OllamaTagger {
    fn model(&self) -> &ModelName {
        self.chat.model()
    }

    fn origin(&self) -> TagOrigin {
        TagOrigin::Llm
    }

    fn version(&self) -> &str {
        &self.prompt.version
    }

    async fn extract_within(
        &self,
        texts: &[String],
        ontology: &KnownTags,
        calls: &dyn Calls,
    ) -> Result<Vec<Vec<TagSuggestion>>, ProviderError> {
        chat::extract(&self.chat, &self.prompt, texts, &ontology.tags, calls).await
    }
}
