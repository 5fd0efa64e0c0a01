//! Relations between memories.

use sqlx::PgConnection;

use crate::api::htm::Htm;
use crate::model::caller::{Caller, refuse_others};
use crate::model::error::Result;
use crate::model::filter::validate_limit;
use crate::model::id::NodeId;
use crate::model::models::ModelState;
use crate::model::nodes::{Node, not_found};
use crate::model::recall::{Hit, RecallQuery, Strategy};
use crate::model::refine::diversity::{NEAR_DUPLICATE, are_alike};
use crate::model::relations::{
    self as model, Related, RelatedBy, RelatedNode, Relating, Relation, RelationKind, Superseded,
};
use crate::store::relations::{self as store, End};
use crate::store::{candidates, nodes};

impl Htm {
    /// Sets a relation: node `from` supersedes or contradicts node `to`. Both are in one namespace. The caller must have
    /// remembered `from` first; `to` may be of any robot. A relation that is set already stays as it is.
    ///
    /// The newest statement holds: if `to` superseded `from`, directly or through others, the relations by which it did so
    /// are removed. For each of them, the caller must have remembered the node from which it goes.
    ///
    /// ```no_run
    /// # async fn example(htm: htm_core::Htm) -> htm_core::Result<()> {
    /// use htm_core::{Caller, NodeId, RelationKind};
    /// let reason = Some("the vendor certified 18");
    /// htm.relate(NodeId(42), RelationKind::Supersedes, NodeId(17), reason, &Caller::Handle).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `relation_invalid`, `field_too_long` (the reason), `node_not_found`, `not_owner`, `relation_cycle` (`to` supersedes
    /// `from` by a relation of a node of another robot), or a database error. Nothing has changed then.
    pub async fn relate(
        &self,
        from: NodeId,
        kind: RelationKind,
        to: NodeId,
        reason: Option<&str>,
        caller: &Caller,
    ) -> Result<Relating> {
        model::validate(from, kind, to, reason)?;
        self.admit_caller(caller)?;
        self.admit_nodes(&[from, to]).await?;
        let mut tx = self.pool().begin().await?;
        let ends = store::lock_in_tx(&mut tx, &[from, to]).await?;
        let of = |node| ends.iter().find(|end| end.id == node).ok_or(node);
        let (first, second): (&End, &End) = match (of(from), of(to)) {
            (Ok(first), Ok(second)) => (first, second),
            (Err(node), _) | (_, Err(node)) => return Err(nodes::missing(&mut *tx, node).await),
        };
        refuse_others(caller.owner(self.settings()), from, first.owner())?;
        if first.namespace != second.namespace {
            return Err(model::of_two_namespaces((from, &first.namespace), (to, &second.namespace)));
        }
        store::hold_in_tx(&mut tx, &first.namespace).await?;
        if let Some(relation) = store::get(&mut tx, &first.namespace, (from, kind, to)).await? {
            return Ok(Relating { relation, is_new: false, removed: Vec::new() });
        }
        let removed = match kind {
            RelationKind::Supersedes => self.make_current_in_tx(&mut tx, first, to, caller).await?,
            RelationKind::Contradicts => Vec::new(),
        };
        let robot = caller.robot(self.settings());
        let relation =
            store::insert_in_tx(&mut tx, &first.namespace, (from, kind, to), (reason, robot, None)).await?;
        tx.commit().await?;
        Ok(Relating { relation, is_new: true, removed })
    }

    /// Removes the relations by which `to` supersedes `from`, directly or through others: they would close a circle. The
    /// relations of the namespace are held.
    async fn make_current_in_tx(
        &self,
        tx: &mut PgConnection,
        from: &End,
        to: NodeId,
        caller: &Caller,
    ) -> Result<Vec<Relation>> {
        let mut removed = Vec::new();
        for last in store::closing(tx, &from.namespace, from.id, to).await? {
            if refuse_others(caller.owner(self.settings()), last.id, last.owner()).is_err() {
                let mut chain = store::chain(tx, &from.namespace, last.id, to).await?;
                chain.push(from.id);
                return Err(model::cycle(from.id, to, &chain).with_value("robot", last.owner().robot));
            }
            let between = (last.id, RelationKind::Supersedes, from.id);
            if let Some(relation) = store::get(tx, &from.namespace, between).await? {
                store::delete_in_tx(tx, &from.namespace, &relation).await?;
                removed.push(relation);
            }
        }
        Ok(removed)
    }

