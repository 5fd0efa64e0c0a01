//! Vectors that callers bring, for embedding models of the provider [`CALLER`](crate::provider::CALLER).

use std::collections::BTreeMap;

use sqlx::PgConnection;

use crate::api::htm::Htm;
use crate::model::caller::{Caller, refuse_others};
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::memory::Memory;
use crate::model::models::retired;
use crate::model::nodes::expect_revision;
use crate::model::remember::Receipt;
use crate::model::vectors::{VectorSet, check_dimensions, unfit, validate_vector};
use crate::store::connections::Held;
use crate::store::edit;
use crate::store::embeddings::{self, RegisteredModel};
use crate::store::nodes::{NewNode, missing};
use crate::store::vectors::{Brought, bring_in_tx};

impl Htm {
    /// Sets the vector of a node's text, by a model whose vectors callers bring. `revision` is that of the text that the
    /// vector was made of, so a late vector is never attached to another text.
    ///
    /// # Errors
    /// `model_unknown`, `model_retired`, `vector_unfit` (its length or its numbers, or a model that computes its own),
    /// `node_not_found`, `not_owner`, `revision_conflict`, or a database error. Nothing has changed then.
    pub async fn set_vector(
        &self,
        node: NodeId,
        revision: i32,
        model: &str,
        vector: &[f32],
        caller: &Caller,
    ) -> Result<VectorSet> {
        self.admit_caller(caller)?;
        self.admit_nodes(&[node]).await?;
        let model = self.model_that_takes(model, vector).await?;
        let mut tx = self.pool().begin().await?;
        let Some(found) = edit::lock_in_tx(&mut tx, node).await? else {
            return Err(missing(&mut *tx, node).await);
        };
        refuse_others(caller.owner(self.settings()), node, found.owner())?;
        expect_revision(node, found.revision, Some(revision))?;
        let namespace = &*found.namespace;
        let brought = Brought { node, namespace, revision: Some(revision), hash: None, vector };
        bring_in_tx(&mut tx, &model, &[brought]).await?;
        tx.commit().await?;
        Ok(VectorSet { node, revision, model: model.label })
    }

    /// Checks the vectors of a memory before it is written.
    pub(crate) async fn admit_vectors(&self, held: &mut Held<'_>, memory: &Memory) -> Result<()> {
        if memory.vectors.is_empty() {
            return Ok(());
        }
        if let Some(connection) = held {
            let models = embeddings::models_on(&mut **connection).await?;
            return memory
                .vectors
                .iter()
                .try_for_each(|(label, vector)| takes(&models, label, vector).map(drop));
        }
        for (label, vector) in &memory.vectors {
            self.model_that_takes(label, vector).await?;
        }
        Ok(())
    }

    /// Writes the vectors of memories that are written, or were before with the same text.
    pub(crate) async fn bring_vectors_in_tx(
        &self,
        connection: &mut PgConnection,
        nodes: &[NewNode<'_>],
        results: &[Result<Receipt>],
    ) -> Result<()> {
        let mut by_model: BTreeMap<&str, Vec<Brought<'_>>> = BTreeMap::new();
        for (node, result) in nodes.iter().zip(results) {
            let Ok(receipt) = result else { continue };
            for (label, vector) in &node.memory.vectors {
                let hash = Some(node.content_hash.to_vec());
                let (id, namespace) = (receipt.node, node.namespace);
                let brought = Brought { node: id, namespace, revision: None, hash, vector };
                by_model.entry(label).or_default().push(brought);
            }
        }
        if by_model.is_empty() {
            return Ok(());
        }
        let models = embeddings::models_on(&mut *connection).await?;
        for (label, vectors) in by_model {
            let model = embeddings::by_label(&models, label)?;
            bring_in_tx(connection, model, &vectors).await?;
        }
        Ok(())
    }

    /// The model with this label, if it takes the vector from a caller.
    async fn model_that_takes(&self, label: &str, vector: &[f32]) -> Result<RegisteredModel> {
        let models = self.models_with(Some(label)).await?;
        takes(&models, label, vector).cloned()
    }
}

/// The model of this label, if it takes the vector.
fn takes<'a>(models: &'a [RegisteredModel], label: &str, vector: &[f32]) -> Result<&'a RegisteredModel> {
    validate_vector(label, vector)?;
    let model = embeddings::by_label(models, label)?;
    if !model.is_of_callers() {
        return Err(unfit(label, "is computed by its provider"));
    }
    if !model.is_in_use() {
        return Err(retired(label));
    }
    check_dimensions(label, vector, model.dimensions)?;
    Ok(model)
}
