//! The socket of a program with a configuration.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::PathBuf;

use htm_runtime::config::Loaded;
use htm_runtime::paths::Paths;
use sha2::{Digest, Sha256};

/// Where a server of a configuration listens for the shell.
pub(crate) struct Socket {
    dir: PathBuf,
    name: String,
}

impl Socket {
    /// The place of this program with this configuration. None if the program's file cannot be looked at.
    pub(crate) fn of(loaded: &Loaded) -> Option<Self> {
        let paths = Paths::from_env().ok()?;
        // The arguments and the output of another build may have other forms.
        let program = std::env::current_exe().ok()?;
        let file = program.metadata().ok()?;
        let build = format!("{program:?} {} {} {}", file.len(), file.mtime(), file.mtime_nsec());
        // `time.zone = "system"` is what the environment of each process says.
        let zone = format!("{:?}", loaded.config.time.settings().zone);
        // A URL without a host or a database has those of the environment.
        let libpq = ["PGHOST", "PGHOSTADDR", "PGPORT", "PGUSER", "PGDATABASE"].map(std::env::var_os);
        let digest = Sha256::new()
            .chain_update(build)
            .chain_update(zone)
            .chain_update(format!("{libpq:?}"))
            .chain_update(paths.home().as_os_str().as_encoded_bytes())
            .chain_update(loaded.digest())
            .finalize();
        let name = hex::encode(&digest[..8]);
        Some(Self { dir: paths.shell_dir(), name })
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.dir.join(&self.name)
    }

    /// Makes the directory, which only this user may enter.
    pub(super) fn make(&self) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)
    }
}
