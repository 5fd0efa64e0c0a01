//! The map: memories in two dimensions by their vectors.

use std::future::pending;
use std::panic::resume_unwind;

use tokio::task::spawn_blocking;

use crate::api::htm::Htm;
use crate::model::error::Result;
use crate::model::filter::{Filter, within};
use crate::model::map::{MAX_MAP, MapPoint, MemoryMap, Projection, project};
use crate::model::models::ModelState;
use crate::store::map::{Sample, Sampled, sample};

impl Htm {
    /// A sample of at most `limit` memories that pass a filter, in two dimensions: the principal components of their vectors
    /// by the active model. Near memories are of like meaning; the converse holds as far as the two components go.
    ///
    /// # Errors
    /// `limit_out_of_range` for none or more than 5,000, the errors of the filter ([`Filter`](crate::Filter#errors)), or a
    /// database error.
    pub async fn map(&self, filter: &Filter, limit: usize) -> Result<MemoryMap> {
        filter.validate()?;
        within("limit", limit, 1..=MAX_MAP)?;
        let read = self.reading(|htm| async move { htm.sample_here(filter, limit).await });
        let (model, Sample { nodes, embedded, sampled }) = read.await?;
        let vectors = sampled.iter().map(Sampled::vector).collect();
        // Seconds of work for the largest map.
        let Projection { places, variance: [variance_x, variance_y] } =
            match spawn_blocking(|| project(vectors)).await {
                Ok(projection) => projection,
                Err(failed) => match failed.try_into_panic() {
                    Ok(panic) => resume_unwind(panic),
                    // The runtime is shutting down, and this call with it.
                    Err(_) => pending().await,
                },
            };
        let point = |(it, [x, y]): (Sampled, [f32; 2])| MapPoint {
            node: it.id,
            x,
            y,
            excerpt: it.excerpt,
            topics: it.topics,
            robot: it.robot,
            created_at: it.created_at,
        };
        Ok(MemoryMap {
            model,
            memories: nodes,
            embedded,
            variance_x,
            variance_y,
            points: sampled.into_iter().zip(places).map(point).collect(),
        })
    }

    /// The label of the active model, and the sample.
    async fn sample_here(&self, filter: &Filter, limit: usize) -> Result<(Option<String>, Sample)> {
        let timeframe = self.apply_time(&filter.timeframe, "").await?.timeframe;
        let namespaces = self.namespaces_or_own(&filter.namespaces)?;
        let models = self.recent_models().await?;
        let model = models.iter().find(|model| model.state == ModelState::Active);
        let sampled = sample(self.pool(), self.scope(filter, &namespaces, &timeframe), model, limit).await?;
        Ok((model.map(|model| model.label.clone()), sampled))
    }
}
