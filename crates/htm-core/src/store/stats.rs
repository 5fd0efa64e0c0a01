//! The statistics of the memory, read in one snapshot.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;

use super::connections::Connections;
use super::named::sql;
use crate::model::error::Result;
use crate::model::jobs::Stage;
use crate::model::stats::{
    Ages, Counts, Enrichment, GroupCount, GroupUse, IndexSize, MemoryStats, Storage, TableSize, Totals,
    WorkingMemoryUse,
};

pub(crate) async fn memory(
    pool: &dyn Connections,
    namespace: Option<&str>,
    top: u32,
    working_memory_tokens: usize,
    with_storage: bool,
) -> Result<MemoryStats> {
    let mut tx = pool.begin_with("begin isolation level repeatable read read only").await?;
    let top = i64::from(top);
    let nodes = Nodes::read(&mut tx, namespace, top).await?;
    let stats = MemoryStats {
        namespace: namespace.map(Into::into),
        totals: nodes.totals,
        ages: nodes.ages,
        namespaces: nodes.namespaces,
        robots: nodes.robots,
        types: nodes.types,
        tags: tags(&mut tx, namespace, top).await?,
        enrichment: enrichment(&mut tx, namespace).await?,
        working_memory_tokens,
        working_memory: working_memory(&mut tx, namespace, top, working_memory_tokens).await?,
        groups: groups(&mut tx, namespace, top).await?,
        storage: if with_storage { Some(storage(&mut tx).await?) } else { None },
    };
    tx.commit().await?;
    Ok(stats)
}

/// The result of one pass over the nodes.
#[derive(Default)]
struct Nodes {
    totals: Totals,
    ages: Ages,
    namespaces: Counts,
    robots: Counts,
    types: Counts,
}

#[derive(sqlx::FromRow)]
struct NodesRow {
    kind: String,
    namespace: Option<String>,
    name: Option<String>,
    nodes: i64,
    tokens: i64,
    forgotten: i64,
    oldest: Option<DateTime<Utc>>,
    newest: Option<DateTime<Utc>>,
    day: i64,
    week: i64,
    month: i64,
    distinct_groups: i64,
}

impl Nodes {
    async fn read(connection: &mut PgConnection, namespace: Option<&str>, top: i64) -> Result<Self> {
        let rows: Vec<NodesRow> = sql!(include_str!("sql/stats_nodes.sql"))
            .bind("namespace", namespace)?
            .bind("top", top)?
            // Planned for these arguments: a null argument is no filter. The same holds for the statements below.
            .planned_anew()
            .fetch_all(connection)
            .await?;
        let mut read = Self::default();
        for row in rows {
            let counts = match row.kind.as_str() {
                "all" => {
                    let NodesRow { nodes, tokens, forgotten, oldest, newest, day, week, month, .. } = row;
                    read.totals = Totals { nodes, tokens, forgotten, oldest, newest };
                    read.ages = Ages { day, week, month, older: nodes - day - week - month };
                    continue;
                }
                "namespace" => &mut read.namespaces,
                "robot" => &mut read.robots,
                _ => &mut read.types,
            };
            counts.distinct = row.distinct_groups;
            counts.top.push(GroupCount {
                namespace: row.namespace,
                name: row.name,
                nodes: row.nodes,
                tokens: Some(row.tokens),
            });
        }
        Ok(read)
    }
}

async fn tags(connection: &mut PgConnection, namespace: Option<&str>, top: i64) -> Result<Counts> {
    let rows: Vec<TagRow> = sql!(include_str!("sql/stats_tags.sql"))
        .bind("namespace", namespace)?
        .bind("top", top)?
        .planned_anew()
        .fetch_all(connection)
        .await?;
    let distinct = rows.first().map_or(0, |row| row.tags);
    let count = |row: TagRow| GroupCount {
        namespace: Some(row.namespace),
        name: Some(row.path),
        nodes: row.nodes,
        tokens: None,
    };
    Ok(Counts { distinct, top: rows.into_iter().map(count).collect() })
}

#[derive(sqlx::FromRow)]
struct TagRow {
    namespace: String,
    path: String,
    nodes: i64,
    /// The total number of tags.
    tags: i64,
}

#[derive(sqlx::FromRow)]
struct EnrichmentRow {
    stage: Stage,
    model: Option<String>,
    done: i64,
    pending: i64,
    parked: i64,
    running: i64,
    dead: i64,
}

async fn enrichment(connection: &mut PgConnection, namespace: Option<&str>) -> Result<Vec<Enrichment>> {
    let rows: Vec<EnrichmentRow> = sql!(include_str!("sql/stats_enrichment.sql"))
        .bind("namespace", namespace)?
        .planned_anew()
        .fetch_all(connection)
        .await?;
    let read = |EnrichmentRow { stage, model, done, pending, parked, running, dead }| Enrichment {
        stage,
        model,
        done,
        pending,
        parked,
        running,
        dead,
    };
    Ok(rows.into_iter().map(read).collect())
}

async fn working_memory(
    connection: &mut PgConnection,
    namespace: Option<&str>,
    top: i64,
    limit: usize,
) -> Result<Vec<WorkingMemoryUse>> {
    let rows: Vec<WorkingMemoryRow> = sql!(include_str!("sql/stats_working_memory.sql"))
        .bind("namespace", namespace)?
        .bind("top", top)?
        .bind("max_tokens", i64::try_from(limit).unwrap_or(i64::MAX))?
        .planned_anew()
        .fetch_all(connection)
        .await?;
    let used = |row: WorkingMemoryRow| {
        let WorkingMemoryRow { namespace, name, nodes, tokens, max_tokens } = row;
        let utilisation = tokens as f64 / max_tokens.max(1) as f64;
        WorkingMemoryUse { namespace, robot: name, nodes, tokens, max_tokens, utilisation }
    };
    Ok(rows.into_iter().map(used).collect())
}

#[derive(sqlx::FromRow)]
struct WorkingMemoryRow {
    namespace: String,
    name: String,
    nodes: i64,
    tokens: i64,
    max_tokens: i64,
}

async fn groups(connection: &mut PgConnection, namespace: Option<&str>, top: i64) -> Result<Vec<GroupUse>> {
    sql!(include_str!("sql/stats_groups.sql"))
        .bind("namespace", namespace)?
        .bind("top", top)?
        .planned_anew()
        .fetch_all(connection)
        .await
}

async fn storage(connection: &mut PgConnection) -> Result<Storage> {
    let tables: Vec<TableSize> =
        sql!(include_str!("sql/stats_tables.sql")).fetch_all(&mut *connection).await?;
    let indexes: Vec<IndexSize> =
        sql!(include_str!("sql/stats_indexes.sql")).fetch_all(&mut *connection).await?;
    let database_bytes = sql!("select pg_database_size(current_database())").fetch_scalar(connection).await?;
    Ok(Storage { database_bytes, tables, indexes })
}
