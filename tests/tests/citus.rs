//! The rules by which Citus distributes tables, checked without it: the tables by the catalog, the statements by their text.

#[path = "citus/statements.rs"]
mod statements;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use htm_core::Stage;
use htm_tests::{TestDatabase, drain};
use regex::Regex;
use statements::Tables;

/// Citus' functions, as far as they record what they are asked for.
const RECORDER: &str = "
    create table public.distributed (name text primary key, key text);
    create function public.create_distributed_table(in_table text, in_key text, colocate_with text default null)
        returns void language sql as $$ insert into public.distributed values ($1, $2) $$;
    create function public.create_reference_table(in_table text)
        returns void language sql as $$ insert into public.distributed values ($1, null) $$;";

#[tokio::test]
async fn the_tables_can_be_distributed() {
    let db = TestDatabase::new().await;
    drain(&db, Stage::Embed).await;
    sqlx::raw_sql(RECORDER).execute(&db.pool).await.unwrap();
    sqlx::raw_sql(include_str!("../../config/deploy/citus.sql")).execute(&db.pool).await.unwrap();
    assert_eq!(db.count("select count(*) from public.distributed where key is not null").await, 18);
    // The key is a column of the table, of every unique index, and of every foreign key to another distributed table. Others
    // refer to reference tables.
    let broken = "
        select d.name || ' has no column ' || d.key from public.distributed d
         where d.key is not null and not exists (
               select from pg_attribute a where a.attrelid = d.name::regclass and a.attname = d.key)
        union all
        select i.indexrelid::regclass || ' does not have the key' from public.distributed d
          join pg_index i on i.indrelid = d.name::regclass and i.indisunique
          join pg_attribute a on a.attrelid = i.indrelid and a.attname = d.key
         where d.key is not null and a.attnum <> all (i.indkey)
        union all
        select c.conname || ' refers to a table that is elsewhere' from public.distributed d
          join pg_constraint c on c.conrelid = d.name::regclass and c.contype = 'f' and c.conparentid = 0
          left join public.distributed o on o.name = c.confrelid::regclass::text
          left join pg_attribute a on a.attrelid = c.conrelid and a.attname = d.key
         where o.name is null or (o.key is not null and (d.key is null or a.attnum <> all (c.conkey)))";
    let broken: Vec<String> = sqlx::query_scalar(broken).fetch_all(&db.pool).await.unwrap();
    assert_eq!(broken, Vec::<String>::new());
}

/// The aliases of rows, by file.
type Rows = &'static [(&'static str, &'static [&'static str])];

/// Rows that are looked up without the namespace, and why.
const ELSEWHERE: &[(&str, Rows)] = &[
    (
        "a memory is asked for by its number",
        &[
            ("edit.rs", &["n"]),
            ("expiry.rs", &[""]),
            ("feedback.rs", &[""]),
            ("forget.rs", &["n"]),
            ("import.rs", &["n"]),
            ("keepers.sql", &[""]),
            ("keep_working_memory.sql", &["n", ""]),
            ("live_nodes.sql", &["n"]),
            ("nodes.rs", &["f", "n"]),
            ("relations.rs", &["m", "n"]),
            ("restore_working_memory.sql", &["w"]),
            ("status.sql", &["n"]),
        ],
    ),
    (
        "a tag's number is of one namespace, and its index has no namespace",
        &[
            ("cooccurring_tags.sql", &["a", "its"]),
            ("filter.rs", &["nt"]),
            ("nodes_below.sql", &["a"]),
            ("recall/tagged.sql", &["nt"]),
            ("tag_changes.rs", &["a"]),
            ("tag_uses.sql", &["a"]),
            ("timeline.sql", &["nt"]),
        ],
    ),
    (
        "a part of statements that have the key",
        &[("recall/then_former.sql", &["n"]), ("recall/then_same.sql", &["n"]), ("then.rs", &["a"])],
    ),
    (
        "a sweep or a backfill of all namespaces",
        &[
            ("backfill_chunk.sql", &["n"]),
            ("expired_nodes.sql", &["n"]),
            ("learning.rs", &[""]),
            ("missing_vectors.sql", &["n"]),
            ("model_lost.sql", &["n"]),
            ("model_overview.sql", &["n", ""]),
            ("namespaces.sql", &[""]),
            ("observe_writes.sql", &["s", ""]),
            ("prune_dead.sql", &["n"]),
            ("purge_jobs.sql", &["n"]),
            ("repair_nodes.sql", &["n"]),
        ],
    ),
    (
        "an operator's command or figures, of all namespaces if none is named",
        &[
            ("audit.rs", &[""]),
            ("events.sql", &["x"]),
            ("export.rs", &[""]),
            ("export/settings.rs", &[""]),
            ("export_relations.sql", &["x"]),
            ("htm-runtime/src/layout.rs", &[""]),
            ("htm-runtime/src/private_pg/upgrade/database.rs", &[""]),
            ("merge_robots.sql", &[""]),
            ("queues.rs", &[""]),
            ("retry_jobs.sql", &["n"]),
            ("robot_statistics.sql", &["w", ""]),
            ("server.rs", &["n"]),
            ("stats_enrichment.sql", &["c", ""]),
            ("stats_tags.sql", &["n", ""]),
            ("stats_working_memory.sql", &["w"]),
            ("token_usage.sql", &["c"]),
            ("unknown_namespaces.sql", &["n"]),
            ("would_merge_robots.sql", &["w"]),
        ],
    ),
    (
        "an erasure",
        &[
            ("erase.rs", &["n", "t", ""]),
            ("erase_digest.sql", &["n"]),
            ("erase_jobs.sql", &["n"]),
            ("erase_matches.sql", &["n"]),
            ("erase_record.sql", &["n"]),
            ("erase_tags.sql", &["nt"]),
            ("purge.rs", &["n"]),
        ],
    ),
];

