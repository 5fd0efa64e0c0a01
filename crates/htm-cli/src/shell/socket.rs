//! The socket of a program with a configuration.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::PathBuf;

use htm_runtime::config::Loaded;
use htm_runtime::paths::Paths;
use sha2::{Digest, Sha256};

/// The variables of the environment that complete a database's URL. `PGAPPNAME` is a name in lists only.
const LIBPQ: [&str; 12] = [
    "PGHOST",
    "PGHOSTADDR",
    "PGPORT",
    "PGUSER",
    "PGPASSWORD",
    "PGPASSFILE",
    "PGDATABASE",
    "PGOPTIONS",
    "PGSSLMODE",
    "PGSSLROOTCERT",
    "PGSSLCERT",
    "PGSSLKEY",
];

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
        let libpq = LIBPQ.map(std::env::var_os);
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
