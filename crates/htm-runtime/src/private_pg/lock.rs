//! The locks beside the cluster. The kernel lets go of them with the process, however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use htm_core::{Error, Result};

use super::error::IoContext as _;
use crate::codes;

/// Longer than a start with crash recovery may take.
const DEADLINE: Duration = Duration::from_secs(150);

/// A lock that is held. std opens files close-on-exec, so the server never inherits one; and letting go unlocks
/// explicitly, so that a child that is between fork and exec does not keep it.
#[derive(Debug)]
pub(super) struct Held {
    file: File,
    path: PathBuf,
}

impl Held {
    /// Alone, waiting for others.
    pub(super) fn exclusive(path: &Path) -> Result<Self> {
        Self::wait(path, File::try_lock)
    }

    /// Together with others that share it.
    pub(super) fn shared(path: &Path) -> Result<Self> {
        Self::wait(path, File::try_lock_shared)
    }

    /// Alone, or not at all.
    pub(super) fn try_exclusive(path: &Path) -> Result<Option<Self>> {
        let held = Self { file: open(path)?, path: path.to_path_buf() };
        Ok(held.take(File::try_lock)?.then_some(held))
    }

    /// Turns a shared lock into an exclusive one if nobody else shares it; either way the shared one is gone.
    pub(super) fn into_exclusive(self) -> Result<Option<Self>> {
        Ok(self.take(File::try_lock)?.then_some(self))
    }

    fn wait(path: &Path, how: fn(&File) -> Result<(), TryLockError>) -> Result<Self> {
        let held = Self { file: open(path)?, path: path.to_path_buf() };
        let since = Instant::now();
        while !held.take(how)? {
            if since.elapsed() > DEADLINE {
                let (path, waited_s) = (path.display(), DEADLINE.as_secs());
                let message = format!("another process has held {path} for {waited_s} s");
                return Err(Error::new(codes::PRIVATE_PG_BUSY, message));
            }
            thread::sleep(Duration::from_millis(10));
        }
        Ok(held)
    }

    fn take(&self, how: fn(&File) -> Result<(), TryLockError>) -> Result<bool> {
        match how(&self.file) {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error).or_io("lock", &self.path),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

fn open(path: &Path) -> Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).or_io("open", path)
}
