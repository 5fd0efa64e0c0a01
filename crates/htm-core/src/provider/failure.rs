//! The error of embedders, taggers, re-rankers and query expanders.

use std::fmt;
use std::time::Duration;

use crate::model::error::{Code, Error, ErrorKind, codes};
use crate::model::fault::Fault;
use crate::model::models::ModelName;

/// A provider's failure. Its kind decides what happens to the job.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{provider}: {message}")]
pub struct ProviderError {
    /// The kind of failure.
    pub kind: ProviderErrorKind,
    /// The model, as `provider/name`.
    pub provider: String,
    /// The description for people. It contains no text of a memory and no key.
    pub message: String,
    /// The beginning of a language model's unusable answer, on one line, without control characters. It may repeat a
    /// memory, so it is kept with the job and never logged.
    pub answer: Option<String>,
    /// Whether the answer is broken for some of the texts, and good for others of the same request.
    pub spares_others: bool,
}

/// The kinds of failure. Each has an error code of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderErrorKind {
    /// The connection failed or broke.
    Unreachable,
    /// No answer came within the deadline.
    Timeout,
    /// Too many requests (429), or a provider that names the time of its return (503 with `Retry-After`).
    RateLimited {
        /// The wait that the provider asked for (`Retry-After`).
        retry_after: Option<Duration>,
    },
    /// The provider failed (5xx).
    Server,
    /// The text was rejected (400, 413, 422). The same text is rejected again.
    BadInput,
    /// Every text is rejected (400, 413, 422), even a harmless one: something else in the request is wrong.
    RefusedAll,
    /// The key was rejected (401, 403).
    Unauthorized,
    /// The account's quota is spent (402, or 429 with `insufficient_quota`).
    QuotaExceeded,
    /// The provider has no such model (404).
    ModelNotFound,
    /// All vectors have another length than those of the model in the database: the provider serves another model now.
    OtherDimensions,
    /// The answer breaks the contract: it is not JSON, a vector is missing, an index occurs twice, a component is not
    /// finite, or the vectors have different lengths.
    BadResponse,
    /// A language model's answer was unusable twice, although the second request named the faults of the first. At
    /// temperature 0 the same texts get the same answer. A smaller batch may get a better one.
    UnusableAnswer,
}

impl ProviderError {
    /// An error of `kind` from `model`.
    pub fn new(model: &ModelName, kind: ProviderErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            provider: model.to_string(),
            message: message.into(),
            answer: None,
            spares_others: false,
        }
    }

    /// The error of vectors with `given` dimensions, where those of the model have `wanted`.
    pub fn other_dimensions(model: &ModelName, given: usize, wanted: impl fmt::Display) -> Self {
        let message = format!("it gives vectors of {given} dimensions, not {wanted}");
        Self::new(model, ProviderErrorKind::OtherDimensions, message)
    }

    /// Adds the model's answer, shortened to 500 characters.
    pub fn with_answer(self, answer: &str) -> Self {
        /// Enough to recognise the kind of answer.
        const MAX_CHARS: usize = 500;
        let words =
            answer.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
        let mut line = words.collect::<Vec<_>>().join(" ");
        if line.chars().count() > MAX_CHARS {
            line = line.chars().take(MAX_CHARS - 1).chain(['…']).collect();
        }
        Self { answer: Some(line), ..self }
    }

    /// Whether a single text may be the cause. If so, each half of the batch is worth a call of its own.
    pub fn is_about_texts(&self) -> bool {
        self.spares_others
            || matches!(self.kind, ProviderErrorKind::BadInput | ProviderErrorKind::UnusableAnswer)
    }

    /// The error of a call about a harmless text alone. A provider that rejects it rejects every text.
    #[must_use]
    pub fn about_harmless_text(self) -> Self {
        match self.kind {
            ProviderErrorKind::BadInput => Self { kind: ProviderErrorKind::RefusedAll, ..self },
            _ => self,
        }
    }

    /// A stable code, as `provider_timeout`.
    pub fn code(&self) -> &'static str {
        self.kind.code().name
    }

    /// The fault: who has to act, and whether a job is retried.
    pub fn fault(&self) -> Fault {
        self.kind.code().fault
    }

    /// The next step.
    pub fn hint(&self) -> &'static str {
        match self.kind {
            ProviderErrorKind::ModelNotFound if self.provider.starts_with("ollama/") => {
                "check the model's name, or pull it: `ollama pull MODEL`"
            }
            kind => kind.code().hint,
        }
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
            Self::RefusedAll => codes::PROVIDER_REFUSED_ALL,
            Self::Unauthorized => codes::PROVIDER_UNAUTHORIZED,
            Self::QuotaExceeded => codes::PROVIDER_QUOTA_EXCEEDED,
            Self::ModelNotFound => codes::PROVIDER_MODEL_NOT_FOUND,
            Self::OtherDimensions => codes::PROVIDER_OTHER_DIMENSIONS,
            Self::BadResponse => codes::PROVIDER_BAD_RESPONSE,
            Self::UnusableAnswer => codes::PROVIDER_UNUSABLE_ANSWER,
        }
    }
}

impl From<ProviderError> for Error {
    fn from(error: ProviderError) -> Self {
        Self::new(error.kind.code(), error.to_string())
            .with_hint(error.hint())
            .with_kind(ErrorKind::Provider)
            .with_value("model", error.provider)
    }
}
