//! The file locks beside the cluster. The kernel releases them when the process ends, in any way.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use htm_core::{Error, Result};

use super::error::IoContext as _;
use crate::codes;

/// The time limit of a lock. It is longer than that of a start with crash recovery.
const DEADLINE: Duration = Duration::from_secs(150);

/// A held lock. std opens files close-on-exec, so the server never inherits a lock. Dropping it unlocks explicitly,
/// because a child between fork and exec would keep it otherwise.
#[derive(Debug)]
pub(super) struct Held {
    file: File,
    path: PathBuf,
}

impl Held {
    /// Waits for an exclusive lock.
    pub(super) fn exclusive(path: &Path) -> Result<Self> {
        Self::wait(path, File::try_lock)
    }

    /// Waits for a shared lock.
    pub(super) fn shared(path: &Path) -> Result<Self> {
        Self::wait(path, File::try_lock_shared)
    }

    /// Takes an exclusive lock; none if another process has the lock.
    pub(super) fn try_exclusive(path: &Path) -> Result<Option<Self>> {
        let held = Self { file: open(path)?, path: path.to_path_buf() };
        Ok(held.take(File::try_lock)?.then_some(held))
    }

    /// Upgrades a shared lock to an exclusive one. None if another process shares it. The shared lock is gone in any
    /// case.
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
