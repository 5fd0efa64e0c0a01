//! A session for the time of one command.

use htm_core::Htm;
use htm_runtime::Session;
use htm_runtime::config::Config;

use crate::error::CliError;

/// Opens a session for some work. It is closed whether or not the work succeeds.
pub(crate) async fn with_session<T>(
    config: &Config,
    work: impl AsyncFnOnce(&Session) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let session = Session::open(&with_one_connection(config)).await?;
    let result = work(&session).await;
    session.close().await;
    result
}

/// The configuration of a command, which does one thing after the other. A pool of more connections would open a second one
/// while sqlx still tests the first, which has been returned.
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
