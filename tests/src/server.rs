//! The tests' PostgreSQL.

use std::os::unix::fs::PermissionsExt;

use htm_runtime::paths::Paths;
use htm_runtime::private_pg::{PrivatePg, ServerUse};
use tempfile::TempDir;

/// A server in use: that of `HTM_TEST_DATABASE_URL`, or a private one. All test processes share the private one, and
/// the last one stops it. `scripts/test.sh` keeps it up for a whole run.
pub(crate) enum Server {
    Named(String),
    Private(Box<ServerUse>),
}

impl Server {
    pub(crate) async fn get() -> Self {
        if let Ok(url) = std::env::var("HTM_TEST_DATABASE_URL") {
            return Self::Named(url);
        }
        let server = PrivatePg::locate(&paths()).expect("run `./justw setup` for the tests' PostgreSQL");
        Self::Private(Box::new(server.start().await.expect("the tests' PostgreSQL starts")))
    }

    /// Whether it is the tests' own, whose settings they may change.
    pub(crate) fn is_own(&self) -> bool {
        matches!(self, Self::Private(_))
    }

    /// The URL of an existing database.
    pub(crate) fn url(&self) -> String {
        match self {
            Self::Named(url) => url.clone(),
            Self::Private(server) => server.url(),
        }
    }
}

/// The paths of this machine's PostgreSQL programs and of the tests' own cluster.
pub(crate) fn paths() -> Paths {
    let home = Paths::from_env().expect("a home for HTM").home().to_owned();
    let state = std::env::var_os("HTM_TEST_DATA_DIR").map_or_else(|| home.join("test"), Into::into);
    Paths::new(home, state)
}

/// A directory for a cluster of one test. It lies beside the tests' own cluster where `scripts/test.sh` has put that,
/// in memory if it can: the test does not wait for a busy disk.
pub fn cluster_dir() -> TempDir {
    let parent = std::env::var_os("HTM_TEST_DATA_DIR").map_or_else(std::env::temp_dir, Into::into);
    let dir = tempfile::Builder::new().prefix("own").tempdir_in(parent).expect("a directory");
    // For root the server runs as another user, who must reach the directory.
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).expect("permissions");
    dir
}
