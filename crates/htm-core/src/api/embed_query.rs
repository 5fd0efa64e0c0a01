//! The query's embedding, by the model that recall uses.

use std::sync::Arc;

use crate::api::htm::Htm;
use crate::api::refine::within;
use crate::model::error::{Error, ErrorKind, Result, chain, codes};
use crate::model::models::{ModelState, not_ready, of_callers, retired, without_embedder};
use crate::model::recall::{Degraded, RecallQuery, Step, Strategy};
use crate::model::vectors::{check_dimensions, is_storable, unfit};
use crate::provider::{Embedder, ProviderError, ProviderErrorKind, Purpose};
use crate::store::embeddings::{self, RegisteredModel};

impl Htm {
    /// The query's vector; without one, why full text has to answer alone.
    pub(crate) async fn vector_or_reason(
        &self,
        query: &RecallQuery,
        text: &str,
    ) -> Result<(Option<(RegisteredModel, Arc<[f32]>)>, Vec<Degraded>)> {
        let error = match self.vector_of(query, text).await {
            Ok(embedding) => return Ok((Some(embedding), Vec::new())),
            Err(error) => error,
        };
        let is_of_models = error.is(codes::MODEL_UNKNOWN) || error.is(codes::MODEL_RETIRED);
        if query.vector.is_some()
            || error.is(codes::EMBEDDER_MISSING) && query.strategy == Strategy::Vector
            || is_of_models && !query.models.is_empty()
            // A database that fails here fails in the text leg as well.
            || error.kind() == ErrorKind::Database
        {
            return Err(error);
        }
        tracing::info!(code = error.code(), error = %chain(&error), "recall without vectors");
        Ok((None, vec![Degraded::new(Step::Vector, error)]))
    }

    /// The query's own vector, or its embedding, and the model.
    async fn vector_of(&self, query: &RecallQuery, text: &str) -> Result<(RegisteredModel, Arc<[f32]>)> {
        let label = query.models.first().map(String::as_str);
        let Some(vector) = &query.vector else { return self.embed_query(text, label).await };
        let models = self.models_with(label).await?;
        let model = match label {
            Some(label) => in_use(embeddings::by_label(&models, label)?)?,
            None => models
                .iter()
                .find(|model| model.state == ModelState::Active)
                .ok_or_else(|| unfit("query", "is of no model: none is active, and none is named"))?,
        };
        check_dimensions(&model.label, vector, model.dimensions)?;
        Ok((model.clone(), vector.as_slice().into()))
    }

    /// A query's embedding by the model with this label, or by the one that recall uses, and that model. A query that
    /// was embedded before is answered from the cache.
    pub(crate) async fn embed_query(
        &self,
        text: &str,
        label: Option<&str>,
    ) -> Result<(RegisteredModel, Arc<[f32]>)> {
        let (model, embedder) = self.asked_model(label).await?;
        let place = (model.label.clone(), text.to_owned());
        let cached = self.query_embeddings().get(&place).await;
        self.count_cache(cached.is_some());
        if let Some(vector) = cached {
            return Ok((model, vector));
        }
        let (texts, limit) = ([text.to_owned()], self.settings().recall.embed_timeout);
        let asked = embedder.embed(&texts, Purpose::Query);
        let mut embeddings = within(limit, embedder.model(), asked).await?;
        let vector: Arc<[f32]> = embeddings.pop().map(|query| query.vector).unwrap_or_default().into();
        if vector.len() != model.dimensions {
            let error = ProviderError::other_dimensions(embedder.model(), vector.len(), model.dimensions);
            return Err(error.into());
        }
        if vector.iter().any(|number| !is_storable(*number)) {
            let message = "the vector has a number that is not finite or is too large";
            let kind = ProviderErrorKind::BadResponse;
            return Err(ProviderError::new(embedder.model(), kind, message).into());
        }
        self.query_embeddings().insert(place, vector.clone()).await;
        Ok((model, vector))
    }

    /// The model that recall uses, with its embedder: the one with this label; otherwise the active one; without an
    /// embedder for that, the newest on standby, which is complete and kept up to date as well.
    async fn asked_model(&self, label: Option<&str>) -> Result<(RegisteredModel, Arc<dyn Embedder>)> {
        let models = self.models_with(label).await?;
        let Some(embedders) = self.embedders() else {
            return Err(match models.iter().find(|model| model.state == ModelState::Active) {
                Some(active) if active.is_of_callers() => of_callers(&active.label),
                _ => {
                    let message = "strategy `vector` needs an embedding provider, and none is configured";
                    Error::new(codes::EMBEDDER_MISSING, message)
                }
            });
        };
        let candidates: Vec<&RegisteredModel> = match label {
            Some(label) => vec![in_use(embeddings::by_label(&models, label)?)?],
            None => {
                let in_state = |state| models.iter().filter(move |model| model.state == state);
                in_state(ModelState::Active).chain(in_state(ModelState::Standby)).collect()
            }
        };
        let mut first_failure = None;
        for model in &candidates {
            match embedders.embedder(model).await {
                Ok(Some(embedder)) => return Ok(((*model).clone(), embedder)),
                Ok(None) => {}
                Err(error) => {
                    first_failure.get_or_insert(error);
                }
            }
        }
        Err(match (first_failure, candidates.first()) {
            (Some(failure), _) => failure,
            (None, Some(model)) if model.is_of_callers() => of_callers(&model.label),
            (None, Some(model)) => without_embedder(&model.label),
            (None, None) => not_ready(&self.settings().embedding_model),
        })
    }

    /// The active model, if another one was used and the query did not name it.
    pub(crate) async fn instead_of(
        &self,
        asked: &RegisteredModel,
        query: &RecallQuery,
    ) -> Result<Option<String>> {
        if !query.models.is_empty() || asked.state == ModelState::Active {
            return Ok(None);
        }
        let models = self.recent_models().await?;
        let active = models.iter().find(|model| model.state == ModelState::Active);
        Ok(active.map(|model| model.label.clone()))
    }

    /// The models as of a moment ago; as of now, if none of them has this label: it may be new.
    pub(crate) async fn models_with(&self, label: Option<&str>) -> Result<Arc<[RegisteredModel]>> {
        let models = self.recent_models().await?;
        match label {
            Some(label) if embeddings::by_label(&models, label).is_err() => {
                self.known_models().invalidate(&self.reads().at.is_some()).await;
                self.recent_models().await
            }
            _ => Ok(models),
        }
    }

    /// The models as of at most a second ago. An empty list is not cached.
    pub(crate) async fn recent_models(&self) -> Result<Arc<[RegisteredModel]>> {
        let at_replica = self.reads().at.is_some();
        if let Some(models) = self.known_models().get(&at_replica).await {
            return Ok(models);
        }
        let models: Arc<[RegisteredModel]> = embeddings::models(self.pool()).await?.into();
        if !models.is_empty() {
            self.known_models().insert(at_replica, models.clone()).await;
        }
        Ok(models)
    }
}

/// The model, unless it is retired: its vectors are not kept up to date, or are gone.
fn in_use(model: &RegisteredModel) -> Result<&RegisteredModel> {
    if model.is_in_use() { Ok(model) } else { Err(retired(&model.label)) }
}
