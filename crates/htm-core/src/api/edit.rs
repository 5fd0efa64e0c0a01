//! Editing. A new text is a new revision, which is embedded and tagged again. Everything else is changed in place.

use serde_json::{Map, Value};
use sqlx::PgConnection;

use crate::api::htm::Htm;
use crate::model::caller::{Caller, refuse_others};
use crate::model::error::Result;
use crate::model::expiry::Expiry;
use crate::model::field_change::FieldChange;
use crate::model::id::NodeId;
use crate::model::learning::Signal;
use crate::model::memory::{
    MAX_KEY_BYTES, MAX_NAME_BYTES, MAX_SOURCE_BYTES, MAX_TAGS, content_hash, validate_content,
    validate_expiry, validate_importance, validate_metadata, validate_name, validate_text,
};
use crate::model::nodes::expect_revision;
use crate::model::operations::Kept;
use crate::model::tags::{TagPath, too_many_tags};
use crate::store::edit::{self as store, Current};
use crate::store::{expiry, jobs, nodes, operations, priorities, statistics, tags, tags_in_use};

/// An edit of a node. Fields that are not set stay.
///
/// ```
/// use htm_core::Edit;
/// let edit = Edit::new().content("We chose PostgreSQL 18 for the ledger.").importance(9.0).expected_revision(1);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edit {
    /// The new text.
    pub content: Option<String>,
    /// 1 to 10.
    pub importance: Option<f32>,
    /// Its key.
    pub key: FieldChange<String>,
    /// Its source.
    pub source: FieldChange<String>,
    /// Its kind: `fact`, `decision`, …
    pub kind: FieldChange<String>,
    /// Entries to set; null removes one (a JSON merge patch, RFC 7396, of one level).
    pub metadata: Map<String, Value>,
    /// Tags to add, as manual tags.
    pub add_tags: Vec<TagPath>,
    /// Tags to remove, of any origin. A tag-worker may assign one again when the text changes.
    pub remove_tags: Vec<TagPath>,
    /// When it expires.
    pub expires: FieldChange<Expiry>,
    /// The revision that the caller has read; the edit fails at any other. Revisions count texts, not other changes: two
    /// callers that change another field at the same revision both succeed.
    pub expected_revision: Option<i32>,
    /// The caller.
    pub caller: Caller,
}

impl Edit {
    /// An edit without changes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the text.
    pub fn content(mut self, content: impl Into<String>) -> Self {
        self.content = Some(content.into());
        self
    }

    /// Sets the importance, 1 to 10.
    pub fn importance(mut self, importance: f32) -> Self {
        self.importance = Some(importance);
        self
    }

    /// Sets the key.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = FieldChange::Set(key.into());
        self
    }

    /// Sets the source.
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.source = FieldChange::Set(source.into());
        self
    }

    /// Sets an entry of the metadata; null removes it.
    pub fn metadata(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(name.into(), value.into());
        self
    }

    /// Adds a tag.
    pub fn tag(mut self, tag: TagPath) -> Self {
        self.add_tags.push(tag);
        self
    }

    /// Removes a tag.
    pub fn untag(mut self, tag: TagPath) -> Self {
        self.remove_tags.push(tag);
        self
    }

    /// Sets when it expires.
    pub fn expires(mut self, expiry: Expiry) -> Self {
        self.expires = FieldChange::Set(expiry);
        self
    }

    /// Fails the edit if the text has another revision by now.
    pub fn expected_revision(mut self, revision: i32) -> Self {
        self.expected_revision = Some(revision);
        self
    }

    /// Sets the caller.
    pub fn caller(mut self, caller: Caller) -> Self {
        self.caller = caller;
        self
    }

    /// Checks what the database would reject, with a better error.
    ///
    /// # Errors
    /// As [`Memory::validate`](crate::Memory::validate).
    pub fn validate(&self) -> Result<()> {
        self.content.as_deref().map_or(Ok(()), validate_content)?;
        self.importance.map_or(Ok(()), validate_importance)?;
        self.key.set().map_or(Ok(()), |key| validate_name("key", key, MAX_KEY_BYTES))?;
        self.source.set().map_or(Ok(()), |source| validate_text("source", source, MAX_SOURCE_BYTES))?;
        self.kind.set().map_or(Ok(()), |kind| validate_text("type", kind, MAX_NAME_BYTES))?;
        self.expires.set().copied().map_or(Ok(()), validate_expiry)?;
        if self.add_tags.len() > MAX_TAGS {
            return Err(too_many_tags(format_args!("{} tags", self.add_tags.len()), MAX_TAGS));
        }
        validate_metadata(&self.metadata)
    }
}

