//! A session for the time of one command.

use htm_core::Htm;
use htm_runtime::Session;
use htm_runtime::config::Config;

use crate::error::CliError;

/// Opens a session for some work that does one thing after the other. It is closed whether or not the work succeeds.
pub(crate) async fn with_session<T>(
    config: &Config,
    work: impl AsyncFnOnce(&Session) -> Result<T, CliError>,
) -> Result<T, CliError> {
    with_connections(&with_one_connection(config), work).await
}

/// As [`with_session`], for work that does several things at a time: its pool has `database.max_connections`.
pub(crate) async fn with_connections<T>(
    config: &Config,
    work: impl AsyncFnOnce(&Session) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let session = Session::open(config).await?;
    let result = work(&session).await;
    session.close().await;
    result
}

/// The configuration for a pool of one connection. A larger one would open a second while sqlx still tests the first, which
/// has been returned.
pub(crate) fn with_one_connection(config: &Config) -> Config {
    let mut config = config.clone();
    config.database.max_connections = 1;
    config
}

/// A handle for a namespace alone, if one is named.
pub(crate) fn within(htm: &Htm, namespace: Option<&str>) -> htm_core::Result<Htm> {
    namespace.map_or_else(|| Ok(htm.clone()), |namespace| htm.within([namespace]))
}

/// [`with_session`], for work by the library alone.
pub(crate) async fn with_htm<T>(
    config: &Config,
    work: impl AsyncFnOnce(&Htm) -> htm_core::Result<T>,
) -> Result<T, CliError> {
    with_session(config, async |session| Ok(work(&session.htm()).await?)).await
}
