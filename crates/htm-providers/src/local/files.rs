//! Reading a model directory's files, and what to say of one that cannot be used.

use std::path::Path;

use serde::de::DeserializeOwned;

use crate::SettingsError;

/// A file's bytes; the error names the file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, SettingsError> {
    std::fs::read(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => SettingsError::MissingFile { path: path.to_owned() },
        _ => bad(path, error),
    })
}

/// What a JSON file says; none when there is no such file.
pub(super) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, SettingsError> {
    match read(path) {
        Err(SettingsError::MissingFile { .. }) => Ok(None),
        Err(error) => Err(error),
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| bad(path, error)),
    }
}

/// That the file at `path` is there and cannot be used.
pub(super) fn bad(path: &Path, reason: impl ToString) -> SettingsError {
    SettingsError::BadFile { path: path.to_owned(), reason: reason.to_string() }
}

/// That the model is of a kind that cannot be run here: `key` of the file has `value`.
pub(super) fn unsupported(
    path: &Path,
    key: &'static str,
    value: impl Into<String>,
    supported: &'static str,
) -> SettingsError {
    SettingsError::Unsupported { path: path.to_owned(), key, value: value.into(), supported }
}
