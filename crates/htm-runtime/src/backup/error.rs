//! Errors of files.

use std::io;

use htm_core::Error;

use crate::codes;

/// The error of a file.
pub(super) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
    let what = what.into();
    move |error| Error::new(codes::BACKUP_IO, format!("{what}: {error}")).with_source(error)
}
