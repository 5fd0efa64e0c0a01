//! Documents: loading, listing and unloading. Each is written in one transaction: it is whole, or as it was before.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use sqlx::PgConnection;

use crate::api::htm::Htm;
use crate::api::remember::noted;
use crate::api::rooms::Taken;
use crate::model::caller::{Caller, refuse_others};
use crate::model::documents::{
    Document, DocumentInfo, LoadOutcome, LoadPlan, LoadedDocument, UnloadedDocuments, normal_path, not_found,
    validate_path,
};
use crate::model::error::{Error, Result};
use crate::model::filter::validate_limit;
use crate::model::forget::ForgetReason;
use crate::model::id::NodeId;
use crate::model::memory::{MAX_SOURCE_BYTES, validate_text};
use crate::model::nodes::Node;
use crate::model::quotas::QuotaUse;
use crate::model::tags::TagPath;
use crate::store::connections::Db;
use crate::store::documents::{self as store, Found, Which};
use crate::store::{forget, replace, robots, statistics, tags};

/// The most documents that one statement reads.
const PAGE: i64 = 1_000;

impl Htm {
    /// Loads a document: its passages are remembered in the place of those that it had. A passage with the same text keeps
    /// its node, its vectors and its tags, wherever it stands in the document, and gets the document's time. So does one that
    /// was forgotten when the document was unloaded. The others are forgotten. A document without a change is not written.
    /// Loads of one document at the same time are done one after the other.
    ///
    /// # Errors
    /// `document_path_invalid`, `document_size`, `not_owner`, `quota_exceeded`, `contended`, and those of
    /// [`remember`](Self::remember) for any of the passages. Nothing has changed then.
    pub async fn load_document(&self, document: &Document, caller: &Caller) -> Result<LoadedDocument> {
        self.load(document, caller, true).await
    }

    /// Tells what [`load_document`](Self::load_document) would do. Writes nothing.
    ///
    /// # Errors
    /// `document_path_invalid`, `document_size`, or a database error.
    pub async fn plan_document(&self, document: &Document, caller: &Caller) -> Result<LoadedDocument> {
        self.load(document, caller, false).await
    }

    async fn load(&self, document: &Document, caller: &Caller, writes: bool) -> Result<LoadedDocument> {
        let named;
        let document = match normal_path(&document.path) {
            Cow::Borrowed(_) => document,
            Cow::Owned(path) => {
                named = Document { path, ..document.clone() };
                &named
            }
        };
        document.validate()?;
        document.title.as_deref().map_or(Ok(()), |title| validate_text("title", title, MAX_SOURCE_BYTES))?;
        self.admit_caller(caller)?;
        let namespace = self.written_or_own(document.namespace.as_deref())?;
        let stored_tags = self.tag_rules().stored(&document.tags)?;
        let mut tx = self.pool().begin().await?;
        replace::hold_in_tx(&mut tx, &[namespace], &[&document.path]).await?;
        let found = store::find_in_tx(&mut tx, namespace, &document.path).await?;
        let mut known = store::known_in_tx(&mut tx, namespace, &document.path).await?;
        if found.is_none() {
            let owner = caller.owner(self.settings());
            known.extend(store::unloaded_in_tx(&mut tx, namespace, &document.path, owner).await?);
        }
        let total = document.passages.len() as u64;
        if found.as_ref().is_some_and(|it| is_same(it, document, &stored_tags)) {
            return Ok(LoadedDocument {
                path: document.path.clone(),
                outcome: LoadOutcome::Unchanged,
                passages: total,
                written: 0,
                kept: total,
                forgotten: 0,
            });
        }
        let sizes: HashMap<NodeId, i64> = known.iter().map(|(known, bytes)| (known.node, *bytes)).collect();
        let known = known.into_iter().map(|(known, _)| known).collect();
        let plan = document.plan(namespace, caller.robot(self.settings()), known);
        let loaded = LoadedDocument {
            path: document.path.clone(),
            outcome: if found.is_some() { LoadOutcome::Changed } else { LoadOutcome::Loaded },
            passages: total,
            written: plan.written.len() as u64,
            kept: plan.kept.len() as u64,
            forgotten: plan.gone.len() as u64,
        };
        if !writes {
            return Ok(loaded);
        }
        let bytes = |nodes: &[NodeId]| -> i64 { nodes.iter().filter_map(|node| sizes.get(node)).sum() };
        let (freed, again) = (bytes(&plan.gone), bytes(&plan.restored));
        let (gone, restored) = (plan.gone.len(), plan.restored.len());
        let less = QuotaUse { memories: gone.saturating_sub(restored) as i64, bytes: (freed - again).max(0) };
        let more = (restored.saturating_sub(gone) as i64, (again - freed).max(0) as usize);
        let former = found.map(|it| it.info.tags).unwrap_or_default();
        let written = async {
            // A count sees neither what goes nor what comes back yet, so their difference is taken. Other connections see
            // it after the commit, so all room is kept until then.
            let _of_restored = match more {
                (0, 0) => None,
                (memories, bytes) => {
                    Some(self.make_room(&mut Some(&mut **tx), namespace, memories, bytes).await?)
                }
            };
            let leaving = self.rooms().leaving(Db::from(&mut **tx), namespace, less).await?;
            let (changed, _of_written) =
                self.write_plan_in_tx(&mut tx, namespace, caller, &plan, (&former, &stored_tags)).await?;
            store::put_in_tx(&mut tx, namespace, document, &stored_tags).await?;
            if changed > 0 {
                statistics::note_changed_in_tx(&mut tx, namespace, changed).await?;
            }
            tx.commit().await?;
            leaving.give();
            Ok(())
        };
        if let Err(error) = written.await {
            // Nothing has gone, and nothing has come.
            self.rooms().forget(namespace).await;
            return Err(error);
        }
        self.pinger().ping();
        Ok(loaded)
    }

