//! The tagger by a chat model.

use async_trait::async_trait;
use htm_core::provider::{Calls, ModelName, ProviderError, TagExtractor, TagOrigin, TagSuggestion};
use htm_core::tag::KnownTags;

use super::chat::OpenAiChat;
use crate::api_settings::ApiSettings;
use crate::chat::{self, Chat};
use crate::http::Http;
use crate::prompt::Prompt;

pub(super) struct OpenAiTagger {
    chat: OpenAiChat,
    prompt: Prompt,
}

impl OpenAiTagger {
    pub(super) fn new(settings: ApiSettings, http: Http) -> Self {
        let prompt = Prompt::new(settings.prompt, settings.max_tags, settings.rules);
        Self { chat: OpenAiChat::new(http, "tags"), prompt }
    }
}

#[async_trait]
impl TagExtractor for OpenAiTagger {
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
