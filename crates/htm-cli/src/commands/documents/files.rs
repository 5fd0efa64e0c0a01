//! The files below paths: without hidden ones, links, and those that .gitignore or .ignore names.

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use htm_core::{DocumentInfo, normal_path};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::{DirEntry, WalkBuilder};

use super::tried::Stamp;
use crate::codes;
use crate::error::CliError;

/// The paths to load.
pub(super) struct Files {
    roots: Vec<(PathBuf, String)>,
    globs: Vec<Override>,
}

/// A file to load.
pub(super) struct File {
    pub(super) place: PathBuf,
    /// Its path as its user knows it.
    pub(super) path: String,
    /// Whether the command line names it.
    pub(super) named: bool,
}

/// The documents below a root whose files are gone.
pub(super) struct Gone<'a> {
    pub(super) removed: Vec<&'a DocumentInfo>,
    /// The directories without files to which others belong. The place of a drive that is not mounted is an empty directory,
    /// so nothing is known of what was there.
    pub(super) empty: Vec<&'a str>,
}

/// A path, or a file below it, that cannot be read.
pub(super) struct Missing {
    pub(super) path: String,
    pub(super) reason: String,
    pub(super) detail: String,
    pub(super) named: bool,
}

impl Files {
    pub(super) fn new(paths: &[PathBuf], globs: &[String]) -> Result<Self, CliError> {
        let mut roots = Vec::new();
        let mut overrides = Vec::new();
        for path in paths {
            roots.push((path.clone(), path_of(path).unwrap_or_default()));
            let mut builder = OverrideBuilder::new(path);
            for glob in globs {
                builder.add(glob).map_err(|error| CliError::new(codes::USAGE, format!("--glob: {error}")))?;
            }
            let built = builder.build();
            overrides.push(built.map_err(|error| CliError::new(codes::USAGE, format!("--glob: {error}")))?);
        }
        Ok(Self { roots, globs: overrides })
    }

    /// The roots, as their users know them.
    pub(super) fn roots(&self) -> impl Iterator<Item = &str> {
        self.roots.iter().map(|(_, root)| root.as_str())
    }

    /// The documents of a root that have no file any more.
    pub(super) fn gone<'a>(&'a self, root: &str, documents: &'a [DocumentInfo]) -> Gone<'a> {
        let is_gone = |it: &&DocumentInfo| is_gone(root, &it.path);
        let mut gone = Gone { removed: documents.iter().filter(is_gone).collect(), empty: Vec::new() };
        if !gone.removed.is_empty() {
            // A drive may be unmounted at any time: a file is gone if it was so before and after others were found.
            let empty: Vec<&str> = self.empty_roots().collect();
            gone.removed.retain(is_gone);
            gone.removed.retain(|it| match empty.iter().find(|root| is_within(root, &it.path)) {
                Some(root) => {
                    gone.empty.push(root);
                    false
                }
                None => true,
            });
        }
        gone
    }

    /// The directories among the roots in which no file is found.
    fn empty_roots(&self) -> impl Iterator<Item = &str> {
        // No document has a path that is not UTF-8, and so no name here.
        let named = self.roots.iter().filter(|(root, name)| !name.is_empty() && root.is_dir());
        named.filter(|(root, _)| !walk(root).flatten().any(|it| is_file(&it))).map(|(_, name)| name.as_str())
    }

