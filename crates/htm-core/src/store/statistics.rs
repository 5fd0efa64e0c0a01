//! The statistics that BM25 needs, refreshed in the background.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use sqlx::{ConnectOptions, Connection, PgConnection, PgPool};

use super::connections::{Connections, Tx};
use super::entity::{lexeme_statistic, namespace_statistic};
use super::named::sql;
use super::orm::on;
use crate::model::error::Result;

/// Refreshes the statistics of the namespaces that changed by a twentieth, or that changed at all if their statistics
/// are five minutes old; returns the number of namespaces. Concurrent calls of several processes do the work once.
///
/// Between refreshes the statistics are stale: the weights of words are less exact, but no node is hidden (a word
/// without statistics is counted live).
///
/// # Errors
/// A database error.
pub async fn refresh_due(pool: &PgPool) -> Result<usize> {
    let listed: DateTime<Utc> = sql!("select clock_timestamp()").fetch_scalar(pool).await?;
    let due: Vec<String> = sql!(include_str!("sql/observe_writes.sql")).fetch_scalars(pool).await?;
    for namespace in &due {
        refresh_unless(pool, namespace, Some(listed)).await?;
    }
    Ok(due.len())
}

/// Analyzes the small tables that have doubled since PostgreSQL last counted them; returns their number. Until then
/// statements run with the plans of emptier tables.
///
/// # Errors
/// A database error.
pub async fn analyze_grown(pool: &PgPool) -> Result<usize> {
    let mut analyzed = 0;
    loop {
        // A table may take longer than the application's statement timeout.
        let mut tx = Connections::begin_with(pool, "begin; set local statement_timeout = 0").await?;
        let one: bool = sql!("select htm.analyze_grown()").fetch_scalar(&mut *tx).await?;
        tx.commit().await?;
        if !one {
            return Ok(analyzed);
        }
        analyzed += 1;
    }
}

/// Records the namespaces of nodes, as [`note_changed_in_tx`]: one for each node that was forgotten, and for each of many
/// new ones. New nodes are found by their ids, but those of a long transaction only if no later one ended before it.
pub(crate) async fn note_in_tx<'a>(
    connection: &mut PgConnection,
    namespaces: impl Iterator<Item = &'a str>,
) -> Result<()> {
    // In a fixed order, so that concurrent transactions do not deadlock.
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for namespace in namespaces {
        *counts.entry(namespace).or_default() += 1;
    }
    for (namespace, nodes) in counts {
        note_changed_in_tx(connection, namespace, nodes).await?;
    }
    Ok(())
}

/// Records that texts of a namespace were edited, forgotten or restored. It is the transaction's last statement: other
/// changes of the same namespace wait for its end, and whoever waits for another lock with this one can deadlock.
pub(crate) async fn note_changed_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    nodes: usize,
) -> Result<()> {
    sql!(
        "insert into htm.namespace_statistics as s (namespace, unseen_count) values (:namespace, :nodes)
         on conflict (namespace) do update set unseen_count = s.unseen_count + excluded.unseen_count"
    )
    .bind("namespace", namespace)?
    .bind("nodes", nodes as i64)?
    .execute(connection)
    .await?;
    Ok(())
}

/// Refreshes the statistics of one namespace, unless another process is doing so.
///
/// No snapshot lasts longer than the reading of a few thousand nodes: vacuum waits for snapshots, and every claim walks
/// over the rows that vacuum could not remove. A change between two such reads may be counted or not.
///
/// # Errors
/// A database error; what was written before it stays.
pub async fn refresh(pool: &PgPool, namespace: &str) -> Result<()> {
    refresh_unless(pool, namespace, None).await
}

/// As [`refresh`], unless another process has done so since a time.
async fn refresh_unless(pool: &PgPool, namespace: &str, since: Option<DateTime<Utc>>) -> Result<()> {
    let mut tx = Connections::begin_with(pool, BEGIN).await?;
    // The process with the lock does the work; the others skip it.
    let ours: bool =
        sql!("select pg_try_advisory_xact_lock(hashtextextended('htm.statistics/' || :namespace, 0))")
            .bind("namespace", namespace)?
            .fetch_scalar(&mut *tx)
            .await?;
    if !ours {
        return Ok(());
    }
    // A statement of its own: another process may have had the lock until now.
    let done = namespace_statistic::Entity::find_by_id(namespace)
        .filter(namespace_statistic::Column::RefreshedAt.gte(since))
        .one(&on(&mut tx))
        .await?;
    if done.is_some() { Ok(()) } else { refresh_in_tx(pool, tx, namespace).await }
}

