//! The rules by which Citus distributes tables, checked without it: the tables by the catalog, the statements by their text.

#[path = "citus/statements.rs"]
mod statements;

use std::collections::BTreeMap;
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

/// The aliases of rows and how often each is read so, by file.
type Rows = &'static [(&'static str, &'static [(&'static str, usize)])];

/// Rows that are looked up without the namespace, and why.
const ELSEWHERE: &[(&str, Rows)] = &[
    (
        "a memory, a recall or a use is asked for by its number, or its author",
        &[
            ("edit.rs", &[("n", 1)]),
            ("expiry.rs", &[("", 1)]),
            ("feedback.rs", &[("", 2)]),
            ("forget.rs", &[("n", 2)]),
            ("import.rs", &[("n", 1)]),
            ("keepers.sql", &[("", 1)]),
            ("keep_working_memory.sql", &[("n", 1), ("w", 1), ("", 1)]),
            ("live_nodes.sql", &[("n", 1)]),
            ("nodes.rs", &[("f", 1), ("n", 4)]),
            ("relations.rs", &[("m", 1), ("n", 1)]),
            ("restore_working_memory.sql", &[("w", 1)]),
            ("status.sql", &[("n", 1)]),
        ],
    ),
    (
        "a tag's number is of one namespace, and its index has no namespace",
        &[
            ("cooccurring_tags.sql", &[("a", 2), ("its", 1)]),
            ("filter.rs", &[("nt", 1)]),
            ("nodes_below.sql", &[("a", 1)]),
            ("recall/tagged.sql", &[("nt", 1)]),
            ("shared_tags.sql", &[("o", 1)]),
            ("tag_changes.rs", &[("a", 2)]),
            ("tag_uses.sql", &[("a", 2)]),
            ("tags.rs", &[("nt", 1)]),
            ("timeline.sql", &[("nt", 2)]),
        ],
    ),
    (
        "a part of statements that have the key around it",
        &[
            ("recall/then_former.sql", &[("n", 1)]),
            ("recall/then_same.sql", &[("n", 1)]),
            ("then.rs", &[("a", 2)]),
        ],
    ),
    (
        "a sweep or a backfill of all namespaces",
        &[
            ("backfill.rs", &[("", 1)]),
            ("backfill_chunk.sql", &[("n", 1)]),
            ("expired_nodes.sql", &[("n", 1)]),
            ("learning.rs", &[("", 2)]),
            ("missing_vectors.sql", &[("n", 1)]),
            ("model_lost.sql", &[("n", 1)]),
            ("model_overview.sql", &[("n", 1), ("", 1)]),
            ("namespaces.sql", &[("", 2)]),
            ("observe_writes.sql", &[("s", 1), ("", 1)]),
            ("purge_jobs.sql", &[("n", 1)]),
            ("repair_nodes.sql", &[("n", 1)]),
        ],
    ),
    (
        "an operator's command or figures, of all namespaces if none is named",
        &[
            ("events.sql", &[("x", 1)]),
            ("export_relations.sql", &[("x", 1)]),
            ("htm-runtime/src/backup.rs", &[("", 1)]),
            ("htm-runtime/src/layout.rs", &[("", 1)]),
            ("htm-runtime/src/private_pg/upgrade/database.rs", &[("", 1)]),
            ("merge_robots.sql", &[("", 4)]),
            ("queues.rs", &[("", 1)]),
            ("retry_jobs.sql", &[("n", 1)]),
            ("robot_statistics.sql", &[("w", 1), ("", 2)]),
            ("server.rs", &[("n", 2)]),
            ("stats_enrichment.sql", &[("c", 2), ("", 1)]),
            ("stats_tags.sql", &[("n", 1), ("", 1)]),
            ("stats_working_memory.sql", &[("w", 1)]),
            ("stranded.rs", &[("", 1)]),
            ("token_usage.sql", &[("c", 1)]),
            ("unknown_namespaces.sql", &[("n", 2)]),
            ("would_merge_robots.sql", &[("w", 1), ("", 1)]),
        ],
    ),
    (
        "an erasure or a purge, or what proves one",
        &[
            ("erase.rs", &[("n", 3), ("t", 3), ("", 1)]),
            ("erase/proof.rs", &[("t", 3), ("", 2)]),
            ("erase/rest.rs", &[("", 2)]),
            ("erase_digest.sql", &[("n", 1)]),
            ("erase_jobs.sql", &[("n", 1)]),
            ("erase_matches.sql", &[("n", 1)]),
            ("erase_record.sql", &[("n", 1)]),
            ("erase_tags.sql", &[("nt", 1)]),
            ("purge.rs", &[("it", 1), ("n", 2)]),
        ],
    ),
];

#[test]
fn statements_have_the_key() {
    let tables = Tables::of(include_str!("../../config/deploy/citus.sql"));
    let excepted: BTreeMap<&str, &[(&str, usize)]> =
        ELSEWHERE.iter().flat_map(|(_, rows)| rows.iter().copied()).collect();
    let (mut missing, mut miscounted, mut read) = (BTreeMap::new(), Vec::new(), 0);
    for (file, statements) in statements() {
        let name = file.strip_prefix("htm-core/src/store/").unwrap_or(&file).trim_start_matches("sql/");
        let excepted = excepted.get(name).copied().unwrap_or_default();
        let rows = |excepted: &[&str]| -> Vec<String> {
            statements
                .iter()
                .flat_map(|statement| statements::unkeyed(statement, &tables, excepted))
                .collect()
        };
        let unkeyed = rows(&excepted.iter().map(|(row, _)| *row).collect::<Vec<_>>());
        if !unkeyed.is_empty() {
            missing.insert(name.to_owned(), unkeyed);
        }
        let without = rows(&[]);
        for (row, number) in excepted {
            let found = without.iter().filter(|it| it == row).count();
            if found != *number {
                miscounted.push(format!("{name} `{row}`: {found}, not {number}"));
            }
        }
        for statement in &statements {
            assert_eq!(statements::written_without(statement, &tables), Vec::<String>::new(), "{name}");
        }
        read += statements.len();
    }
    assert!(read > 300, "{read} statements");
    assert_eq!(missing, BTreeMap::new());
    assert_eq!(miscounted, Vec::<String>::new());
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
    // Sources are databases of others.
    let is_own = |file: &PathBuf| !file.to_str().unwrap().contains("/htm-sources/");
    let files = htm_tests::files("crates", "sql").into_iter().chain(htm_tests::files("crates", "rs"));
    files.filter(is_own).map(read).collect()
}