    /// All files at the paths and below them, each once, in the order of their paths.
    pub(super) fn find(&self) -> Vec<Result<File, Missing>> {
        let mut all = Vec::new();
        for ((root, name), globs) in self.roots.iter().zip(&self.globs) {
            let missing = |path: String, named: bool, error: &io::Error| Missing {
                path,
                reason: reason(error).to_owned(),
                detail: error.to_string(),
                named,
            };
            match fs::metadata(root) {
                Ok(found) if found.is_dir() => {}
                Ok(_) => {
                    all.push(file(root, true));
                    continue;
                }
                Err(error) => {
                    all.push(Err(missing(name.clone(), true, &error)));
                    continue;
                }
            }
            for entry in walk(root) {
                match entry {
                    // Not as overrides of the walk, which would let in hidden and ignored files that match.
                    Ok(entry) if is_file(&entry) => {
                        if !globs.matched(entry.path(), false).is_ignore() {
                            all.push(file(entry.path(), false));
                        }
                    }
                    Ok(_) => {}
                    Err(error) => {
                        let detail = error.to_string();
                        let error = error.into_io_error().unwrap_or_else(|| io::Error::other(detail));
                        all.push(Err(missing(name.clone(), true, &error)));
                    }
                }
            }
        }
        let path = |found: &Result<File, Missing>| match found {
            Ok(file) => file.path.clone(),
            Err(missing) => missing.path.clone(),
        };
        all.sort_by_key(path);
        all.dedup_by(|again, kept| match (again, kept) {
            (Ok(again), Ok(kept)) if again.path == kept.path => {
                kept.named |= again.named;
                true
            }
            _ => false,
        });
        all
    }
}

impl File {
    pub(super) fn stamp(&self) -> Option<Stamp> {
        let found = fs::metadata(&self.place).ok()?;
        Some((found.len(), found.modified().ok()?))
    }

    /// The bytes; none if there are more than `most`.
    pub(super) fn read(&self, most: u64) -> io::Result<Option<Vec<u8>>> {
        // Before it is opened: a pipe would wait for a writer.
        if !fs::metadata(&self.place)?.is_file() {
            return Err(io::Error::other("it is not a file"));
        }
        let file = fs::File::open(&self.place)?;
        let mut bytes = Vec::new();
        file.take(most + 1).read_to_end(&mut bytes)?;
        Ok((bytes.len() as u64 <= most).then_some(bytes))
    }
}

/// The entries below a root: no hidden and no ignored ones, and what links lead to only as links.
fn walk(root: &Path) -> ignore::Walk {
    WalkBuilder::new(root).require_git(false).follow_links(false).build()
}

fn is_file(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|it| it.is_file())
}

/// Whether a document of a root has no file any more. A file that cannot be read is there.
fn is_gone(root: &str, path: &str) -> bool {
    // A root that is not there, or a link to nothing, may be a drive that is not mounted, or a mistyped path: nothing is
    // known of what was below it.
    is_within(root, path)
        && fs::metadata(root).is_ok()
        && match fs::symlink_metadata(path) {
            Ok(found) => found.is_dir(),
            // A directory on the way to it may be a file by now.
            Err(error) => matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
        }
}

/// Whether a path is at or below a root. Below the current directory are relative paths alone.
fn is_within(root: &str, path: &str) -> bool {
    match root {
        "." => !(Path::new(path).is_absolute() || path.starts_with("../")),
        _ => Path::new(path).starts_with(root),
    }
}

fn file(place: &Path, named: bool) -> Result<File, Missing> {
    match path_of(place) {
        Some(path) => Ok(File { place: place.to_owned(), path, named }),
        None => Err(Missing {
            path: place.to_string_lossy().into_owned(),
            reason: "path_not_utf8".to_owned(),
            detail: "its path is not UTF-8".to_owned(),
            named,
        }),
    }
}

/// The path of a document at a place, if it is UTF-8.
fn path_of(place: &Path) -> Option<String> {
    place.to_str().map(|path| normal_path(path).into_owned())
}

/// The reason of a failed read, as a code.
pub(super) fn reason(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::NotFound => "not_found",
        ErrorKind::PermissionDenied => "no_permission",
        _ => "io_error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_gone_if_a_directory_has_its_path() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_str().unwrap();
        fs::create_dir(dir.path().join("a.md")).unwrap();
        fs::write(dir.path().join("b.md"), "Text.").unwrap();
        for (name, gone) in [("a.md", true), ("a.md/c.md", true), ("b.md", false), ("b.md/c.md", true)] {
            assert_eq!(is_gone(root, &format!("{root}/{name}")), gone, "{name}");
        }
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("pipe.md");
        nix::unistd::mkfifo(&place, nix::sys::stat::Mode::S_IRUSR).unwrap();
        let pipe = File { place, path: "pipe.md".into(), named: true };
        assert_eq!(pipe.read(10).unwrap_err().to_string(), "it is not a file");
    }
}
