//! The statements of an upgrade in the databases of the two clusters.

use std::collections::BTreeMap;

use htm_core::{Error, Result, connect_options};
use serde::Serialize;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection as _, FromRow, PgConnection};

use super::UpgradeMethod;
use crate::backup;
use crate::codes;
use crate::error::of_migration;

/// The facts of a cluster: those that are compared, and those that decide how the new cluster is made.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    /// 0 without HTM's schema.
    pub(super) schema_version: u32,
    /// Whether pages have checksums.
    pub(super) checksums: bool,
    /// The rows of each table of HTM.
    pub(super) tables: BTreeMap<String, u64>,
    /// The number of memories' results that have no job, as `htm jobs audit` counts them.
    pub(super) stranded: i64,
    /// The roles, databases, schemas and relations that a dump of HTM's schemas does not have.
    pub(super) others: Vec<String>,
}

impl Facts {
    pub(super) async fn read(url: &str) -> Result<Self> {
        let mut connection = PgConnection::connect_with(&patient(url)?).await?;
        let schema_version = htm_migration::version(&mut connection).await.map_err(of_migration)?;
        let checksums = sqlx::query_scalar("select current_setting('data_checksums')::bool");
        let checksums = checksums.fetch_one(&mut connection).await?;
        let has_view = sqlx::query_scalar("select to_regclass('htm.stranded') is not null");
        let stranded = match has_view.fetch_one(&mut connection).await? {
            true => {
                sqlx::query_scalar("select count(*) from htm.stranded").fetch_one(&mut connection).await?
            }
            false => 0,
        };
        let others = sqlx::query_scalar(
            "select 'the role ' || quote_ident(rolname) from pg_roles
              where rolname !~ '^pg_' and rolname not in ('postgres', 'htm_tenant')
             union all
             select 'the database ' || quote_ident(datname) from pg_database
              where not datistemplate and datname not in ('postgres', current_database())
             union all
             select 'the schema ' || quote_ident(nspname) from pg_namespace
              where nspname !~ '^pg_' and nspname not in ('information_schema', 'public', 'htm', 'apalis')
             union all
             select 'the relation ' || c.oid::regclass from pg_class c
              where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
                and not exists (select from pg_depend d
                                 where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
             order by 1",
        );
        let others = others.fetch_all(&mut connection).await?;
        let tables = backup::counts(&mut connection).await?;
        connection.close().await?;
        Ok(Self { schema_version, checksums, tables, stranded, others })
    }

    /// Compares the old cluster's facts with the new one's.
    pub(super) fn compare(&self, new: &Self, method: UpgradeMethod) -> Result<()> {
        let differs = |what: String| Err(Error::new(codes::PRIVATE_PG_UPGRADE_DIFFERS, what));
        if new.schema_version != self.schema_version {
            let (before, after) = (self.schema_version, new.schema_version);
            return match method {
                // A restored dump has been compared, and then its schema was migrated.
                UpgradeMethod::Dump if after > before => Ok(()),
                _ => differs(format!(
                    "the schema has version {after} in the new cluster, {before} in the old one"
                )),
            };
        }
        if let Some((table, before, after)) = backup::difference(&self.tables, &new.tables) {
            return differs(format!("{table} has {after} rows in the new cluster, {before} in the old one"));
        }
        if self.stranded != new.stranded {
            let (before, after) = (self.stranded, new.stranded);
            return differs(format!("{after} jobs are stranded in the new cluster, {before} in the old one"));
        }
        Ok(())
    }
}

/// An extension that was brought to the version of the new installation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, FromRow)]
pub struct UpdatedExtension {
    /// Its database.
    pub database: String,
    /// Its name, such as `vector`.
    pub name: String,
    /// Its version before.
    pub from: String,
    /// Its version now.
    pub to: String,
}

/// The options of a connection whose statements may take long, whatever the cluster's settings are.
fn patient(url: &str) -> Result<PgConnectOptions> {
    Ok(connect_options(url)?.options([("statement_timeout", "0")]))
}

/// Updates the extensions of all databases, and collects the planner's statistics. Nobody waits for the server meanwhile,
/// so they are not collected in stages.
pub(super) async fn finish(url: &str) -> Result<Vec<UpdatedExtension>> {
    let options = patient(url)?;
    let mut connection = PgConnection::connect_with(&options).await?;
    let databases: Vec<String> =
        sqlx::query_scalar("select datname::text from pg_database where datallowconn order by 1")
            .fetch_all(&mut connection)
            .await?;
    connection.close().await?;
    let mut updated = Vec::new();
    for database in databases {
        let mut connection = PgConnection::connect_with(&options.clone().database(&database)).await?;
        let old: Vec<UpdatedExtension> = sqlx::query_as(
            r#"select current_database()::text as database, e.extname::text as name, e.extversion as "from",
                      a.default_version as "to"
                 from pg_extension e
                 join pg_available_extensions a on a.name = e.extname
                where exists (select from pg_extension_update_paths(e.extname) p
                               where p.source = e.extversion and p.target = a.default_version and p.path is not null)
                order by 2"#,
        )
        .fetch_all(&mut connection)
        .await?;
        for extension in &old {
            let name = extension.name.replace('"', "\"\"");
            let update = AssertSqlSafe(format!("alter extension \"{name}\" update"));
            sqlx::raw_sql(update).execute(&mut connection).await?;
        }
        updated.extend(old);
        sqlx::raw_sql("analyze").execute(&mut connection).await?;
        connection.close().await?;
    }
    Ok(updated)
}
