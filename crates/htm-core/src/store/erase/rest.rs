//! The rows that an erasure removes after its nodes: jobs that were locked or are done, kept answers, tags and words that no other
//! node has, and the rest of a namespace. Each part is as well done twice.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde_json::Value;
use sqlx::PgPool;
use sqlx::types::Json;

use super::places::{self, Holds};
use super::{add_in_tx, lock_in_tx};
use crate::model::erase::{Erasure, mentions, nodes_of};
use crate::model::error::Result;
use crate::store::entity::operation;
use crate::store::named::{Named, sql};
use crate::store::orm::{behind, on};
use crate::store::{lifecycle, operations, rankings, statistics, tag_changes};

/// The number of rows that one statement reads or removes.
const ROWS: i64 = 10_000;
/// The number of kept answers that are in memory at a time.
const ANSWERS: i64 = 1_000;
/// The longest wait for transactions that may enqueue a job of an erased node.
const PATIENCE: Duration = Duration::from_secs(10);

/// Deletes the remaining jobs of an erasure's nodes, once all transactions that may have read a node before its removal have
/// ended.
pub(crate) async fn jobs(pool: &PgPool, erasure: i64) -> Result<()> {
    if !lifecycle::writers_end(pool, "apalis.jobs", PATIENCE).await? {
        tracing::warn!(
            erasure,
            "a transaction that enqueues jobs is open for long; verify the erasure later"
        );
    }
    let mut cursor = String::new();
    loop {
        let mut tx = super::begin(pool).await?;
        let (last, deleted): (Option<String>, i64) = sql!(include_str!("../sql/erase_jobs.sql"))
            .bind("erasure", erasure)?
            .bind("after", &cursor)?
            .bind("limit", ROWS)?
            .fetch_one(&mut *tx)
            .await?;
        note_in_tx(&mut tx, erasure, "apalis.jobs", deleted as u64).await?;
        tx.commit().await?;
        match last {
            Some(last) => cursor = last,
            None => return Ok(()),
        }
    }
}

async fn note_in_tx(connection: &mut sqlx::PgConnection, erasure: i64, table: &str, rows: u64) -> Result<()> {
    match rows {
        0 => Ok(()),
        rows => add_in_tx(connection, erasure, &BTreeMap::from([(table.to_owned(), rows)]), &[]).await,
    }
}

/// An operation by its scope and id.
type AnswerKey = (String, String);

/// The kept answers that mention a node of an erasure, or its namespace if it is of a whole one.
pub(crate) async fn answers(pool: &PgPool, erasure: i64, namespace: Option<&str>) -> Result<Vec<AnswerKey>> {
    let mut found = Vec::new();
    let mut after = AnswerKey::default();
    loop {
        let columns = [operation::Column::Scope, operation::Column::Id];
        let page: Vec<(String, String, Value)> = operation::Entity::find()
            .select_only()
            .columns([operation::Column::Scope, operation::Column::Id, operation::Column::Answer])
            .filter(operation::Column::Answer.is_not_null())
            .filter(behind(columns, [after.0.into(), after.1.into()]))
            .order_by_asc(operation::Column::Scope)
            .order_by_asc(operation::Column::Id)
            .limit(ANSWERS as u64)
            .into_tuple()
            .all(&on(pool))
            .await?;
        let Some((scope, id, _)) = page.last() else { return Ok(found) };
        after = (scope.clone(), id.clone());
        let mut nodes: Vec<i64> = page.iter().flat_map(|(.., answer)| nodes_of(answer)).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let erased: BTreeSet<i64> = sql!(
            "select u.id from unnest(:nodes::bigint[]) u(id)
              where u.id in (select unnest(nodes) from htm.erased_nodes where erasure_id = :erasure)"
        )
        .bind("nodes", nodes)?
        .bind("erasure", erasure)?
        .fetch_scalars(pool)
        .await?
        .into_iter()
        .collect();
        let is_about = |answer: &Value| {
            nodes_of(answer).iter().any(|node| erased.contains(node))
                || namespace.is_some_and(|namespace| mentions(answer, namespace))
        };
        found.extend(
            page.into_iter().filter(|(.., answer)| is_about(answer)).map(|(scope, id, _)| (scope, id)),
        );
    }
}

