//! The working memories of robots as rows: written in the background, and read when robots are opened again.

use chrono::{DateTime, Utc};
use sea_orm::sea_query::{Expr, LockType};
use sea_orm::{EntityTrait, FromQueryResult, QueryFilter, QuerySelect, Select};
use sqlx::PgConnection;

use super::connections::{Connections, Db};
use super::entity::robot;
use super::named::sql;
use super::orm::on;
use super::robots;
use crate::model::error::Result;
use crate::model::id::{NodeId, RobotId};
use crate::model::working_memory::Entry;

/// A node of a working memory, with the current rows of both.
#[derive(sqlx::FromRow)]
pub(crate) struct Restored {
    #[sqlx(flatten)]
    pub(crate) node: LiveNode,
    pub(crate) added_at: DateTime<Utc>,
    pub(crate) accessed_at: DateTime<Utc>,
    pub(crate) accesses: i64,
}

/// The fields of a live node that a working memory needs.
#[derive(sqlx::FromRow)]
pub(crate) struct LiveNode {
    pub(crate) node: NodeId,
    pub(crate) revision: i32,
    /// None if the caller has it.
    pub(crate) content: Option<String>,
    pub(crate) token_count: i32,
    pub(crate) token_encoding: String,
    pub(crate) importance: f32,
    pub(crate) source: Option<String>,
    pub(crate) happened_at: DateTime<Utc>,
}

/// A row to write.
pub(crate) struct KeptNode {
    pub(crate) node: NodeId,
    pub(crate) added_at: DateTime<Utc>,
    pub(crate) accessed_at: DateTime<Utc>,
    pub(crate) accesses: i64,
}

impl From<&Entry> for KeptNode {
    fn from(entry: &Entry) -> Self {
        Self {
            node: entry.node,
            added_at: entry.added_at,
            accessed_at: entry.accessed_at,
            accesses: i64::try_from(entry.accesses).unwrap_or(i64::MAX),
        }
    }
}

/// An opened robot.
#[derive(FromQueryResult)]
pub(crate) struct Opened {
    pub(crate) id: RobotId,
    /// Its own token budget, if any.
    max_tokens: Option<i64>,
    /// The database's time.
    pub(crate) now: DateTime<Utc>,
}

impl Opened {
    pub(crate) fn max_tokens(&self) -> Option<usize> {
        self.max_tokens.and_then(|tokens| usize::try_from(tokens).ok())
    }
}

/// Opens a robot; registers it if it is new.
pub(crate) async fn open_robot(pool: &dyn Connections, namespace: &str, name: &str) -> Result<Opened> {
    loop {
        if let Some(found) = opened(namespace, name).into_model().one(&on(pool)).await? {
            return Ok(found);
        }
        let mut tx = pool.begin().await?;
        robots::register_in_tx(&mut tx, &[(namespace, name)]).await?;
        tx.commit().await?;
    }
}

/// The robot with this name, locked: its saved working memory gets no other transfer meanwhile.
pub(crate) async fn hold_robot_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    name: &str,
) -> Result<Option<Opened>> {
    let locked = opened(namespace, name).lock(LockType::NoKeyUpdate);
    Ok(locked.into_model().one(&on(connection)).await?)
}

fn opened(namespace: &str, name: &str) -> Select<robot::Entity> {
    robot::Entity::find()
        .select_only()
        .columns([robot::Column::Id, robot::Column::MaxTokens])
        .expr_as(Expr::current_timestamp(), "now")
        .filter(robots::called(namespace, name))
}

/// The saved working memory of a robot; only nodes of `namespaces`, if given.
pub(crate) async fn restore(
    db: impl Into<Db<'_>>,
    robot: RobotId,
    namespaces: Option<&[String]>,
) -> Result<Vec<Restored>> {
    let rows = sql!(include_str!("sql/restore_working_memory.sql"));
    rows.bind("robot", robot)?.bind("namespaces", namespaces)?.fetch_all(db).await
}

pub(crate) async fn live_nodes(db: impl Into<Db<'_>>, known: &[(NodeId, i32)]) -> Result<Vec<LiveNode>> {
    let (nodes, revisions): (Vec<NodeId>, Vec<i32>) = known.iter().copied().unzip();
    let rows = sql!(include_str!("sql/live_nodes.sql"));
    rows.bind("nodes", nodes)?.bind("revisions", revisions)?.fetch_all(db).await
}

pub(crate) async fn keep(
    db: impl Into<Db<'_>>,
    robot: RobotId,
    kept: &[KeptNode],
    gone: &[NodeId],
) -> Result<()> {
    sql!(include_str!("sql/keep_working_memory.sql"))
        .bind("robot", robot)?
        .bind("nodes", kept.iter().map(|row| row.node).collect::<Vec<_>>())?
        .bind("added_at", kept.iter().map(|row| row.added_at).collect::<Vec<_>>())?
        .bind("accessed_at", kept.iter().map(|row| row.accessed_at).collect::<Vec<_>>())?
        .bind("accesses", kept.iter().map(|row| row.accesses).collect::<Vec<_>>())?
        .bind("gone", gone)?
        .execute(db)
        .await?;
    Ok(())
}
