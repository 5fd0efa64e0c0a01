//! Changes undone.

use std::collections::BTreeMap;

use serde_json::json;

use super::change::{ChangeKind, Changed};
use super::error::TagError;
use super::names::{Draft, Meaning, NameChange, parse};
use super::{Ontology, names};
use crate::error::Result;
use crate::store::tag_changes as store;
use crate::tag::TagRules;

impl Ontology<'_> {
    /// Undoes a change, in one transaction that is logged as a change of its own: reverting that does it again.
    ///
    /// Names become what they were. Nodes get back the assignments that the change took from them, as they were, and lose
    /// those that it gave them. What came since stays: an assignment that is not any more as the change made it; what a
    /// model said of a node that was tagged again; a tag that the change made and that is used by now ([`Changed::kept`]).
    /// A tag that was made since below one that goes back goes along. After a split, the jobs that nobody has begun are ended, and all
    /// nodes have the tag again beside what they got.
    ///
    /// # Errors
    /// `change_unknown`; `change_reverted`; `changed_since`, when a name is not any more what the change made it: then
    /// nothing is undone; `tag_unmovable`; or a database error.
    pub async fn revert(&self, change: i64) -> Result<Changed> {
        let mut open = self.open().await?;
        let past = store::past(&mut open.tx, self.namespace, change).await?;
        let Some(past) = past else {
            return Err(TagError::ChangeUnknown { change, namespace: self.namespace.into() }.into());
        };
        if let Some(by) = past.reverted_by {
            return Err(TagError::ChangeReverted { change, by }.into());
        }
        let log = store::past_names(&mut open.tx, change).await?;
        if let Some(name) = log.iter().find(|name| !is_as_left(&open.draft.before, name)) {
            let by = store::touched_since(&mut open.tx, change, &name.path).await?;
            return Err(TagError::ChangedSince { change, name: name.path.clone(), by }.into());
        }
        // A name that it freed may be a tag again because somebody has used it, not because a later change made it one.
        for name in
            log.iter().filter(|it| it.after.is_none() && open.draft.before.meaning(&it.path).is_some())
        {
            let by = store::touched_since(&mut open.tx, change, &name.path).await?;
            if by.is_some() {
                return Err(TagError::ChangedSince { change, name: name.path.clone(), by }.into());
            }
        }
        go_back(&mut open.draft, self.htm.tag_rules(), change, &log)?;

        let namespace = self.namespace;
        let (tx, draft) = (&mut open.tx, &mut open.draft);
        let details = json!({ "change": change, "kind": past.kind });
        let id =
            store::open_in_tx(tx, namespace, ChangeKind::Revert.as_str(), &details, self.made_by).await?;
        let leaving: Vec<String> = draft.merged.keys().cloned().collect();
        store::lock_nodes_in_tx(tx, namespace, &leaving, Some(change)).await?;
        store::rename_in_tx(tx, namespace, &draft.renamed).await?;
        store::define_in_tx(tx, namespace, &draft.changes()).await?;
        let is_split = past.kind == ChangeKind::Split.as_str();
        store::undo_assignments_in_tx(tx, id, namespace, change, is_split).await?;
        store::move_assignments_in_tx(tx, id, namespace, &draft.merged).await?;
        let kept = self.drop_unused(tx, draft, &log).await?;
        let names = draft.changes();
        store::settle_in_tx(tx, namespace, &names).await?;
        store::log_names_in_tx(tx, id, &names).await?;
        store::mark_reverted_in_tx(tx, change, id).await?;
        let mut changed = self.describe(ChangeKind::Revert, draft, &names);
        if let (true, Some(model)) = (is_split, past.details["model"].as_str()) {
            store::end_split_in_tx(tx, change, model).await?;
        }
        changed.kept = kept;
        changed.change = Some(id);
        self.end(open, changed).await
    }

    /// Takes the tags that the change made out of the names again, and returns those that are used and stay.
    async fn drop_unused(
        &self,
        tx: &mut sqlx::PgConnection,
        draft: &mut Draft,
        log: &[NameChange],
    ) -> Result<Vec<String>> {
        let made = |it: &&NameChange| {
            it.before.is_none() && matches!(it.after, Some(Meaning::Tag(_))) && it.moved_from.is_none()
        };
        let mut candidates: Vec<String> = log.iter().filter(made).map(|it| it.path.clone()).collect();
        // What stands below goes first.
        candidates.sort_unstable_by(|a, b| b.cmp(a));
        let assigned = store::assigned(tx, self.namespace, &candidates).await?;
        let (mut kept, after) = (Vec::new(), &mut draft.after);
        for path in candidates {
            let is_meant = after.synonyms.values().any(|tag| *tag == path);
            if assigned.contains(&path) || is_meant || after.subtree(&path).len() > 1 {
                kept.push(path);
            } else {
                after.tags.remove(&path);
            }
        }
        kept.reverse();
        Ok(kept)
    }
}

/// Whether a name is what the change made it. One that it freed may be a tag again: somebody has used it.
fn is_as_left(now: &names::Names, change: &NameChange) -> bool {
    let meaning = now.meaning(&change.path);
    let is_tag = |meaning: &Option<Meaning>| matches!(meaning, Some(Meaning::Tag(_)));
    meaning == change.after || (change.after.is_none() && is_tag(&meaning) && is_tag(&change.before))
}

/// Plans the way back. Tags that the change made stay until it is known who uses them.
fn go_back(draft: &mut Draft, rules: &TagRules, change: i64, log: &[NameChange]) -> Result<(), TagError> {
    let back: BTreeMap<&str, &str> =
        log.iter().filter_map(|it| Some((it.path.as_str(), it.moved_from.as_deref()?))).collect();
    let logged = |path: &str| log.iter().any(|it| it.path == path);
    let now: Vec<String> = draft.before.tags.keys().cloned().collect();
    for path in now {
        let above = back.keys().filter(|top| names::is_within(&path, top)).max_by_key(|top| top.len());
        let Some(top) = above else { continue };
        if path == **top || !logged(&path) {
            let to = parse(rules, &path, &format!("{}{}", back[top], &path[top.len()..]))?.to_string();
            if draft.before.tags.contains_key(&to) && !back.keys().any(|top| names::is_within(&to, top)) {
                return Err(TagError::ChangedSince { change, name: to, by: None });
            }
            let tag = draft.after.tags.remove(&path).unwrap_or_default();
            draft.after.tags.insert(to.clone(), tag);
            draft.renamed.insert(path, to);
        }
    }
    for name in log {
        let made = name.before.is_none() && matches!(name.after, Some(Meaning::Tag(_)));
        if made || back.contains_key(name.path.as_str()) && name.before.is_none() {
            continue;
        }
        // A tag that was another name before: what nodes have got of it since goes to the tag that it means again.
        if let (Some(Meaning::Synonym(tag)), Some(Meaning::Tag(_)), None) =
            (&name.before, &name.after, &name.moved_from)
        {
            draft.merged.insert(name.path.clone(), tag.clone());
        }
        draft.after.set(&name.path, name.before.clone());
    }
    // What stands above one that comes back may be gone since.
    let tags: Vec<String> = draft.after.tags.keys().cloned().collect();
    tags.iter().for_each(|path| draft.after.add_ancestors(path));
    Ok(())
}
