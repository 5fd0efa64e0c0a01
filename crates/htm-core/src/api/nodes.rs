//! Reading a node.

use chrono::{DateTime, Utc};

use crate::api::htm::Htm;
use crate::model::error::{Error, Result, codes};
use crate::model::id::NodeId;
use crate::model::learning::Signal;
use crate::model::nodes::{Node, Revision, TagAssignment, not_found_as_of};
use crate::store::again::again;
use crate::store::nodes;
use crate::store::then::Then;

impl Htm {
    /// All texts of a node, the oldest first; the last is the current one.
    ///
    /// # Errors
    /// `node_not_found`, also for a node that was forgotten, `answer_too_large`, or a database error.
    pub async fn revisions(&self, node: NodeId) -> Result<Vec<Revision>> {
        self.admit_nodes(&[node]).await?;
        let texts = nodes::revisions(self.pool(), node).await;
        texts.map_err(|error| match error.is(codes::ANSWER_TOO_LARGE) {
            true => error.with_hint("export the namespace, which has them all: `Htm::export`"),
            false => error,
        })
    }

    /// The tags of a node, with their origins, by their paths.
    ///
    /// # Errors
    /// `node_not_found`, also for a node that was forgotten, or a database error.
    pub async fn tags_of(&self, node: NodeId) -> Result<Vec<TagAssignment>> {
        self.admit_nodes(&[node]).await?;
        let tags = nodes::tags(self.pool(), node).await?;
        if tags.is_empty() {
            // An error if that is because there is no such node.
            nodes::get(self.pool(), None, node).await?;
        }
        Ok(tags)
    }

    /// A node by its id.
    ///
    /// # Errors
    /// `node_not_found`, also for one that was forgotten, or a database error.
    pub async fn get(&self, node: NodeId) -> Result<Node> {
        self.admit_nodes(&[node]).await?;
        self.get_in(None, node).await
    }

    async fn get_in(&self, namespace: Option<&str>, node: NodeId) -> Result<Node> {
        let found = nodes::get(self.pool(), namespace, node).await?;
        self.signal(&found.namespace, Signal::Read, &[node]).await;
        Ok(found)
    }

    /// A node as it stood at a time, with its text of that time. Fields without history, such as importance, have their
    /// current values.
    ///
    /// # Errors
    /// `node_not_found`, also for a node that was not remembered by then, or was forgotten; `time_in_future`, or a database
    /// error.
    pub async fn get_as_of(&self, node: NodeId, at: DateTime<Utc>) -> Result<Node> {
        self.admit_nodes(&[node]).await?;
        self.admit_as_of(Some(at)).await?;
        let mut found = nodes::as_of(self.pool(), &[node], Then::of(Some(at))).await?;
        let then = || self.settings().time.zone.tell(at);
        let mut found = found.pop().ok_or_else(|| not_found_as_of(node, &then()))?;
        self.count_tokens_of(&mut found);
        Ok(found)
    }

    /// The node with a key in a namespace (default: the handle's), or none.
    ///
    /// # Errors
    /// `namespace_invalid`, or a database error.
    pub async fn get_by_key(&self, namespace: Option<&str>, key: &str) -> Result<Option<Node>> {
        let namespace = self.namespace_or_own(namespace)?;
        let get = || async {
            match nodes::id_by_key(self.pool(), namespace, key).await? {
                Some(id) => self.get_in(Some(namespace), id).await.map(Some),
                None => Ok(None),
            }
        };
        let was_replaced = |error: &Error| error.is(codes::NODE_NOT_FOUND);
        again(was_replaced, get).await
    }
}
