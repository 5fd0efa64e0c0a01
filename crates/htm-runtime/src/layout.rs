//! The number of partitions of the configured database.

use htm_core::{Error, Result};
use htm_migration::{Layout, LayoutStep, MigrationError};
use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection, PgConnection};

use crate::codes;
use crate::config::Config;
use crate::error::{of_migration, schema_version};
use crate::runtime::{Runtime, on_database};

/// The layout of the memories in a runtime's database.
///
/// # Errors
/// A database error.
pub async fn layout_of(runtime: &Runtime) -> Result<Layout> {
    let mut connection = runtime.pool().acquire().await?;
    Ok(htm_migration::layout(&mut connection).await?)
}

/// Gives a database without memories this many partitions; 0: none.
///
/// # Errors
/// As [`Runtime::open`](crate::Runtime::open), `schema_version`, `partitions_invalid`, `layout_changing`; `layout_other` if the
/// database has memories, in another number of partitions.
pub async fn set_partitions(config: &Config, wanted: u32) -> Result<()> {
    on_database(config, async |options| {
        expect_latest(&options).await?;
        let Present { found, changing_to, is_empty } = present(&options).await?;
        if !is_empty {
            if let Some(partitions) = changing_to {
                return Err(of_migration(MigrationError::LayoutChanging { partitions }));
            }
            if found != wanted {
                let message = format!("the memories are in {}, not in {}", named(found), named(wanted));
                return Err(Error::new(codes::LAYOUT_OTHER, message));
            }
        }
        change(&options, wanted, &mut |_| {}).await.map(drop)
    })
    .await
}

/// Changes the number of partitions beside writes ([`htm_migration::repartition`]).
///
/// # Errors
/// As [`set_partitions`], but for `layout_other`.
pub async fn repartition(
    config: &Config,
    partitions: u32,
    on_step: &mut (dyn FnMut(LayoutStep) + Send),
) -> Result<bool> {
    on_database(config, async |options| {
        expect_latest(&options).await?;
        change(&options, partitions, on_step).await
    })
    .await
}

/// Ends a change that is not complete ([`htm_migration::abandon_repartition`]).
///
/// # Errors
/// As [`repartition`].
pub async fn abandon_repartition(
    config: &Config,
    on_step: &mut (dyn FnMut(LayoutStep) + Send),
) -> Result<bool> {
    on_database(config, async |options| {
        expect_latest(&options).await?;
        htm_migration::abandon_repartition(&options, on_step).await.map_err(of_migration)
    })
    .await
}

async fn change(
    options: &PgConnectOptions,
    wanted: u32,
    on_step: &mut (dyn FnMut(LayoutStep) + Send),
) -> Result<bool> {
    htm_migration::repartition(options, wanted, on_step).await.map_err(of_migration)
}

async fn expect_latest(options: &PgConnectOptions) -> Result<()> {
    let mut connection = PgConnection::connect_with(options).await?;
    let found = htm_migration::version(&mut connection).await.map_err(of_migration)?;
    connection.close().await?;
    if found == htm_migration::LATEST { Ok(()) } else { Err(schema_version(found, htm_migration::LATEST)) }
}

/// The state from which the number of partitions may be changed.
struct Present {
    /// The number of partitions.
    found: u32,
    /// The number to which an unfinished change leads.
    changing_to: Option<u32>,
    /// Whether there are no memories.
    is_empty: bool,
}

async fn present(options: &PgConnectOptions) -> Result<Present> {
    let mut connection = PgConnection::connect_with(options).await?;
    let found = htm_migration::partitions(&mut connection).await?;
    let changing_to = htm_migration::layout_target(&mut connection).await?;
    let is_empty: bool =
        sqlx::query_scalar("select not exists (select from htm.nodes)").fetch_one(&mut connection).await?;
    connection.close().await?;
    Ok(Present { found, changing_to, is_empty })
}

/// A number of partitions, for people.
fn named(partitions: u32) -> String {
    match partitions {
        0 => "one table".into(),
        1 => "1 partition".into(),
        more => format!("{more} partitions"),
    }
}