/// The receipt of an edit.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Edited {
    /// The node.
    pub node: NodeId,
    /// Its revision now.
    pub revision: i32,
    /// The changed fields: `content`, `importance`, `key`, `source`, `type`, `metadata`, `expires`, `tags`. Empty: nothing was
    /// written.
    pub changed: Vec<&'static str>,
    /// Jobs enqueued for the new text.
    pub jobs: u64,
    /// Jobs of the old text that were ended.
    pub superseded: u64,
}

impl Htm {
    /// Edits a node. A new text is committed with its embedding and tagging jobs. Full text finds it at once; vectors
    /// find it by the old embedding, marked as stale, until the new one is ready. The former text is kept
    /// ([`revisions`](Self::revisions)) until the node is purged.
    ///
    /// # Errors
    /// The errors of [`Edit::validate`], `expiry_passed`, `node_not_found`, `not_owner`, `revision_conflict`, `key_taken`,
    /// `content_taken` (it would duplicate another node), `namespace_full` (no room for a new tag), `robot_forbidden`,
    /// `quota_exceeded`, `contended`, or a database error. Nothing has changed then.
    pub async fn edit(&self, node: NodeId, edit: &Edit) -> Result<Edited> {
        self.edit_once(node, edit, None).await
    }

    /// As [`edit`](Self::edit), and keeps the answer to an operation. Nothing is kept of an edit that changes nothing.
    ///
    /// # Errors
    /// As [`edit`](Self::edit).
    pub async fn edit_once(
        &self,
        node: NodeId,
        edit: &Edit,
        kept: Option<Kept<'_, Edited>>,
    ) -> Result<Edited> {
        let keep = async |connection: &mut PgConnection, edited: &Edited| {
            operations::keep_in_tx(connection, kept, edited).await
        };
        self.edit_and(node, edit, keep).await
    }

    /// As [`edit`](Self::edit), with something else that commits with it. Nothing else is done if nothing has changed.
    pub(crate) async fn edit_and(
        &self,
        node: NodeId,
        edit: &Edit,
        and: impl AsyncFnOnce(&mut PgConnection, &Edited) -> Result<()>,
    ) -> Result<Edited> {
        let mut grown = None;
        let edited = self.try_edit(node, edit, and, &mut grown).await;
        if let (Err(_), Some(namespace)) = (&edited, grown) {
            self.rooms().forget(&namespace).await;
        }
        edited
    }

