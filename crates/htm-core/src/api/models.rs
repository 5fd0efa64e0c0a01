//! Embedding models, as an operator sees them.

use std::time::Duration;

use serde_json::json;

use crate::api::htm::Htm;
use crate::model::error::Result;
use crate::model::models::ModelName;
pub use crate::model::models::{ModelState, retired, without_embedder};
pub use crate::model::vector_index::VectorIndex;
pub use crate::store::embeddings::{RegisteredModel, by_name};
pub use crate::store::lifecycle::{Activation, ModelOverview};
use crate::store::{embeddings, lifecycle, nodes, vector_index};

/// The registered embedding models. See [`Htm::models`].
#[derive(Clone, Copy, Debug)]
pub struct Models<'a> {
    htm: &'a Htm,
}

impl Htm {
    /// The embedding models of the database, for operators.
    ///
    /// # Errors
    /// `namespace_forbidden` for a handle [within a wall](Htm::within): models are of all namespaces.
    pub fn models(&self) -> Result<Models<'_>> {
        self.admit_all().map(|()| Models { htm: self })
    }
}

impl Models<'_> {
    /// The models, the active one first, then the newest first.
    ///
    /// # Errors
    /// A database error.
    pub async fn list(&self) -> Result<Vec<RegisteredModel>> {
        embeddings::models(self.htm.shared_pool()).await
    }

    /// The model with this label.
    ///
    /// # Errors
    /// `model_unknown`, or a database error.
    pub async fn get(&self, label: &str) -> Result<RegisteredModel> {
        embeddings::by_label(&self.list().await?, label).cloned()
    }

    /// Registers a model beside the others. A retired one is used again.
    ///
    /// # Errors
    /// A database error, also for dimensions outside 1 to 4,000.
    pub async fn add(&self, name: &ModelName, dimensions: usize) -> Result<RegisteredModel> {
        lifecycle::add(self.htm.shared_pool(), name, dimensions).await
    }

    /// A model's progress. Reads all nodes.
    ///
    /// # Errors
    /// A database error.
    pub async fn overview(&self, model: &RegisteredModel) -> Result<ModelOverview> {
        lifecycle::overview(&mut *self.htm.shared_pool().acquire().await?, model).await
    }

    /// Builds a model's vector index if it is missing; true if this call built it. Writes and recalls are not blocked.
    ///
    /// # Errors
    /// A database error.
    pub async fn build_index(&self, model: &RegisteredModel) -> Result<bool> {
        vector_index::build(self.htm.shared_pool(), model).await
    }

    /// The kinds of a vector index that the database can build: its extensions are there.
    ///
    /// # Errors
    /// A database error.
    pub async fn usable_indexes(&self) -> Result<Vec<VectorIndex>> {
        vector_index::usable(self.htm.shared_pool()).await
    }

    /// Changes the kind of a model's vector index. Returns how long the build took; none if nothing was built. The new
    /// index is built while recall uses the old one, which is dropped last. A model that is not complete gets its index
    /// later.
    ///
    /// # Errors
    /// `model_unknown`, `model_retired` and `vector_index_unavailable`, before any change; or a database error. Then the old index is still
    /// there: a repeated call goes on.
    pub async fn change_index(&self, label: &str, kind: VectorIndex) -> Result<Option<Duration>> {
        vector_index::change(self.htm.shared_pool(), label, kind).await
    }

    /// The progress of a model's index build, 0 to 1; none if no build runs or it is unknown.
    ///
    /// # Errors
    /// A database error.
    pub async fn index_progress(&self, model: &RegisteredModel) -> Result<Option<f64>> {
        vector_index::progress(self.htm.shared_pool(), model).await
    }

    /// The texts of random memories of a namespace, to compare models by; reads all of them.
    ///
    /// # Errors
    /// A database error.
    pub async fn sample_texts(&self, namespace: &str, count: u32) -> Result<Vec<String>> {
        nodes::sample_contents(self.htm.shared_pool(), namespace, count).await
    }

    /// Makes a model the active one; the old one goes on standby. Missing embeddings are enqueued first.
    ///
    /// # Errors
    /// `model_unknown`; `model_retired`; `model_incomplete`, unless `forced`: nodes that vectors find now would not be
    /// found; `writer_open`; or a database error. The active model is the same then; jobs may have been enqueued.
    pub async fn activate(&self, label: &str, forced: bool) -> Result<Activation> {
        let done = self.htm.done("model.activate", None, Some(label), json!({"forced": forced}));
        lifecycle::activate(self.htm.shared_pool(), label, forced, self.htm.settings().max_attempts, done)
            .await
    }

    /// Retires a model: writes to it end, and its open jobs and dead letters are deleted; with `dropping`, its vectors
    /// too. Returns the number of deleted jobs.
    ///
    /// # Errors
    /// `model_unknown`; `model_active`; `writer_open` (it is retired then, and jobs may be left: retire it again); or a
    /// database error.
    pub async fn retire(&self, label: &str, dropping: bool) -> Result<u64> {
        let done = self.htm.done("model.retire", None, Some(label), json!({"dropping": dropping}));
        lifecycle::retire(self.htm.shared_pool(), label, dropping, done).await
    }
}
