//! The logs of the programs of a test run, and the memories of its databases, for `scripts/check_logs.py`; and what its tests
//! left out, for `scripts/test.sh`.
//!
//! `HTM_TEST_LOGS` names the directory. Without it nothing is kept.

use std::io::Write;
use std::path::PathBuf;

/// The most memories of a database that are kept.
const MOST: i64 = 2_000;

/// The memories of a database that may be in no log, by the beginnings of their texts.
pub(crate) async fn keep_memories(database: &sqlx::postgres::PgConnectOptions) {
    use sqlx::{Connection, PgConnection};
    if place().is_none() {
        return;
    }
    // A database without the schema has none.
    let Ok(mut connection) = PgConnection::connect_with(database).await else { return };
    let contents =
        sqlx::query_scalar::<_, String>("select left(content, 100) from htm.nodes limit $1").bind(MOST);
    for content in contents.fetch_all(&mut connection).await.unwrap_or_default() {
        append("memories.jsonl", &serde_json::Value::from(content).to_string());
    }
    connection.close().await.ok();
}

/// Keeps what this process logs, once.
pub(crate) fn keep_own_log() {
    if place().is_none() {
        return;
    }
    let filter =
        "info,apalis_core=warn,rmcp=warn,htm_core=debug,htm_mcp=debug,htm_server=debug,htm_worker=debug";
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(|| OwnLog);
    // It was called before.
    lines.try_init().ok();
}

/// Gets one line at a time.
struct OwnLog;

impl Write for OwnLog {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        append("logs.txt", &format!("test: {}", String::from_utf8_lossy(line).trim_end()));
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The lines of a program's standard error that are its log.
pub(crate) fn keep_log(program: &str, output: &str) {
    for line in output.lines().filter(|line| line.starts_with("20") || line.starts_with("{\"timestamp\"")) {
        append("logs.txt", &format!("{program}: {line}"));
    }
}

/// Keeps what a test left out, and why.
pub(crate) fn keep_skipped(why: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    append("skipped.txt", &format!("skipped: {test}: {}", why.replace('\n', " ")));
}

fn place() -> Option<PathBuf> {
    std::env::var_os("HTM_TEST_LOGS").filter(|it| !it.is_empty()).map(PathBuf::from)
}

/// Adds a line to a file of this process.
fn append(name: &str, line: &str) {
    let Some(dir) = place() else { return };
    let file = dir.join(format!("{}-{name}", std::process::id()));
    let mut options = std::fs::OpenOptions::new();
    let opened = options.create(true).append(true).open(file);
    opened.and_then(|mut file| writeln!(file, "{line}")).expect("a line is kept");
}