    /// Removes a relation. Returns it as it was.
    ///
    /// # Errors
    /// `relation_unknown`, `node_not_found`, `not_owner` (another robot remembered the node from which the relation goes),
    /// or a database error.
    pub async fn unrelate(
        &self,
        from: NodeId,
        kind: RelationKind,
        to: NodeId,
        caller: &Caller,
    ) -> Result<Relation> {
        self.admit_caller(caller)?;
        self.admit_nodes(&[from, to]).await?;
        let mut tx = self.pool().begin().await?;
        // Both ends of a relation are of one namespace.
        let ends = store::lock_in_tx(&mut tx, &[from, to]).await?;
        let namespace = &ends.first().ok_or_else(|| not_found(from))?.namespace;
        let found = store::get(&mut tx, namespace, (from, kind, to)).await?;
        let relation = found.ok_or_else(|| model::unknown(from, kind, to))?;
        let owner =
            ends.iter().find(|end| end.id == relation.from).ok_or_else(|| not_found(relation.from))?;
        refuse_others(caller.owner(self.settings()), relation.from, owner.owner())?;
        store::delete_in_tx(&mut tx, namespace, &relation).await?;
        tx.commit().await?;
        Ok(relation)
    }

    /// The nodes that a node is related to, at most `limit` in each way, or in one way alone. Near-duplicates are found by
    /// the vectors of the active model, and nodes with the same rare tags (of at most 20 nodes) by these. No language
    /// model is called.
    ///
    /// # Errors
    /// `node_not_found`, `limit_out_of_range`, or a database error.
    pub async fn related(&self, node: NodeId, by: Option<RelatedBy>, limit: usize) -> Result<Related> {
        validate_limit(limit)?;
        let asked = self.get(node).await?;
        let wants = |way| by.is_none_or(|by| by == way);
        let mut related = Vec::new();
        let mut not_searched = Vec::new();
        if [RelatedBy::Supersedes, RelatedBy::SupersededBy, RelatedBy::Contradicts].into_iter().any(wants) {
            related.extend(store::set(self.pool(), node, &asked.namespace, by, limit).await?);
        }
        if wants(RelatedBy::NearDuplicate) {
            match self.near_duplicates(&asked, limit).await? {
                Ok(found) => related.extend(found),
                Err(why) => not_searched.push(why),
            }
        }
        if wants(RelatedBy::SharedTags) {
            related.extend(store::sharing_tags(self.pool(), node, &asked.namespace, limit).await?);
        }
        Ok(Related {
            node,
            former_texts: store::former_texts(self.pool(), node, &asked.namespace).await?,
            related,
            not_searched,
        })
    }

    /// The superseded ones of the nodes, each with its successors.
    ///
    /// # Errors
    /// `node_not_found` on a handle that does not see the namespace of one of them, or a database error.
    pub async fn superseded(&self, nodes: &[NodeId]) -> Result<Vec<Superseded>> {
        self.admit_read_nodes(nodes).await?;
        store::superseded(self.pool(), nodes).await
    }

    /// The nodes of its namespace whose texts mean nearly the same, the nearest first; or why none can be found.
    async fn near_duplicates(&self, node: &Node, limit: usize) -> Result<Result<Vec<RelatedNode>, String>> {
        let models = self.recent_models().await?;
        let Some(model) = models.iter().find(|model| model.state == ModelState::Active) else {
            return Ok(Err("near-duplicates: no embedding model is active".into()));
        };
        let vectors = candidates::vectors(self.pool(), model, &[(node.id, &node.namespace)]).await?;
        let Some((_, vector)) = vectors.get(&node.id) else {
            return Ok(Err("near-duplicates: the memory has no vector yet".into()));
        };
        let query = RecallQuery {
            strategy: Strategy::Vector,
            vector: Some(vector.clone()),
            models: vec![model.label.clone()],
            min_similarity: Some(NEAR_DUPLICATE),
            correct: false,
            ..RecallQuery::new("").namespace(&node.namespace).limit(limit.saturating_add(1).min(10_000))
        };
        let found = self.search(&query, &[]).await?;
        let near = |hit: Hit| RelatedNode {
            by: RelatedBy::NearDuplicate,
            node: hit.node.id,
            robot: hit.node.robot,
            created_at: hit.node.created_at,
            excerpt: hit.node.content.chars().take(100).collect(),
            reason: None,
            made_by: None,
            made_at: None,
            similarity: hit.scores.similarity,
            tags: Vec::new(),
        };
        let is_alike = |hit: &Hit| hit.node.id != node.id && are_alike(&hit.node.content, &node.content);
        let others = found.hits.into_iter().filter(is_alike);
        Ok(Ok(others.take(limit).map(near).collect()))
    }
}
