//! What models are called.

use std::fmt;

/// A model by provider and name, as in `local/all-MiniLM-L6-v2`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub struct ModelName {
    /// `local`, `ollama`, `openai`, `fake`.
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
