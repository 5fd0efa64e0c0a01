//! The items of a source.

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::json;

/// An item of a source.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A memory that comes.
    Memory(Box<Foreign>),
    /// Something that does not come.
    Left(Left),
}

/// A memory as another system has it. Missing fields are none or empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Foreign {
    /// Its id there, the same in every run, without the name of the system.
    pub id: String,
    /// Its key here, where a client of HTM looks for it by that key; none: the system and the id.
    pub key: Option<String>,
    /// Its text.
    pub text: String,
    /// Whose it is: the labels of a namespace below the import's. Empty if the system separates no users.
    pub owner: Vec<String>,
    /// The agent that remembers it.
    pub robot: Option<String>,
    /// The speaker.
    pub speaker: Option<String>,
    /// Its conversation or run.
    pub session: Option<String>,
    /// Its position in the conversation.
    pub seq: Option<i32>,
    /// Its kind: `message`, `fact`, `note`.
    pub kind: Option<String>,
    /// Its importance, 1 to 10.
    pub importance: Option<f32>,
    /// Its source: a URL, a file.
    pub source: Option<String>,
    /// Its tags as they are spelled there. Those that HTM cannot spell go to the metadata.
    pub tags: Vec<String>,
    /// Its metadata.
    pub metadata: Map<String, Value>,
    /// When it was made.
    pub at: Option<DateTime<Utc>>,
    /// When its text was written; none: when it was made.
    pub updated_at: Option<DateTime<Utc>>,
    /// When it expires.
    pub expires_at: Option<DateTime<Utc>>,
    /// How long it lives after each use, as `expires_at` says for now. It comes if the memory has a time.
    pub ttl_seconds: Option<i64>,
    /// When it was stored; none: when it was made. It comes if the memory has a time.
    pub remembered_at: Option<DateTime<Utc>>,
    /// How often robots remembered it again. They come if the memory has a time.
    pub repeats: Vec<Repeat>,
    /// How often it was recalled. It comes if the memory has a time.
    pub recalled: Option<Recalls>,
    /// Its former texts, the oldest first. They come if the memory has a time.
    pub former: Vec<Former>,
    /// The memories that it contradicts. They come if these and the memory have a time.
    pub contradicts: Vec<Contradiction>,
    /// Whether it contradicts a memory, or one contradicts it.
    pub is_related: bool,
    /// How many of its relations are of a kind that HTM does not have. They are in the metadata.
    pub other_relations: u64,
    /// How many of its times could not be read. They are in the metadata.
    pub unread_times: u64,
    /// The vector of its text by the source's [`model`](crate::Source::model). It comes if the memory has a time.
    pub vector: Option<Vec<f32>>,
}

impl Foreign {
    /// Keeps the times of an object that cannot be read in the metadata, as they are. A time whose name the metadata has
    /// already is neither kept nor counted.
    pub(crate) fn keeping_times(mut self, object: &Value, names: &[&str]) -> Self {
        for name in names.iter().filter(|name| json::has_strange_time(object, name)) {
            if !self.metadata.contains_key(*name) {
                self.metadata.insert((*name).into(), object[*name].clone());
                self.unread_times += 1;
            }
        }
        self
    }
}

/// A former text of a memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Former {
    /// The text.
    pub text: String,
    /// When it was written.
    pub at: DateTime<Utc>,
}

/// A memory that another one contradicts.
#[derive(Clone, Debug, PartialEq)]
pub struct Contradiction {
    /// Its id there.
    pub to: String,
    /// When somebody said so.
    pub at: DateTime<Utc>,
}

/// How often a robot remembered the same text again.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Repeat {
    /// The robot.
    pub robot: String,
    /// The number of times, at least 1.
    pub count: i64,
    /// The first time.
    pub first_at: DateTime<Utc>,
    /// The last time.
    pub last_at: DateTime<Utc>,
}

/// How often a memory was recalled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Recalls {
    /// The number of times, at least 1.
    pub count: i64,
    /// The last time.
    pub last_at: DateTime<Utc>,
}

/// The embedding model of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// The provider: `local`, `ollama`, `openai`.
    pub provider: String,
    /// The provider's name of the model.
    pub name: String,
    /// The length of its vectors.
    pub dimensions: usize,
}

/// Something that does not come.
#[derive(Clone, Debug, PartialEq)]
pub struct Left {
    /// Its kind: `message`, `memory`, `attachment`.
    pub subject: &'static str,
    /// Its id, or the name of its file.
    pub id: String,
    /// The reason.
    pub why: Why,
    /// More about this one, such as what cannot be read; may be empty.
    pub detail: String,
}

impl Left {
    /// Something of this kind, with this id.
    pub fn new(subject: &'static str, id: impl Into<String>, why: Why) -> Self {
        Self { subject, id: id.into(), why, detail: String::new() }
    }

    /// Adds what there is to say about this one.
    pub fn detail(self, detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), ..self }
    }
}

/// Why something does not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, strum::VariantArray)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// It has no text.
    Empty,
    /// It is of the system, not of a person or an assistant.
    SystemMessage,
    /// It is a call of a tool, or the answer.
    ToolMessage,
    /// It is the reasoning of a model.
    Reasoning,
    /// It is a link to a file or a folder.
    Link,
    /// It is a picture, a recording or a file, not text.
    NotText,
    /// The conversation went on from another version of the message.
    OtherBranch,
    /// It was deleted there.
    Deleted,
    /// It was archived there.
    Archived,
    /// It was paused there.
    Paused,
    /// It has expired there.
    Expired,
    /// It is a template, from which memories are made.
    Template,
    /// It is larger than HTM can keep it.
    TooLarge,
    /// It cannot be read.
    Unreadable,
}

impl Why {
    /// The reason in words, for a sentence that begins with the subject.
    pub fn words(self) -> &'static str {
        match self {
            Self::Empty => "has no text",
            Self::SystemMessage => "is of the system, not of a person or an assistant",
            Self::ToolMessage => "is a call of a tool, or its answer",
            Self::Reasoning => "is the reasoning of a model",
            Self::Link => "is a link, which is not followed: it may lead in a circle",
            Self::NotText => "is a file, a picture or a recording: only text is imported",
            Self::OtherBranch => "is of a branch that the conversation left",
            Self::Deleted => "was deleted there",
            Self::Archived => "was archived there",
            Self::Paused => "was paused there",
            Self::Expired => "has expired there",
            Self::Template => "is a template, from which memories are made",
            Self::TooLarge => "is larger than HTM can keep it",
            Self::Unreadable => "cannot be read",
        }
    }
}
