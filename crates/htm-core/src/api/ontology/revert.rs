//! Reverting changes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use sqlx::PgConnection;

use super::Ontology;
use super::change::OpenChange;
use crate::model::error::{Error, Result, codes};
use crate::model::ontology::errors;
use crate::model::ontology::names;
use crate::model::ontology::names::{Draft, Meaning, NameChange, parse};
use crate::model::ontology::{ChangeKind, Changed};
use crate::model::tags::TagRules;
use crate::store::tag_changes as store;
use crate::store::tags;

impl Ontology<'_> {
    /// Undoes a change, in one transaction that is logged as a change of its own: reverting that does it again.
    ///
    /// Names are restored. Nodes get back the assignments that the change removed and lose those that it added. Later
    /// work is kept: assignments that have changed since, a model's new tags, and tags of the change that are in use by
    /// now ([`Changed::kept`]). Later tags below a restored one move with it. After a split, jobs that have not begun
    /// are ended, and all nodes have the old tag beside their new ones.
    ///
    /// # Errors
    /// `change_unknown`; `change_reverted`; `changed_since` if a later change touched the same names, even if they mean the
    /// same since: then nothing is undone; `tag_unmovable`; or a database error.
    pub async fn revert(&self, change: i64) -> Result<Changed> {
        let log = self.logged(change).await?;
        let touched: BTreeSet<String> = log.iter().map(|it| it.path.clone()).collect();
        let plan = |draft: &mut Draft| {
            if let Some(name) = log.iter().find(|name| !is_as_left(&draft.before, name)) {
                return Err(errors::changed_since(change, &name.path));
            }
            go_back(draft, self.htm.tag_rules(), change, &log)
        };
        let opened = self.open_holding(&touched, plan).await;
        let mut open = match opened {
            Ok((open, ())) => open,
            Err(error) => return Err(self.with_later(change, error).await?),
        };
        // Nobody has reverted it meanwhile, nor changed its names: a name may mean again what the change made it.
        let past = self.past(&mut open.tx, change).await?;
        if let Some((name, by)) = store::built_on(&mut open.tx, self.namespace, change).await? {
            return Err(errors::built_on(change, &name, by));
        }
        if self.dry_run {
            return self.would_revert(open, change, &past, &log).await;
        }
        self.write_back(open, change, &past, &log).await.map_err(|error| tags::held(error, self.namespace))
    }

    /// The logged effects on names of a change that can be reverted.
    async fn logged(&self, change: i64) -> Result<Vec<NameChange>> {
        let mut connection = self.htm.pool().acquire().await?;
        self.past(&mut connection, change).await?;
        store::past_names(&mut connection, change).await
    }

    async fn past(&self, connection: &mut PgConnection, change: i64) -> Result<store::Past> {
        let past = store::past(connection, self.namespace, change).await?;
        let Some(past) = past else {
            return Err(errors::change_unknown(self.namespace, change));
        };
        match past.reverted_by {
            Some(by) => {
                let message = format!("change {change} was reverted by change {by}");
                Err(Error::new(codes::CHANGE_REVERTED, message).with_value("by", by))
            }
            None => Ok(past),
        }
    }

    /// Adds the later change to the error of a name that has changed since; other errors are unchanged.
    async fn with_later(&self, change: i64, error: Error) -> Result<Error> {
        let (Some(name), true) = (error.value("name"), error.is(codes::CHANGED_SINCE)) else {
            return Ok(error);
        };
        let mut connection = self.htm.pool().acquire().await?;
        let by = store::touched_since(&mut connection, self.namespace, change, name).await?;
        Ok(match by {
            Some(by) => errors::changed_by(error, by),
            None => error,
        })
    }

    async fn would_revert(
        &self,
        mut open: OpenChange,
        change: i64,
        past: &store::Past,
        log: &[NameChange],
    ) -> Result<Changed> {
        let (tx, draft) = (&mut open.tx, &mut open.draft);
        let candidates = made_by(log);
        let (nodes, assigned) =
            store::would_revert(tx, self.namespace, change, past.is_split(), draft, &candidates).await?;
        let kept = drop_unused(draft, candidates, &assigned);
        let mut changed = self.describe(ChangeKind::Revert, draft, &draft.changes());
        (changed.nodes, changed.kept) = (nodes, kept);
        Ok(changed)
    }

    async fn write_back(
        &self,
        mut open: OpenChange,
        change: i64,
        past: &store::Past,
        log: &[NameChange],
    ) -> Result<Changed> {
        self.htm.admit_any_robot()?;
        let namespace = self.namespace;
        let (tx, draft) = (&mut open.tx, &mut open.draft);
        let details = json!({ "change": change, "kind": past.kind });
        let id = store::open_in_tx(tx, namespace, ChangeKind::Revert, &details, self.made_by).await?;
        let leaving: Vec<String> = draft.merged.keys().cloned().collect();
        store::lock_nodes_in_tx(tx, namespace, &leaving, Some(change)).await?;
        store::undo_added_in_tx(tx, id, namespace, change).await?;
        store::rename_in_tx(tx, namespace, &draft.renamed).await?;
        store::define_in_tx(tx, namespace, &draft.changes()).await?;
        store::undo_taken_in_tx(tx, id, namespace, change, past.is_split()).await?;
        store::move_assignments_in_tx(tx, id, namespace, &draft.merged).await?;
        let candidates = made_by(log);
        let assigned = store::assigned(tx, namespace, &candidates).await?;
        let kept = drop_unused(draft, candidates, &assigned);
        let names = draft.changes();
        store::settle_in_tx(tx, namespace, &names).await?;
        store::log_names_in_tx(tx, id, &names).await?;
        store::mark_reverted_in_tx(tx, change, id).await?;
        let mut changed = self.describe(ChangeKind::Revert, draft, &names);
        if let (true, Some(model)) = (past.is_split(), past.details["model"].as_str()) {
            store::end_split_in_tx(tx, namespace, change, model).await?;
        }
        changed.kept = kept;
        changed.change = Some(id);
        self.end(open, changed).await
    }
}

