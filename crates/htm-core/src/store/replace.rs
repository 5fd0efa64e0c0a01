//! The memories of conversations that are replaced.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;

use super::named::sql;
use crate::model::error::Result;
use crate::model::id::NodeId;

/// A live memory of a conversation.
#[derive(sqlx::FromRow)]
pub(crate) struct Part {
    pub(crate) node: NodeId,
    pub(crate) namespace: String,
    pub(crate) session: String,
    pub(crate) created_at: DateTime<Utc>,
}

/// Waits for other replacements of the conversations, and holds up later ones until the transaction's end. There are
/// 256 locks, so that many conversations fit into the database's lock table.
pub(crate) async fn hold_in_tx(
    connection: &mut PgConnection,
    namespaces: &[&str],
    sessions: &[&str],
) -> Result<()> {
    sql!(
        "select count(pg_advisory_xact_lock(hashtext('htm.conversations'), place))
           from (select distinct hashtext(namespace || '/' || session) & 255 as place
                   from unnest(:namespaces::text[], :sessions::text[]) as c(namespace, session)
                  order by place offset 0) p"
    )
    .bind("namespaces", namespaces)?
    .bind("sessions", sessions)?
    .execute(connection)
    .await
    .map(drop)
}

/// The last place of a conversation that has one.
#[derive(sqlx::FromRow)]
pub(crate) struct LastPlace {
    pub(crate) namespace: String,
    pub(crate) session: String,
    pub(crate) seq: i32,
}

/// The last places of the conversations, by `nodes_session_seq_idx`.
pub(crate) async fn last_places(
    connection: &mut PgConnection,
    namespaces: &[&str],
    sessions: &[&str],
) -> Result<Vec<LastPlace>> {
    sql!(
        "select n.namespace, n.session, n.seq
           from unnest(:namespaces::text[], :sessions::text[]) as c(namespace, session)
          cross join lateral (select m.namespace, m.session, m.seq
                                from htm.nodes m
                               where m.namespace = c.namespace and md5(m.session) = md5(c.session)
                                 and m.session = c.session and m.seq is not null and m.deleted_at is null
                               order by m.seq desc limit 1) n"
    )
    .bind("namespaces", namespaces)?
    .bind("sessions", sessions)?
    .fetch_all(connection)
    .await
}

/// The live memories of the conversations.
pub(crate) async fn parts(
    connection: &mut PgConnection,
    namespaces: &[&str],
    sessions: &[&str],
) -> Result<Vec<Part>> {
    sql!(
        "select n.id as node, n.namespace, n.session, n.created_at
           from unnest(:namespaces::text[], :sessions::text[]) as c(namespace, session)
          cross join lateral (select m.id, m.namespace, m.session, m.created_at
                                from htm.nodes m
                               where m.namespace = c.namespace and md5(m.session) = md5(c.session)
                                 and m.session = c.session and m.deleted_at is null
                              offset 0) n"
    )
    .bind("namespaces", namespaces)?
    .bind("sessions", sessions)?
    .fetch_all(connection)
    .await
}
