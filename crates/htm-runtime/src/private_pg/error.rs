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

/// A program of PostgreSQL failed. `output` is the end of its output and of the server's log.
pub(super) fn program(program: &str, output: &str) -> Error {
    Error::new(codes::PRIVATE_PG_PROGRAM_FAILED, format!("`{program}` failed: {output}"))
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
