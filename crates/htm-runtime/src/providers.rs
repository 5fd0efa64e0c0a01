//! The providers that the configuration chooses.

use std::sync::Arc;
use std::time::Duration;

use htm_core::provider::{Embedder, ModelName, TagExtractor};
use htm_providers::fake::{self, FakeSettings};
use htm_providers::local::{self, LocalSettings};
use htm_providers::ollama::{self, OllamaSettings};
use htm_providers::openai::{self, OpenAiSettings};
use htm_providers::{Secret, SettingsError};

use crate::config::{Config, Provider};
use crate::paths::Paths;

/// The model that embeds, by `embedding.provider`. For `local` this loads the weights.
///
/// # Errors
/// Settings that cannot work, as a model directory that is not there. No call is made.
pub fn embedder(config: &Config, paths: &Paths) -> Result<Arc<dyn Embedder>, SettingsError> {
    let embedding = &config.embedding;
    let dimensions = (embedding.dimensions > 0).then_some(embedding.dimensions);
    let window = (embedding.window > 0).then_some(embedding.window);
    let timeout = Duration::from_millis(embedding.timeout_ms);
    match embedding.provider {
        Provider::Local => local::embedder(local_settings(config, paths, embedding.model_name())),
        Provider::Fake => fake::embedder(FakeSettings {
            model: embedding.model_name().into(),
            dimensions: dimensions.unwrap_or(FakeSettings::default().dimensions),
            window,
            ..FakeSettings::default()
        }),
        Provider::Ollama => ollama::embedder(OllamaSettings {
            base_url: config.ollama.base_url.clone(),
            model: embedding.model_name().into(),
            dimensions,
            window,
            timeout,
            document_prefix: prefix(&embedding.document_prefix),
            query_prefix: prefix(&embedding.query_prefix),
            ..OllamaSettings::default()
        }),
        Provider::Openai => openai::embedder(OpenAiSettings {
            base_url: config.openai.base_url.clone(),
            api_key: Secret::new(config.openai.api_key.expose()),
            model: embedding.model_name().into(),
            dimensions,
            window,
            timeout,
            document_prefix: prefix(&embedding.document_prefix),
            query_prefix: prefix(&embedding.query_prefix),
            ..OpenAiSettings::default()
        }),
    }
}

/// What proposes tags, by `tag.provider`. For `local` this loads the weights.
///
/// # Errors
/// As [`embedder`].
pub fn tagger(config: &Config, paths: &Paths) -> Result<Arc<dyn TagExtractor>, SettingsError> {
    let tag = &config.tag;
    let timeout = Duration::from_millis(tag.timeout_ms);
    match tag.provider {
        Provider::Local => local::tagger(local_settings(config, paths, tag.model_name())),
        Provider::Fake => {
            fake::tagger(FakeSettings { model: tag.model_name().into(), ..FakeSettings::default() })
        }
        Provider::Ollama => ollama::tagger(OllamaSettings {
            base_url: config.ollama.base_url.clone(),
            model: tag.model_name().into(),
            timeout,
            ..OllamaSettings::default()
        }),
        Provider::Openai => openai::tagger(OpenAiSettings {
            base_url: config.openai.base_url.clone(),
            api_key: Secret::new(config.openai.api_key.expose()),
            model: tag.model_name().into(),
            timeout,
            ..OpenAiSettings::default()
        }),
    }
}

/// The names of the models that embed and tag, without making either.
pub fn model_names(config: &Config) -> (ModelName, ModelName) {
    let (embedding, tag) = (&config.embedding, &config.tag);
    (
        ModelName::new(embedding.provider.as_str(), embedding.model_name()),
        ModelName::new(tag.provider.as_str(), tag.model_name()),
    )
}

fn local_settings(config: &Config, paths: &Paths, model: &str) -> LocalSettings {
    LocalSettings {
        model_dir: config.local.directory(paths, model),
        tag_threshold: config.tag.threshold,
        max_tags: config.tag.max_tags,
        templates: config.tag.ontology.clone(),
        ..LocalSettings::default()
    }
}

/// `auto` leaves the prefix to the model's name.
fn prefix(configured: &str) -> Option<String> {
    (configured != "auto").then(|| configured.to_owned())
}
