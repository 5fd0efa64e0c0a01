//! Systems that keep their memories in PostgreSQL: their databases are beside HTM's.

#[path = "htm_ruby.rs"]
mod htm_ruby;
#[path = "langgraph.rs"]
mod langgraph;
#[path = "letta.rs"]
mod letta;
#[path = "mem0_postgres.rs"]
mod mem0_postgres;
#[path = "memobase.rs"]
mod memobase;
#[path = "originals.rs"]
mod originals;

use std::path::Path;

use htm_core::provider::ModelName;
use htm_tests::{Sandbox, TestDatabase};

use crate::Import;

/// A database of another system, made by SQL.
pub(crate) async fn foreign(sql: &'static str) -> TestDatabase {
    let foreign = TestDatabase::empty().await;
    sqlx::raw_sql(sql).execute(&foreign.pool).await.expect("the tables are made");
    foreign
}

/// An import of a system from a database.
pub(crate) async fn import_of(system: &'static str, foreign: &TestDatabase) -> Import {
    Import::of(system, Path::new(&foreign.url())).await
}

/// Registers a model of four numbers beside HTM's own one, and returns the table of its vectors.
pub(crate) async fn with_model(import: &Import, provider: &str, name: &str) -> i32 {
    let htm = import.db.htm();
    let models = htm.models().unwrap();
    models.add(&ModelName::new("fake", "small"), 8).await.unwrap();
    models.add(&ModelName::new(provider, name), 4).await.unwrap().id
}

/// The vectors of a model, as texts, in order.
pub(crate) async fn vectors(import: &Import, model: i32) -> Vec<String> {
    let rows = sqlx::AssertSqlSafe(format!(
        "select n.content || ' ' || e.embedding::text from htm.embeddings_{model} e
           join htm.nodes n on n.id = e.node_id order by 1"
    ));
    sqlx::query_scalar(rows).fetch_all(&import.db.pool).await.unwrap()
}

#[tokio::test]
async fn a_database_of_something_else_is_named_with_what_it_has() {
    let other =
        foreign("create table orders (id int); create table messages (id int); create table store (id int)")
            .await;
    for (system, table) in [
        ("htm-ruby", "nodes"),
        ("langgraph", "store"),
        ("letta", "organizations"),
        ("mem0", "mem0"),
        ("memobase", "user_profiles"),
    ] {
        let import = import_of(system, &other).await;
        let answer = import.run(&["--dry-run"]).await;
        let said = answer.fails(2, "source_unrecognised");
        assert!(said.contains(table) && (said.contains("orders") || said.contains("It has id")), "{said}");
    }
}

#[tokio::test]
async fn a_database_that_cannot_be_reached_is_named_without_its_password() {
    let sandbox = Sandbox::on("");
    let port = htm_tests::free_port();
    let url = format!("postgres://ada:hush@127.0.0.1:{port}/agents?sslmode=disable");
    for system in ["htm-ruby", "langgraph", "letta", "mem0", "memobase"] {
        let answer = sandbox.htm(&["import", "--from", system, "--dry-run", &url]).await;
        let said = answer.fails(2, "source_unreadable");
        assert!(said.contains(&format!("the database agents at 127.0.0.1:{port}")), "{said}");
        assert!(!said.contains("hush"), "{said}");
    }
    let answer = sandbox.htm(&["import", "--from", "letta", "--dry-run", "letta.db"]).await;
    assert!(answer.fails(2, "source_unreadable").contains("postgres://"), "{answer:?}");
}
