//! The codes of settings that cannot work. What fails in a call is a `ProviderError`.

use htm_core::error::Code;
use htm_core::fault::Fault;

htm_core::error_codes! {
    BASE_URL "provider_settings_base_url" Permanent "The base URL of a provider cannot be used."
        => "set a URL such as http://localhost:11434 or https://api.openai.com/v1";
    VALUE "provider_settings_value" Permanent "A setting of a provider is empty or out of range."
        => "mend the setting: `htm config show`";
    MISSING_FILE "provider_settings_missing_file" Permanent "A file of the local model is not there."
        => "run `./justw setup`, which fetches the local model, or set HTM_LOCAL__MODEL_DIR";
    BAD_FILE "provider_settings_bad_file" Permanent "A file of the local model cannot be used."
        => "run `./justw setup`, which fetches the local model, or set HTM_LOCAL__MODEL_DIR";
    UNSUPPORTED "provider_settings_unsupported" Permanent "The local model is of a kind that cannot be run in the process."
        => "take another model, or let a server run this one: provider `ollama` or `openai` with its URL";
    TEMPLATE "provider_settings_template" Permanent "A template of the ontology is not there, or is none."
        => "name a built-in one (software, research, personal, business) or a file with a line a term below [terms], as \
            \"pet:cat\" = \"cats at home\"; pet is a term too then";
    CLIENT "provider_settings_client" Permanent "The HTTP client could not be set up."
        => "check the proxy variables (HTTPS_PROXY, NO_PROXY) and the certificates";
}

/// A setting that cannot work, as `local.tag_threshold`: its value is empty or out of range.
pub fn bad_value(setting: &str, reason: impl std::fmt::Display) -> htm_core::Error {
    htm_core::Error::new(VALUE, format!("{setting} {reason}"))
}
