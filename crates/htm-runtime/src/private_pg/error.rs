//! The errors of the private PostgreSQL.

use std::io;
use std::path::Path;

use htm_core::{Error, Result};

use crate::codes;

/// The cluster is of another major version, `cluster` in its `PG_VERSION`.
pub(super) fn other_major(data_dir: &Path, cluster: &str, installed: &str) -> Error {
    let message = format!(
        "{} was made by PostgreSQL {cluster}, but the PostgreSQL here is version {installed}",
        data_dir.display()
    );
    let is_newer = match (cluster.parse::<u32>(), major_of(installed)) {
        (Ok(cluster), Some(installed)) => cluster > installed,
        _ => false,
    };
    Error::new(codes::PRIVATE_PG_OTHER_MAJOR, message).with_hint(match is_newer {
        true => format!("install PostgreSQL {cluster}, or set HTM_POSTGRES_HOME to one"),
        false => format!(
            "bring it to a newer version: `htm db upgrade`, which needs a PostgreSQL {cluster} too (`--old-home DIR`); or \
             set HTM_POSTGRES_HOME to a PostgreSQL {cluster}"
        ),
    })
}

/// The major version of `18`, `18.6` or `19beta1`.
fn major_of(version: &str) -> Option<u32> {
    version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// The programs of the cluster's own version were not found, or are not in the directory that was named.
pub(super) fn no_old_programs(data_dir: &Path, major: u32, named: Option<&Path>) -> Error {
    let place = named.map_or_else(|| "was found".into(), |dir| format!("is in {}", dir.display()));
    let message =
        format!("{} was made by PostgreSQL {major}, and no PostgreSQL {major} {place}", data_dir.display());
    Error::new(codes::PRIVATE_PG_NO_OLD_PROGRAMS, message).with_hint(format!(
        "install PostgreSQL {major} with pgvector, and name the directory above its `bin`: `htm db upgrade --old-home DIR`"
    ))
}

/// Another user could have placed or changed the file.
pub(super) fn unsafe_path(path: &Path, reason: &str) -> Error {
    Error::new(codes::PRIVATE_PG_UNSAFE_PATH, format!("{} is not used: {reason}", path.display()))
}

/// The server's user cannot reach a directory, because it may not enter `closed`.
pub(super) fn unreachable(path: &Path, closed: &Path, user: &str) -> Error {
    let (path, closed) = (path.display(), closed.display());
    let message =
        format!("PostgreSQL's user `{user}` cannot reach {path}, because it may not enter {closed}");
    Error::new(codes::PRIVATE_PG_UNREACHABLE, message).with_hint(format!(
        "use a directory that others can reach, such as /var/lib/htm for HTM_HOME or /opt/htm for a Python environment, \
         or run `chmod o+x {closed}`"
    ))
}

/// The socket's directory belongs to another user, so another program could listen there.
pub(super) fn socket_dir_taken(path: &Path) -> Error {
    let path = path.display();
    let message = format!("{path} is not the server's own, so no socket in it is used");
    Error::new(codes::PRIVATE_PG_SOCKET_DIR_TAKEN, message).with_hint(format!(
        "find out whose {path} is, and remove it; or set HTM_HOME, or HTM_DATA_DIR, to another path"
    ))
}

/// The message of the system for a full disk. The programs write English.
const FULL: &str = "No space left on device";

/// A program of PostgreSQL failed. `output` is what it said, `log` the end of the server's log or nothing, both with ` | `
/// between lines.
pub(super) fn program(program: &str, data_dir: &Path, output: &str, log: &str) -> Error {
    let mut said = telling(output);
    if !log.is_empty() {
        said = format!("{said}; server.log: {}", telling(log));
    }
    if !output.contains(FULL) && !log.contains(FULL) {
        return Error::new(codes::PRIVATE_PG_PROGRAM_FAILED, format!("`{program}` failed: {said}"));
    }
    let data_dir = data_dir.display();
    let message = format!("no space is left on the disk of {data_dir}: `{program}` failed: {said}");
    Error::new(codes::PRIVATE_PG_PROGRAM_FAILED, message).with_hint(format!(
        "make room on the disk of {data_dir}; the server then starts by itself at the next command"
    ))
}

/// The server did not end in time.
pub(super) fn not_stopped(error: Error) -> Error {
    error.with_hint(
        "end it at once: `htm db down --force`; nothing is lost, since PostgreSQL recovers at its next start",
    )
}

/// A start failed because processes of a killed server do not end. Those that are known are named.
pub(super) fn still_in_use(error: Error, orphans: &[i32]) -> Error {
    let pids: Vec<String> = orphans.iter().map(i32::to_string).collect();
    error.with_hint(match pids[..] {
        [] => {
            "end all `postgres` processes that the killed server has left; the server then starts by itself"
                .into()
        }
        _ => format!(
            "end all processes that the killed server has left: {}; the server then starts by itself",
            pids.join(", ")
        ),
    })
}

/// The last lines that tell what went wrong, else the last lines.
fn telling(output: &str) -> String {
    const SHOWN: usize = 3;
    const MARKS: [&str; 6] = ["PANIC:", "FATAL:", "ERROR:", "HINT:", "error:", "could not"];
    let lines: Vec<&str> = output.split(" | ").collect();
    let is_marked = |line: &&str| MARKS.iter().any(|mark| line.contains(mark));
    let marked: Vec<&str> = lines.iter().copied().filter(is_marked).collect();
    let lines = if marked.is_empty() { lines } else { marked };
    lines[lines.len().saturating_sub(SHOWN)..].join(" | ")
}

/// Adds the action and the path to an error of the file system.
pub(super) trait IoContext<T> {
    fn or_io(self, action: &'static str, path: &Path) -> Result<T>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn or_io(self, action: &'static str, path: &Path) -> Result<T> {
        self.map_err(|source| {
            let message = format!("could not {action} {}", path.display());
            Error::new(codes::PRIVATE_PG_IO, message).with_source(source)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_and_of_the_log_what_tells_most() {
        let data = Path::new("/data");
        let log = "LOG:  starting PostgreSQL 18.6 | LOG:  redo starts at 0/1 | ".repeat(9);
        let full = "FATAL:  could not write to file \"pg_wal/xlogtemp.7\": No space left on device";
        let output = "waiting for server to start.... stopped waiting | pg_ctl: could not start server";
        let error = program("pg_ctl start", data, output, &format!("{log}{full} | LOG:  shut down"));
        let said = error.to_string();
        assert!(said.starts_with("no space is left on the disk of /data: `pg_ctl start` failed: "), "{said}");
        assert!(said.ends_with(full) && said.len() < 300, "{said}");
        assert!(error.hint().contains("make room on the disk of /data; the server then starts by itself"));

        let error = program("pg_ctl start", data, output, &format!("{log}FATAL:  a file is missing"));
        let said =
            "`pg_ctl start` failed: pg_ctl: could not start server; server.log: FATAL:  a file is missing";
        assert_eq!(error.to_string(), said);
        assert!(error.hint().contains("server.log"), "{}", error.hint());
        let error = still_in_use(error, &[7, 12]);
        assert!(error.hint().contains("left: 7, 12; the server"), "{}", error.hint());
        let said = program("initdb", data, "it said nothing", "").to_string();
        assert_eq!(said, "`initdb` failed: it said nothing");
    }
}
