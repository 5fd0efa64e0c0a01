//! A source whose items are the rows of tables.

use std::collections::VecDeque;

use async_trait::async_trait;
use htm_core::Result;

use crate::foreign::{Item, Left, Model, Why};
use crate::postgres::{Database, Row};
use crate::{Counts, Source};

/// Rows of one kind.
pub(crate) struct Part<C> {
    /// What a row is: `memory`, `message`.
    pub(crate) subject: &'static str,
    /// The statement, as [`Database::read`] wants it.
    pub(crate) sql: String,
    /// The items of a row.
    pub(crate) items: fn(&C, &Row) -> Vec<Item>,
}

/// Parts, read one after the other.
pub(crate) struct Tables<C> {
    database: Database,
    parts: VecDeque<Part<C>>,
    /// What the parts know of the whole.
    context: C,
    model: Option<Model>,
    /// The part that is read.
    open: Option<Part<C>>,
    items: VecDeque<Item>,
    counts: Counts,
}

impl<C> Tables<C> {
    /// The rows of these parts, whose vectors are of this model.
    pub(crate) fn new(database: Database, parts: Vec<Part<C>>, context: C, model: Option<Model>) -> Self {
        Self {
            database,
            parts: parts.into(),
            context,
            model,
            open: None,
            items: VecDeque::new(),
            counts: Counts::new(),
        }
    }
}

#[async_trait]
impl<C: Send + Sync> Source for Tables<C> {
    async fn next(&mut self) -> Result<Option<Item>> {
        loop {
            if let Some(item) = self.items.pop_front() {
                return Ok(Some(item));
            }
            let Some(part) = &self.open else {
                let Some(part) = self.parts.pop_front() else { return Ok(None) };
                self.database.read(&part.sql).await?;
                self.open = Some(part);
                continue;
            };
            let rows = self.database.page().await?;
            if rows.is_empty() {
                self.open = None;
                continue;
            }
            let number = self.counts.entry(part.subject).or_default();
            for row in &rows {
                *number += 1;
                match row.fields {
                    Some(_) => self.items.extend((part.items)(&self.context, row)),
                    None => {
                        let left = Left::new(part.subject, format!("row {number}"), Why::Unreadable);
                        self.items.push_back(Item::Left(left.detail("it has a number that is too large")));
                    }
                }
            }
        }
    }

    fn counts(&self) -> Counts {
        self.counts.clone()
    }

    fn model(&self) -> Option<&Model> {
        self.model.as_ref()
    }
}