/// Replaces the kept answers about erased nodes, and the digests of their requests: a digest confirms a guess of the text.
pub(crate) async fn erase_answers(pool: &PgPool, erasure: i64, namespace: Option<&str>) -> Result<()> {
    for some in answers(pool, erasure, namespace).await?.chunks(ANSWERS as usize) {
        let (scopes, ids): (Vec<&str>, Vec<&str>) =
            some.iter().map(|(scope, id)| (scope.as_str(), id.as_str())).unzip();
        let mut tx = super::begin(pool).await?;
        let erased = sql!(
            "update htm.operations o set answer = :erased, digest = decode(repeat('00', 32), 'hex')
               from unnest(:scopes::text[], :ids::text[]) u(scope, id)
              where (o.scope, o.id) = (u.scope, u.id) and o.answer is not null"
        )
        .bind("erased", Json(operations::erased()))?
        .bind("scopes", scopes)?
        .bind("ids", ids)?
        .execute(&mut *tx)
        .await?;
        note_in_tx(&mut tx, erasure, "htm.operations", erased).await?;
        tx.commit().await?;
    }
    Ok(())
}

/// Removes the tags that only erased nodes had: a tagger may have taken a name from a text. Tags that people have described,
/// split, renamed or given other names stay.
pub(crate) async fn tags(pool: &PgPool, erasure: i64) -> Result<()> {
    let tags: Vec<(String, String)> = sql!(
        "select t.namespace, t.path from htm.tags t
          where t.id in (select unnest(tags) from htm.erasures where id = :erasure) order by 1, 2"
    )
    .bind("erasure", erasure)?
    .fetch_all(pool)
    .await?;
    for of_one in tags.chunk_by(|a, b| a.0 == b.0) {
        let namespace = &of_one[0].0;
        let names: BTreeSet<String> = of_one.iter().map(|(_, path)| path.clone()).collect();
        let mut tx = tag_changes::begin(pool, namespace).await?;
        tag_changes::hold_names_in_tx(&mut tx, namespace, &names).await?;
        let mut removed = 0;
        // A tag above others is free when these are gone.
        loop {
            let now: i64 = sql!(include_str!("../sql/erase_tags.sql"))
                .bind("erasure", erasure)?
                .bind("namespace", namespace)?
                .bind("deleting", true)?
                .fetch_scalar(&mut *tx)
                .await?;
            removed += now as u64;
            if now == 0 {
                break;
            }
        }
        note_in_tx(&mut tx, erasure, "htm.tags", removed).await?;
        tx.commit().await?;
    }
    Ok(())
}

/// Counts the words of the namespaces anew: none stays that only erased texts had.
pub(crate) async fn words(pool: &PgPool, erasure: &Erasure) -> Result<()> {
    for namespace in &erasure.namespaces {
        statistics::refresh_now(pool, namespace).await?;
    }
    Ok(())
}

/// Removes the rows of a namespace besides its nodes. False after a write to it since its nodes were removed: the new
/// memory needs such rows.
pub(crate) async fn namespace(pool: &PgPool, erasure: i64, namespace: &str) -> Result<bool> {
    let places = places::all(&mut *pool.acquire().await?).await?;
    for place in places {
        let Some(condition) = place.of_namespace else { continue };
        // Its own nodes are removed by their numbers, so that each is on record.
        if matches!(place.holds, Holds::Nodes(_)) && condition.starts_with("namespace") {
            continue;
        }
        let table = &place.table;
        // Changes of the ontology refer to each other.
        let limit = (table != "htm.tag_changes").then_some(ROWS);
        // Others have to be waited for, or told, even if there is no row yet.
        let is_held =
            matches!(&**table, "htm.learning" | "htm.lexeme_statistics" | "htm.namespace_statistics");
        let delete = format!(
            "delete from {table}
              where ctid = any (array(select ctid from {table} where {condition} limit :limit))"
        );
        loop {
            let mut tx = super::begin(pool).await?;
            // Most tables have none. A transaction without a lock is over without a wait for the disk.
            if !is_held && !super::has_rows(&mut tx, table, condition, namespace).await? {
                tx.rollback().await?;
                break;
            }
            lock_in_tx(&mut tx, erasure).await?;
            match &**table {
                "htm.learning" => rankings::part_in_tx(&mut tx, namespace).await?,
                // A refresh that began before would write the words of the removed texts.
                "htm.lexeme_statistics" | "htm.namespace_statistics" => {
                    statistics::hold_in_tx(&mut tx, namespace).await?;
                }
                _ => {}
            }
            let deleted = Named::new(&delete).bind("namespace", namespace)?.bind("limit", limit)?;
            let rows = match deleted.execute(&mut *tx).await {
                Ok(rows) => rows,
                // A node refers to it.
                Err(error) if error.database().is_some_and(|it| it.sqlstate() == Some("23503")) => {
                    return Ok(false);
                }
                Err(error) => return Err(error),
            };
            note_in_tx(&mut tx, erasure, table, rows).await?;
            tx.commit().await?;
            if rows == 0 {
                break;
            }
        }
    }
    Ok(true)
}
