//! `POST {base_url}/chat/completions`, with the answer's JSON schema.

use async_openai::types::chat::{
    ChatCompletionRequestSystemMessage, ChatCompletionRequestUserMessage, CreateChatCompletionRequest,
    ResponseFormat, ResponseFormatJsonSchema,
};
use async_trait::async_trait;
use htm_core::provider::{
    ModelName, ProviderError, ProviderErrorKind, TagExtractor, TagOrigin, TagSuggestion,
};
use htm_core::tag::TagPath;
use serde::Deserialize;

use super::OpenAiSettings;
use crate::answer;
use crate::http::Http;
use crate::prompt::{self, Prompt};

pub(super) struct OpenAiTagger {
    http: Http,
    prompt: Prompt,
}

/// Of the answer only what we use.
#[derive(Deserialize)]
struct Answer {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
}

impl OpenAiTagger {
    pub(super) fn new(settings: OpenAiSettings, http: Http) -> Self {
        Self { http, prompt: Prompt::new(settings.prompt) }
    }

    fn request(&self, texts: &[String], ontology: &[TagPath]) -> CreateChatCompletionRequest {
        let schema = ResponseFormatJsonSchema {
            description: None,
            name: "tags".to_owned(),
            schema: prompt::schema(),
            strict: Some(true),
        };
        CreateChatCompletionRequest {
            model: self.model().name.clone(),
            messages: vec![
                ChatCompletionRequestSystemMessage::from(self.prompt.system.as_str()).into(),
                ChatCompletionRequestUserMessage::from(prompt::user_message(texts, ontology)).into(),
            ],
            temperature: takes_temperature(&self.model().name).then_some(0.0),
            response_format: Some(ResponseFormat::JsonSchema { json_schema: schema }),
            ..CreateChatCompletionRequest::default()
        }
    }

    fn read(&self, answer: Answer, count: usize) -> Result<Vec<Vec<TagSuggestion>>, ProviderError> {
        let error = |kind, message: String| Err(ProviderError::new(self.model(), kind, message));
        let Some(Choice { message, finish_reason }) = answer.choices.into_iter().next() else {
            return error(ProviderErrorKind::BadResponse, "the answer has no choices".to_owned());
        };
        if message.refusal.is_some() || finish_reason.as_deref() == Some("content_filter") {
            return error(ProviderErrorKind::BadInput, "the model refused the text".to_owned());
        }
        if finish_reason.as_deref() == Some("length") {
            return error(
                ProviderErrorKind::BadResponse,
                "the answer was cut off at its token limit".to_owned(),
            );
        }
        answer::parse(&message.content.unwrap_or_default(), count).or_else(|reason| {
            error(ProviderErrorKind::BadResponse, format!("the model's answer is not tags: {reason}"))
        })
    }
}

#[async_trait]
impl TagExtractor for OpenAiTagger {
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
        let answer: Answer =
            self.http.post("chat/completions", &self.request(texts, ontology), texts).await?;
        self.read(answer, texts.len())
    }
}

/// OpenAI's reasoning models answer 400 to any temperature but their own.
fn takes_temperature(model: &str) -> bool {
    !["o1", "o3", "o4", "gpt-5", "gpt-6"].iter().any(|reasoning| model.starts_with(reasoning))
}
