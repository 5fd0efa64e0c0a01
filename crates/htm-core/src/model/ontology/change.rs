//! Changes of an ontology: what is asked for, and what was done.

use serde::Serialize;

use crate::model::error::{Error, Result, codes};
use crate::model::memory::refuse_nul;

/// The most bytes that a description may have.
pub const MAX_DESCRIPTION_BYTES: usize = 1_000;

/// What a change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// Tags were added or described.
    Add,
    /// Tags came from a file.
    Import,
    /// Tags came from a template.
    Template,
    /// A tag was removed with those below it.
    Remove,
    /// A tag got another name.
    Rename,
    /// Several tags became one.
    Merge,
    /// The nodes of a tag are tagged again.
    Split,
    /// A tag got another name beside its own.
    AddSynonym,
    /// It lost one.
    RemoveSynonym,
    /// A change was undone.
    Revert,
}

impl ChangeKind {
    /// As the log holds it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Import => "import",
            Self::Template => "template",
            Self::Remove => "remove",
            Self::Rename => "rename",
            Self::Merge => "merge",
            Self::Split => "split",
            Self::AddSynonym => "add_synonym",
            Self::RemoveSynonym => "remove_synonym",
            Self::Revert => "revert",
        }
    }
}

/// A tag that is to be there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Term {
    /// The tag, as somebody writes it.
    pub tag: String,
    /// What it is about; none leaves what it says, an empty one takes that away.
    pub description: Option<String>,
    /// Its other names.
    pub synonyms: Vec<String>,
}

/// What becomes of the nodes of a tag that is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// The tag stays when nodes have it.
    Unused,
    /// They lose it.
    Assigned,
}

/// What a change did, or would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// Its number in the log; none when there was nothing to change, or nothing was to be changed.
    pub change: Option<i64>,
    /// What it is.
    pub kind: ChangeKind,
    /// Whose tags.
    pub namespace: String,
    /// Whether it only says what it would do.
    pub dry_run: bool,
    /// Tags that are called otherwise, or went into another.
    pub moved: Vec<Moved>,
    /// New tags.
    pub added: Vec<String>,
    /// Tags whose description, or what they are split into, is another.
    pub described: Vec<String>,
    /// Tags that are no more.
    pub removed: Vec<String>,
    /// New other names.
    pub synonyms: Vec<Synonym>,
    /// Names that mean nothing any more.
    pub freed: Vec<String>,
    /// Tags that the undone change had made, and that stay because they are used.
    pub kept: Vec<String>,
    /// Nodes whose tags are others, or are called otherwise; forgotten ones too.
    pub nodes: i64,
    /// Jobs that will tag nodes again.
    pub jobs: i64,
}

/// A tag that went somewhere else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// What it was called.
    pub from: String,
    /// What it is called, or what it went into.
    pub to: String,
    /// Whether that was there before.
    pub merged: bool,
}

/// Another name of a tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Synonym {
    /// The other name.
    pub name: String,
    /// The tag.
    pub tag: String,
}

pub(crate) fn check_description(tag: &str, description: Option<&str>) -> Result<()> {
    let Some(description) = description else { return Ok(()) };
    refuse_nul("description", description)?;
    if description.len() > MAX_DESCRIPTION_BYTES {
        let (bytes, limit) = (description.len(), MAX_DESCRIPTION_BYTES);
        let tag: String = tag.chars().take(80).collect();
        let message =
            format!("the description of `{tag}` has {bytes} bytes, more than the {limit} that it may have");
        return Err(Error::new(codes::DESCRIPTION_TOO_LONG, message));
    }
    Ok(())
}
