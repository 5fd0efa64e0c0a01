//! An export: lines of JSON with everything that is stored and cannot be derived. The field `kind` names what a line is.
//!
//! The first line is the [`Header`], the last one the [`End`] with the number of lines of each kind. A file without its
//! end was cut. Between them are embedding models, the settings of namespaces and providers, robots, groups, the log of the
//! ontology, tags, memories, each followed by its former texts, relations between memories, and documents. Quotas come
//! last: a namespace may have more than its quota, which was set later. A memory has the fields of a line of an import
//! (`model/line.rs`) and further ones.

mod check;
mod lines;

pub(crate) use lines::*;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::line::read_object;
use crate::model::remember::Outcome;

/// The name of the format.
pub(crate) const FORMAT: &str = "htm-export";
/// The version of the format that this program writes, and the latest that it reads. Version 1 has no log of the ontology
/// but the names of removed tags, and none of budgets, limits, quotas and members of groups.
pub(crate) const VERSION: u32 = 2;

/// The scope of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportOptions {
    /// The namespaces; none: all that the handle sees.
    pub namespaces: Vec<String>,
    /// Also forgotten memories.
    pub forgotten: bool,
    /// Also the vectors of the embedding models.
    pub vectors: bool,
}

/// The kind of a line of an export or an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum LineKind {
    /// The first line of an export.
    Header,
    /// An embedding model whose vectors the export has.
    Model,
    /// The retention policy of a namespace.
    Retention,
    /// The budget of a namespace.
    Budget,
    /// The limits of a provider's model.
    Limits,
    /// A robot.
    Robot,
    /// A group of robots.
    Group,
    /// A change of the ontology.
    Change,
    /// A name that a change concerned.
    Name,
    /// A tag, or the name of a removed one.
    Tag,
    /// A memory.
    Memory,
    /// A former text of the memory before it.
    Revision,
    /// A relation between two memories.
    Relation,
    /// A loaded document, whose passages are memories.
    Document,
    /// The quota of a namespace.
    Quota,
    /// The settings of a namespace's learning, and its ranking in use.
    Learning,
    /// A learnt ranking.
    Ranking,
    /// The last line of an export.
    End,
}

/// A line of an export.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Line {
    Header(Header),
    Model(SavedModel),
    Retention(SavedRetention),
    Budget(SavedBudget),
    Limits(SavedLimits),
    Robot(SavedRobot),
    Group(SavedGroup),
    Change(SavedChange),
    Name(SavedName),
    Tag(SavedTag),
    Memory(Box<SavedMemory>),
    Revision(SavedRevision),
    Relation(SavedRelation),
    Document(SavedDocument),
    Quota(SavedQuota),
    Learning(SavedLearning),
    Ranking(Box<SavedRanking>),
    End(End),
}

impl Line {
    /// Reads a line with a field `kind`; none if it has no such field.
    ///
    /// # Errors
    /// `line_invalid`.
    pub(crate) fn read(line: &[u8]) -> Result<Option<Self>> {
        #[derive(Deserialize)]
        struct Kind {
            kind: Option<serde_json::Value>,
        }
        // Most lines of an import have no kind: their text is not looked through twice.
        let mentions_kind = line.windows(6).any(|part| part == b"\"kind\"");
        if !mentions_kind || read_object::<Kind>(line)?.kind.is_none() {
            return Ok(None);
        }
        read_object(line).map(Some)
    }

    /// Adds the line to a text.
    pub(crate) fn write(&self, text: &mut Vec<u8>) {
        // Cannot fail: the keys of the objects are strings, and the buffer takes everything.
        let _ = serde_json::to_writer(&mut *text, self);
        text.push(b'\n');
    }

    pub(crate) fn kind(&self) -> LineKind {
        match self {
            Self::Header(_) => LineKind::Header,
            Self::Model(_) => LineKind::Model,
            Self::Retention(_) => LineKind::Retention,
            Self::Budget(_) => LineKind::Budget,
            Self::Limits(_) => LineKind::Limits,
            Self::Robot(_) => LineKind::Robot,
            Self::Group(_) => LineKind::Group,
            Self::Change(_) => LineKind::Change,
            Self::Name(_) => LineKind::Name,
            Self::Tag(_) => LineKind::Tag,
            Self::Memory(_) => LineKind::Memory,
            Self::Revision(_) => LineKind::Revision,
            Self::Relation(_) => LineKind::Relation,
            Self::Document(_) => LineKind::Document,
            Self::Quota(_) => LineKind::Quota,
            Self::Learning(_) => LineKind::Learning,
            Self::Ranking(_) => LineKind::Ranking,
            Self::End(_) => LineKind::End,
        }
    }
}

/// The lines of each kind between the first and the last line.
pub(crate) type LineCounts = BTreeMap<LineKind, u64>;

/// The result of an imported line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportedLine {
    /// The kind of the line.
    pub kind: LineKind,
    /// The memory's node; none for other lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// The outcome.
    pub outcome: Outcome,
    /// Whether an existing memory has another text than the line, or other metadata than one of another system: it was
    /// edited here or there.
    #[serde(skip)]
    pub differs: bool,
}

impl ImportedLine {
    pub(crate) fn new(kind: LineKind, is_new: bool) -> Self {
        let outcome = if is_new { Outcome::Written } else { Outcome::Existing };
        Self { kind, node: None, outcome, differs: false }
    }

    pub(crate) fn memory(node: NodeId, outcome: Outcome) -> Self {
        Self { kind: LineKind::Memory, node: Some(node), outcome, differs: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_it_is() {
        let kind = |line: &str| Line::read(line.as_bytes()).map(|it| it.map(|it| it.kind()));
        assert_eq!(kind(r#"{"id":"a","ns":"n","text":"of a \"kind\""}"#).unwrap(), None);
        let policy = r#"{"kind":"retention","ns":"n","forget_after_seconds":60}"#;
        assert_eq!(kind(policy).unwrap(), Some(LineKind::Retention));
        for invalid in [
            r#"{"kind":"retention","ns":"n","forget_after":60}"#,
            r#"{"kind":"dream","ns":"n"}"#,
            r#"{"kind":7}"#,
            r#"{"kind":"tag","ns":"n","tag":"A tag!"}"#,
            r#"{"kind":"memory","ns":"n","text":"t"}"#,
            "not json, of a \"kind\"",
        ] {
            assert_eq!(kind(invalid).unwrap_err().code(), "line_invalid", "{invalid}");
        }
        // The last line of a file that was cut.
        let cut = kind(r#"{"kind":"memory","ns":"n","te"#).unwrap_err().to_string();
        assert_eq!(cut, "column 29: the line is cut: it ends inside of its JSON object");
    }
}