    /// Returns the number of passages that the namespace's statistics have to note, and the room of the new ones.
    async fn write_plan_in_tx(
        &self,
        tx: &mut PgConnection,
        namespace: &str,
        caller: &Caller,
        plan: &LoadPlan,
        (former, now): (&[TagPath], &[TagPath]),
    ) -> Result<(usize, Vec<Taken>)> {
        // Robots before tags, tags before nodes, as everywhere.
        if !plan.written.is_empty() {
            robots::register_in_tx(tx, &[(namespace, caller.robot(self.settings()))]).await?;
        }
        let paths: Vec<(&str, &str)> = now.iter().map(|tag| (namespace, tag.as_str())).collect();
        let names = tags::register_in_tx(tx, &paths, self.tag_rules()).await?;
        let new: Vec<&TagPath> = now.iter().filter(|tag| !former.contains(tag)).collect();
        let old: Vec<TagPath> = former.iter().filter(|tag| !now.contains(tag)).cloned().collect();
        let mut touched = plan.gone.clone();
        touched.extend(plan.moved.iter().map(|it| it.node));
        touched.extend(&plan.restored);
        if !new.is_empty() || !old.is_empty() {
            touched.extend(&plan.kept);
        }
        self.restore_unloaded_in_tx(tx, namespace, &plan.restored, &touched).await?;
        let locked = self.lock_own_in_tx(tx, caller, &touched).await?;
        let gone: HashSet<NodeId> = plan.gone.iter().copied().collect();
        let gone: Vec<_> = locked.into_iter().filter(|it| gone.contains(&it.id)).collect();
        forget::forget_in_tx(tx, &gone, ForgetReason::Asked).await?;
        store::move_in_tx(tx, namespace, &plan.moved).await?;
        store::untag_in_tx(tx, namespace, &plan.kept, &old).await?;
        let mut assigned = Vec::new();
        for node in &plan.kept {
            for tag in &new {
                assigned.push((*node, namespace, names.of(namespace, tag.as_str())?));
            }
        }
        if !assigned.is_empty() {
            tags::assign_manual_in_tx(tx, &assigned).await?;
        }
        if !plan.restored.is_empty() {
            self.enqueue_lacking_in_tx(tx, namespace, &plan.restored).await?;
        }
        let changed = gone.len() + plan.restored.len();
        if plan.written.is_empty() {
            return Ok((changed, Vec::new()));
        }
        let held = &mut Some(&mut *tx);
        let (results, mut accepted, taken) = self.sort(held, &plan.written, None).await?;
        if let Some(refused) = results.into_iter().flatten().find_map(Result::err) {
            return Err(refused);
        }
        self.prioritise(held, &mut accepted).await?;
        let written = self.write_unnoted_in_tx(tx, &accepted).await?;
        match written.into_iter().find_map(Result::err) {
            Some(error) => Err(error),
            None => Ok((changed + noted(&accepted).count(), taken)),
        }
    }

    /// Restores passages that were forgotten when their document was unloaded, after a lock of all nodes that the load touches.
    /// Fails if a purge or another writer has come before it.
    async fn restore_unloaded_in_tx(
        &self,
        tx: &mut PgConnection,
        namespace: &str,
        unloaded: &[NodeId],
        touched: &[NodeId],
    ) -> Result<()> {
        if unloaded.is_empty() {
            return Ok(());
        }
        if !store::lock_unloaded_in_tx(tx, namespace, touched, unloaded).await? {
            return Err(Error::contended());
        }
        match forget::restore_in_tx(tx, namespace, unloaded).await {
            // The next load leaves out what has a live node by then.
            Err(error)
                if error.violates("nodes_namespace_key_key") || error.violates("nodes_duplicate_key") =>
            {
                Err(Error::contended())
            }
            result => result,
        }
    }

