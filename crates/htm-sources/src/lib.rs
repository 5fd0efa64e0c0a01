//! The memories of other systems, read as lines of an import.
//!
//! [`open`] opens what a [`System`] has stored: a file, a folder or a database. [`Source::next`] reads item by item, never
//! all at once: a [`Foreign`] memory, or a [`Left`], which does not come and has a reason. [`Foreign::lines`] makes the lines
//! for [`htm_core::Importer`]. Every line has a key, so that a repeated or resumed import adds nothing twice.
//!
//! The SQL here reads the tables of other systems. That of HTM's own tables is in `htm-core`.

mod basic_memory;
mod chatgpt;
mod claude;
pub mod codes;
mod elements;
mod export;
mod files;
mod foreign;
mod htm_ruby;
mod json;
mod langgraph;
mod letta;
mod line;
mod mem0;
mod mem0_export;
mod mem0_postgres;
mod memobase;
mod openmemory;
mod postgres;
mod system;
mod tables;
#[cfg(test)]
mod testing;

use std::collections::BTreeMap;

use async_trait::async_trait;
use htm_core::Result;

pub use foreign::{Contradiction, Foreign, Former, Item, Left, Model, Recalls, Repeat, Why};
pub use line::{Lines, Target, contradiction_line, model_line};
pub use system::System;

/// The numbers of what a source has read so far, by subject: `conversation`, `message`, `memory`.
pub type Counts = BTreeMap<&'static str, u64>;

/// The contents of a system, read from the beginning to the end.
#[async_trait]
pub trait Source: Send {
    /// The next item; none at the end.
    ///
    /// # Errors
    /// `source_unreadable`, `source_damaged`, `source_unrecognised`, or an error of a database. Memories read before stand.
    async fn next(&mut self) -> Result<Option<Item>>;

    /// The items that were read so far.
    fn counts(&self) -> Counts;

    /// The embedding model of the vectors that the memories bring; none if they bring none.
    fn model(&self) -> Option<&Model> {
        None
    }

    /// The length of vectors that are there, whose model neither the source nor the user names. They do not come.
    fn unnamed_vectors(&self) -> Option<usize> {
        None
    }
}

/// The user's statements about a source.
#[derive(Clone, Debug, Default)]
pub struct SourceOptions {
    /// The embedding model of its vectors, where the source does not name it.
    pub model: Option<Model>,
    /// The table of its memories, where the user chose its name.
    pub table: Option<String>,
}

/// Opens a source. The location is a file, a folder, or the URL of a database.
///
/// # Errors
/// `source_unreadable`, `source_unrecognised`, or an error of a database.
pub async fn open(system: System, location: &str, options: &SourceOptions) -> Result<Box<dyn Source>> {
    Ok(match system {
        System::BasicMemory => Box::new(basic_memory::open(location)?),
        System::ChatGpt => Box::new(chatgpt::open(location)?),
        System::Claude => Box::new(claude::open(location)?),
        System::HtmRuby => Box::new(htm_ruby::open(location, options).await?),
        System::LangGraph => Box::new(langgraph::open(location, options).await?),
        System::Letta => Box::new(letta::open(location, options).await?),
        System::Mem0 if postgres::is_url(location) => Box::new(mem0_postgres::open(location, options).await?),
        System::Mem0 => Box::new(mem0_export::open(location)?),
        System::Memobase => Box::new(memobase::open(location, options).await?),
        System::OpenMemory => Box::new(openmemory::open(location)?),
    })
}
