//! The server's settings, and who may connect. They are in a directory of this process's user. The server's user can
//! read but not write them. Without this directory, or a file in it, the server does not start.

use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::Path;
use std::{ffi::OsString, io};

use htm_core::Result;

use super::cluster::PORT;
use super::error::IoContext as _;
use super::server_user::ServerUser;

const CONF: &str = "postgresql.conf";
const HBA: &str = "pg_hba.conf";
const IDENT: &str = "pg_ident.conf";

/// Authentication by `peer`: the kernel tells the client's user. No line allows connections over a network.
const HBA_TEXT: &str = "# Written by htm at each start.\nlocal all all peer map=htm\n";

pub(super) struct Settings<'a> {
    pub(super) conf_dir: &'a Path,
    pub(super) data: &'a Path,
    pub(super) socket_dir: &'a Path,
}

impl Settings<'_> {
    /// Writes the files.
    pub(super) fn write(&self, user: &ServerUser) -> Result<()> {
        // Another server's user must be able to read them.
        let (dir_mode, file_mode) = match user {
            ServerUser::Same => (0o700, 0o600),
            ServerUser::Other(_) => (0o755, 0o644),
        };
        match fs::DirBuilder::new().mode(dir_mode).create(self.conf_dir) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(error).or_io("create", self.conf_dir);
            }
            _ => fs::set_permissions(self.conf_dir, Permissions::from_mode(dir_mode))
                .or_io("create", self.conf_dir)?,
        }
        let ident = ident(&user.names()?);
        for (name, text) in [(CONF, self.conf()), (HBA, HBA_TEXT.to_owned()), (IDENT, ident)] {
            let path = self.conf_dir.join(name);
            // Written beside it and renamed, so that a file is complete or absent.
            let new = self.conf_dir.join(format!("{name}.new"));
            fs::write(&new, text).or_io("write", &new)?;
            fs::set_permissions(&new, Permissions::from_mode(file_mode)).or_io("write", &new)?;
            fs::rename(&new, &path).or_io("write", &path)?;
        }
        Ok(())
    }

    /// The command line of `postgres`, quoted for pg_ctl's shell. Neither a file nor ALTER SYSTEM overrides these
    /// settings.
    pub(super) fn options(&self) -> OsString {
        let file = |name: &str| self.conf_dir.join(name).into_os_string().into_vec();
        // Quoted, because a comma separates directories.
        let mut sockets = b"\"".to_vec();
        for byte in self.socket_dir.as_os_str().as_bytes() {
            sockets.extend_from_slice(if *byte == b'"' { b"\"\"" } else { std::slice::from_ref(byte) });
        }
        sockets.push(b'"');
        let settings: [(&str, Vec<u8>); 7] = [
            ("config_file", file(CONF)),
            ("hba_file", file(HBA)),
            ("ident_file", file(IDENT)),
            ("listen_addresses", Vec::new()),
            ("port", PORT.to_string().into_bytes()),
            ("unix_socket_directories", sockets),
            ("unix_socket_permissions", b"0700".to_vec()),
        ];
        let mut options = Vec::new();
        for (name, value) in settings {
            options.extend_from_slice(b" -c '");
            options.extend_from_slice(name.as_bytes());
            options.push(b'=');
            for byte in value {
                options.extend_from_slice(if byte == b'\'' { br"'\''" } else { std::slice::from_ref(&byte) });
            }
            options.push(b'\'');
        }
        OsString::from_vec(options)
    }

    /// The settings file. fsync, full_page_writes and synchronous_commit stay on, as by default.
    fn conf(&self) -> String {
        let own = self.data.join(CONF).display().to_string().replace('\'', "''");
        let shared_memory = if small_shared_memory() { "mmap" } else { "posix" };
        let shared_buffers = shared_buffers_mb(memory_mb());
        format!(
            "# Written by htm at each start. Put settings of your own into postgresql.auto.conf (ALTER SYSTEM).\n\
             include_if_exists = '{own}'\n\
             max_connections = 200\n\
             shared_buffers = {shared_buffers}MB\n\
             maintenance_work_mem = 256MB\n\
             max_wal_size = 2GB\n\
             dynamic_shared_memory_type = {shared_memory}\n\
             timezone = 'UTC'\n\
             log_timezone = 'UTC'\n\
             lc_messages = 'C'\n"
        )
    }
}

/// The mapping from users of this machine to roles. Each of `names` may be any role.
fn ident(names: &[String]) -> String {
    let line = |name: &String| {
        let name = name.replace('"', "\"\"");
        // From PostgreSQL 16 on, `all` is every role. In 15 it is the name of a role that does not exist.
        format!("htm \"{name}\" postgres\nhtm \"{name}\" all\n")
    };
    format!("# Written by htm at each start.\n{}", names.iter().map(line).collect::<String>())
}

/// An eighth of the memory, 128 MB to 2 GB. 256 MB if the memory is unknown. It is used only as far as the data needs
/// it: the vectors of 100,000 memories and their index take 200 MB.
fn shared_buffers_mb(memory_mb: Option<u64>) -> u64 {
    memory_mb.map_or(256, |memory| (memory / 8).clamp(128, 2_048))
}

/// The memory of this machine, or of this container if that is less.
fn memory_mb() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok()?;
    let total = machine.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = total.trim().trim_end_matches("kB").trim().parse().ok()?;
    let limit = fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let bytes = limit.and_then(|limit| limit.trim().parse::<u64>().ok());
    Some(bytes.map_or(kib / 1_024, |bytes| (bytes >> 20).min(kib / 1_024)))
}

/// Whether `/dev/shm` is too small for a parallel index build. A container's has 64 MB, and the build would fail with
/// "could not resize shared memory segment".
fn small_shared_memory() -> bool {
    const ENOUGH: u64 = 512 * 1024 * 1024;
    match nix::sys::statvfs::statvfs("/dev/shm") {
        // The fields' widths differ between systems.
        #[allow(clippy::unnecessary_cast)]
        Ok(stat) => (stat.blocks() as u64).saturating_mul(stat.fragment_size() as u64) < ENOUGH,
        Err(_) => cfg!(target_os = "linux"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_quoted_for_the_shell() {
        let (conf_dir, data, socket_dir) = (Path::new("/c d"), Path::new("/e'f"), Path::new("/a b,c'd"));
        let settings = Settings { conf_dir, data, socket_dir };
        let options = settings.options().into_string().unwrap();
        assert!(options.contains(r#" -c 'unix_socket_directories="/a b,c'\''d"' "#), "{options}");
        assert!(options.starts_with(" -c 'config_file=/c d/postgresql.conf' "), "{options}");
        assert!(options.contains(" -c 'listen_addresses=' "), "{options}");
        assert!(settings.conf().contains("include_if_exists = '/e''f/postgresql.conf'\n"));
    }

    #[test]
    fn the_server_gets_an_eighth_of_the_memory() {
        assert_eq!(
            [None, Some(512), Some(8_192), Some(65_536)].map(shared_buffers_mb),
            [256, 128, 1_024, 2_048]
        );
        assert!(!cfg!(target_os = "linux") || memory_mb().is_some_and(|memory| memory > 0));
    }

    #[test]
    fn users_are_mapped_by_their_names() {
        assert!(ident(&["a\"b".into()]).ends_with("htm \"a\"\"b\" postgres\nhtm \"a\"\"b\" all\n"));
        assert!(!HBA_TEXT.contains("host") && !HBA_TEXT.contains("trust"));
    }
}
