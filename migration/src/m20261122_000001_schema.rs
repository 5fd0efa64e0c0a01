//! The first schema, with an SQL file for each topic. The order follows their dependencies.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

pub(crate) const TOPICS: [&str; 14] = [
    include_str!("sql/extensions.sql"),
    include_str!("sql/robots.sql"),
    include_str!("sql/nodes.sql"),
    include_str!("sql/partitions.sql"),
    include_str!("sql/tags.sql"),
    include_str!("sql/embeddings.sql"),
    include_str!("sql/jobs.sql"),
    include_str!("sql/providers.sql"),
    include_str!("sql/statistics.sql"),
    include_str!("sql/working_memory.sql"),
    include_str!("sql/learning.sql"),
    include_str!("sql/access.sql"),
    include_str!("sql/erase.sql"),
    include_str!("sql/row_policies.sql"),
];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.get_connection().execute_unprepared(&TOPICS.concat()).await.map(drop)
    }
}
