//! Changes of an ontology and their receipts.

use serde::{Deserialize, Serialize};

use crate::model::error::{Error, Result, codes};
use crate::model::memory::refuse_nul;

/// The most bytes of a description.
const MAX_DESCRIPTION_BYTES: usize = 1_000;

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, strum::Display, strum::EnumString, strum::AsRefStr, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ChangeKind {
    /// Tags were added or described.
    Add,
    /// Tags came from a file.
    Import,
    /// Tags came from a template.
    Template,
    /// A tag was removed with those below it.
    Remove,
    /// A tag was renamed.
    Rename,
    /// Tags were merged.
    Merge,
    /// A tag was split.
    Split,
    /// A synonym was added.
    AddSynonym,
    /// A synonym was removed.
    RemoveSynonym,
    /// Two tags were marked as distinct.
    MarkDistinct,
    /// That was taken back.
    UnmarkDistinct,
    /// A change was reverted.
    Revert,
}

/// A tag to add.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Term {
    /// The tag, in any spelling.
    pub tag: String,
    /// Its description; none keeps the current one, an empty one removes it.
    pub description: Option<String>,
    /// Its synonyms.
    pub synonyms: Vec<String>,
}

/// The effect of a removal on the nodes of the tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// A tag with nodes is kept.
    Unused,
    /// The nodes lose the tag.
    Assigned,
}

/// The receipt of a change, or of its dry run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Changed {
    /// Its number in the log; none for a dry run or if nothing changed.
    pub change: Option<i64>,
    /// Its kind.
    pub kind: ChangeKind,
    /// The namespace.
    pub namespace: String,
    /// Whether it was a dry run.
    pub dry_run: bool,
    /// Renamed or merged tags.
    pub moved: Vec<Moved>,
    /// New tags.
    pub added: Vec<String>,
    /// Tags with a new description, split or distinction.
    pub described: Vec<String>,
    /// Removed tags.
    pub removed: Vec<String>,
    /// New synonyms.
    pub synonyms: Vec<Synonym>,
    /// Removed synonyms.
    pub freed: Vec<String>,
    /// Tags of the reverted change that stay because they are in use.
    pub kept: Vec<String>,
    /// Nodes with changed or renamed tags, including forgotten ones.
    pub nodes: i64,
    /// Jobs that will tag nodes again.
    pub jobs: i64,
}

/// A renamed or merged tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Moved {
    /// Its former name.
    pub from: String,
    /// Its new name, or the tag that it was merged into.
    pub to: String,
    /// Whether that tag existed before.
    pub merged: bool,
}

/// A synonym.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Synonym {
    /// The synonym.
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
