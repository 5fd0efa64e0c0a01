//! `POST {base_url}/chat/completions`, with the answer's JSON schema if the server supports one.

use std::sync::atomic::{AtomicBool, Ordering};

use async_openai::types::chat::{
    ChatCompletionRequestAssistantMessage, ChatCompletionRequestMessage, ChatCompletionRequestSystemMessage,
    ChatCompletionRequestUserMessage, CreateChatCompletionRequest, ResponseFormat, ResponseFormatJsonSchema,
};
use async_trait::async_trait;
use htm_core::provider::{Calls, Further, ModelName, ProviderError, ProviderErrorKind};
use serde::Deserialize;
use serde_json::Value;

use crate::chat::{Chat, Message, Said, Speaker};
use crate::http::Http;
use crate::openai::own_name;

/// A chat model at a server with OpenAI's API.
pub(super) struct OpenAiChat {
    http: Http,
    /// The schema's name.
    answer: &'static str,
    /// Whether the server supports a schema. True until it rejects one.
    takes_schema: AtomicBool,
}

/// The used fields of the answer.
#[derive(Deserialize)]
struct Answer {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    message: Option<Reply>,
    #[serde(default)]
    finish_reason: Option<String>,
    /// The failure of the model's server, at a gateway.
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Reply {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
}

impl OpenAiChat {
    /// Makes the chat model of `http`. `answer` is the name of the schema.
    pub(super) fn new(http: Http, answer: &'static str) -> Self {
        Self { http, answer, takes_schema: AtomicBool::new(true) }
    }

    async fn post(
        &self,
        messages: &[Message],
        schema: Option<Value>,
        texts: &[String],
    ) -> Result<Said, ProviderError> {
        let json_schema = |schema| ResponseFormatJsonSchema {
            description: None,
            name: self.answer.to_owned(),
            schema,
            strict: Some(true),
        };
        let request = CreateChatCompletionRequest {
            model: self.http.model().name.clone(),
            messages: messages.iter().map(request_message).collect(),
            temperature: takes_temperature(&self.http.model().name).then_some(0.0),
            response_format: schema
                .map(|schema| ResponseFormat::JsonSchema { json_schema: json_schema(schema) }),
            ..CreateChatCompletionRequest::default()
        };
        let answer = self.http.post("chat/completions", &request, texts).await?;
        self.read(answer, texts)
    }

    fn read(&self, answer: Answer, texts: &[String]) -> Result<Said, ProviderError> {
        let failed = |kind, message: &str| Err(ProviderError::new(self.http.model(), kind, message));
        let Some(Choice { message, finish_reason, error }) = answer.choices.into_iter().next() else {
            return failed(ProviderErrorKind::BadResponse, "the answer has no choices");
        };
        let finish_reason = finish_reason.as_deref();
        if error.is_some() || finish_reason == Some("error") {
            return Err(self.http.stated(&error.unwrap_or_default(), texts));
        }
        let Some(message) = message else {
            return failed(ProviderErrorKind::BadResponse, "the answer has no message");
        };
        if message.refusal.is_some() || finish_reason == Some("content_filter") {
            return failed(ProviderErrorKind::BadInput, "the model rejected the text");
        }
        let cut_off = finish_reason == Some("length");
        Ok(Said { content: message.content.unwrap_or_default(), cut_off })
    }
}

#[async_trait]
impl Chat for OpenAiChat {
    fn model(&self) -> &ModelName {
        self.http.model()
    }

