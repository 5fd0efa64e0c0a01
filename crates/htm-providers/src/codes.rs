//! The error codes of settings that cannot work. A call that fails has a `ProviderError` instead.

use htm_core::error::Code;
use htm_core::fault::Fault;

htm_core::error_codes! {
    BASE_URL "provider_settings_base_url" Permanent "The base URL of a provider cannot be used."
        => "set a URL such as http://localhost:11434 or https://api.openai.com/v1";
    VALUE "provider_settings_value" Permanent "A setting of a provider is empty or out of range."
        => "correct the setting: `htm config show`";
    MISSING_FILE "provider_settings_missing_file" Permanent "A file of the local model is missing."
        => "run `./justw setup`, which fetches the local model, or set HTM_LOCAL__MODEL_DIR";
    BAD_FILE "provider_settings_bad_file" Permanent "A file of the local model cannot be used."
        => "run `./justw setup`, which fetches the local model, or set HTM_LOCAL__MODEL_DIR";
    UNSUPPORTED "provider_settings_unsupported" Permanent "The local model is of a kind that HTM cannot run in its process."
        => "use another model, or let a server run this one: provider `ollama` or `openai` with its URL";
    TEMPLATE "provider_settings_template" Permanent "A template of the ontology is missing or invalid."
        => "name a built-in one (software, research, personal, business), or a file with a line for each term below [terms], \
            such as \"pet:cat\" = \"cats at home\"; its parent `pet` must be a term too";
    CLIENT "provider_settings_client" Permanent "The HTTP client could not be set up."
        => "check the proxy variables (HTTPS_PROXY, NO_PROXY) and the certificates";
}

/// The error of a setting, such as `tag.threshold`, whose value is empty or out of range.
pub fn bad_value(setting: &str, reason: impl std::fmt::Display) -> htm_core::Error {
    htm_core::Error::new(VALUE, format!("{setting} {reason}"))
}
