//! The providers of the configuration.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use htm_core::models::RegisteredModel;
use htm_core::provider::{Embedder, ModelName, Tagger};
use htm_core::{Error, Result};
use htm_providers::fake::{self, FakeSettings};
use htm_providers::local::{self, LocalSettings, ModelFacts};
use htm_providers::{ApiSettings, ollama, openai};

use crate::codes;
use crate::config::{Config, Embedding, Provider};
use crate::paths::Paths;

/// Makes the embedder of `embedding.provider`. For `local` this loads the weights. Makes no call.
///
/// # Errors
/// One of the `provider_settings_…` codes, for example for a missing model directory.
pub fn embedder(config: &Config, paths: &Paths) -> Result<Arc<dyn Embedder>> {
    let embedding = &config.embedding;
    let directory = config.local.directory(paths, embedding.model_name());
    make_embedder(
        config,
        embedding.provider,
        embedding.model_name(),
        directory,
        Length::of(configured_dimensions(config)),
    )
}

/// Makes the embedder of any model, with `dimensions` (none: the model's own). The provider's settings, such as its URL
/// and key, come from the configuration. None for an unknown provider.
///
/// # Errors
/// As [`embedder`].
pub fn embedder_named(
    config: &Config,
    paths: &Paths,
    name: &ModelName,
    dimensions: Option<usize>,
) -> Option<Result<Arc<dyn Embedder>>> {
    let provider: Provider = name.provider.parse().ok()?;
    let directory = config.local.directory_named(paths, &name.name);
    Some(make_embedder(config, provider, &name.name, directory, Length::of(dimensions)))
}

/// Makes the embedder of a registered model, with the dimensions of the model's table. None for an unknown provider. Of
/// the configured model the provider is not asked: it may be away.
///
/// # Errors
/// `embedder_unusable`, or the provider's error when it is asked for its dimensions.
pub async fn embedder_of(
    config: &Config,
    paths: &Paths,
    model: &RegisteredModel,
) -> Result<Option<Arc<dyn Embedder>>> {
    let Ok(provider) = model.name.provider.parse::<Provider>() else { return Ok(None) };
    let is_configured = model_names(config).0 == model.name;
    let shares_its_name = model.label != model.name.to_string();
    let length = match provider {
        Provider::Fake => Length::Asked(model.dimensions),
        Provider::Ollama | Provider::Openai if shares_its_name => Length::Asked(model.dimensions),
        Provider::Ollama | Provider::Openai if is_configured => {
            configured_dimensions(config).map_or(Length::Known(model.dimensions), Length::Asked)
        }
        _ => Length::Own,
    };
    let embedder = make_registered(config, paths, provider, model, length).await?;
    if embedder.dimensions().await? == model.dimensions {
        return Ok(Some(embedder));
    }
    make_registered(config, paths, provider, model, Length::Asked(model.dimensions)).await.map(Some)
}

/// Makes the embedder of a registered model on a blocking thread, because a local model reads its weights.
async fn make_registered(
    config: &Config,
    paths: &Paths,
    provider: Provider,
    model: &RegisteredModel,
    length: Length,
) -> Result<Arc<dyn Embedder>> {
    let unusable = |error: &dyn std::fmt::Display| {
        let message = format!("the embedder of {} cannot be used: {error}", model.label);
        Error::new(codes::EMBEDDER_UNUSABLE, message)
    };
    let (config, name) = (config.clone(), model.name.name.clone());
    let directory = config.local.directory_named(paths, &name);
    let make = move || make_embedder(&config, provider, &name, directory, length);
    match tokio::task::spawn_blocking(make).await {
        Ok(made) => made.map_err(|error| unusable(&error).with_hint(error.hint().to_owned())),
        Err(error) => Err(unusable(&error)),
    }
}

/// The length of an embedder's vectors.
#[derive(Clone, Copy)]
enum Length {
    /// The model's own, which the provider is asked for.
    Own,
    /// The model's own, which is known.
    Known(usize),
    /// The length that the provider is asked to give them.
    Asked(usize),
}

impl Length {
    fn of(asked: Option<usize>) -> Self {
        asked.map_or(Self::Own, Self::Asked)
    }
}

/// Reads the properties of a local model, without its weights. Configured prefixes replace those of the files. None for
/// another provider.
///
/// # Errors
/// As [`embedder`].
pub fn local_facts(config: &Config, paths: &Paths, name: &ModelName) -> Option<Result<ModelFacts>> {
    if name.provider != Provider::Local.as_ref() {
        return None;
    }
    let is_configured = model_names(config).0 == *name;
    let directory = match is_configured {
        true => config.local.directory(paths, &name.name),
        false => config.local.directory_named(paths, &name.name),
    };
    let mut facts = match local::facts(&directory) {
        Ok(facts) => facts,
        Err(error) => return Some(Err(error)),
    };
    let Embedding { document_prefix, query_prefix, .. } = &config.embedding;
    for (prefix, set) in
        [(&mut facts.document_prefix, document_prefix), (&mut facts.query_prefix, query_prefix)]
    {
        if is_configured && set != "auto" {
            *prefix = Some(set.clone());
        }
    }
    Some(Ok(facts))
}

