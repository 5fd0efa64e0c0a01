//! The source of recall's embedders.

use std::sync::Arc;

use async_trait::async_trait;

use crate::model::error::Result;
use crate::provider::Embedder;
use crate::store::embeddings::RegisteredModel;

/// A source of embedders. The database names the active model, which can change at any time.
#[async_trait]
pub trait Embedders: Send + Sync {
    /// The embedder of a registered model; none if this source does not have it. Called for each recall: cache what is
    /// slow.
    ///
    /// # Errors
    /// The model is this source's, but its embedder cannot be created.
    async fn embedder(&self, model: &RegisteredModel) -> Result<Option<Arc<dyn Embedder>>>;
}

/// A source with a single embedder.
pub(crate) struct Only(pub(crate) Arc<dyn Embedder>);

#[async_trait]
impl Embedders for Only {
    async fn embedder(&self, model: &RegisteredModel) -> Result<Option<Arc<dyn Embedder>>> {
        let is_it = *self.0.model() == model.name && self.0.dimensions().await? == model.dimensions;
        Ok(is_it.then(|| self.0.clone()))
    }
}
