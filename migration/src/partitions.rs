//! The layout of the nodes and of the tables that grow with them: flat, or in partitions by hash of the namespace.
//!
//! A change of the layout goes on beside writes. New tables are filled in transactions of some thousand rows while triggers
//! write to both, then the tables are swapped in one transaction. Each step can be interrupted and repeated.

use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, PgConnection};

use crate::{Lock, MigrationError};

/// The most partitions of a table. Each costs planning time and memory of every statement that names no namespace.
pub const MAX_PARTITIONS: u32 = 1024;

/// The rows of a transaction that copies.
const CHUNK: i32 = 5_000;
/// The first pause between two tries of a step that waits for long transactions. It is doubled with each.
const RETRY: Duration = Duration::from_millis(200);
/// The longest pause. Readers and writers queue behind a try for up to a second: beside a backup of hours they wait for a
/// tenth of the time at most.
const LONGEST_RETRY: Duration = Duration::from_secs(10);

/// A step of a change of the layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayoutStep {
    /// Waits for another call that changes the layout.
    Wait,
    /// Copies rows of a table.
    Copy {
        /// The table.
        table: String,
        /// The rows copied by this call.
        rows: u64,
        /// An estimate of all its rows.
        of: u64,
    },
    /// Builds an index of vectors.
    Index {
        /// The statement.
        statement: String,
    },
    /// Waits for the moment in which no transaction uses the tables.
    Swap,
    /// Checks the foreign keys and drops the former tables.
    CleanUp,
}

/// The layout of a database's nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The number of partitions; 0: flat.
    pub partitions: u32,
    /// The change that is not complete.
    pub change: Option<LayoutChange>,
}

/// A change of the layout that is not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayoutChange {
    /// The number of partitions that it leads to; none: this role may not read it. If it is the present one, only the
    /// former tables are left to be dropped.
    pub to: Option<u32>,
    /// Whether a process works on it.
    pub is_running: bool,
}

/// The layout of a database's nodes, and a change that is not complete.
///
/// # Errors
/// A database error.
pub async fn layout(connection: &mut PgConnection) -> Result<Layout, sqlx::Error> {
    let partitions = partitions(connection).await?;
    // Only the owner may use the schema.
    let (is_readable, has_former, is_running): (Option<bool>, bool, bool) = sqlx::query_as(
        "select case when to_regnamespace('htm_next') is not null then has_schema_privilege('htm_next', 'usage') end,
                to_regnamespace('htm_previous') is not null,
                exists (select from pg_locks l join pg_database d on d.oid = l.database
                         where d.datname = current_database() and l.locktype = 'advisory' and l.granted
                           and (l.classid::bigint << 32) + l.objid::bigint = $1 and l.objsubid = 1)",
    )
    .bind(Lock::OF_LAYOUT)
    .fetch_one(&mut *connection)
    .await?;
    let to = match is_readable {
        Some(true) => layout_target(connection).await?,
        Some(false) => None,
        None => has_former.then_some(partitions),
    };
    let change = (is_readable.is_some() || has_former).then_some(LayoutChange { to, is_running });
    Ok(Layout { partitions, change })
}

/// The number of partitions of a database's nodes; 0: flat.
///
/// # Errors
/// A database error.
pub async fn partitions(connection: &mut PgConnection) -> Result<u32, sqlx::Error> {
    let count: i32 = sqlx::query_scalar("select htm.partitions()").fetch_one(connection).await?;
    Ok(count.unsigned_abs())
}

/// Changes the layout to this many partitions; 0: flat. Writes and reads go on meanwhile, and writes cost about twice as
/// much. Goes on with an interrupted change. Returns whether anything was to do.
///
/// # Errors
/// [`MigrationError::TooManyPartitions`], [`MigrationError::LayoutChanging`] if a change to another number is under way, or a
/// database error. A repeated call goes on.
pub async fn repartition(
    options: &PgConnectOptions,
    partitions: u32,
    on_step: &mut (dyn FnMut(LayoutStep) + Send),
) -> Result<bool, MigrationError> {
    if partitions > MAX_PARTITIONS {
        return Err(MigrationError::TooManyPartitions { partitions });
    }
    let mut lock = Lock::of_layout(options, on_step).await?;
    let result = repartition_on(&mut lock.connection, partitions, on_step).await;
    let released = lock.release().await;
    let changed = result?;
    released?;
    Ok(changed)
}

/// Ends a change of the layout that is not complete. The tables stay as they are. Returns whether there was one.
///
/// # Errors
/// A database error.
pub async fn abandon_repartition(
    options: &PgConnectOptions,
    on_step: &mut (dyn FnMut(LayoutStep) + Send),
) -> Result<bool, MigrationError> {
    let mut lock = Lock::of_layout(options, on_step).await?;
    let result = abandon_on(&mut lock.connection).await;
    let released = lock.release().await;
    let was_changing = result?;
    released?;
    Ok(was_changing)
}

async fn abandon_on(connection: &mut PgConnection) -> Result<bool, MigrationError> {
    let is_changing = layout_target(connection).await?.is_some();
    until_free(connection, "htm.abandon_layout()").await?;
    Ok(is_changing)
}

