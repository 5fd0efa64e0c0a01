//! The bytes of a filled database beside those that `htm capacity` predicts, and the constants of the prediction.
//!
//! `./justw bench-capacity`; `-- --nodes 1000000` for a million (half an hour, 10 GB of disk). The memories are written by
//! HTM's own functions; `capacity/fill.rs` names what is not.

#[path = "capacity/fill.rs"]
mod fill;
#[path = "capacity/texts.rs"]
mod texts;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use htm_core::provider::{Embedder, Embedding, ModelName, ProviderError, Purpose};
use htm_core::{Htm, RecallQuery, Settings, TokenEncoding};
use htm_runtime::capacity::{Object, Workload, plan};
use htm_tests::TestDatabase;
use htm_tests::measure::{Random, Table, argument, load, percentile_ms};
use sqlx::PgPool;

use fill::Writer;

/// Memories that are written one by one, with all indexes there.
const LIVE: u64 = 300;
const RECALLS: u64 = 200;
/// Tables and indexes of a smaller share of the whole are not judged by themselves.
const LARGE: f64 = 0.01;
/// The size of this table depends on when vacuum comes after the updates of claims.
const UNSTEADY: &str = "apalis.jobs";
/// The error that the plan claims, in per cent.
const CLAIMED: f64 = 15.0;

#[tokio::main]
async fn main() {
    let memories = argument("--nodes", 100_000);
    let workload = Workload {
        memories,
        namespaces: argument("--namespaces", 100),
        dimensions: argument("--dimensions", 384),
        words: argument("--words", Workload::default().words),
        tags: argument("--tags", Workload::default().tags),
        turns: argument("--turns", Workload::default().turns),
        // All jobs are kept: they are as old as the database.
        writes_per_second: memories as f64 / 3_600.0,
        ..Workload::default()
    };
    println!("{}; {workload:?}", load());
    let db = TestDatabase::new().await;
    let writer = Writer::new(&db, workload).await;
    let spent = writer.fill().await;
    let each = |time: Duration| time.as_secs_f64() * 1e3 / memories as f64;
    println!(
        "in chunks, ms a memory: {:.2} remembered, {:.2} embedded, {:.2} tagged; vector index {:.0} s; {:.0} bytes of WAL",
        each(spent.remembering),
        each(spent.embedding),
        each(spent.tagging),
        spent.indexing.as_secs_f64(),
        spent.wal_bytes as f64 / memories as f64,
    );
    compare(&db.pool, &workload).await;
    constants(&db.pool, &workload).await;
    let before = processor_ms(&db.pool).await;
    let live = writer.live(LIVE).await;
    println!(
        "one by one, a memory: {:.2} ms, {:.2} ms of PostgreSQL's processor, {:.0} bytes of WAL",
        live.time.as_secs_f64() * 1e3 / LIVE as f64,
        (processor_ms(&db.pool).await - before) / LIVE as f64,
        live.wal_bytes as f64 / LIVE as f64
    );
    recall(&db, &workload).await;
}

/// Prints the bytes of each table and index, measured and predicted.
async fn compare(pool: &PgPool, workload: &Workload) {
    let predicted = plan(workload).storage;
    let mut measured: BTreeMap<String, i64> = sizes(pool).await;
    let large = (measured.values().sum::<i64>() as f64 * LARGE) as i64;
    let table = Table::new(&[
        ("table or index", 34),
        ("rows", 10),
        ("bytes a row", 11),
        ("MB", 9),
        ("predicted", 9),
        ("error", 8),
    ]);
    let mut total = 0;
    let mut worst = 0.0_f64;
    for Object { name, rows, bytes, .. } in &predicted.objects {
        let size = measured.remove(*name).unwrap_or_else(|| panic!("{name} is not there"));
        total += size;
        let error = percent(*bytes, size);
        if size >= large && *name != UNSTEADY {
            worst = worst.max(error.abs());
        }
        table.row([
            (*name).to_owned(),
            rows.to_string(),
            format!("{:.1}", size as f64 / (*rows).max(1) as f64),
            megabytes(size as f64),
            megabytes(*bytes as f64),
            if size >= large { format!("{error:+.1} %") } else { "small".into() },
        ]);
    }
    let others: i64 = measured.values().sum();
    total += others;
    table.row(["others, not predicted".into(), String::new(), String::new(), megabytes(others as f64)]);
    let error = percent(predicted.bytes, total);
    table.row([
        "total".into(),
        String::new(),
        format!("{:.1}", total as f64 / workload.memories as f64),
        megabytes(total as f64),
        megabytes(predicted.bytes as f64),
        format!("{error:+.1} %"),
    ]);
    let verdict = if worst.max(error.abs()) <= CLAIMED { "as claimed" } else { "not as claimed" };
    println!(
        "largest error of those above 1 % of the total, without {UNSTEADY}: {worst:.1} %, at most {CLAIMED} % is claimed: {verdict}"
    );
}