/// Refreshes the statistics of one namespace, after a refresh by another process: no word stays that no text has now.
///
/// # Errors
/// A database error; what was written before it stays.
pub(crate) async fn refresh_now(pool: &PgPool, namespace: &str) -> Result<()> {
    let mut tx = Connections::begin_with(pool, BEGIN).await?;
    hold_in_tx(&mut tx, namespace).await?;
    refresh_in_tx(pool, tx, namespace).await
}

/// Waits for a refresh of the namespace by another process, and keeps further ones away until the end of the transaction.
pub(crate) async fn hold_in_tx(connection: &mut PgConnection, namespace: &str) -> Result<()> {
    sql!("select pg_advisory_xact_lock(hashtextextended('htm.statistics/' || :namespace, 0))")
        .bind("namespace", namespace)?
        .execute(connection)
        .await
        .map(drop)
}

/// The transaction of a refresh holds the namespace's lock. It writes nothing until its end: between its statements it
/// does not hold up vacuum.
const BEGIN: &str = "begin; set local statement_timeout = 0";

async fn refresh_in_tx(pool: &PgPool, mut tx: Tx, namespace: &str) -> Result<()> {
    let mut end = page_end_in_tx(&mut tx, namespace, None).await?;
    if end.is_none() {
        sql!("select htm.refresh_statistics(:namespace)")
            .bind("namespace", namespace)?
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
        return Ok(());
    }
    let unseen: Option<i64> = namespace_statistic::Entity::find_by_id(namespace)
        .select_only()
        .column(namespace_statistic::Column::UnseenCount)
        .into_tuple()
        .one(&on(&mut tx))
        .await?;
    let mut counted = Counted::default();
    let mut start = None;
    loop {
        counted.add_page_in_tx(&mut tx, namespace, start, end).await?;
        if end.is_none() {
            break;
        }
        start = end;
        end = page_end_in_tx(&mut tx, namespace, start).await?;
    }
    // Under the lock, so that words of an older count do not come after those of a newer one.
    let mut own = pool.connect_options().connect().await?;
    counted.write_lexemes(&mut own, namespace).await?;
    own.close().await?;
    counted.write_sizes_in_tx(&mut tx, namespace, unseen.unwrap_or(0)).await?;
    Ok(tx.commit().await?)
}

/// The number of nodes of a page; nodes of the same instant as its last one are in it too. Reading a page takes a tenth
/// of a second.
const PAGE: i64 = 5_000;

/// The number of rows of `htm.lexeme_statistics` that one statement writes.
const LEXEMES: usize = 5_000;

/// The creation time of the last node of the page after `start`; none if the page has all remaining nodes.
async fn page_end_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    start: Option<DateTime<Utc>>,
) -> Result<Option<DateTime<Utc>>> {
    sql!(
        "select created_at from htm.nodes
          where namespace = :namespace and created_at > coalesce(:start, '-infinity')
          order by created_at offset :offset limit 1"
    )
    .bind("namespace", namespace)?
    .bind("start", start)?
    .bind("offset", PAGE - 1)?
    .fetch_optional_scalar(connection)
    .await
}

/// The counts so far.
#[derive(Debug, Default)]
struct Counted {
    nodes: i64,
    lexemes: i64,
    by_lexeme: HashMap<String, i32>,
}

