//! Reading a model directory's files, and the errors of unusable ones.

use std::fmt::Display;
use std::io;
use std::path::Path;

use htm_core::{Error, Result};
use serde::de::DeserializeOwned;

use crate::codes;

/// Reads a file's bytes. The error names the file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| unreadable(path, error))
}

/// The file at `path` cannot be opened.
pub(super) fn unreadable(path: &Path, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::NotFound => missing(path),
        _ => bad(path, error),
    }
}

/// Reads a JSON file; none if there is no such file.
pub(super) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    match read(path) {
        Err(error) if error.is(codes::MISSING_FILE) => Ok(None),
        Err(error) => Err(error),
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| bad(path, error)),
    }
}

pub(super) fn missing(path: &Path) -> Error {
    Error::new(codes::MISSING_FILE, format!("{} is missing", path.display()))
}

/// The file at `path` exists and cannot be used.
pub(super) fn bad(path: &Path, reason: impl Display) -> Error {
    Error::new(codes::BAD_FILE, format!("{} cannot be used: {reason}", path.display()))
}

/// The model is of a kind that HTM cannot run, because `key` of the file at `path` has `value`.
pub(super) fn unsupported(path: &Path, key: &str, value: impl Display, supported: &str) -> Error {
    let message = format!("{}: {key} `{value}` is not supported; supported are {supported}", path.display());
    Error::new(codes::UNSUPPORTED, message)
}
