//! The PostgreSQL that the tests run on.

use htm_runtime::paths::Paths;
use htm_runtime::private_pg::{PrivatePg, ServerUse};

/// A server in use: the one that `HTM_TEST_DATABASE_URL` names, or a private one of the tests' own, which all test
/// processes share and the last one stops (`scripts/test.sh` keeps it up for the length of a run).
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

    /// Its URL, with a database that is there.
    pub(crate) fn url(&self) -> String {
        match self {
            Self::Named(url) => url.clone(),
            Self::Private(server) => server.url(),
        }
    }
}

/// The binaries of the machine, a cluster of the tests' own.
pub(crate) fn paths() -> Paths {
    let home = Paths::from_env().expect("a home for HTM").home().to_owned();
    let state = std::env::var_os("HTM_TEST_DATA_DIR").map_or_else(|| home.join("test"), Into::into);
    Paths::new(home, state)
}
