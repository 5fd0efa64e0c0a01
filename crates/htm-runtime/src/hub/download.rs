//! One file of a repository: fetched, continued after an interruption, and checked.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

use htm_core::fault::Fault;
use htm_core::{Error, Result};
use reqwest::{Response, StatusCode, Url, header};
use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::repository::{Hash, RemoteFile};
use super::{Hub, io, unreachable};
use crate::codes;

/// The attempts without any new byte.
const ATTEMPTS: u32 = 5;

/// The wait before the second attempt. It doubles with each.
const WAIT: Duration = Duration::from_millis(500);

/// Fetches a file to `path`, unless it is there. `on_bytes` is called with the bytes that are there, from the first call
/// on those of an earlier attempt. Returns whether the file was there.
pub(super) async fn file(
    hub: &Hub,
    url: Url,
    file: &RemoteFile,
    path: &Path,
    on_bytes: &(dyn Fn(u64) + Sync),
) -> Result<bool> {
    if is_whole(path, file).await? {
        on_bytes(file.bytes);
        return Ok(true);
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(io(folder))?;
    }
    let part = path.with_added_extension("part");
    let mut failures = 0;
    while present(&part) < file.bytes || file.bytes == 0 {
        let before = present(&part);
        match go_on(hub, url.clone(), file, &part, on_bytes).await {
            Ok(()) => break,
            Err(error) if error.fault() != Fault::Transient => return Err(error),
            Err(error) => {
                failures = if present(&part) > before { 1 } else { failures + 1 };
                if failures == ATTEMPTS {
                    return Err(error);
                }
                tokio::time::sleep(WAIT * 2u32.pow(failures - 1)).await;
            }
        }
    }
    if !is_whole(&part, file).await? {
        fs::remove_file(&part).map_err(io(&part))?;
        let message = format!("what came as {} is not the file that the hub lists", file.path);
        return Err(Error::new(codes::HUB_FILE_DAMAGED, message));
    }
    fs::rename(&part, path).map_err(io(path))?;
    Ok(false)
}

/// The bytes of a file that are there.
fn present(path: &Path) -> u64 {
    path.metadata().map_or(0, |metadata| metadata.len())
}

/// Asks for the rest of a file and adds it to `part`.
async fn go_on(
    hub: &Hub,
    url: Url,
    file: &RemoteFile,
    part: &Path,
    on_bytes: &(dyn Fn(u64) + Sync),
) -> Result<()> {
    let mut at = present(part);
    let mut answer = hub.get(url, at).await?;
    if !continues(&answer, at) {
        at = 0;
    }
    let mut out = OpenOptions::new().create(true).write(true).truncate(false).open(part).map_err(io(part))?;
    out.set_len(at).map_err(io(part))?;
    std::io::Seek::seek(&mut out, std::io::SeekFrom::Start(at)).map_err(io(part))?;
    on_bytes(at);
    while let Some(chunk) = answer.chunk().await.map_err(unreachable)? {
        at += chunk.len() as u64;
        if at > file.bytes {
            let message = format!("{} has more than the {} bytes that the hub lists", file.path, file.bytes);
            drop(out);
            fs::remove_file(part).map_err(io(part))?;
            return Err(Error::new(codes::HUB_FILE_DAMAGED, message));
        }
        out.write_all(&chunk).map_err(io(part))?;
        on_bytes(at);
    }
    out.sync_all().map_err(io(part))?;
    match at == file.bytes {
        true => Ok(()),
        false => {
            let message = format!("{} ended after {at} of {} bytes", file.path, file.bytes);
            Err(Error::new(codes::HUB_UNREACHABLE, message))
        }
    }
}

/// Whether an answer goes on at a byte. A server may also send the whole file.
fn continues(answer: &Response, at: u64) -> bool {
    let range = answer.headers().get(header::CONTENT_RANGE).and_then(|value| value.to_str().ok());
    answer.status() == StatusCode::PARTIAL_CONTENT
        && range.is_some_and(|range| range.starts_with(&format!("bytes {at}-")))
}

/// Whether a file is there with the content that the hub states.
pub(super) async fn is_whole(path: &Path, file: &RemoteFile) -> Result<bool> {
    if !path.is_file() || present(path) != file.bytes {
        return Ok(false);
    }
    let (path, hash, bytes) = (path.to_owned(), file.hash.clone(), file.bytes);
    let hashed = tokio::task::spawn_blocking(move || match hash {
        Hash::Sha256(stated) => Ok(hex(Sha256::new(), &path)? == stated.to_lowercase()),
        Hash::GitBlob(stated) => {
            let head = Sha1::new_with_prefix(format!("blob {bytes}\0"));
            Ok(hex(head, &path)? == stated.to_lowercase())
        }
    });
    hashed.await.map_err(|error| Error::new(codes::HUB_IO, "a file was not checked").with_source(error))?
}

/// The digest of a file, after what was put into it before.
fn hex<D: Digest>(mut digest: D, path: &Path) -> Result<String> {
    let mut file = File::open(path).map_err(io(path))?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).map_err(io(path))? {
            0 => return Ok(hex::encode(digest.finalize())),
            read => digest.update(&buffer[..read]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_is_whole_by_its_size_and_its_hash() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let file = |bytes, hash| RemoteFile { path: "file".into(), bytes, hash };
        // `git hash-object` and `sha256sum` of these five bytes.
        let blob = Hash::GitBlob("b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0".into());
        let sha = Hash::Sha256("2CF24DBA5FB0A30E26E83B2AC5B9E29E1B161E5C1FA7425E73043362938B9824".into());
        assert!(!is_whole(&path, &file(5, blob.clone())).await.unwrap(), "it is not there");
        fs::write(&path, "hello").unwrap();
        assert!(is_whole(&path, &file(5, blob.clone())).await.unwrap());
        assert!(is_whole(&path, &file(5, sha.clone())).await.unwrap());
        assert!(!is_whole(&path, &file(6, sha.clone())).await.unwrap());
        fs::write(&path, "hallo").unwrap();
        for hash in [blob, sha] {
            assert!(!is_whole(&path, &file(5, hash)).await.unwrap());
        }
    }
}