/// The tags that a change created, each after those below it.
fn made_by(log: &[NameChange]) -> Vec<String> {
    let made = |it: &&NameChange| {
        it.before.is_none() && matches!(it.after, Some(Meaning::Tag(_))) && it.moved_from.is_none()
    };
    let mut made: Vec<String> = log.iter().filter(made).map(|it| it.path.clone()).collect();
    made.sort_unstable_by(|a, b| b.cmp(a));
    made
}

/// Removes tags that the change created from the draft; returns those that stay because they are in use.
fn drop_unused(draft: &mut Draft, made: Vec<String>, assigned: &[String]) -> Vec<String> {
    let (mut kept, after) = (Vec::new(), &mut draft.after);
    for path in made {
        let is_meant = after.synonyms.values().any(|tag| *tag == path);
        if assigned.contains(&path) || is_meant || after.subtree(&path).len() > 1 {
            kept.push(path);
        } else {
            after.tags.remove(&path);
        }
    }
    kept.reverse();
    kept
}

/// Whether a name is as the change left it. A name that it freed may be a tag again because it was used.
fn is_as_left(now: &names::Names, change: &NameChange) -> bool {
    let meaning = now.meaning(&change.path);
    let is_tag = |meaning: &Option<Meaning>| matches!(meaning, Some(Meaning::Tag(_)));
    meaning == change.after || (change.after.is_none() && is_tag(&meaning) && is_tag(&change.before))
}

/// Plans the revert. Tags that the change created stay until it is known whether they are in use.
fn go_back(draft: &mut Draft, rules: &TagRules, change: i64, log: &[NameChange]) -> Result<()> {
    let back: BTreeMap<&str, &str> =
        log.iter().filter_map(|it| Some((it.path.as_str(), it.moved_from.as_deref()?))).collect();
    let logged = |path: &str| log.iter().any(|it| it.path == path);
    let now: Vec<String> = draft.before.tags.keys().cloned().collect();
    for path in now {
        let above = back.keys().filter(|top| names::is_within(&path, top)).max_by_key(|top| top.len());
        let Some(top) = above else { continue };
        if path == **top || !logged(&path) {
            let mut to = format!("{}{}", back[top], &path[top.len()..]);
            // The logged name of `top` may be from before the rules; the others have to follow them.
            if path != **top {
                to = parse(rules, &path, &to)?.into();
            }
            if draft.before.tags.contains_key(&to) && !back.keys().any(|top| names::is_within(&to, top)) {
                return Err(errors::changed_since(change, &to));
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
        // A tag that was a synonym before: its assignments since then go to the tag that it means again.
        if let (Some(Meaning::Synonym(tag)), Some(Meaning::Tag(_)), None) =
            (&name.before, &name.after, &name.moved_from)
        {
            draft.merged.insert(name.path.clone(), tag.clone());
        }
        draft.after.set(&name.path, name.before.clone());
    }
    // The tags above a restored one may have been removed since.
    let tags: Vec<String> = draft.after.tags.keys().cloned().collect();
    tags.iter().for_each(|path| draft.after.add_ancestors(path));
    Ok(())
}