impl Counted {
    async fn add_page_in_tx(
        &mut self,
        connection: &mut PgConnection,
        namespace: &str,
        start: Option<DateTime<Utc>>,
        end: Option<DateTime<Utc>>,
    ) -> Result<()> {
        let (nodes, lexemes): (i64, i64) = sql!(
            "select count(*), coalesce(sum(length(tsv)), 0)::bigint
               from htm.nodes
              where namespace = :namespace and deleted_at is null
                and created_at > coalesce(:start, '-infinity') and created_at <= coalesce(:end, 'infinity')"
        )
        .bind("namespace", namespace)?
        .bind("start", start)?
        .bind("end", end)?
        .fetch_one(&mut *connection)
        .await?;
        self.nodes += nodes;
        self.lexemes += lexemes;
        let page: Vec<(String, i32)> = sql!(
            "select word, ndoc
               from ts_stat(format('select tsv from htm.nodes
                                     where namespace = %L and deleted_at is null and created_at > %L and created_at <= %L',
                                   :namespace, coalesce(:start::timestamptz, '-infinity'),
                                   coalesce(:end::timestamptz, 'infinity')))"
        )
        .bind("namespace", namespace)?
        .bind("start", start)?
        .bind("end", end)?
        .fetch_all(connection)
        .await?;
        for (lexeme, nodes) in page {
            *self.by_lexeme.entry(lexeme).or_default() += nodes;
        }
        Ok(())
    }

    /// Writes the sizes as `htm.refresh_statistics` does; `unseen` is the number of changes recorded before the count
    /// began.
    async fn write_sizes_in_tx(
        &self,
        connection: &mut PgConnection,
        namespace: &str,
        unseen: i64,
    ) -> Result<()> {
        let average_lexemes = (self.lexemes as f64 / self.nodes.max(1) as f64).max(1.0) as f32;
        sql!(
            "insert into htm.namespace_statistics as s
                    (namespace, node_count, average_lexemes, unseen_count, refreshed_at)
             values (:namespace, :nodes, :average_lexemes, 0, now())
             on conflict (namespace) do update
                set (node_count, average_lexemes, unseen_count, refreshed_at)
                  = (excluded.node_count, excluded.average_lexemes, greatest(s.unseen_count - :unseen, 0),
                     excluded.refreshed_at)"
        )
        .bind("namespace", namespace)?
        .bind("nodes", self.nodes)?
        .bind("average_lexemes", average_lexemes)?
        .bind("unseen", unseen)?
        .execute(connection)
        .await?;
        Ok(())
    }

    /// Writes the changed counts, a few thousand rows a transaction: writes to a trigram index are expensive.
    async fn write_lexemes(&mut self, connection: &mut PgConnection, namespace: &str) -> Result<()> {
        let mut gone = Vec::new();
        {
            let known: Vec<(String, i32)> = lexeme_statistic::Entity::find()
                .select_only()
                .columns([lexeme_statistic::Column::Lexeme, lexeme_statistic::Column::NodeCount])
                .filter(lexeme_statistic::Column::Namespace.eq(namespace))
                .into_tuple()
                .all(&on(&mut *connection))
                .await?;
            for (lexeme, nodes) in known {
                match self.by_lexeme.get(&lexeme) {
                    Some(now) if *now == nodes => drop(self.by_lexeme.remove(&lexeme)),
                    Some(_) => {}
                    None => gone.push(lexeme),
                }
            }
        }
        // In order: two processes that write the same rows cannot deadlock.
        let mut changed: Vec<(String, i32)> = std::mem::take(&mut self.by_lexeme).into_iter().collect();
        changed.sort_unstable();
        gone.sort_unstable();
        for some in changed.chunks(LEXEMES) {
            let (lexemes, nodes): (Vec<&str>, Vec<i32>) =
                some.iter().map(|(lexeme, nodes)| (lexeme.as_str(), *nodes)).unzip();
            sql!(
                "insert into htm.lexeme_statistics (namespace, lexeme, node_count)
                 select :namespace, * from unnest(:lexemes::text[], :nodes::int[])
                 on conflict on constraint lexeme_statistics_pk do update set node_count = excluded.node_count"
            )
            .bind("namespace", namespace)?
            .bind("lexemes", lexemes)?
            .bind("nodes", nodes)?
            .execute(&mut *connection)
            .await?;
        }
        for some in gone.chunks(LEXEMES) {
            lexeme_statistic::Entity::delete_many()
                .filter(lexeme_statistic::Column::Namespace.eq(namespace))
                .filter(lexeme_statistic::Column::Lexeme.eq_any(some.to_owned()))
                .exec(&on(&mut *connection))
                .await?;
        }
        Ok(())
    }
}