/// Prints the constants that are not bytes a row of one table.
async fn constants(pool: &PgPool, workload: &Workload) {
    let (memories, bytes, lexemes, vector): (i64, f64, f64, f64) = sqlx::query_as(
        "select count(*), avg(octet_length(content))::float8, avg(length(tsv))::float8, avg(pg_column_size(tsv))::float8
           from htm.nodes",
    )
    .fetch_one(pool)
    .await
    .expect("averages");
    let (namespaces, vocabulary): (i64, f64) = sqlx::query_as(
        "select count(*), avg(number)::float8
           from (select count(*) as number from htm.lexeme_statistics group by namespace) n",
    )
    .fetch_one(pool)
    .await
    .expect("a vocabulary");
    let texts = texts::Texts::new(workload.words);
    let words: usize = (0..1_000).map(|number| texts.text(number).split_whitespace().count()).sum();
    let demo = texts.demo();
    let tokens = TokenEncoding::O200kBase.count(&demo) as f64 / demo.split_whitespace().count() as f64;
    println!(
        "{memories} memories of {:.1} words of {:.2} bytes, {lexemes:.1} lexemes of {:.1} bytes; {namespaces} namespaces of \
         {vocabulary:.0} lexemes; the demo's words have {tokens:.2} tokens",
        words as f64 / 1_000.0,
        bytes / (words as f64 / 1_000.0),
        vector / lexemes,
    );
}

/// The bytes of each table (with TOAST) and index, by the names of the plan.
async fn sizes(pool: &PgPool) -> BTreeMap<String, i64> {
    let rows: Vec<(String, i64)> = sqlx::query_as(
        "select replace(case c.relkind when 'i' then c.relname else n.nspname || '.' || c.relname end, 'embeddings_1', 'embeddings_N'),
                case c.relkind when 'i' then pg_relation_size(c.oid) else pg_table_size(c.oid) end
           from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where n.nspname in ('htm', 'apalis') and c.relkind in ('r', 'i')",
    )
    .fetch_all(pool)
    .await
    .expect("sizes");
    rows.into_iter().collect()
}

/// Recalls within a namespace each, and prints their time.
async fn recall(db: &TestDatabase, workload: &Workload) {
    let embedder = Arc::new(Vectors { model: fill::model(), dimensions: workload.dimensions as usize });
    let settings = Settings { embedding_model: fill::model(), ..db.htm().settings().clone() };
    let htm = Htm::with_pool(db.pool.clone(), settings, Some(embedder));
    let texts = texts::Texts::new(workload.words);
    let mut times = Vec::new();
    let before = processor_ms(&db.pool).await;
    for round in 0..RECALLS {
        let text = texts.text(round * 7_919 % workload.memories);
        let question: Vec<&str> = text.split_whitespace().take(8).collect();
        let query = RecallQuery::new(question.join(" ")).limit(10);
        let query = query.namespace(fill::name(round * 7_919 % workload.memories % workload.namespaces));
        let answer = htm.recall(&query).await.expect("recalled");
        times.push(Duration::from_secs_f64(answer.search_ms / 1e3));
    }
    let processor = (processor_ms(&db.pool).await - before) / RECALLS as f64;
    let p50 = percentile_ms(&times, 0.5);
    println!("hybrid recall in a namespace: p50 {p50:.2} ms, {processor:.2} ms of PostgreSQL's processor");
}

/// The processor time of the connections to a database of this machine so far, in milliseconds. It does not depend on
/// what else runs.
async fn processor_ms(pool: &PgPool) -> f64 {
    let processes = "select pid from pg_stat_activity where datname = current_database()";
    let processes: Vec<i32> = sqlx::query_scalar(processes).fetch_all(pool).await.expect("processes");
    let ticks = |process: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        // utime and stime, the fields 14 and 15 of proc_pid_stat(5), in hundredths of a second.
        after_name.split_whitespace().skip(11).take(2).filter_map(|it| it.parse::<f64>().ok()).sum::<f64>()
    };
    processes.iter().map(ticks).sum::<f64>() * 10.0
}

/// Gives queries vectors near those of memories.
struct Vectors {
    model: ModelName,
    dimensions: usize,
}

#[async_trait]
impl Embedder for Vectors {
    fn model(&self) -> &ModelName {
        &self.model
    }

    async fn dimensions(&self) -> Result<usize, ProviderError> {
        Ok(self.dimensions)
    }

    async fn embed(&self, texts: &[String], _: Purpose) -> Result<Vec<Embedding>, ProviderError> {
        let vector = |text: &String| fill::vector(&mut Random(text.len() as u64), self.dimensions);
        Ok(texts.iter().map(|text| Embedding { vector: vector(text), parts: 1 }).collect())
    }
}

fn percent(predicted: u64, measured: i64) -> f64 {
    (predicted as f64 / measured as f64 - 1.0) * 100.0
}

fn megabytes(bytes: f64) -> String {
    format!("{:.1}", bytes / 1e6)
}
