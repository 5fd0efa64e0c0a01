//! A source whose items are the rows of tables.

use std::collections::VecDeque;

use async_trait::async_trait;
use htm_core::{Error, Result};

use crate::foreign::{Item, Left, Model, Why};
use crate::postgres::{Database, Row};
use crate::{Counts, Source, codes};

/// Rows of one kind.
pub(crate) struct Part<C> {
    /// The kind of a row: `memory`, `message`.
    pub(crate) subject: &'static str,
    /// The statement, as [`Database::read`] wants it.
    pub(crate) sql: String,
    /// The items of a row.
    pub(crate) items: fn(&C, &Row) -> Vec<Item>,
}

/// The vectors of a source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vectors {
    /// The model of those that come.
    pub(crate) model: Option<Model>,
    /// The length of those that do not come, since nobody names their model.
    pub(crate) unnamed: Option<usize>,
}

impl Vectors {
    /// The vectors of a source that does not name their model. `found` is their length; none if there are none.
    ///
    /// # Errors
    /// `source_model_unfit` if the model that the user names has vectors of another length.
    pub(crate) fn of(found: Option<i64>, named: Option<&Model>) -> Result<Self> {
        let found = found.and_then(|found| usize::try_from(found).ok());
        let Some(model) = named else { return Ok(Self { model: None, unnamed: found }) };
        if let Some(found) = found.filter(|found| *found != model.dimensions) {
            let Model { provider, name, dimensions } = model;
            let message =
                format!("the vectors have {found} numbers, and those of {provider}/{name} {dimensions}");
            return Err(Error::new(codes::SOURCE_MODEL_UNFIT, message));
        }
        Ok(Self { model: Some(model.clone()), unnamed: None })
    }

    /// The vector of a row as SQL: this column, if vectors come.
    pub(crate) fn column(&self, column: &str) -> String {
        if self.model.is_some() { format!("{column}::real[]") } else { "null::real[]".into() }
    }
}

/// Parts, read one after the other.
pub(crate) struct Tables<C> {
    database: Database,
    parts: VecDeque<Part<C>>,
    /// The facts that all parts share.
    context: C,
    vectors: Vectors,
    /// The part that is read.
    open: Option<Part<C>>,
    items: VecDeque<Item>,
    counts: Counts,
}

impl<C> Tables<C> {
    /// The rows of these parts.
    pub(crate) fn new(database: Database, parts: Vec<Part<C>>, context: C, vectors: Vectors) -> Self {
        Self {
            database,
            parts: parts.into(),
            context,
            vectors,
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
        self.vectors.model.as_ref()
    }

    fn unnamed_vectors(&self) -> Option<usize> {
        self.vectors.unnamed
    }
}
