//! The log of the ontology in an export. Its changes get new numbers here, in the same order.

use std::collections::HashSet;

use super::{Importer, LineResult, Waiting};
use crate::model::error::{Error, Result, codes};
use crate::model::export::{ImportedLine, LineKind, SavedChange, SavedName, SavedTag};
use crate::store::import::log as store;

/// The most lines of a log that one transaction writes.
const LINES: usize = 1_000;

impl Importer {
    pub(super) async fn change(&mut self, change: SavedChange, bytes: usize) -> Result<()> {
        change.check()?;
        self.htm.admit(&change.ns)?;
        let has_room = match &self.waiting {
            Waiting::Changes { changes, .. } => {
                changes.len() < LINES && changes.last().is_some_and(|(_, last)| last.ns == change.ns)
            }
            _ => false,
        };
        if !has_room {
            self.write_waiting().await?;
            self.waiting = Waiting::Changes { changes: Vec::new(), bytes: 0 };
        }
        if let Waiting::Changes { changes, bytes: before } = &mut self.waiting {
            let is_known = |number: i64| {
                self.changes.contains_key(&number) || changes.iter().any(|(_, it)| it.change == number)
            };
            if is_known(change.change) || change.reverts.is_some_and(|it| !is_known(it)) {
                let what =
                    format!("change {} is twice in the export, or reverts one without a line", change.change);
                return Err(Error::new(codes::LINE_INVALID, what));
            }
            changes.push((self.number, change));
            *before += bytes;
        }
        Ok(())
    }

    pub(super) async fn name(&mut self, name: SavedName, bytes: usize) -> Result<()> {
        name.check()?;
        self.htm.admit(&name.ns)?;
        if !matches!(&self.waiting, Waiting::Names { names, .. } if names.len() < LINES) {
            self.write_waiting().await?;
            self.waiting = Waiting::Names { names: Vec::new(), bytes: 0 };
        }
        if !self.changes.contains_key(&name.change) {
            let what = format!("the change {} of a name has no line before it", name.change);
            return Err(Error::new(codes::LINE_INVALID, what));
        }
        if let Waiting::Names { names, bytes: before } = &mut self.waiting {
            names.push((self.number, name));
            *before += bytes;
        }
        Ok(())
    }

    /// Writes changes of one namespace.
    pub(super) async fn write_changes(&mut self, changes: &[(u64, SavedChange)]) -> Result<Vec<LineResult>> {
        let Some((_, first)) = changes.first() else { return Ok(Vec::new()) };
        let saved: Vec<&SavedChange> = changes.iter().map(|(_, change)| change).collect();
        let written = store::changes(self.htm.pool(), &first.ns, &saved, &self.changes).await?;
        self.changes.extend(written.iter().map(|it| (it.number, it.change)));
        let result = |((number, _), written): (&(u64, SavedChange), &store::Written)| {
            (*number, Ok(ImportedLine::new(LineKind::Change, written.is_new)))
        };
        Ok(changes.iter().zip(&written).map(result).collect())
    }

    pub(super) async fn write_names(&self, names: &[(u64, SavedName)]) -> Result<Vec<LineResult>> {
        let saved: Vec<(i64, &SavedName)> =
            names.iter().filter_map(|(_, it)| Some((*self.changes.get(&it.change)?, it))).collect();
        let new = store::names(self.htm.pool(), &saved).await?;
        let result = |(number, it): &(u64, SavedName)| {
            let change = self.changes.get(&it.change).copied().unwrap_or_default();
            let is_new = new.contains(&(change, it.name.to_string()));
            (*number, Ok(ImportedLine::new(LineKind::Name, is_new)))
        };
        Ok(names.iter().map(result).collect())
    }

    /// Whether a namespace has no ontology but that of the export, as far as the export has come with these tags: the import
    /// may have been cut off before.
    pub(super) async fn is_of_the_export(&self, namespace: &str, tags: &[(u64, SavedTag)]) -> Result<bool> {
        if !self.is_with_log {
            return Ok(false);
        }
        let changes: Vec<i64> = self.changes.values().copied().collect();
        let paths: Vec<&str> = tags.iter().map(|(_, tag)| tag.tag.as_str()).collect();
        let others = store::other_tags(self.htm.pool(), namespace, &changes, &paths).await?;
        let paths: HashSet<&str> = paths.into_iter().collect();
        let laid = self.laid.get(namespace).into_iter().flatten();
        Ok(others == Some(laid.filter(|tag| !paths.contains(tag.as_str())).count() as i64))
    }
}