/// Makes the tagger of `tag.provider`. For `local` this loads the weights. Makes no call.
///
/// # Errors
/// As [`embedder`].
pub fn tagger(config: &Config, paths: &Paths) -> Result<Arc<dyn Tagger>> {
    let tag = &config.tag;
    let timeout = Duration::from_millis(tag.timeout_ms);
    match tag.provider {
        Provider::Local => {
            local::tagger(local_settings(config, config.local.directory(paths, tag.model_name())))
        }
        Provider::Fake => {
            fake::tagger(FakeSettings { model: tag.model_name().into(), ..FakeSettings::default() })
        }
        Provider::Ollama => {
            ollama::tagger(tagging(config, ollama_settings(config, tag.model_name(), timeout))?)
        }
        Provider::Openai => {
            openai::tagger(tagging(config, openai_settings(config, tag.model_name(), timeout))?)
        }
    }
}

fn tagging(config: &Config, api: ApiSettings) -> Result<ApiSettings> {
    let tag = &config.tag;
    Ok(ApiSettings {
        prompt: prompt(&tag.prompt, "tags")?,
        max_tags: tag.max_tags,
        rules: tag.rules(),
        ..api
    })
}

/// Ollama as it is configured, for a model.
pub(crate) fn ollama_settings(config: &Config, model: &str, timeout: Duration) -> ApiSettings {
    let base_url = config.ollama.base_url.expose().to_owned();
    ApiSettings { base_url, model: model.to_owned(), timeout, ..ApiSettings::ollama() }
}

/// OpenAI or a compatible server as it is configured, for a model.
pub(crate) fn openai_settings(config: &Config, model: &str, timeout: Duration) -> ApiSettings {
    let (base_url, api_key) = (config.openai.base_url.expose().to_owned(), config.openai.api_key.clone());
    ApiSettings { base_url, api_key, model: model.to_owned(), timeout, ..ApiSettings::openai() }
}

/// Reads the file with the prompt for `what`; none if no path is set.
pub(crate) fn prompt(path: &str, what: &str) -> Result<Option<String>> {
    if path.is_empty() {
        return Ok(None);
    }
    let bad = |reason: String| {
        Error::new(codes::PROVIDER_SETTINGS_PROMPT, format!("{path} is no prompt: {reason}")).with_hint(
            match what {
                "expansion" => {
                    "set `expansion.prompt` to a text file, such as a copy of config/prompts/expansion.md, or to nothing"
                }
                _ => "set `tag.prompt` to a text file, such as a copy of config/prompts/tags.md, or to nothing",
            },
        )
    };
    let text = std::fs::read_to_string(path).map_err(|error| bad(error.to_string()))?;
    if text.trim().is_empty() {
        return Err(bad("it is empty".into()));
    }
    Ok(Some(text))
}

/// The names of the configured models for embeddings and tags. Makes no provider.
pub fn model_names(config: &Config) -> (ModelName, ModelName) {
    let (embedding, tag) = (&config.embedding, &config.tag);
    (
        ModelName::new(embedding.provider.as_ref(), embedding.model_name()),
        ModelName::new(tag.provider.as_ref(), tag.model_name()),
    )
}

fn configured_dimensions(config: &Config) -> Option<usize> {
    Some(config.embedding.dimensions).filter(|dimensions| *dimensions > 0)
}

fn make_embedder(
    config: &Config,
    provider: Provider,
    model: &str,
    directory: PathBuf,
    length: Length,
) -> Result<Arc<dyn Embedder>> {
    let (dimensions, known_dimensions) = match length {
        Length::Own => (None, None),
        Length::Known(known) => (None, Some(known)),
        Length::Asked(asked) => (Some(asked), None),
    };
    let embedding = &config.embedding;
    let window = (embedding.window > 0).then_some(embedding.window);
    let timeout = Duration::from_millis(embedding.timeout_ms);
    // The configured prefixes are only for the configured model.
    let is_configured = provider == embedding.provider && model == embedding.model_name();
    let prefix = |configured: &str| (is_configured && configured != "auto").then(|| configured.to_owned());
    let (document_prefix, query_prefix) =
        (prefix(&embedding.document_prefix), prefix(&embedding.query_prefix));
    match provider {
        Provider::Local => local::embedder(LocalSettings {
            document_prefix,
            query_prefix,
            ..local_settings(config, directory)
        }),
        Provider::Fake => fake::embedder(FakeSettings {
            model: model.into(),
            dimensions: dimensions.unwrap_or(FakeSettings::default().dimensions),
            window,
            ..FakeSettings::default()
        }),
        Provider::Ollama => ollama::embedder(ApiSettings {
            dimensions,
            known_dimensions,
            window,
            document_prefix,
            query_prefix,
            ..ollama_settings(config, model, timeout)
        }),
        Provider::Openai => openai::embedder(ApiSettings {
            dimensions,
            known_dimensions,
            window,
            document_prefix,
            query_prefix,
            ..openai_settings(config, model, timeout)
        }),
    }
}

fn local_settings(config: &Config, model_dir: PathBuf) -> LocalSettings {
    LocalSettings {
        rules: config.tag.rules(),
        model_dir,
        tag_threshold: config.tag.threshold,
        max_tags: config.tag.max_tags,
        templates: config.tag.ontology.clone(),
        ..LocalSettings::default()
    }
}
