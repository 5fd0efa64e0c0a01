//! The names and states of models.

use std::fmt;

use crate::model::error::{Error, codes};

/// A model by provider and name, as in `local/all-MiniLM-L6-v2`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ModelName {
    /// `local`, `ollama`, `openai`, `fake`, or `caller` for vectors that come with writes.
    pub provider: String,
    /// The provider's own name of the model.
    pub name: String,
}

impl ModelName {
    /// The model `name` of `provider`.
    pub fn new(provider: impl Into<String>, name: impl Into<String>) -> Self {
        Self { provider: provider.into(), name: name.into() }
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.name)
    }
}

/// The use of a model by writes and by recall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, strum::Display, strum::EnumString)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ModelState {
    /// Every write goes to it, but recall does not use it: it is not complete yet.
    Building,
    /// Recall uses it.
    Active,
    /// Formerly active. Every write still goes to it, so that it can be activated again.
    Standby,
    /// No longer written to.
    Retired,
}

/// No model of this label is registered. `known` lists the registered ones.
pub(crate) fn unknown(label: &str, known: &str) -> Error {
    let error = Error::new(codes::MODEL_UNKNOWN, format!("there is no embedding model `{label}`"));
    match known.is_empty() {
        true => error,
        false => error
            .with_hint(format!("use one of: {known}; `Models::add` registers another"))
            .with_value("known", known),
    }
}

/// Nothing is embedded with the configured model yet.
pub(crate) fn not_ready(model: &ModelName) -> Error {
    Error::new(codes::MODEL_NOT_READY, format!("nothing is embedded with {model} yet"))
}

/// The provider of models whose vectors come from callers.
pub const CALLER: &str = "caller";

/// The model's vectors come from callers, so nothing can be computed with it.
pub(crate) fn of_callers(label: &str) -> Error {
    let message = format!("the vectors of {label} come from its callers, and there is none");
    Error::new(codes::MODEL_OF_CALLERS, message).with_value("label", label)
}

/// The model is retired: it is neither written nor searched.
pub fn retired(label: &str) -> Error {
    Error::new(codes::MODEL_RETIRED, format!("embedding model {label} is retired")).with_value("label", label)
}

/// The program has no embedder for the model.
pub fn without_embedder(label: &str) -> Error {
    let message = format!("this program has no embedder for model {label}");
    Error::new(codes::EMBEDDER_OTHER, message)
        .with_hint(format!(
            "recall asks the active model: give the program the embedder of {label}, or activate a model that it has: \
             `Models::activate`"
        ))
        .with_value("label", label)
}
