//! How a provider of embeddings, tags, scores or phrasings failed.

use std::time::Duration;

use crate::model::error::{Code, Error, ErrorKind, codes};
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

    /// A stable code, as `provider_timeout`.
    pub fn code(&self) -> &'static str {
        self.kind.code().name
    }

    /// Who has to act.
    pub fn fault(&self) -> Fault {
        self.kind.code().fault
    }

    /// What to do next.
    pub fn hint(&self) -> &'static str {
        self.kind.code().hint
    }
}

impl ProviderErrorKind {
    fn code(self) -> &'static Code {
        match self {
            Self::Unreachable => codes::PROVIDER_UNREACHABLE,
            Self::Timeout => codes::PROVIDER_TIMEOUT,
            Self::RateLimited { .. } => codes::PROVIDER_RATE_LIMITED,
            Self::Server => codes::PROVIDER_SERVER_ERROR,
            Self::BadInput => codes::PROVIDER_REFUSED_TEXT,
            Self::Unauthorized => codes::PROVIDER_UNAUTHORIZED,
            Self::QuotaExceeded => codes::PROVIDER_QUOTA_EXCEEDED,
            Self::ModelNotFound => codes::PROVIDER_MODEL_NOT_FOUND,
            Self::BadResponse => codes::PROVIDER_BAD_RESPONSE,
            Self::UnusableAnswer => codes::PROVIDER_UNUSABLE_ANSWER,
        }
    }
}

impl From<ProviderError> for Error {
    fn from(error: ProviderError) -> Self {
        Self::new(error.kind.code(), error.to_string())
            .with_kind(ErrorKind::Provider)
            .with_value("model", error.provider)
    }
}
