//! How a provider of embeddings, tags, scores or phrasings failed.

use std::time::Duration;

use crate::model::fault::Fault;
use crate::model::models::ModelName;

/// A provider's failure: what it was, of which provider, and what it means for the job.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{provider}: {message}")]
pub struct ProviderError {
    /// What kind of failure; decides what is done about it.
    pub kind: ProviderErrorKind,
    /// The model that was asked, as `provider/name`.
    pub provider: String,
    /// What happened, for people. Holds no text of a memory and no key.
    pub message: String,
    /// What a language model said that could not be used: its beginning, on one line, without control characters. It
    /// may repeat a memory, so it is kept with the job and never logged.
    pub answer: Option<String>,
}

/// The kinds of failure, by what is to be done about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderErrorKind {
    /// No connection, or it broke.
    Unreachable,
    /// No answer within the deadline.
    Timeout,
    /// 429; the provider may have said when to come back.
    RateLimited {
        /// From the `Retry-After` header.
        retry_after: Option<Duration>,
    },
    /// A 5xx answer, or another that is the provider's trouble.
    Server,
    /// The text was refused (400, 413, 422): sending it again gives the same answer.
    BadInput,
    /// The key was refused (401, 403).
    Unauthorized,
    /// The account's quota is spent (402, or 429 that says `insufficient_quota`).
    QuotaExceeded,
    /// No such model at the provider (404).
    ModelNotFound,
    /// An answer that breaks the contract: not JSON, too few vectors, an index twice, a component that is not
    /// finite, another dimension than before.
    BadResponse,
    /// A language model answered, was told what is wrong with its answer, and said again nothing that can be used.
    /// At temperature 0 the same texts get the same answer: fewer of them may get another.
    UnusableAnswer,
}

impl ProviderError {
    /// An error of `kind` from `model`.
    pub fn new(model: &ModelName, kind: ProviderErrorKind, message: impl Into<String>) -> Self {
        Self { kind, provider: model.to_string(), message: message.into(), answer: None }
    }

    /// With what the model said, shortened to 500 characters.
    pub fn with_answer(self, answer: &str) -> Self {
        /// As much as shows what kind of answer it was.
        const MAX_CHARS: usize = 500;
        let words =
            answer.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
        let mut line = words.collect::<Vec<_>>().join(" ");
        if line.chars().count() > MAX_CHARS {
            line = line.chars().take(MAX_CHARS - 1).chain(['…']).collect();
        }
        Self { answer: Some(line), ..self }
    }

    /// Whether the failure may be about single texts of a call: then each half of them is worth a call of its own.
    pub fn is_about_texts(&self) -> bool {
        matches!(self.kind, ProviderErrorKind::BadInput | ProviderErrorKind::UnusableAnswer)
    }

    /// Who has to act.
    pub fn fault(&self) -> Fault {
        use ProviderErrorKind::*;
        match self.kind {
            Unreachable | Timeout | RateLimited { .. } | Server | BadResponse => Fault::Transient,
            BadInput | UnusableAnswer => Fault::User,
            Unauthorized | QuotaExceeded | ModelNotFound => Fault::Permanent,
        }
    }

    /// A stable code, as `provider_timeout`.
    pub fn code(&self) -> &'static str {
        use ProviderErrorKind::*;
        match self.kind {
            Unreachable => "provider_unreachable",
            Timeout => "provider_timeout",
            RateLimited { .. } => "provider_rate_limited",
            Server => "provider_server_error",
            BadInput => "provider_refused_text",
            Unauthorized => "provider_unauthorized",
            QuotaExceeded => "provider_quota_exceeded",
            ModelNotFound => "provider_model_not_found",
            BadResponse => "provider_bad_response",
            UnusableAnswer => "provider_unusable_answer",
        }
    }

    /// What to do next.
    pub fn hint(&self) -> &'static str {
        use ProviderErrorKind::*;
        match self.kind {
            Unreachable => "check that the provider runs at its base URL: `htm config show`, `htm doctor`",
            Timeout => "raise the provider's timeout_ms, or lower the worker's batch",
            RateLimited { .. } => "wait; the job comes back by itself",
            Server => "look at the provider's own log; the job is retried by itself",
            BadInput => "shorten or mend the text: the provider refuses it as it is",
            Unauthorized => "set a valid key, for example HTM_OPENAI__API_KEY",
            QuotaExceeded => "raise the quota at the provider",
            ModelNotFound => "check the model's name, or pull it: `ollama pull MODEL`",
            BadResponse => "check that the base URL is the provider's API, not a page or another service",
            UnusableAnswer => "look at what the model said: `htm jobs show`; a larger model may do better",
        }
    }
}
