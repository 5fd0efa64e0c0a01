//! Reading a model directory's files, and what to say of one that cannot be used.

use std::fmt::Display;
use std::path::Path;

use htm_core::{Error, Result};
use serde::de::DeserializeOwned;

use crate::codes;

/// A file's bytes; the error names the file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => missing(path),
        _ => bad(path, error),
    })
}

/// What a JSON file says; none when there is no such file.
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

/// That the file at `path` is there and cannot be used.
pub(super) fn bad(path: &Path, reason: impl Display) -> Error {
    Error::new(codes::BAD_FILE, format!("{} cannot be used: {reason}", path.display()))
}

/// That the model is of a kind that cannot be run here: `key` of the file has `value`.
pub(super) fn unsupported(path: &Path, key: &str, value: impl Display, supported: &str) -> Error {
    let message = format!("{}: {key} `{value}` is not supported; supported are {supported}", path.display());
    Error::new(codes::UNSUPPORTED, message)
}