    async fn say(
        &self,
        messages: &[Message],
        schema: Value,
        texts: &[String],
        calls: &dyn Calls,
    ) -> Result<Said, ProviderError> {
        if self.takes_schema.load(Ordering::Relaxed) {
            match self.post(messages, Some(schema), texts).await {
                Err(error) if is_about_schema(&error) => {
                    tracing::info!(model = %self.http.model(), %error, "asking without a schema from here on");
                    self.takes_schema.store(false, Ordering::Relaxed);
                    if !calls.another(Further::Again).await {
                        // The job is retried, then without a schema.
                        return Err(ProviderError { kind: ProviderErrorKind::BadResponse, ..error });
                    }
                }
                result => return result,
            }
        }
        self.post(messages, None, texts).await
    }
}

fn request_message(message: &Message) -> ChatCompletionRequestMessage {
    let content = message.content.as_str();
    match message.speaker {
        Speaker::System => ChatCompletionRequestSystemMessage::from(content).into(),
        Speaker::User => ChatCompletionRequestUserMessage::from(content).into(),
        Speaker::Assistant => ChatCompletionRequestAssistantMessage::from(content).into(),
    }
}

/// OpenAI's reasoning models answer 400 to any temperature but the default.
fn takes_temperature(model: &str) -> bool {
    !["o1", "o3", "o4", "gpt-5", "gpt-6"].iter().any(|reasoning| own_name(model).starts_with(reasoning))
}

/// Whether a server rejected the schema and not the texts. Servers without structured output answer 400 and name
/// `response_format` (OpenAI's older models, DeepSeek, LM Studio with some engines). Servers with partial support of
/// JSON schema name the schema or the grammar (llama.cpp, vLLM), some with status 500.
fn is_about_schema(error: &ProviderError) -> bool {
    let says = error.message.to_lowercase();
    matches!(error.kind, ProviderErrorKind::BadInput | ProviderErrorKind::Server)
        && ["response_format", "response format", "schema", "grammar", "guided decoding", "structured output"]
            .iter()
            .any(|words| says.contains(words))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::Secret;

    #[test]
    fn a_choice_that_is_an_error_has_the_kind_of_its_code() {
        let model = ModelName::new("openai", "m");
        let timeout = Duration::from_secs(1);
        let http = Http::new("openai", "http://localhost", Secret::default(), timeout, model).unwrap();
        let chat = OpenAiChat::new(http, "tags");
        let of = |choice: Value| {
            let answer = serde_json::from_value(json!({ "choices": [choice] })).unwrap();
            chat.read(answer, &["my diary".to_owned()])
        };
        let message = json!({ "role": "assistant", "content": "" });
        use ProviderErrorKind::*;
        for (error, kind) in [
            (json!({ "code": 502, "message": "no 'my diary'" }), Server),
            (json!({ "code": 429, "message": "slow" }), RateLimited { retry_after: None }),
            (json!({ "message": "lost" }), Server),
            (json!(null), Server),
        ] {
            let choice = json!({ "message": message, "finish_reason": "error", "error": error });
            let failed = of(choice).unwrap_err();
            assert_eq!(failed.kind, kind, "{failed}");
            assert!(!failed.message.contains("diary"), "{failed}");
        }
        let alone = of(json!({ "error": { "code": 402, "message": "no money" } })).unwrap_err();
        assert_eq!(alone.kind, QuotaExceeded);
        assert_eq!(of(json!({ "finish_reason": "stop" })).unwrap_err().kind, BadResponse);
        assert!(of(json!({ "message": message, "finish_reason": "stop", "error": null })).is_ok());
    }

    #[test]
    fn a_reasoning_model_is_known_behind_a_gateway() {
        let taking = ["gpt-4.1", "openai/gpt-4.1-mini", "llama3.1"].map(takes_temperature);
        let refusing = ["o3-mini", "azure/o3-mini", "openrouter/openai/gpt-5-mini"].map(takes_temperature);
        assert_eq!((taking, refusing), ([true; 3], [false; 3]));
    }

    #[test]
    fn a_refused_schema_is_told_from_a_refused_text() {
        let is = |kind, message: &str| {
            is_about_schema(&ProviderError::new(&ModelName::new("openai", "m"), kind, message))
        };
        use ProviderErrorKind::*;
        for message in [
            "HTTP 400 Bad Request: 'response_format.type' must be 'json_object' or 'text'",
            "HTTP 400 Bad Request: This response_format type is unavailable now",
            "HTTP 400 Bad Request: failed to parse grammar",
            "HTTP 400 Bad Request: The provided JSON schema contains features not supported by xgrammar.",
        ] {
            assert!(is(BadInput, message), "{message}");
        }
        assert!(!is(BadInput, "HTTP 400 Bad Request: This model's maximum context length is 4096 tokens"));
        assert!(!is(Unauthorized, "HTTP 401 Unauthorized: response_format"));
    }
}
