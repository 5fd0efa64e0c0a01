//! A runtime for the time of one command.

use htm_core::Htm;
use htm_runtime::Runtime;
use htm_runtime::config::Config;

use crate::error::CliError;

/// Opens a runtime for some work that does one thing after the other. It is closed whether or not the work succeeds.
pub(crate) async fn with_runtime<T>(
    config: &Config,
    work: impl AsyncFnOnce(&Runtime) -> Result<T, CliError>,
) -> Result<T, CliError> {
    with_connections(&with_one_connection(config), work).await
}

/// As [`with_runtime`], for work that does several things at a time: its pool has `database.max_connections`.
pub(crate) async fn with_connections<T>(
    config: &Config,
    work: impl AsyncFnOnce(&Runtime) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let runtime = Runtime::open(config).await?;
    let result = work(&runtime).await;
    runtime.close().await;
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

/// [`with_runtime`], for work by the library alone.
pub(crate) async fn with_htm<T>(
    config: &Config,
    work: impl AsyncFnOnce(&Htm) -> htm_core::Result<T>,
) -> Result<T, CliError> {
    with_runtime(config, async |runtime| Ok(work(&runtime.htm()).await?)).await
}
