//! Every statement of recall in one namespace reads one partition, also those of larger namespaces and of tenants.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use chrono::DateTime;
use htm_core::provider::{CALLER, ModelName};
use htm_core::worker::statistics;
use htm_core::{Htm, Memory, RecallQuery, RecallSettings, Settings, Stage, Strategy, TagFilter};
use htm_providers::fake::{self, FakeSettings};
use htm_tests::{Plan, TestDatabase, drain, files};
use regex::Regex;

use super::repartition;
use super::statements::{MINE, Watched, explain};

/// The statements of recall that do not run here, by the names of their files.
const NOT_RUN: [&str; 5] = [
    // They need pg_textsearch, which the tests' server does not have.
    "bm25_index",
    "text_by_bm25",
    // They are parts of recalls as of an earlier time.
    "rewritten",
    "then_former",
    "then_same",
];

/// The statement that reads all memories of a small namespace at once.
const AT_ONCE: &str = "small_scope";

/// Adds 200 memories of other namespaces, and 41 of one: turns with and without a place in their conversation, and others.
/// Nobody embeds the last one.
async fn fill(db: &TestDatabase) {
    let own = |number: i64| {
        let rare = match number {
            7 => " near the harbour",
            31 => " with a lantern",
            33 => " beside a submarine",
            _ => "",
        };
        let at = DateTime::from_timestamp(1_770_000_000 + 600 * number, 0).unwrap();
        let mut memory = Memory::new(format!("the zeppelin landed at mast {number}{rare}")).at(at);
        if number < 36 {
            let session = if number < 30 { "flight" } else { "walk" };
            memory.session = Some(session.into());
            memory.seq = (number < 30).then_some(number as i32);
        }
        let is_tagged = matches!(number, 1 | 11 | 21);
        let memory = if is_tagged { memory.tag("craft:air".parse().unwrap()) } else { memory };
        memory.namespace("atlas")
    };
    let other =
        |number: i64| Memory::new(format!("filler {number}")).namespace(format!("tenant-{}", number % 40));
    let memories: Vec<Memory> = (0..200).map(other).chain((0..40).map(own)).collect();
    for receipt in db.htm().remember_many(&memories).await.unwrap() {
        receipt.unwrap();
    }
    drain(db, Stage::Embed).await;
    // After the first model, which is the active one.
    db.htm().models().unwrap().add(&ModelName::new(CALLER, "mine"), 4).await.unwrap();
    db.htm().remember(own(40)).await.unwrap();
    // The worker may have counted the words.
    let uncounted = "delete from htm.lexeme_statistics; delete from htm.namespace_statistics; analyze";
    sqlx::raw_sql(uncounted).execute(&db.pool).await.unwrap();
}

/// The statements of recall by the names of their files. Each is what its text has between parameters, and between the
/// parts that are filled in.
fn statements() -> BTreeMap<String, Vec<String>> {
    let filled_in = Regex::new(r":\w+|\{\{\w+\}\}").unwrap();
    let mut statements = BTreeMap::new();
    for file in files("crates/htm-core/src/store/sql/recall", "sql") {
        let text = fs::read_to_string(&file).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("--")).collect();
        // A cast is no parameter.
        let text = lines.join("\n").replace("::", "\0");
        let parts = filled_in.split(&text).map(|part| part.replace('\0', "::").trim().to_owned()).collect();
        statements.insert(file.file_stem().unwrap().to_str().unwrap().to_owned(), parts);
    }
    statements
}

fn is_of(plan: &Plan, statement: &[String]) -> bool {
    statement.iter().all(|part| plan.sql.contains(part.as_str()))
}

/// A query for so few hits that the newest memories have enough with a frequent word.
fn ask(text: &str, strategy: Strategy) -> RecallQuery {
    let query = RecallQuery::new(text).strategy(strategy).namespace("atlas").limit(5);
    RecallQuery { count_accesses: false, ..query }
}

/// The queries, each with the table of which they may read all partitions.
fn queries() -> Vec<(&'static str, &'static str, RecallQuery)> {
    let (text, vector, both) = (Strategy::Fulltext, Strategy::Vector, Strategy::Hybrid);
    let tag = || TagFilter::Exact("craft:air".parse().unwrap());
    vec![
        ("vectors", "", ask("zeppelin landed", vector)),
        ("vectors of callers", "", ask("", vector).model(MINE).vector(vec![1.0, 0.0, 0.0, 0.0])),
        ("frequent words", "", ask("zeppelin landed", text)),
        ("frequent words and vectors", "", ask("zeppelin landed", both)),
        ("rare words", "", ask("harbour lantern", text)),
        ("rare words and vectors", "", ask("harbour lantern", both)),
        ("one frequent word", "", ask("zeppelin", text)),
        ("a phrase", "", ask("\"zeppelin landed\"", text)),
        ("a phrase and vectors", "", ask("\"zeppelin landed\"", both)),
        ("a phrase beside a word", "", ask("harbour \"zeppelin landed\"", both)),
        // Nothing has counted these: the index of words, which has no namespace, is read in the namespace's partition.
        ("a misspelled word", "", ask("sumbarine", text)),
        ("a word that no memory has", "", ask("xylophone", both)),
        // The index of tags has no namespace.
        ("a tag", "node_tags", ask("zeppelin landed", both).tag(tag())),
        ("a preferred tag", "node_tags", ask("zeppelin landed", both).boost(tag())),
    ]
}

