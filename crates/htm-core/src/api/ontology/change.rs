//! Changes of names: each one transaction, logged.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sqlx::PgConnection;

use super::Ontology;
use crate::model::error::{Error, Result, codes};
use crate::model::memory::validate_written_namespace;
use crate::model::ontology::change::check_description;
use crate::model::ontology::errors;
use crate::model::ontology::names::{Draft, Meaning, NameChange, Names, uppermost};
use crate::model::ontology::{ChangeKind, Changed, Moved, Removal, Synonym, Term};
use crate::model::tags::{Leftover, TagPath};
use crate::store::connections::Tx;
use crate::store::tag_changes as store;
use crate::store::{jobs, ontology as reads, tags};

/// A transaction that has locked names of the namespace, and the draft of their changes.
pub(super) struct OpenChange {
    pub(super) tx: Tx,
    pub(super) draft: Draft,
}

impl Ontology<'_> {
    /// Adds tags and their parents, all or none. Existing tags get the descriptions and synonyms. `kind` names the
    /// origin in the log.
    ///
    /// # Errors
    /// `tag_invalid`, `tag_is_synonym`, `synonym_is_tag`, `description_too_long`, `nul_byte`, `namespace_full`, or a
    /// database error.
    pub async fn define(&self, kind: ChangeKind, terms: &[Term]) -> Result<Changed> {
        for term in terms {
            check_description(&term.tag, term.description.as_deref())?;
        }
        let rules = self.htm.tag_rules();
        let plan = |draft: &mut Draft| {
            for term in terms {
                let tag = draft.define(rules, &rules.normalise(&term.tag)?, term.description.as_deref())?;
                for name in &term.synonyms {
                    draft.add_synonym(&rules.normalise(name)?, &tag)?;
                }
            }
            Ok(())
        };
        let (open, ()) = self.open(plan).await?;
        let details = json!({ "tags": terms.iter().map(|term| &term.tag).collect::<Vec<_>>() });
        self.finish(open, kind, details, &[]).await
    }

    /// Removes a tag, those below it, and their synonyms.
    ///
    /// # Errors
    /// `tag_unknown`, `tag_in_use`, `tag_invalid`, or a database error.
    pub async fn remove(&self, tag: &str, removal: Removal) -> Result<Changed> {
        let plan = |draft: &mut Draft| {
            let tag = self.known(draft, tag)?;
            let gone = draft.remove(&tag);
            Ok((tag, gone))
        };
        let (mut open, (tag, gone)) = self.open(plan).await?;
        if removal == Removal::Unused {
            let nodes = store::count_nodes(&mut open.tx, self.namespace, &gone).await?;
            if nodes > 0 {
                let nodes = match nodes {
                    1 => "1 node".to_owned(),
                    nodes => format!("{nodes} nodes"),
                };
                let message = format!("`{tag}`, or a tag below it, is on {nodes}");
                return Err(Error::new(codes::TAG_IN_USE, message).with_value("tag", tag));
            }
        }
        self.finish(open, ChangeKind::Remove, json!({ "tag": tag }), &gone).await
    }

    /// Renames a tag and those below it. The old name becomes a synonym.
    ///
    /// # Errors
    /// `tag_unknown`, `tag_taken`, `tag_is_synonym`, `tag_into_itself`, `tag_into_own_child`, `tag_unmovable` (more
    /// than 5 levels), `tag_invalid`, or a database error.
    pub async fn rename(&self, old: &str, new: &str) -> Result<Changed> {
        let rules = self.htm.tag_rules();
        let plan = |draft: &mut Draft| {
            let from = self.known(draft, old)?;
            let to = draft.rename(rules, &from, &rules.normalise(new)?)?;
            Ok((from, to))
        };
        let (open, (from, to)) = self.open(plan).await?;
        self.finish(open, ChangeKind::Rename, json!({ "from": from, "to": to }), &[]).await
    }

    /// Merges tags: nodes of `from` get `into`, tags below `from` move below it, and their names become synonyms. Of
    /// two assignments of a node, the manual one is kept.
    ///
    /// # Errors
    /// `tag_unknown`, `nothing_to_merge`, `tag_into_itself`, `tag_into_own_child`, `tag_unmovable`, `tag_invalid`, or a
    /// database error.
    pub async fn merge(&self, from: &[&str], into: &str) -> Result<Changed> {
        let plan = |draft: &mut Draft| {
            let tags = from.iter().map(|tag| self.known(draft, tag)).collect::<Result<Vec<_>>>()?;
            let into = self.known(draft, into).map_err(|error| errors::into_unknown(error, &tags))?;
            draft.merge(self.htm.tag_rules(), &tags, &into)?;
            Ok((tags, into))
        };
        let (open, (tags, into)) = self.open(plan).await?;
        self.finish(open, ChangeKind::Merge, json!({ "from": tags, "into": into }), &[]).await
    }

    /// Splits a tag: adds `into` with their descriptions and enqueues a tag job for each node, behind every live job.
    /// Until then a node keeps the tag. `leftover` decides for nodes that fit none of `into`. Manual assignments
    /// and all other tags stay. [`split_outcome`](Self::split_outcome) reports the progress.
    ///
    /// # Errors
    /// `tag_unknown`, `nothing_to_split`, `tag_into_itself`, `tag_is_synonym`, `tag_invalid`, `description_too_long`,
    /// `namespace_full`, or a database error.
    pub async fn split(&self, tag: &str, into: &[Term], leftover: Leftover) -> Result<Changed> {
        for term in into {
            check_description(&term.tag, term.description.as_deref())?;
        }
        let plan = |draft: &mut Draft| self.plan_split(draft, tag, into, leftover);
        let (mut open, (tag, targets)) = self.open(plan).await?;
        let model = self.htm.settings().tag_model.to_string();
        let details = json!({ "tag": tag, "into": targets, "model": model });
        if self.dry_run {
            let mut changed = self.count(&mut open, ChangeKind::Split, &[]).await?;
            if !open.draft.changes().is_empty() {
                changed.nodes = store::count_nodes(&mut open.tx, self.namespace, &[tag.to_string()]).await?;
                changed.jobs = store::would_split(&mut open.tx, self.namespace, tag.as_str()).await?;
            }
            return Ok(changed);
        }
        let mut changed = self.write(&mut open, ChangeKind::Split, &details, &[]).await?;
        if let Some(change) = changed.change {
            store::lock_nodes_in_tx(&mut open.tx, self.namespace, &[tag.to_string()], None).await?;
            let attempts = self.htm.settings().max_attempts;
            changed.jobs =
                store::split_in_tx(&mut open.tx, change, self.namespace, tag.as_str(), &model, attempts)
                    .await?;
        }
        let changed = self.end(open, changed).await?;
        if changed.jobs > 0 {
            jobs::ping(self.htm.pool()).await;
        }
        Ok(changed)
    }

    /// Adds a synonym, which means the tag in writes and in queries.
    ///
    /// # Errors
    /// `tag_unknown`, `synonym_is_tag`, `tag_is_synonym` (of another tag), `tag_into_itself`, `tag_invalid`, or a
    /// database error.
    pub async fn add_synonym(&self, name: &str, tag: &str) -> Result<Changed> {
        let name = self.htm.tag_rules().normalise(name)?;
        let plan = |draft: &mut Draft| {
            let tag = self.known(draft, tag)?;
            draft.add_synonym(&name, &tag)?;
            Ok(tag)
        };
        let (open, tag) = self.open(plan).await?;
        self.finish(open, ChangeKind::AddSynonym, json!({ "name": name, "tag": tag }), &[]).await
    }

    /// Removes a synonym.
    ///
    /// # Errors
    /// `synonym_unknown`, `tag_invalid`, or a database error.
    pub async fn remove_synonym(&self, name: &str) -> Result<Changed> {
        let rules = self.htm.tag_rules();
        let stored = rules.normalise(name)?;
        let plan = |draft: &mut Draft| {
            let synonyms = &mut draft.after.synonyms;
            let name = match synonyms.contains_key(name) {
                true => name.to_owned(),
                false => rules.as_in_use(stored.as_str(), |name| synonyms.contains_key(name)),
            };
            match synonyms.remove(&name) {
                Some(tag) => Ok((name, tag)),
                None => Err(Error::new(
                    codes::SYNONYM_UNKNOWN,
                    format!("no tag of namespace `{}` has the other name `{name}`", self.namespace),
                )),
            }
        };
        let (open, (name, tag)) = self.open(plan).await?;
        self.finish(open, ChangeKind::RemoveSynonym, json!({ "name": name, "tag": tag }), &[]).await
    }

    /// Tells two tags apart, so that no merge of them is suggested. It outlives their renaming.
    ///
    /// # Errors
    /// `tag_unknown`, `tag_into_itself`, `tag_invalid`, or a database error.
    pub async fn mark_distinct(&self, tag: &str, other: &str) -> Result<Changed> {
        let plan = |draft: &mut Draft| {
            let pair = (self.known(draft, tag)?, self.known(draft, other)?);
            draft.mark_distinct(&pair.0, &pair.1)?;
            Ok(pair)
        };
        let (open, pair) = self.open(plan).await?;
        let details = json!({ "tags": [pair.0, pair.1] });
        Ok(of_both(self.finish(open, ChangeKind::MarkDistinct, details, &[]).await?, pair))
    }

    /// Takes back [`mark_distinct`](Self::mark_distinct). Tags that were not marked are no error: nothing changes.
    ///
    /// # Errors
    /// `tag_unknown`, `tag_invalid`, or a database error.
    pub async fn unmark_distinct(&self, tag: &str, other: &str) -> Result<Changed> {
        let plan = |draft: &mut Draft| {
            let pair = (self.known(draft, tag)?, self.known(draft, other)?);
            draft.unmark_distinct(&pair.0, &pair.1);
            Ok(pair)
        };
        let (open, pair) = self.open(plan).await?;
        let details = json!({ "tags": [pair.0, pair.1] });
        Ok(of_both(self.finish(open, ChangeKind::UnmarkDistinct, details, &[]).await?, pair))
    }

    /// Plans a split; returns the tag and the tags that replace it.
    fn plan_split(
        &self,
        draft: &mut Draft,
        tag: &str,
        into: &[Term],
        leftover: Leftover,
    ) -> Result<(TagPath, Vec<String>)> {
        let rules = self.htm.tag_rules();
        let tag = self.known(draft, tag)?;
        let mut targets: Vec<String> = Vec::new();
        for term in into {
            let target = match draft.after.find(rules, &term.tag)? {
                Some(known) => known,
                None => rules.normalise(&term.tag)?,
            };
            let target = draft.define(rules, &target, term.description.as_deref())?;
            if target == tag || draft.after.leads_to(target.as_str(), tag.as_str()) {
                return Err(errors::into_itself(&tag));
            }
            if !targets.iter().any(|it| it == target.as_str()) {
                targets.push(target.into());
            }
        }
        if targets.len() < 2 {
            let message = format!("a tag is split into at least two tags, not into {}", targets.len());
            return Err(Error::new(codes::NOTHING_TO_SPLIT, message));
        }
        let split = draft.after.tags.entry(tag.to_string()).or_default();
        (split.split_into, split.leftover) = (targets.clone(), leftover);
        draft.touched.insert(tag.to_string());
        Ok((tag, targets))
    }

    /// Begins a change, plans it, and locks the names that it concerns. The plan includes tags that were registered
    /// before they are locked.
    pub(super) async fn open<T>(&self, plan: impl Fn(&mut Draft) -> Result<T>) -> Result<(OpenChange, T)> {
        self.open_holding(&BTreeSet::new(), plan).await
    }

    /// As [`open`](Self::open), and locks these names too.
    pub(super) async fn open_holding<T>(
        &self,
        names: &BTreeSet<String>,
        plan: impl Fn(&mut Draft) -> Result<T>,
    ) -> Result<(OpenChange, T)> {
        validate_written_namespace(self.namespace)?;
        let begun = match self.dry_run {
            true => store::begin_dry(self.htm.pool()).await,
            false => store::begin(self.htm.pool(), self.namespace).await,
        };
        let mut tx = begun.map_err(|error| self.held(error))?;
        let mut held: BTreeSet<String> = BTreeSet::new();
        loop {
            let mut draft = Draft::new(store::names(&mut tx, self.namespace).await?);
            let planned = match plan(&mut draft) {
                Ok(planned) => planned,
                Err(error) => return Err(self.with_nearest(&mut tx, error).await?),
            };
            self.refuse_too_many(&draft)?;
            if self.dry_run {
                return Ok((OpenChange { tx, draft }, planned));
            }
            let wanted = uppermost(&draft.held() | names);
            if wanted.is_subset(&held) {
                return Ok((OpenChange { tx, draft }, planned));
            }
            let holding = store::hold_names_in_tx(&mut tx, self.namespace, &wanted).await;
            holding.map_err(|error| self.held(error))?;
            held.extend(wanted);
        }
    }

    /// Refuses new tags beyond the limit. A full namespace still allows changes that do not increase its number of
    /// tags.
    fn refuse_too_many(&self, draft: &Draft) -> Result<()> {
        let (before, after) = (&draft.before.tags, &draft.after.tags);
        let limit = self.htm.tag_rules().limits.namespace;
        match after.keys().find(|tag| !before.contains_key(*tag)) {
            Some(tag) if after.len() > limit.max(before.len()) => {
                Err(errors::namespace_full(self.namespace, tag, limit))
            }
            _ => Ok(()),
        }
    }

    fn held(&self, error: Error) -> Error {
        tags::held(error, self.namespace)
    }

    fn known(&self, draft: &Draft, tag: &str) -> Result<TagPath> {
        draft.after.known(self.htm.tag_rules(), self.namespace, tag)
    }

    /// Adds the nearest tags to the error of an unknown tag; other errors are unchanged.
    async fn with_nearest(&self, connection: &mut PgConnection, error: Error) -> Result<Error> {
        let (Some(tag), true) = (error.value("tag"), error.is(codes::TAG_UNKNOWN)) else {
            return Ok(error);
        };
        let found = reads::similar(connection, self.namespace, tag, 3).await?;
        let nearest: Vec<String> = found.into_iter().map(|it| it.tag).collect();
        Ok(errors::with_nearest(error, &nearest))
    }

    /// The found tag, or an error that names the nearest ones.
    pub(super) async fn find(
        &self,
        connection: &mut PgConnection,
        found: Option<TagPath>,
        tag: &str,
    ) -> Result<TagPath> {
        match found {
            Some(tag) => Ok(tag),
            None => {
                let unknown = Names::default().known(self.htm.tag_rules(), self.namespace, tag);
                match unknown {
                    Ok(tag) => Ok(tag),
                    Err(error) => Err(self.with_nearest(connection, error).await?),
                }
            }
        }
    }

    /// Writes the change and ends the transaction; a dry run only counts.
    pub(super) async fn finish(
        &self,
        mut open: OpenChange,
        kind: ChangeKind,
        details: Value,
        taken: &[String],
    ) -> Result<Changed> {
        if self.dry_run {
            return self.count(&mut open, kind, taken).await;
        }
        let changed = self.write(&mut open, kind, &details, taken).await?;
        self.end(open, changed).await
    }

    /// Writes tags and synonyms of a draft that moves none, without a place in the log.
    pub(super) async fn lay_unlogged(&self, mut open: OpenChange, kind: ChangeKind) -> Result<Changed> {
        let names = open.draft.changes();
        store::define_in_tx(&mut open.tx, self.namespace, &names).await?;
        store::settle_in_tx(&mut open.tx, self.namespace, &names).await.map_err(|error| self.held(error))?;
        let changed = self.describe(kind, &open.draft, &names);
        open.tx.commit().await?;
        Ok(changed)
    }

    /// Describes the change and counts its nodes: nothing is written, nobody is blocked.
    async fn count(&self, open: &mut OpenChange, kind: ChangeKind, taken: &[String]) -> Result<Changed> {
        let OpenChange { tx, draft } = open;
        let mut changed = self.describe(kind, draft, &draft.changes());
        let tags: Vec<String> =
            draft.merged.keys().chain(draft.renamed.keys()).chain(taken).cloned().collect();
        changed.nodes = store::count_nodes(tx, self.namespace, &tags).await?;
        Ok(changed)
    }

    /// Counts the nodes and commits the change, if there is one.
    pub(super) async fn end(&self, mut open: OpenChange, mut changed: Changed) -> Result<Changed> {
        match changed.change {
            Some(change) => {
                let renamed = &open.draft.renamed;
                changed.nodes = store::close_in_tx(&mut open.tx, self.namespace, change, renamed).await?;
                open.tx.commit().await?;
            }
            None => open.tx.rollback().await?,
        }
        Ok(changed)
    }

    async fn write(
        &self,
        open: &mut OpenChange,
        kind: ChangeKind,
        details: &Value,
        taken: &[String],
    ) -> Result<Changed> {
        self.try_write(open, kind, details, taken).await.map_err(|error| self.held(error))
    }

    async fn try_write(
        &self,
        open: &mut OpenChange,
        kind: ChangeKind,
        details: &Value,
        taken: &[String],
    ) -> Result<Changed> {
        let OpenChange { tx, draft } = open;
        let namespace = self.namespace;
        let names = draft.changes();
        let mut changed = self.describe(kind, draft, &names);
        if names.is_empty() {
            return Ok(changed);
        }
        let changes_nodes = !(draft.merged.is_empty() && draft.renamed.is_empty() && taken.is_empty());
        if changes_nodes || kind == ChangeKind::Split {
            self.htm.admit_any_robot()?;
        }
        let change = store::open_in_tx(tx, namespace, kind, details, self.made_by).await?;
        let losing: Vec<String> = draft.merged.keys().chain(taken).cloned().collect();
        store::lock_nodes_in_tx(tx, namespace, &losing, None).await?;
        store::rename_in_tx(tx, namespace, &draft.renamed).await?;
        store::define_in_tx(tx, namespace, &names).await?;
        store::move_assignments_in_tx(tx, change, namespace, &draft.merged).await?;
        store::take_assignments_in_tx(tx, change, namespace, taken).await?;
        store::settle_in_tx(tx, namespace, &names).await?;
        store::log_names_in_tx(tx, change, &names).await?;
        changed.change = Some(change);
        Ok(changed)
    }

    /// The effects of a change on names.
    pub(super) fn describe(&self, kind: ChangeKind, draft: &Draft, names: &[NameChange]) -> Changed {
        let went = |path: &str| draft.renamed.contains_key(path) || draft.merged.contains_key(path);
        let mut changed = Changed {
            change: None,
            kind,
            namespace: self.namespace.into(),
            dry_run: self.dry_run,
            moved: Vec::new(),
            added: Vec::new(),
            described: Vec::new(),
            removed: Vec::new(),
            synonyms: Vec::new(),
            freed: Vec::new(),
            kept: Vec::new(),
            nodes: 0,
            jobs: 0,
        };
        for (moves, merged) in [(&draft.renamed, false), (&draft.merged, true)] {
            changed.moved.extend(moves.iter().map(|(from, to)| Moved {
                from: from.clone(),
                to: to.clone(),
                merged,
            }));
        }
        changed.moved.sort_by(|a, b| a.from.cmp(&b.from));
        for name in names.iter().filter(|it| it.before != it.after) {
            let path = name.path.clone();
            match (&name.before, &name.after) {
                (Some(Meaning::Tag(_)), Some(Meaning::Tag(_))) => changed.described.push(path.clone()),
                (_, Some(Meaning::Tag(_))) if name.moved_from.is_none() => changed.added.push(path.clone()),
                (Some(Meaning::Tag(_)), _) if !went(&path) => changed.removed.push(path.clone()),
                (Some(Meaning::Synonym(_)), None) => changed.freed.push(path.clone()),
                _ => {}
            }
            if let Some(Meaning::Synonym(tag)) = &name.after {
                changed.synonyms.push(Synonym { name: path, tag: tag.clone() });
            }
        }
        changed
    }
}

/// The change of a pair, which is stored with one of its tags, as one of both.
fn of_both(mut changed: Changed, (tag, other): (TagPath, TagPath)) -> Changed {
    if !changed.described.is_empty() {
        changed.described = vec![tag.into(), other.into()];
        changed.described.sort();
    }
    changed
}
