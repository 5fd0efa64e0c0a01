//! Events, read from the rows that they left: nothing is written for them.

use chrono::{DateTime, Utc};
use sqlx::FromRow;

use super::connections::Connections;
use super::named::sql;
use crate::model::error::Result;
use crate::model::events::{Event, EventCursor, EventKind};
use crate::model::id::NodeId;
use crate::model::relations::RelationKind;

/// A look at the transactions.
#[derive(Clone, Copy, Debug, sqlx::FromRow)]
pub(crate) struct Horizon {
    /// All transactions with a smaller id have ended.
    pub(crate) transaction: i64,
    /// No transaction had this id or a larger one.
    pub(crate) next: i64,
    /// No transaction that gets the id `next` or a larger one began before this time.
    #[sqlx(skip)]
    pub(crate) since: DateTime<Utc>,
}

/// Looks at the transactions.
///
/// The time comes first: a transaction without an id at the second statement was open at the first one, or began later.
pub(crate) async fn horizon(pool: &dyn Connections) -> Result<Horizon> {
    let mut connection = pool.acquire().await?;
    // Sessions of other roles are hidden without a privilege. Their transactions are taken to be at most an hour old. Those
    // of no role, such as a vacuum that takes hours, write nothing that is an event.
    let since: DateTime<Utc> = sql!(
        "select least(now(), min(case when a.query = '<insufficient privilege>' then now() - interval '1 hour'
                                      else a.xact_start end))
           from pg_stat_activity a
          where a.datname = current_database() and a.usesysid is not null"
    )
    .fetch_scalar(&mut *connection)
    .await?;
    let seen: Horizon = sql!(
        "select pg_snapshot_xmin(s)::text::bigint as transaction, pg_snapshot_xmax(s)::text::bigint as next
           from pg_current_snapshot() s"
    )
    .fetch_one(&mut *connection)
    .await?;
    Ok(Horizon { since, ..seen })
}

/// The events after a cursor and before the horizon, in their order.
pub(crate) async fn after(
    pool: &dyn Connections,
    cursor: &EventCursor,
    horizon: i64,
    namespaces: Option<&[String]>,
    limit: i64,
) -> Result<Vec<Event>> {
    let rows: Vec<Row> = sql!(include_str!("sql/events.sql"))
        .bind("transaction", cursor.transaction)?
        .bind("row", &cursor.row)?
        .bind("since", cursor.since)?
        .bind("horizon", horizon)?
        .bind("namespaces", namespaces)?
        .bind("limit", limit)?
        .fetch_all(pool)
        .await?;
    Ok(rows.into_iter().map(|row| row.into_event(cursor.since)).collect())
}

#[derive(FromRow)]
struct Row {
    transaction: i64,
    row: String,
    at: DateTime<Utc>,
    namespace: String,
    kind: EventKind,
    node: Option<NodeId>,
    revision: Option<i32>,
    model: Option<String>,
    job: Option<String>,
    queue: Option<String>,
    error: Option<String>,
    change: Option<i64>,
    action: Option<String>,
    group: Option<String>,
    version: Option<i64>,
    to: Option<NodeId>,
    relation: Option<RelationKind>,
}

impl Row {
    fn into_event(self, since: DateTime<Utc>) -> Event {
        let Self { transaction, row, at, namespace, kind, node, revision, model, job, queue, .. } = self;
        let Self { error, change, action, group, version, to, relation, .. } = self;
        let cursor = EventCursor { transaction, since, row };
        Event {
            cursor,
            kind,
            at,
            namespace,
            node,
            revision,
            model,
            job,
            queue,
            error,
            change,
            action,
            group,
            version,
            to,
            relation,
        }
    }
}