    /// Locks nodes that the caller may change.
    async fn lock_own_in_tx(
        &self,
        tx: &mut PgConnection,
        caller: &Caller,
        nodes: &[NodeId],
    ) -> Result<Vec<forget::Locked>> {
        let locked = forget::lock_in_tx(tx, nodes).await?;
        for node in &locked {
            refuse_others(caller.owner(self.settings()), node.id, node.owner())?;
        }
        Ok(locked)
    }

    /// Unloads a document, or all documents below a directory (`.`: all with relative paths): their passages are forgotten. Each
    /// document is unloaded in a transaction of its own. [`restore`](Self::restore) brings single passages back, and loading the file all of them.
    ///
    /// # Errors
    /// `document_path_invalid`, `document_not_found`, `not_owner`, or a database error.
    pub async fn unload_documents(
        &self,
        namespace: Option<&str>,
        path: &str,
        caller: &Caller,
    ) -> Result<UnloadedDocuments> {
        let path = &*normal_path(path);
        validate_path(path)?;
        self.admit_caller(caller)?;
        let namespace = self.namespace_or_own(namespace)?;
        let below = path.trim_end_matches('/');
        let mut unloaded = UnloadedDocuments::default();
        loop {
            let which = Which { below: Some(below), ..Which::default() };
            let page = store::list(self.pool(), namespace, &which, PAGE).await?;
            if page.is_empty() {
                break;
            }
            for document in page {
                unloaded.forgotten += self.unload(namespace, &document.path, caller).await?;
                unloaded.documents.push(document.path);
            }
        }
        if unloaded.documents.is_empty() { Err(not_found(path, namespace)) } else { Ok(unloaded) }
    }

    /// Forgets the passages of one document. Returns their number.
    async fn unload(&self, namespace: &str, path: &str, caller: &Caller) -> Result<u64> {
        let mut tx = self.pool().begin().await?;
        replace::hold_in_tx(&mut tx, &[namespace], &[path]).await?;
        let found = store::find_in_tx(&mut tx, namespace, path).await?;
        let known = store::known_in_tx(&mut tx, namespace, path).await?;
        let nodes: Vec<NodeId> = known.iter().map(|(known, _)| known.node).collect();
        let locked = self.lock_own_in_tx(&mut tx, caller, &nodes).await?;
        // The next load gives them the tags that the document has then.
        let tags = found.map(|it| it.info.tags).unwrap_or_default();
        store::untag_in_tx(&mut tx, namespace, &nodes, &tags).await?;
        forget::forget_in_tx(&mut tx, &locked, ForgetReason::Unloaded).await?;
        store::remove_in_tx(&mut tx, namespace, path).await?;
        forget::note_in_tx(&mut tx, &locked).await?;
        tx.commit().await?;
        self.give_room_of(&locked).await;
        Ok(locked.len() as u64)
    }

    /// A page of the documents of a namespace (default: the handle's), in the order of their paths: after a path, and only
    /// those at or below `below`, if given (`.`: those with relative paths).
    ///
    /// # Errors
    /// `limit_out_of_range`, `namespace_invalid`, `namespace_forbidden`, or a database error.
    pub async fn documents(
        &self,
        namespace: Option<&str>,
        below: Option<&str>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<DocumentInfo>> {
        validate_limit(limit)?;
        let below = below.map(normal_path);
        let which = Which { path: None, after, below: below.as_deref().map(|it| it.trim_end_matches('/')) };
        store::list(self.pool(), self.namespace_or_own(namespace)?, &which, limit as i64).await
    }

    /// A document.
    ///
    /// # Errors
    /// `document_not_found`, `namespace_invalid`, `namespace_forbidden`, or a database error.
    pub async fn document(&self, namespace: Option<&str>, path: &str) -> Result<DocumentInfo> {
        let namespace = self.namespace_or_own(namespace)?;
        let path = &*normal_path(path);
        let which = Which { path: Some(path), ..Which::default() };
        let found = store::list(self.pool(), namespace, &which, 1).await?;
        found.into_iter().next().ok_or_else(|| not_found(path, namespace))
    }

    /// A page of the passages of a document, in its order, after a position (the `seq` of a passage).
    ///
    /// # Errors
    /// `limit_out_of_range`, `namespace_invalid`, `namespace_forbidden`, `answer_too_large`, or a database error.
    pub async fn passages(
        &self,
        namespace: Option<&str>,
        path: &str,
        after: Option<i32>,
        limit: usize,
    ) -> Result<Vec<Node>> {
        validate_limit(limit)?;
        let (namespace, path) = (self.namespace_or_own(namespace)?, normal_path(path));
        store::passages(self.pool(), namespace, &path, after, limit as i64).await
    }
}

/// Whether nothing has to be written: neither the file has changed, nor what the memory has of it.
fn is_same(found: &Found, document: &Document, tags: &[TagPath]) -> bool {
    found.digest.as_deref() == Some(&document.digest[..])
        && found.info.tags == tags
        && found.loaded == found.info.passages
}
