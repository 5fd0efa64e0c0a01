//! The re-ranker and the query expander of the configuration. Each is made at its first use.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use htm_core::provider::{ModelName, ProviderError, ProviderErrorKind, QueryExpander, Reranker};
use htm_core::{Htm, RefineSettings, Result};
use htm_providers::codes::bad_value;
use htm_providers::fake::{FakeExpander, FakeReranker};
use htm_providers::local;
use htm_providers::rerank::{self, RerankSettings};
use htm_providers::{ApiSettings, ollama, openai};

use crate::config::{Config, ExpansionProvider, Rerank, RerankProvider};
use crate::paths::Paths;
use crate::providers::{ollama_settings, openai_settings, prompt};

/// The configured re-ranker and query expander.
#[derive(Clone, Default)]
pub(crate) struct Refiners {
    reranker: Option<Arc<Lazy<dyn Reranker>>>,
    expander: Option<Arc<Lazy<dyn QueryExpander>>>,
}

impl Refiners {
    /// Prepares both without making them.
    pub(crate) fn new(config: &Config, paths: &Paths) -> Self {
        let expansion = config.expansion.provider;
        let reranker = (config.rerank.provider != RerankProvider::None).then(|| {
            let (name, config, paths) = (reranker_name(config), config.clone(), paths.clone());
            Arc::new(Lazy::new(name, move || make_reranker(&config, &paths)))
        });
        let expander = (expansion != ExpansionProvider::None).then(|| {
            let name = ModelName::new(expansion.as_ref(), config.expansion.model_name());
            let config = config.clone();
            Arc::new(Lazy::new(name, move || make_expander(&config)))
        });
        Self { reranker, expander }
    }

    /// Adds them to `htm`.
    pub(crate) fn given_to(&self, htm: Htm) -> Htm {
        let htm = match &self.reranker {
            Some(reranker) => htm.with_reranker(Arc::clone(reranker) as _),
            None => htm,
        };
        match &self.expander {
            Some(expander) => htm.with_expander(Arc::clone(expander) as _),
            None => htm,
        }
    }

    /// Makes the re-ranker; none if none is configured.
    pub(crate) fn reranker(&self) -> Result<Option<Arc<dyn Reranker>>> {
        self.reranker.as_ref().map(|reranker| reranker.source.get()).transpose()
    }

    /// Makes the expander; none if none is configured.
    pub(crate) fn expander(&self) -> Result<Option<Arc<dyn QueryExpander>>> {
        self.expander.as_ref().map(|expander| expander.source.get()).transpose()
    }
}

/// The refinement settings of the configuration.
pub(crate) fn settings(config: &Config) -> RefineSettings {
    RefineSettings {
        rerank_top: config.rerank.top,
        rerank_timeout: Duration::from_millis(config.rerank.timeout_ms),
        expand_timeout: Duration::from_millis(config.expansion.timeout_ms),
        ..RefineSettings::default()
    }
}

/// A provider that is made once, by its first call. After a failure the next call tries again.
struct Lazy<T: ?Sized> {
    name: ModelName,
    source: Arc<Source<T>>,
}

struct Source<T: ?Sized> {
    make: Box<dyn Fn() -> Result<Arc<T>> + Send + Sync>,
    /// Locked while the provider is made.
    made: Mutex<Option<Arc<T>>>,
}

impl<T: ?Sized + Send + Sync + 'static> Lazy<T> {
    fn new(name: ModelName, make: impl Fn() -> Result<Arc<T>> + Send + Sync + 'static) -> Self {
        Self { name, source: Arc::new(Source { make: Box::new(make), made: Mutex::default() }) }
    }

    /// Makes the provider on a blocking thread, because a local model reads its weights.
    async fn get(&self) -> Result<Arc<T>, ProviderError> {
        let failed =
            |message: String| ProviderError::new(&self.name, ProviderErrorKind::ModelNotFound, message);
        let source = Arc::clone(&self.source);
        match tokio::task::spawn_blocking(move || source.get()).await {
            Ok(made) => made.map_err(|error| failed(format!("{error}; {}", error.hint()))),
            Err(error) => Err(failed(error.to_string())),
        }
    }
}

impl<T: ?Sized> Source<T> {
    fn get(&self) -> Result<Arc<T>> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = &*made {
            return Ok(Arc::clone(made));
        }
        let new = (self.make)()?;
        *made = Some(Arc::clone(&new));
        Ok(new)
    }
}

#[async_trait]
impl Reranker for Lazy<dyn Reranker> {
    fn model(&self) -> &ModelName {
        &self.name
    }

    async fn rerank(&self, query: &str, texts: &[String]) -> Result<Vec<f64>, ProviderError> {
        self.get().await?.rerank(query, texts).await
    }
}

#[async_trait]
impl QueryExpander for Lazy<dyn QueryExpander> {
    fn model(&self) -> &ModelName {
        &self.name
    }

    async fn expand(&self, query: &str, count: usize) -> Result<Vec<String>, ProviderError> {
        self.get().await?.expand(query, count).await
    }
}

fn rerank_settings(config: &Config) -> RerankSettings {
    let rerank = &config.rerank;
    RerankSettings {
        url: rerank.url.expose().to_owned(),
        api_key: rerank.api_key.clone(),
        model: rerank.model.clone(),
        format: rerank.format,
        timeout: Duration::from_millis(rerank.timeout_ms),
    }
}

