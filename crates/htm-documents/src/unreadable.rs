//! Files that are no documents.

use crate::MAX_FILE_BYTES;

/// The reason why a file cannot be read as a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, strum::Display, strum::AsRefStr)]
#[strum(serialize_all = "snake_case")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unreadable {
    /// It has bytes that no text has.
    Binary,
    /// Its text is not UTF-8.
    NotUtf8,
    /// It is a PDF that only a password opens.
    Encrypted,
    /// It is a PDF whose structure is broken.
    Damaged,
    /// It was not read within a minute.
    TooSlow,
    /// It is a PDF that takes too much memory.
    TooMuchMemory,
    /// It is a PDF, and the system gave nothing to read it with: no thread, or no process.
    NoReader,
    /// It has no text. A scanned PDF has pictures only.
    Empty,
    /// It has more than [`MAX_FILE_BYTES`], too many sections or passages, or a tag with too many attributes.
    TooLarge,
}

impl Unreadable {
    /// The reason, for people.
    pub fn describe(self) -> String {
        match self {
            Self::Binary => "it is binary".into(),
            Self::NotUtf8 => "its text is not UTF-8".into(),
            Self::Encrypted => "the PDF is encrypted with a password".into(),
            Self::Damaged => "the PDF is damaged".into(),
            Self::TooSlow => "it was not read within a minute".into(),
            Self::TooMuchMemory => "the PDF takes too much memory".into(),
            Self::NoReader => "the system starts no thread or process that reads the PDF".into(),
            Self::Empty => "it has no text".into(),
            Self::TooLarge => {
                format!(
                    "it is larger than {} MiB, or has too many sections, passages, or attributes of a tag",
                    MAX_FILE_BYTES >> 20
                )
            }
        }
    }
}