#[test]
fn statements_have_the_key() {
    let tables = Tables::of(include_str!("../../config/deploy/citus.sql"));
    let excepted: BTreeMap<&str, &[&str]> =
        ELSEWHERE.iter().flat_map(|(_, rows)| rows.iter().copied()).collect();
    let (mut missing, mut unneeded, mut read) = (BTreeMap::new(), Vec::new(), 0);
    for (file, statements) in statements() {
        let name = file.strip_prefix("htm-core/src/store/").unwrap_or(&file).trim_start_matches("sql/");
        let excepted = excepted.get(name).copied().unwrap_or_default();
        let rows = |excepted: &[&str]| -> BTreeSet<String> {
            statements
                .iter()
                .flat_map(|statement| statements::unkeyed(statement, &tables, excepted))
                .collect()
        };
        let unkeyed = rows(excepted);
        if !unkeyed.is_empty() {
            missing.insert(name.to_owned(), unkeyed);
        }
        let without = rows(&[]);
        unneeded.extend(
            excepted.iter().filter(|row| !without.contains(**row)).map(|row| format!("{name} {row}")),
        );
        for statement in &statements {
            assert_eq!(statements::written_without(statement, &tables), Vec::<String>::new(), "{name}");
        }
        read += statements.len();
    }
    assert!(read > 300, "{read} statements");
    assert_eq!(missing, BTreeMap::new());
    assert_eq!(unneeded, Vec::<String>::new(), "exceptions that are none");
}

/// The statements of each file: an SQL file is one, and Rust has them as literals.
fn statements() -> Vec<(String, Vec<String>)> {
    let literal =
        Regex::new(r###"//[^\n]*|r"([^"]*)"|r#"(.*?)"#|"((?:[^"\\]|\\(?s:.))*)"|'(?:[^'\\]|\\.)'"###)
            .unwrap();
    let is_statement =
        Regex::new(r"^\s*(?:select|insert|update|delete|with)\b|\b(?:from|join) htm\.").unwrap();
    let read = |file: PathBuf| {
        let text = fs::read_to_string(&file).unwrap();
        let found = match file.extension().unwrap() == "sql" {
            true => vec![text],
            false => (literal.captures_iter(&text))
                .filter_map(|found| (1..4).find_map(|part| found.get(part)))
                .map(|literal| literal.as_str().to_owned())
                .filter(|literal| is_statement.is_match(literal))
                .collect(),
        };
        let (_, name) = file.to_str().unwrap().split_once("/crates/").unwrap();
        (name.to_owned(), found)
    };
    htm_tests::files("crates", "sql").into_iter().chain(htm_tests::files("crates", "rs")).map(read).collect()
}