    /// Edits. `grown` is the namespace that room was taken in, once it is.
    async fn try_edit(
        &self,
        node: NodeId,
        edit: &Edit,
        and: impl AsyncFnOnce(&mut PgConnection, &Edited) -> Result<()>,
        grown: &mut Option<String>,
    ) -> Result<Edited> {
        edit.validate()?;
        self.admit_caller(&edit.caller)?;
        self.admit_nodes(&[node]).await?;
        self.admit_expiry(&mut None, edit.expires.set().copied()).await?;
        let mut tx = self.pool().begin().await?;
        let add_tags = self.register_tags_in_tx(&mut tx, node, edit).await?;
        let Some(before) = store::lock_in_tx(&mut tx, node).await? else {
            return Err(nodes::missing(&mut *tx, node).await);
        };
        refuse_others(edit.caller.owner(self.settings()), node, before.owner())?;
        expect_revision(node, before.revision, edit.expected_revision)?;
        let author = edit.caller.robot(self.settings());
        let (mut after, mut changed) = apply(&before, edit);
        validate_metadata(&after.metadata)?;
        let hash = edit.content.as_deref().map(content_hash);
        let text = edit.content.as_deref().filter(|_| hash.is_some_and(|hash| before.content_hash != hash));
        let _taken;
        if let (Some(text), Some(hash)) = (text, hash) {
            let longer = text.len().saturating_sub(before.bytes as usize);
            *grown = Some(after.namespace.clone());
            _taken = self.make_room(&mut Some(&mut **tx), &after.namespace, 0, longer).await?;
            changed.insert(0, "content");
            after.content_hash = hash.to_vec();
            after.revision += 1;
        }
        if let Err(error) = self.write_edit_in_tx(&mut tx, node, &after, (text, author), &changed).await {
            tx.rollback().await?;
            return Err(nodes::taken(self.pool(), node, &after.unique_keys(), error).await);
        }
        if let (true, expiry) = edit.expires.parts() {
            // A time to live always starts again.
            let is_same = expiry.is_none_or(|expiry| expiry.at().is_some())
                && (before.expires_at, before.ttl_seconds) == (expiry.and_then(Expiry::at), None);
            if !is_same {
                expiry::set_in_tx(&mut tx, &after.namespace, node, expiry).await?;
                changed.push("expires");
            }
        }
        // As written, as the rules write it, and as it is in use.
        let stored = self.stored_form(&edit.remove_tags)?;
        let named: Vec<_> = stored.iter().map(|tag| (after.namespace.as_str(), tag.as_str())).collect();
        let mut remove_tags = tags_in_use::names(&mut *tx, self.tag_rules(), &named).await?;
        remove_tags.extend(edit.remove_tags.iter().chain(&stored).map(ToString::to_string));
        if change_tags_in_tx(&mut tx, node, &after.namespace, (&add_tags, &remove_tags)).await? {
            changed.push("tags");
        }
        let (mut superseded, mut enqueued) = (0, 0);
        if text.is_some() {
            superseded = store::supersede_in_tx(&mut tx, &after.namespace, node).await?;
            enqueued = self.enqueue_lacking_in_tx(&mut tx, &after.namespace, &[node]).await?;
        }
        let edited = Edited { node, revision: after.revision, changed, jobs: enqueued, superseded };
        if edited.changed.is_empty() {
            tx.rollback().await?;
        } else {
            and(&mut tx, &edited).await?;
            if text.is_some() {
                statistics::note_changed_in_tx(&mut tx, &after.namespace, 1).await?;
            }
            tx.commit().await?;
            if enqueued > 0 {
                self.pinger().ping();
            }
            self.signal(&after.namespace, Signal::Edited, &[node]).await;
        }
        Ok(edited)
    }

    /// Registers tags before the node is locked, in the order of the taggers. The other order would deadlock.
    async fn register_tags_in_tx(
        &self,
        connection: &mut PgConnection,
        node: NodeId,
        edit: &Edit,
    ) -> Result<Vec<String>> {
        if edit.add_tags.is_empty() {
            return Ok(Vec::new());
        }
        let tags = self.tag_rules().stored(&edit.add_tags)?;
        let Some(namespace) = store::namespace(connection, node).await? else {
            return Err(nodes::missing(connection, node).await);
        };
        let paths: Vec<_> = tags.iter().map(|tag| (namespace.as_str(), tag.as_str())).collect();
        let names = tags::register_in_tx(connection, &paths, self.tag_rules()).await?;
        tags.iter().map(|tag| Ok(names.of(&namespace, tag.as_str())?.to_owned())).collect()
    }

    fn stored_form(&self, tags: &[TagPath]) -> Result<Vec<TagPath>> {
        let rules = &self.settings().tag_rules;
        tags.iter().map(|tag| Ok(rules.normalise(tag.as_str())?)).collect()
    }