fn reranker_name(config: &Config) -> ModelName {
    match config.rerank.provider {
        RerankProvider::Http => rerank_settings(config).model_name(),
        RerankProvider::Local => {
            let Rerank { path, model, .. } = &config.rerank;
            let name = Path::new(path).file_name().map(|name| name.to_string_lossy());
            ModelName::new("local", name.unwrap_or(if model.is_empty() { "model" } else { model }.into()))
        }
        RerankProvider::None | RerankProvider::Fake => FakeReranker::default().model().clone(),
    }
}

fn make_reranker(config: &Config, paths: &Paths) -> Result<Arc<dyn Reranker>> {
    match config.rerank.provider {
        RerankProvider::Http => rerank::reranker(rerank_settings(config)),
        RerankProvider::Local => {
            let Rerank { path, model, .. } = &config.rerank;
            let (key, directory) = match (path.as_str(), model.as_str()) {
                ("", "") => {
                    let reason =
                        "must name a cross-encoder of `htm models pull`, or rerank.path its directory";
                    return Err(bad_value("rerank.model", reason));
                }
                ("", name) => ("rerank.model", paths.found_model_dir(name)),
                (path, _) => ("rerank.path", PathBuf::from(path)),
            };
            // The error's own hint is about the embedding model.
            local::reranker(&directory, 0)
                .map_err(|error| bad_value(key, format!("is no cross-encoder: {error}")))
        }
        RerankProvider::None | RerankProvider::Fake => Ok(Arc::new(FakeReranker::default())),
    }
}

fn make_expander(config: &Config) -> Result<Arc<dyn QueryExpander>> {
    let expansion = &config.expansion;
    let (model, timeout) = (expansion.model_name(), Duration::from_millis(expansion.timeout_ms));
    let prompt = || prompt(&expansion.prompt, "expansion");
    match expansion.provider {
        ExpansionProvider::Ollama => {
            ollama::expander(ApiSettings { prompt: prompt()?, ..ollama_settings(config, model, timeout) })
        }
        ExpansionProvider::Openai => {
            openai::expander(ApiSettings { prompt: prompt()?, ..openai_settings(config, model, timeout) })
        }
        ExpansionProvider::None | ExpansionProvider::Fake => Ok(Arc::new(FakeExpander::default())),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::config::Locations;

    fn refiners(pairs: &[(&str, &str)]) -> Refiners {
        let set: BTreeMap<String, String> =
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Refiners::new(
            &Config::load_from(&Locations::default(), &set).unwrap().config,
            &Paths::new("/home", "/state"),
        )
    }

    #[test]
    fn nothing_is_configured_by_default() {
        let refiners = refiners(&[]);
        assert!(refiners.reranker().unwrap().is_none() && refiners.expander().unwrap().is_none());
    }

    #[test]
    fn each_provider_is_made_and_named() {
        for (pairs, name) in [
            (&[("rerank.provider", "fake")][..], "fake/shared-words"),
            (&[("rerank.provider", "http")], "http/tei"),
            (&[("rerank.provider", "http"), ("rerank.format", "cohere")], "http/rerank-v3.5"),
            (&[("rerank.provider", "http"), ("rerank.model", "bge")], "http/bge"),
        ] {
            let refiners = refiners(pairs);
            assert_eq!(refiners.reranker.as_ref().unwrap().model().to_string(), name);
            assert_eq!(refiners.reranker().unwrap().unwrap().model().to_string(), name);
        }
        for (provider, name) in
            [("ollama", "ollama/llama3.2"), ("openai", "openai/gpt-4o-mini"), ("fake", "fake/fake")]
        {
            let refiners = refiners(&[("expansion.provider", provider)]);
            assert_eq!(refiners.expander.as_ref().unwrap().model().to_string(), name);
            assert!(refiners.expander().unwrap().is_some());
        }
    }

    #[tokio::test]
    async fn what_cannot_be_made_says_which_setting_and_fails_the_call() {
        let local = refiners(&[("rerank.provider", "local")]);
        let error = local.reranker().err().unwrap();
        assert_eq!(
            error.to_string(),
            "rerank.model must name a cross-encoder of `htm models pull`, or rerank.path its directory"
        );
        let local = refiners(&[("rerank.provider", "local"), ("rerank.path", "/nowhere/model")]);
        let error = local.reranker().err().unwrap();
        assert_eq!(error.code(), "provider_settings_value");
        let named = refiners(&[("rerank.provider", "local"), ("rerank.model", "judge")]);
        assert_eq!(named.reranker.as_ref().unwrap().model().to_string(), "local/judge");
        let named = named.reranker().err().unwrap().to_string();
        assert_eq!(named, "rerank.model is no cross-encoder: /home/models/judge/config.json is missing");
        assert_eq!(
            error.to_string(),
            "rerank.path is no cross-encoder: /nowhere/model/config.json is missing"
        );
        let called = local.reranker.as_ref().unwrap().rerank("a", &["b".into()]).await.unwrap_err();
        assert_eq!(called.code(), "provider_model_not_found");
        assert!(called.message.contains("rerank.path"), "{called}");
        let prompt = refiners(&[("expansion.provider", "openai"), ("expansion.prompt", "/nowhere.md")]);
        let error = prompt.expander().err().unwrap();
        assert!(error.hint().contains("expansion.prompt"), "{}", error.hint());
    }
}
