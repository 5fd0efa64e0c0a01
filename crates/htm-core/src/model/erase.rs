//! Erasures: what is erased, its plan, its receipt, and the proof.

mod answers;

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

pub(crate) use self::answers::{mentions, nodes_of};
use crate::model::error::{Error, ErrorKind, Result, codes};
use crate::model::forget::Match;
use crate::model::id::NodeId;
use crate::model::memory::{MAX_NAME_BYTES, content_empty, refuse_nul, validate_name};
use crate::model::words::folded;

/// The memories to erase, forgotten ones included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Erase {
    /// These.
    Memories(Vec<NodeId>),
    /// Those of a namespace (default: the handle's) whose text, or a former text, contains this in upper or lower case.
    Matching {
        /// The text.
        text: String,
        /// The namespace.
        namespace: Option<String>,
    },
    /// Those that a robot of a namespace (default: the handle's) remembered. The robot itself stays.
    Robot {
        /// The robot's name.
        robot: String,
        /// The namespace.
        namespace: Option<String>,
    },
    /// All of a namespace, with its robots, groups, ontology, policies and statistics.
    Namespace(String),
}

impl Erase {
    /// The kind, as receipts name it.
    pub fn kind(&self) -> ErasureKind {
        match self {
            Self::Memories(_) => ErasureKind::Memories,
            Self::Matching { .. } => ErasureKind::Matching,
            Self::Robot { .. } => ErasureKind::Robot,
            Self::Namespace(_) => ErasureKind::Namespace,
        }
    }

    /// Refuses a selection that selects nothing by itself.
    pub(crate) fn validate(&self) -> Result<()> {
        match self {
            Self::Memories(nodes) if nodes.is_empty() => Err(nothing("no memory is named")),
            Self::Matching { text, .. } if folded(text).trim().is_empty() => Err(content_empty()),
            Self::Matching { text, .. } => refuse_nul("text", text),
            Self::Robot { robot, .. } => validate_name("robot", robot, MAX_NAME_BYTES),
            Self::Memories(_) | Self::Namespace(_) => Ok(()),
        }
    }
}

/// The error of an erasure without memories.
pub(crate) fn nothing(what: &'static str) -> Error {
    Error::new(codes::NOTHING_TO_ERASE, what)
}

/// The error of an unknown receipt.
pub(crate) fn unknown(erasure: i64) -> Error {
    Error::new(codes::ERASURE_UNKNOWN, format!("there is no erasure {erasure}"))
        .with_value("erasure", erasure)
}

/// The error of an erasure of a namespace to which others write all the time.
pub(crate) fn written_meanwhile(erasure: &Erasure) -> Error {
    let Erasure { id, erased, memories, .. } = erasure;
    let message = format!(
        "others write to the namespace while it is erased; {erased} of {memories} memories are erased so far"
    );
    let hint = "stop the programs that write to the namespace, then go on: `Htm::resume_erasure`";
    Error::new(codes::CONTENDED, message)
        .with_kind(ErrorKind::Contended)
        .with_hint(hint)
        .with_value("erasure", id)
}

/// The subject of an erasure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(serde::Serialize, strum::AsRefStr, strum::Display, strum::EnumString)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ErasureKind {
    /// Memories by their ids.
    Memories,
    /// The memories that contain a text.
    Matching,
    /// The memories of a robot.
    Robot,
    /// A whole namespace.
    Namespace,
}

/// The preview of an erasure.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ErasePlan {
    /// A digest of the memories and their revisions. An erasure with this plan is refused if they have changed.
    pub plan: String,
    /// The number of memories.
    pub memories: u64,
    /// The number of rows by table, of tables with any.
    pub removed: BTreeMap<String, u64>,
    /// The first memories by id, [`MAX_MATCHES`](crate::MAX_MATCHES) at most, with the beginning of each text.
    pub matches: Vec<Match>,
}

/// The receipt of an erasure. It has no text of a memory, and no hash of one: whoever can read a hash can test a guess.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Erasure {
    /// Its number.
    pub id: i64,
    /// The eraser: a key of the API, or the robot of a program.
    pub asked_by: String,
    /// The subject.
    pub kind: ErasureKind,
    /// The robot whose memories were erased. Null for another kind.
    pub robot: Option<String>,
    /// The namespaces of the memories.
    pub namespaces: Vec<String>,
    /// The number of memories to erase.
    pub memories: u64,
    /// The number of those that are erased.
    pub erased: u64,
    /// The number of removed rows by table.
    pub removed: BTreeMap<String, u64>,
    /// When it began.
    pub began_at: DateTime<Utc>,
    /// When the last row was removed. Null: it was interrupted, and can be resumed.
    pub ended_at: Option<DateTime<Utc>>,
    /// The end of the write-ahead log after that.
    pub wal_position: Option<String>,
    /// How the space of the removed rows was freed. Null: not yet.
    pub vacuum: Option<Vacuumed>,
}

/// How the space of removed rows was freed.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Vacuumed {
    /// When.
    pub at: DateTime<Utc>,
    /// The vacuumed tables.
    pub tables: Vec<String>,
    /// The tables that the program's role may not vacuum. Autovacuum does it later.
    pub not_permitted: Vec<String>,
    /// The older transactions that were open: vacuum frees nothing that one of them may still read. Null: the program's
    /// role cannot see those of other roles.
    pub older_transactions: Option<i64>,
}

impl Vacuumed {
    /// Whether nothing of the removed rows was left in these tables.
    pub fn is_complete(&self) -> bool {
        self.not_permitted.is_empty() && self.older_transactions == Some(0)
    }
}

/// The result of a search for traces of an erasure.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Verification {
    /// The receipt.
    pub erasure: Erasure,
    /// Whether nothing was found, in places that are all known and could be looked at.
    pub is_clean: bool,
    /// Every table of the database's schemas `htm` and `apalis`.
    pub places: Vec<PlaceFound>,
    /// The first rows of other memories with the given text, 20 at most.
    pub with_text: Vec<MemoryWithText>,
    /// Where recovery after a crash would begin to read the write-ahead log.
    pub redo_position: String,
    /// Whether that is after the erasure: a crash of the server would not read the erased rows again.
    pub is_behind_checkpoint: bool,
}

/// A row of a memory with the text that was looked for.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MemoryWithText {
    /// The memory.
    pub node: NodeId,
    /// The table.
    pub table: String,
    /// The columns of the table that have the text.
    pub columns: Vec<String>,
}

/// The traces in a table.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlaceFound {
    /// The table.
    pub table: String,
    /// The data of memories in it.
    pub holds: String,
    /// The number of rows about the erased memories.
    pub traces: u64,
    /// The number of rows with the given text. Null: none was given.
    pub mentions: Option<u64>,
    /// When the table was vacuumed last, if that was after the erasure.
    pub vacuumed_at: Option<DateTime<Utc>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_erasure_under_writers_says_how_far_it_is() {
        let erasure = Erasure {
            id: 8,
            asked_by: "htm".into(),
            kind: ErasureKind::Namespace,
            robot: None,
            namespaces: vec!["ci".into()],
            memories: 1_284,
            erased: 1_278,
            removed: BTreeMap::new(),
            began_at: DateTime::UNIX_EPOCH,
            ended_at: None,
            wal_position: None,
            vacuum: None,
        };
        let error = written_meanwhile(&erasure);
        assert_eq!((error.code(), error.value("erasure")), ("contended", Some("8")));
        assert!(error.to_string().contains("1278 of 1284 memories are erased"), "{error}");
        assert!(error.hint().contains("Htm::resume_erasure"), "{}", error.hint());
    }
}
