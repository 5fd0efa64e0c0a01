//! The schema: up, down, up again, by many at once.

use htm_migration as migration;
use htm_tests::{Sandbox, TestDatabase};
use sqlx::Connection;

async fn relations(db: &TestDatabase) -> i64 {
    db.count(
        "select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace
               where n.nspname in ('htm', 'apalis')",
    )
    .await
}

#[tokio::test]
async fn up_down_up() {
    let db = TestDatabase::empty().await;
    let options = db.options();
    let mut connection = sqlx::PgConnection::connect_with(&options).await.unwrap();
    assert_eq!(migration::version(&mut connection).await.unwrap(), 0);
    migration::up(&options).await.unwrap();
    let there = relations(&db).await;
    assert!(there > 20);
    assert_eq!(migration::version(&mut connection).await.unwrap(), migration::LATEST);
    // A model's store is made at run time and goes with the rest.
    htm_core::worker::embeddings::register_model(
        &db.pool,
        &htm_core::provider::ModelName::new("fake", "m"),
        8,
    )
    .await
    .unwrap();
    migration::down(&options).await.unwrap();
    assert_eq!(relations(&db).await, 0);
    assert_eq!(migration::version(&mut connection).await.unwrap(), 0);
    migration::down(&options).await.unwrap();
    migration::up(&options).await.unwrap();
    assert_eq!(relations(&db).await, there);
    migration::up(&options).await.unwrap();
}

#[tokio::test]
async fn many_processes_migrate_at_once() {
    let db = TestDatabase::empty().await;
    let options = db.options();
    let all = futures::future::join_all((0..6).map(|_| migration::up(&options))).await;
    for result in all {
        result.unwrap();
    }
    assert_eq!(db.count("select count(*) from htm.seaql_migrations").await, i64::from(migration::LATEST));
}

/// Managed servers have them in a schema of their own.
#[tokio::test]
async fn an_extension_in_another_schema_is_refused_before_any_change() {
    let db = TestDatabase::empty().await;
    sqlx::raw_sql("create schema extensions; create extension vector schema extensions")
        .execute(&db.pool)
        .await
        .unwrap();
    let refused = Sandbox::new(&db).htm(&["db", "migrate"]).await;
    let said = refused.fails(1, "extension_missing");
    assert!(said.contains("`alter extension vector set schema public`"), "{said}");
    assert_eq!(relations(&db).await, 0);
    assert_eq!(db.count("select count(*) from pg_namespace where nspname in ('htm', 'apalis')").await, 0);
    assert_eq!(db.count("select count(*) from pg_extension where extname in ('pg_trgm', 'hstore')").await, 0);
    sqlx::raw_sql("alter extension vector set schema public").execute(&db.pool).await.unwrap();
    migration::up(&db.options()).await.unwrap();
}

#[tokio::test]
async fn extensions_are_made_in_public_whatever_schemas_there_are() {
    let db = TestDatabase::empty().await;
    sqlx::raw_sql("create schema htm").execute(&db.pool).await.unwrap();
    migration::up(&db.options()).await.unwrap();
    let in_public = "select count(*) from pg_extension
                      where extname in ('vector', 'pg_trgm', 'hstore') and extnamespace = 'public'::regnamespace";
    assert_eq!(db.count(in_public).await, 3);
    migration::up(&db.options()).await.unwrap();
}

#[tokio::test]
async fn constraints_have_names() {
    let db = TestDatabase::new().await;
    // PostgreSQL's own names end so; ours say what they hold. Not-null constraints are rows here from 18 on.
    let unnamed = db
        .count("select count(*) from pg_constraint c join pg_namespace n on n.oid = c.connamespace
                 where n.nspname = 'htm' and c.contype <> 'n' and c.conparentid = 0 and c.conrelid <> 'htm.seaql_migrations'::regclass
                   and (c.conname like '%\\_check' or c.conname like '%\\_pkey' or c.conname like '%\\_fkey')")
        .await;
    assert_eq!(unnamed, 0);
}

#[tokio::test]
async fn lexemes_are_counted_and_openings_weigh_more() {
    let db = TestDatabase::new().await;
    sqlx::raw_sql(
        "insert into htm.robots (namespace, name) values ('default', 'htm');
         insert into htm.nodes (namespace, robot_id, content, content_hash, token_count, token_encoding)
         select 'default', 1, 'A zeppelin ' || repeat('is late, ', 40) || 'at the harbour', sha256('1'), 90, 'none';
         select htm.refresh_statistics('default')",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    for (query, matches) in [("zeppelin:A", 1), ("harbour:A", 0), ("harbour", 1), ("zeppelin", 1)] {
        let found: i64 =
            sqlx::query_scalar("select count(*) from htm.nodes where tsv @@ to_tsquery('english', $1)")
                .bind(query)
                .fetch_one(&db.pool)
                .await
                .unwrap();
        assert_eq!(found, matches, "{query}");
    }
    // zeppelin, late, harbour.
    assert_eq!(db.count("select average_lexemes::bigint from htm.namespace_statistics").await, 3);
    // Counted anew: what is the same stays, what is gone goes.
    sqlx::raw_sql(
        "update htm.nodes set content = 'a balloon is late'; select htm.refresh_statistics('default')",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    let lexemes: Vec<String> = sqlx::query_scalar("select lexeme from htm.lexeme_statistics order by 1")
        .fetch_all(&db.pool)
        .await
        .unwrap();
    assert_eq!(lexemes, ["balloon", "late"]);
}