#[tokio::test]
async fn every_statement_of_a_recall_in_one_namespace_reads_one_partition() {
    let mut db = TestDatabase::new().await;
    repartition(&db, 8).await;
    fill(&db).await;
    let unwatched = db.pool.clone();
    let tenants = explain(&mut db).await;
    let comparing = |exact_scope| {
        let recall = RecallSettings { exact_scope, pool: 5, ..RecallSettings::default() };
        let settings = Settings { recall, ..db.htm().settings().clone() };
        let embedder = fake::embedder(FakeSettings::default()).unwrap();
        Htm::with_pool(db.pool.clone(), settings, Some(embedder)).with_tenants(tenants.clone())
    };
    // Each handle keeps the words that it has read.
    let handles = [
        ("as in a large namespace", comparing(0)),
        ("as in a large namespace of a tenant", comparing(0).within(["atlas"]).unwrap()),
        ("at once", comparing(10_000)),
    ];
    let (statements, queries) = (statements(), queries());
    let mut watched = Watched::from_now_on();
    let mut ran = BTreeMap::<&str, BTreeSet<&str>>::new();
    for counted in [false, true] {
        if counted {
            statistics::refresh(&unwatched, "atlas").await.unwrap();
        }
        for (whose, htm) in &handles {
            for (what, of_all, query) in &queries {
                let name = format!("{what}, {whose}, counted {counted}");
                let recalled = htm.recall(query).await.unwrap();
                assert!(recalled.degraded.is_empty(), "{name}: {:?}", recalled.degraded);
                let plans = watched.judge(&name, of_all);
                let its = statements.iter().filter(|(_, text)| plans.iter().any(|plan| is_of(plan, text)));
                ran.entry(*whose).or_default().extend(its.map(|(file, _)| file.as_str()));
            }
        }
    }
    let all = statements.keys().map(String::as_str).filter(|file| !NOT_RUN.contains(file));
    let all: BTreeSet<&str> = all.collect();
    let of_large: BTreeSet<&str> = all.iter().copied().filter(|file| *file != AT_ONCE).collect();
    let [(large, _), (of_tenant, _), (at_once, _)] = &handles;
    assert_eq!(ran[large], of_large);
    assert_eq!(ran[of_tenant], of_large);
    assert!(ran[at_once].contains(AT_ONCE) && ran[at_once].is_subset(&all), "{:?}", ran[at_once]);

    // Three memories pass, and ten may be compared: their vectors are read, not the index of vectors.
    let tagged = ask("zeppelin landed", Strategy::Vector).tag(TagFilter::Exact("craft:air".parse().unwrap()));
    assert_eq!(comparing(10).recall(&tagged).await.unwrap().hits.len(), 3);
    let plans = watched.judge("vectors of a few", "node_tags");
    let few = plans.iter().filter(|plan| is_of(plan, &statements["vectors_of_few"]));
    let tables: BTreeSet<&str> = few.flat_map(Plan::tables).collect();
    assert!(tables.iter().any(|table| table.starts_with("embeddings_")), "{tables:?}");
    watched.end(&["node_tags"]);
}

/// `analyze` gives a partitioned table a number of rows beside those of its partitions.
#[tokio::test]
async fn the_number_of_all_memories_is_that_of_the_partitions() {
    let db = TestDatabase::new().await;
    repartition(&db, 8).await;
    fill(&db).await;
    sqlx::raw_sql("analyze htm.nodes").execute(&db.pool).await.unwrap();
    let nodes = db.count("select count(*) from htm.nodes").await;
    for name in ["corpus", "counted"] {
        let dir = "crates/htm-core/src/store/sql/recall";
        let file = files(dir, "sql").into_iter().find(|file| file.file_stem().unwrap() == name).unwrap();
        let sql = fs::read_to_string(file).unwrap();
        let sql = sql.replace(":namespaces", "'{atlas}'").replace(":language", "'english'");
        let all = sqlx::AssertSqlSafe(format!("select all_nodes::bigint from ({sql}) size"));
        let all: i64 = sqlx::query_scalar(all).fetch_one(&db.pool).await.unwrap();
        assert_eq!(all, nodes, "{name}");
    }
}
