//! Files below `/memories`, as Anthropic's memory tool has them: their paths, their texts, and the texts of the replies.
//!
//! A file is the memory whose key is its path. Language models are trained on the texts of the replies, so these are the
//! texts of the tool in Anthropic's SDK for Python (2.12.0).

pub(crate) mod listing;
pub(crate) mod path;
pub(crate) mod text;

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::model::error::{Error, codes};
use crate::model::id::NodeId;
use path::FilePath;

/// The kind of the memories that `create` makes.
pub(crate) const KIND: &str = "file";

/// The text of the memory of a blank file, because a memory is not blank.
pub(crate) const BLANK: &str = "(empty file)";

/// The entry of the metadata that has the text of a blank file.
pub(crate) const BLANK_TEXT: &str = "file_text";

/// The reply to a command on files.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FileReply {
    /// The text for the language model.
    pub content: String,
    /// The memories of the files that were read or changed. Empty for a listing.
    pub nodes: Vec<NodeId>,
    /// The revision of the file's text. Null for a command on a directory, and for deletions and renames.
    pub revision: Option<i32>,
}

/// The memory's text and its entry in the metadata for the text of a file.
pub(crate) fn stored(text: &str) -> (&str, Value) {
    match text.trim().is_empty() {
        true => (BLANK, text.into()),
        false => (text, Value::Null),
    }
}

/// The text of a file, by its memory's text and metadata.
pub(crate) fn text_of(content: String, metadata: &Map<String, Value>) -> String {
    match metadata.get(BLANK_TEXT) {
        Some(Value::String(text)) if content == BLANK => text.clone(),
        _ => content,
    }
}

pub(crate) fn not_found(path: &FilePath) -> Error {
    Error::new(codes::FILE_NOT_FOUND, format!("The path {path} does not exist"))
}

/// As [`not_found`], for the commands that read a text.
pub(crate) fn nothing_to_read(path: &FilePath) -> Error {
    let message = format!("The path {path} does not exist. Please provide a valid path.");
    Error::new(codes::FILE_NOT_FOUND, message)
}

pub(crate) fn exists(path: &FilePath) -> Error {
    Error::new(codes::FILE_EXISTS, format!("File {path} already exists"))
}

pub(crate) fn destination_exists(path: &FilePath) -> Error {
    Error::new(codes::FILE_EXISTS, format!("The destination {path} already exists"))
}

pub(crate) fn is_directory(path: &FilePath) -> Error {
    Error::new(codes::FILE_IS_DIRECTORY, format!("The path {path} is not a file."))
}

/// The root cannot be deleted or renamed.
pub(crate) fn is_root(verb: &str) -> Error {
    let message = format!("Cannot {verb} the {} directory itself", path::ROOT);
    Error::new(codes::FILE_PATH_INVALID, message)
        .with_hint(format!("name what is in it, such as {}/notes.md", path::ROOT))
}

/// At most 80 characters of a text, for a message.
fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_file_has_its_text_in_the_metadata() {
        for text in ["", "\n", " \t\n", "x", "(empty file)", "  x\n"] {
            let (content, blank) = stored(text);
            assert!(!content.trim().is_empty());
            let metadata: Map<String, Value> =
                [(BLANK_TEXT.to_owned(), blank)].into_iter().filter(|(_, value)| !value.is_null()).collect();
            assert_eq!(text_of(content.to_owned(), &metadata), text);
        }
        // An edit of the memory itself leaves the metadata, and its text counts.
        let left = Map::from_iter([(BLANK_TEXT.to_owned(), "".into())]);
        assert_eq!(text_of("new".into(), &left), "new");
    }
}
