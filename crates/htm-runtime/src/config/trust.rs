//! The user's trust in the files of projects.
//!
//! The author of an `htm.toml` in another user's working directory could otherwise choose where memories and keys are
//! sent, and which files are read. Such a file may therefore set only harmless keys. The others (`Key::is_guarded`)
//! need the user's consent: `htm config trust`. Trust is for one content at one path. Changed content, or the same
//! content elsewhere, is not trusted.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use htm_core::Result;
use sha2::{Digest as _, Sha256};

use super::layers::{self, Locations};
use super::{Source, error, keys};
use crate::paths::readable;

/// The trust in a layer. A larger value is more trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Trust {
    /// A project's file.
    Project,
    /// The user's file, the environment, the command line, the service manager.
    User,
    /// This program.
    Program,
}

/// A project's file, with its settings that need trust.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ProjectFile {
    /// Its path.
    #[serde(serialize_with = "readable")]
    pub path: PathBuf,
    /// The keys that need trust, each with its value as [`Entry`](super::Entry) shows it.
    pub guarded: Vec<(String, String)>,
    /// Whether the user trusts it now.
    pub trusted: bool,
}

/// A change of the trust in a project's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// They are trusted, as they are now.
    Trust,
    /// They are no longer trusted.
    Revoke,
}

/// Applies `decision` to the project's files, and returns them.
pub(super) fn decide(locations: &Locations, decision: Decision) -> Result<Vec<ProjectFile>> {
    let mut files = Vec::new();
    for path in layers::project_files(locations) {
        let Some(text) = layers::read(&path)? else { continue };
        let guarded = guarded(&layers::parse(&text, Source::File(path.clone()))?);
        if let Some(mark) = mark(locations, &path, &text) {
            let done = match decision {
                Decision::Trust => set(&mark, &path),
                Decision::Revoke => unset(&mark),
            };
            done.map_err(|source| error::io("write", &mark, source))?;
        }
        let trusted = is_trusted(locations, &path, &text);
        files.push(ProjectFile { path, guarded, trusted });
    }
    Ok(files)
}

/// The keys of a layer that need trust, with their values as they are shown.
pub(super) fn guarded(layer: &layers::Layer) -> Vec<(String, String)> {
    let known = layer.values.iter().filter_map(|(name, value)| Some((keys::find(name)?, value)));
    known
        .filter(|(key, value)| key.is_guarded(value))
        .map(|(key, value)| (key.name.to_owned(), key.show(value)))
        .collect()
}

pub(super) fn is_trusted(locations: &Locations, path: &Path, text: &str) -> bool {
    mark(locations, path, text).is_some_and(|mark| mark.is_file())
}

/// The path of the file that marks `text` at `path` as trusted. None if `path` does not resolve, or without `trusted`.
fn mark(locations: &Locations, path: &Path, text: &str) -> Option<PathBuf> {
    let path = path.canonicalize().ok()?;
    let mut hash = Sha256::new();
    hash.update(path.as_os_str().as_bytes());
    hash.update([0]);
    hash.update(text);
    let name = hex::encode(hash.finalize());
    Some(locations.trusted.as_ref()?.join(name))
}

fn set(mark: &Path, path: &Path) -> io::Result<()> {
    if let Some(dir) = mark.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    }
    fs::write(mark, format!("{}\n", path.display()))
}

fn unset(mark: &Path) -> io::Result<()> {
    match fs::remove_file(mark) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
