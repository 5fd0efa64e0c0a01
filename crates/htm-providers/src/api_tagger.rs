//! A tagger that asks a language model.

use async_trait::async_trait;
use htm_core::provider::{Calls, ModelName, ProviderError, TagOrigin, TagSuggestion, Tagger};
use htm_core::tag::KnownTags;

use crate::api_settings::ApiSettings;
use crate::chat::{self, Chat};
use crate::prompt::Prompt;

pub(crate) struct ApiTagger<C> {
    chat: C,
    prompt: Prompt,
}

impl<C> ApiTagger<C> {
    pub(crate) fn new(chat: C, settings: ApiSettings) -> Self {
        Self { chat, prompt: Prompt::new(settings.prompt, settings.max_tags, settings.rules) }
    }
}

#[async_trait]
impl<C: Chat> Tagger for ApiTagger<C> {
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