async fn repartition_on(
    connection: &mut PgConnection,
    partitions: u32,
    on_step: &mut (dyn FnMut(LayoutStep) + Send),
) -> Result<bool, MigrationError> {
    let mut changed = clean_up(connection, on_step).await?;
    let under_way = layout_target(connection).await?;
    if let Some(other) = under_way.filter(|other| *other != partitions) {
        return Err(MigrationError::LayoutChanging { partitions: other });
    }
    if under_way.is_some() || self::partitions(connection).await? != partitions {
        changed = true;
        loop {
            // Fits the integer: checked above.
            until_free(connection, &format!("htm.begin_layout({partitions})")).await?;
            copy(connection, on_step).await?;
            index(connection, on_step).await?;
            on_step(LayoutStep::Swap);
            if until_free(connection, "htm.finish_layout()").await? {
                break;
            }
        }
    }
    Ok(clean_up(connection, on_step).await? || changed)
}

/// The number of partitions that an unfinished change leads to.
///
/// # Errors
/// A database error.
pub async fn layout_target(connection: &mut PgConnection) -> Result<Option<u32>, sqlx::Error> {
    let exists: bool = sqlx::query_scalar("select to_regclass('htm_next.layout') is not null")
        .fetch_one(&mut *connection)
        .await?;
    if !exists {
        return Ok(None);
    }
    let target: i32 =
        sqlx::query_scalar("select partitions from htm_next.layout").fetch_one(connection).await?;
    Ok(Some(target.unsigned_abs()))
}

async fn copy(
    connection: &mut PgConnection,
    on_step: &mut (dyn FnMut(LayoutStep) + Send),
) -> Result<(), MigrationError> {
    // The nodes first: the others refer to them.
    let tables: Vec<(String, i64)> = sqlx::query_as(
        "select t.name::text, (select greatest(sum(c.reltuples), 0)::bigint from pg_class c
                                where c.oid in (select htm.leaves(format('htm.%I', t.name)::regclass)))
           from htm.laid_out_tables() t join htm_next.progress p on p.name = t.name where not p.is_complete",
    )
    .fetch_all(&mut *connection)
    .await?;
    for (table, of) in tables {
        loop {
            let rows: Option<i64> = sqlx::query_scalar("select htm.copy_to_next($1::name, $2)")
                .bind(&table)
                .bind(CHUNK)
                .fetch_one(&mut *connection)
                .await?;
            let Some(rows) = rows else { break };
            on_step(LayoutStep::Copy {
                table: table.clone(),
                rows: rows.unsigned_abs(),
                of: of.unsigned_abs(),
            });
        }
    }
    Ok(())
}

/// Builds the indexes of vectors that the tables have now, and gives the planner its statistics.
async fn index(
    connection: &mut PgConnection,
    on_step: &mut (dyn FnMut(LayoutStep) + Send),
) -> Result<(), MigrationError> {
    let statements: Vec<String> = sqlx::query_scalar(
        "select s.statement
           from htm.embedding_models m
           join htm_next.progress p on p.name = format('embeddings_%s', m.id)
          cross join unnest(array['hnsw', 'hnsw_binary', 'diskann', 'vchordrq']) k(kind)
          cross join lateral htm.embedding_index(m.id, 'concurrently', k.kind, 'htm_next') with ordinality s(statement, place)
          where to_regclass(format('htm.embeddings_%s_%s_idx', m.id, k.kind)) is not null
          order by m.id, k.kind, s.place",
    )
    .fetch_all(&mut *connection)
    .await?;
    for statement in statements {
        on_step(LayoutStep::Index { statement: statement.clone() });
        // pgvectorscale's parallel build fails outside of the first transaction of a connection.
        let workers = if statement.contains(" using diskann") { "= 0" } else { "to default" };
        let limit = AssertSqlSafe(format!("set max_parallel_maintenance_workers {workers}"));
        sqlx::raw_sql(limit).execute(&mut *connection).await?;
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut *connection).await?;
    }
    let tables: Vec<String> = sqlx::query_scalar("select format('htm_next.%I', name) from htm_next.progress")
        .fetch_all(&mut *connection)
        .await?;
    for table in tables {
        sqlx::raw_sql(AssertSqlSafe(format!("analyze {table}"))).execute(&mut *connection).await?;
    }
    Ok(())
}

/// Checks the foreign keys that the swap made, and drops the former tables. Returns whether there were any.
async fn clean_up(
    connection: &mut PgConnection,
    on_step: &mut (dyn FnMut(LayoutStep) + Send),
) -> Result<bool, MigrationError> {
    let remains: bool = sqlx::query_scalar("select to_regnamespace('htm_previous') is not null")
        .fetch_one(&mut *connection)
        .await?;
    if !remains {
        return Ok(false);
    }
    on_step(LayoutStep::CleanUp);
    let checks: Vec<String> = sqlx::query_scalar(
        "select format('alter table %s validate constraint %I', conrelid::regclass, conname)
           from pg_constraint where contype = 'f' and confrelid = 'htm.nodes'::regclass and not convalidated",
    )
    .fetch_all(&mut *connection)
    .await?;
    for check in checks {
        sqlx::raw_sql(AssertSqlSafe(check)).execute(&mut *connection).await?;
    }
    until_free(connection, "htm.drop_previous_layout()").await
}

/// Repeats a call until it does not have to wait for other transactions. Returns what the function returns.
async fn until_free(connection: &mut PgConnection, function: &str) -> Result<bool, MigrationError> {
    const LOCK_NOT_AVAILABLE: &str = "55P03";
    let mut pause = RETRY;
    loop {
        let call = AssertSqlSafe(format!("select {function}"));
        let tried: Result<bool, sqlx::Error> = sqlx::query_scalar(call).fetch_one(&mut *connection).await;
        match tried {
            Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some(LOCK_NOT_AVAILABLE) => {
                tokio::time::sleep(pause).await;
                pause = (2 * pause).min(LONGEST_RETRY);
            }
            other => return Ok(other?),
        }
    }
}
