//! What is wrong with a provider's settings.

use std::path::PathBuf;

/// Settings that cannot work, found before any call is made.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The base URL is not one; it is not repeated, for it may hold a password.
    #[error("the base URL of {provider} cannot be used: {reason}")]
    BaseUrl {
        /// `ollama`, `openai`, `the re-ranker`.
        provider: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A value is empty or out of range.
    #[error("{setting} {reason}")]
    Value {
        /// The setting's name, as `local.tag_threshold`.
        setting: &'static str,
        /// Why the value cannot work.
        reason: String,
    },
    /// A file of the local model is not there.
    #[error("{} is missing", path.display())]
    MissingFile {
        /// The file.
        path: PathBuf,
    },
    /// A file is there and cannot be used.
    #[error("{} cannot be used: {reason}", path.display())]
    BadFile {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A model is there whose kind cannot be run.
    #[error("{}: {key} `{value}` is not supported; supported are {supported}", path.display())]
    Unsupported {
        /// The file that says the kind.
        path: PathBuf,
        /// What of it, as `model_type`.
        key: &'static str,
        /// Its value.
        value: String,
        /// The values that work.
        supported: &'static str,
    },
    /// The file of the system prompt cannot be read, or says nothing.
    #[error("{} is no prompt: {reason}", path.display())]
    Prompt {
        /// `tags` or `expansion`.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A template of the ontology is not there or is none.
    #[error("the template {template} cannot be used: {reason}")]
    Template {
        /// Its name or path.
        template: String,
        /// Why.
        reason: String,
    },
    /// The HTTP client could not be set up.
    #[error("the HTTP client could not be set up: {0}")]
    Client(String),
}

impl SettingsError {
    /// A stable code, as `provider_settings_missing_file`.
    pub fn code(&self) -> &'static str {
        match self {
            SettingsError::BaseUrl { .. } => "provider_settings_base_url",
            SettingsError::Value { .. } => "provider_settings_value",
            SettingsError::MissingFile { .. } => "provider_settings_missing_file",
            SettingsError::BadFile { .. } => "provider_settings_bad_file",
            SettingsError::Unsupported { .. } => "provider_settings_unsupported",
            SettingsError::Prompt { .. } => "provider_settings_prompt",
            SettingsError::Template { .. } => "provider_settings_template",
            SettingsError::Client(_) => "provider_settings_client",
        }
    }

    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            SettingsError::BaseUrl { .. } => {
                "set a URL such as http://localhost:11434 or https://api.openai.com/v1"
            }
            SettingsError::Value { .. } => "mend the setting: `htm config show`",
            SettingsError::MissingFile { .. } | SettingsError::BadFile { .. } => {
                "run `./justw setup`, which fetches the local model, or set HTM_LOCAL__MODEL_DIR"
            }
            SettingsError::Unsupported { .. } => {
                "take another model, or let a server run this one: provider `ollama` or `openai` with its URL"
            }
            SettingsError::Prompt { what: "expansion", .. } => {
                "set `expansion.prompt` to a text file, as a copy of config/prompts/expansion.md, or to nothing"
            }
            SettingsError::Prompt { .. } => {
                "set `tag.prompt` to a text file, as a copy of config/prompts/tags.md, or to nothing"
            }
            SettingsError::Template { .. } => {
                "name a built-in one (software, research, personal, business) or a file with a line a term below \
                 [terms], as \"pet:cat\" = \"cats at home\"; pet is a term too then"
            }
            SettingsError::Client(_) => {
                "check the proxy variables (HTTPS_PROXY, NO_PROXY) and the certificates"
            }
        }
    }
}
