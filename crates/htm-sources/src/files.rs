//! The files of an export: the archive as it was downloaded, the folder that it was unpacked to, or one file of it.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::read::DeflateDecoder;
use htm_core::{Error, Result};
use zip::{CompressionMethod, ZipArchive};

use crate::codes;

const BUFFER: usize = 1 << 16;

/// A file of an export, not opened yet.
#[derive(Debug)]
pub(crate) struct Part {
    /// Its name, for messages.
    pub(crate) name: String,
    bytes: Bytes,
}

#[derive(Debug)]
enum Bytes {
    File(PathBuf),
    /// In an archive: where its bytes begin, their number, and whether they are compressed.
    Archived {
        archive: PathBuf,
        start: u64,
        bytes: u64,
        is_deflated: bool,
    },
}

/// The files of a location whose names are wanted, in the order of the names. A location that is a file, and no archive, is
/// wanted whatever its name.
///
/// # Errors
/// `source_unreadable`; `source_unrecognised` if there is none, which names what was looked for; `source_damaged`.
pub(crate) fn parts(location: &str, what: &str, wanted: impl Fn(&str) -> bool) -> Result<Vec<Part>> {
    let path = file(location)?;
    let metadata = path.metadata().map_err(unreadable(path))?;
    let mut parts = if metadata.is_dir() {
        in_folder(path, &wanted)?
    } else if is_archive(path)? {
        in_archive(path, &wanted)?
    } else {
        return Ok(vec![Part { name: location.into(), bytes: Bytes::File(path.into()) }]);
    };
    if parts.is_empty() {
        let message = format!("{location} has no {what}");
        return Err(Error::new(codes::SOURCE_UNRECOGNISED, message));
    }
    parts.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(parts)
}

/// The path of a location. A URL is refused without being shown: it may have a password.
///
/// # Errors
/// `source_unrecognised`.
pub(crate) fn file(location: &str) -> Result<&Path> {
    if location.contains("://") {
        let message = "the location is a URL, and the named system is read from files";
        return Err(Error::new(codes::SOURCE_UNRECOGNISED, message));
    }
    Ok(Path::new(location))
}

/// The error of a file that cannot be read.
pub(crate) fn unreadable(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let message = format!("{} cannot be read", path.display());
    move |error| Error::new(codes::SOURCE_UNREADABLE, message).with_source(error)
}

impl Part {
    /// Opens the file.
    ///
    /// # Errors
    /// `source_unreadable`.
    pub(crate) fn open(&self) -> Result<Box<dyn BufRead + Send>> {
        match &self.bytes {
            Bytes::File(path) => {
                let file = File::open(path).map_err(unreadable(path))?;
                Ok(Box::new(BufReader::with_capacity(BUFFER, file)))
            }
            Bytes::Archived { archive, start, bytes, is_deflated } => {
                let mut file = File::open(archive).map_err(unreadable(archive))?;
                file.seek(SeekFrom::Start(*start)).map_err(unreadable(archive))?;
                let stored = BufReader::with_capacity(BUFFER, file).take(*bytes);
                Ok(match is_deflated {
                    true => Box::new(BufReader::with_capacity(BUFFER, DeflateDecoder::new(stored))),
                    false => Box::new(stored),
                })
            }
        }
    }
}

fn in_folder(folder: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<Part>> {
    let mut parts = Vec::new();
    for entry in folder.read_dir().map_err(unreadable(folder))? {
        let path = entry.map_err(unreadable(folder))?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if wanted(&name) && path.is_file() {
            parts.push(Part { name: path.display().to_string(), bytes: Bytes::File(path) });
        }
    }
    Ok(parts)
}

/// Whether a file begins as a zip archive does.
fn is_archive(path: &Path) -> Result<bool> {
    let mut begin = Vec::new();
    let file = File::open(path).map_err(unreadable(path))?;
    file.take(4).read_to_end(&mut begin).map_err(unreadable(path))?;
    Ok(begin == b"PK\x03\x04")
}

fn in_archive(path: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<Part>> {
    let damaged = |what: String| {
        Error::new(codes::SOURCE_DAMAGED, format!("the archive {} cannot be read: {what}", path.display()))
    };
    let file = File::open(path).map_err(unreadable(path))?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|error| damaged(error.to_string()))?;
    let mut parts = Vec::new();
    for number in 0..archive.len() {
        let entry = archive.by_index_raw(number).map_err(|error| damaged(error.to_string()))?;
        let Ok(name) = entry.name().map(|name| name.into_owned()) else { continue };
        let file_name = name.rsplit('/').next().unwrap_or_default();
        if !entry.is_file() || !wanted(file_name) {
            continue;
        }
        let is_deflated = match entry.compression() {
            CompressionMethod::Stored => false,
            method if method == CompressionMethod::DEFLATE => true,
            method => {
                return Err(damaged(format!("{name} is compressed by {method}, which HTM does not read")));
            }
        };
        let Some(start) = entry.data_start().filter(|_| !entry.encrypted()) else {
            return Err(damaged(format!("{name} is encrypted")));
        };
        let bytes =
            Bytes::Archived { archive: path.into(), start, bytes: entry.compressed_size(), is_deflated };
        parts.push(Part { name: format!("{} in {}", name, path.display()), bytes });
    }
    Ok(parts)
}
