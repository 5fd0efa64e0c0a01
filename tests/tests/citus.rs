//! The rules by which Citus distributes tables, checked without it: the tables by the catalog, the statements by their text.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use htm_core::Stage;
use htm_tests::{TestDatabase, drain};
use regex::Regex;

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

/// Statements of each write, recall and job.
const HOT: &[&str] = &[
    "remember.sql",
    "remember_one.sql",
    "repeat.sql",
    "ack_embed.sql",
    "ack_tag.sql",
    "ack_superseded.sql",
    "timeline.sql",
    "page.sql",
    "restore_working_memory.sql",
    "keep_working_memory.sql",
    "live_nodes.sql",
    "add_accesses.sql",
    "successors.sql",
    "neighbours.sql",
    "related.sql",
];

/// Tables that statements look up without the namespace, and why.
const ELSEWHERE: &[(&str, &str, &str)] = &[
    ("recall/tagged.sql", "nt", "a tag's number is of one namespace, and its index has no namespace"),
    ("timeline.sql", "nt", "as above"),
    ("keep_working_memory.sql", "n", "a working memory has its nodes by their numbers"),
    ("keep_working_memory.sql", "", "as above"),
    ("live_nodes.sql", "n", "as above"),
    (
        "related.sql",
        "r",
        "a node is asked for by its number; those that are related to it are read by its namespace",
    ),
    ("recall/then_former.sql", "f", "a part of statements as of an earlier time, which are not hot"),
    ("recall/then_former.sql", "n", "a part of statements as of an earlier time, which are not hot"),
    ("recall/then_same.sql", "n", "a part of statements as of an earlier time, which are not hot"),
];

#[test]
fn hot_statements_have_the_key() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/htm-core/src/store/sql");
    let recall = fs::read_dir(folder.join("recall")).unwrap();
    let of_recall = recall.map(|file| format!("recall/{}", file.unwrap().file_name().to_str().unwrap()));
    let files: BTreeSet<String> = HOT.iter().map(|name| (*name).to_owned()).chain(of_recall).collect();
    assert!(files.len() > 25);
    let read = Regex::new(concat!(
        r"(?:from|join|using)\s+(?:htm\.(?:nodes|visible_nodes|node_tags|completions|repeats|node_accesses|working_memory",
        r"|namespace_statistics|lexeme_statistics|relations|node_revisions|documents|group_memory)|\{\{store\}\})\b\s*(?:as\s+)?(\w*)"
    ))
    .unwrap();
    let written = Regex::new(
        r"insert into (?:htm\.(?:nodes|node_tags|completions|repeats)|\{\{store\}\})[^(]*\(([^)]*)\)",
    )
    .unwrap();
    let mut missing = BTreeMap::<String, BTreeSet<String>>::new();
    for file in &files {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        let text: Vec<&str> = text.lines().map(|line| line.split("--").next().unwrap()).collect();
        let text = text.join("\n");
        for found in written.captures_iter(&text) {
            assert!(found[1].contains("namespace"), "{file} writes {}", &found[1]);
        }
        for found in read.captures_iter(&text) {
            let row = match &found[1] {
                "" | "where" => "",
                row => row,
            };
            // Composed by `Conditions` and `Reader::of_namespace`, whose conditions name the namespace.
            let composed = match row {
                "m" => text.contains("{{conditions}}") || text.contains("{{of_m}}"),
                "e" | "n" | "near" => {
                    text.contains("{{scope}}") || text.contains(&format!("{{{{of_{row}}}}}"))
                }
                "" => text.contains("where namespace =") || text.contains("and namespace ="),
                _ => false,
            };
            let has_key = Regex::new(&format!(r"\b{row}\.namespace\s*=|=\s*{row}\.namespace\b")).unwrap();
            let is_known = ELSEWHERE.iter().any(|(other, alias, _)| other == file && *alias == row);
            if !composed && !is_known && (row.is_empty() || !has_key.is_match(&text)) {
                missing.entry(file.clone()).or_default().insert(row.to_owned());
            }
        }
    }
    assert_eq!(missing, BTreeMap::new());
}