    async fn write_edit_in_tx(
        &self,
        connection: &mut PgConnection,
        node: NodeId,
        after: &Current,
        (text, author): (Option<&str>, &str),
        changed: &[&'static str],
    ) -> Result<()> {
        if changed.iter().any(|field| *field != "content") {
            store::write_details_in_tx(connection, node, after).await?;
        }
        if let Some(text) = text {
            let encoding = self.settings().token_encoding;
            let tokens = i32::try_from(encoding.count(text)).unwrap_or(i32::MAX);
            let tokens = (tokens, encoding.as_ref());
            store::write_text_in_tx(connection, node, after, text, author, tokens).await?;
        }
        Ok(())
    }

    /// Enqueues the missing jobs of live nodes, for every model in use and for tags. Those of many nodes are claimed later, as
    /// those of many new ones are.
    pub(crate) async fn enqueue_lacking_in_tx(
        &self,
        connection: &mut PgConnection,
        namespace: &str,
        nodes: &[NodeId],
    ) -> Result<u64> {
        let priority = match nodes.len() > nodes::MANY_AT_ONCE {
            true => {
                let written = nodes.iter().map(|_| namespace);
                priorities::in_bulk(&mut *connection, written).await?[namespace]
            }
            false => priorities::LIVE,
        };
        let settings = self.settings();
        let models = (settings.embedding_model.to_string(), settings.tag_model.to_string());
        jobs::enqueue_lacking_in_tx(
            connection,
            namespace,
            nodes,
            (&models.0, &models.1),
            settings.max_attempts,
            priority,
        )
        .await
    }
}

/// The node after the edit, except for its text and tags, and the names of the changed fields.
fn apply(before: &Current, edit: &Edit) -> (Current, Vec<&'static str>) {
    let mut after = before.clone();
    if let Some(importance) = edit.importance {
        after.importance = importance;
    }
    for (name, value) in &edit.metadata {
        match value {
            Value::Null => after.metadata.remove(name),
            value => after.metadata.insert(name.clone(), value.clone()),
        };
    }
    let changes = [
        ("importance", after.importance != before.importance),
        ("key", edit.key.apply(&mut after.key)),
        ("source", without_blank(&edit.source).apply(&mut after.source)),
        ("type", without_blank(&edit.kind).apply(&mut after.kind)),
        ("metadata", after.metadata != before.metadata),
    ];
    let changed = changes.into_iter().filter(|(_, changes)| *changes).map(|(field, _)| field).collect();
    (after, changed)
}

/// A change to an empty text clears the field.
fn without_blank(change: &FieldChange<String>) -> FieldChange<String> {
    match change {
        FieldChange::Set(text) if text.trim().is_empty() => FieldChange::Clear,
        change => change.clone(),
    }
}

/// Adds registered tags, and removes tags. Returns whether anything changed.
async fn change_tags_in_tx(
    connection: &mut PgConnection,
    node: NodeId,
    namespace: &str,
    (add, remove): (&[String], &[String]),
) -> Result<bool> {
    let mut count = 0;
    if !remove.is_empty() {
        let paths: Vec<&str> = remove.iter().map(String::as_str).collect();
        count += tags::unassign_in_tx(connection, (node, namespace), &paths).await?;
    }
    if !add.is_empty() {
        let tags: Vec<_> = add.iter().map(|tag| (node, namespace, tag.as_str())).collect();
        count += tags::assign_manual_in_tx(connection, &tags).await?;
    }
    Ok(count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node() -> Current {
        Current {
            namespace: "n".into(),
            robot: "r".into(),
            key: Some("k".into()),
            bytes: 1,
            content_hash: vec![0; 32],
            source: None,
            kind: None,
            importance: 1.0,
            metadata: Map::from_iter([("a".into(), 1.into()), ("b".into(), 2.into())]),
            revision: 1,
            duplicate_scope: None,
            expires_at: None,
            ttl_seconds: None,
        }
    }

    #[test]
    fn what_is_not_named_stays_and_the_same_is_no_change() {
        let same = Edit::new().importance(1.0).key("k").metadata("a", 1);
        for edit in [Edit::new(), same, Edit { source: FieldChange::Clear, ..Edit::new() }] {
            assert_eq!(apply(&node(), &edit), (node(), vec![]));
        }
        let edit = Edit {
            key: FieldChange::Clear,
            ..Edit::new().source("s").metadata("a", Value::Null).metadata("c", 3)
        };
        let (after, changed) = apply(&node(), &edit);
        assert_eq!(changed, ["key", "source", "metadata"]);
        assert_eq!((after.key, after.source), (None, Some("s".into())));
        assert_eq!(Value::from(after.metadata), serde_json::json!({"b": 2, "c": 3}));
    }

    #[test]
    fn bad_input_has_a_code_each() {
        let code = |edit: Edit| edit.validate().unwrap_err().code();
        assert_eq!(code(Edit::new().content(" ")), "content_empty");
        assert_eq!(code(Edit::new().content("a\0")), "nul_byte");
        assert_eq!(code(Edit::new().importance(f32::NAN)), "importance_out_of_range");
        assert_eq!(code(Edit::new().key("")), "key_invalid");
        assert_eq!(code(Edit::new().source("\0")), "nul_byte");
        assert_eq!(code(Edit::new().metadata("a", "\0")), "nul_byte");
    }
}
