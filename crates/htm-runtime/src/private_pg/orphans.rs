//! The processes of a killed postmaster. One that computes does not notice that the postmaster is gone, and PostgreSQL does
//! not start while it lives.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The processes of the user `uid` that serve the cluster in `data`, without a postmaster. None are found where there is no
/// `/proc`.
pub(super) fn of(data: &Path, uid: u32) -> Vec<i32> {
    let (Ok(data), Ok(processes)) = (fs::metadata(data), fs::read_dir("/proc")) else { return Vec::new() };
    let mut orphans = Vec::new();
    for process in processes.flatten() {
        let name = process.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
        let its = process.path();
        let is_users = fs::metadata(&its).is_ok_and(|its| its.uid() == uid);
        let is_there = || {
            fs::metadata(its.join("cwd")).is_ok_and(|cwd| (cwd.dev(), cwd.ino()) == (data.dev(), data.ino()))
        };
        let is_postgres = || fs::read(its.join("comm")).is_ok_and(|comm| comm == b"postgres\n");
        if !(is_users && is_there() && is_postgres()) {
            continue;
        }
        // The children of a postmaster have titles. Itself, and a server of a single user, has the path of its program.
        let title = fs::read(its.join("cmdline")).unwrap_or_default();
        if !title.starts_with(b"postgres: ") {
            return Vec::new();
        }
        orphans.push(pid);
    }
    orphans
}

/// Ends one as a postmaster does when it shuts down at once. SIGKILL is not sent: the others would write what a killed one has
/// left half done in the shared memory.
pub(super) fn quit(orphan: i32) {
    // ESRCH: it has ended.
    let _ = kill(Pid::from_raw(orphan), Signal::SIGQUIT);
}
