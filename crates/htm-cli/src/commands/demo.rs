//! `htm demo`: the main job, end to end, on a built-in collection of memories.

mod collection;
mod processes;
mod score;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use htm_core::database::Progress;
use htm_core::{Htm, Memory, NodeStatus, RecallQuery, Receipt, Stage, StageState, Strategy, Timeframe};
use htm_runtime::config::{Config, SecretUrl};
use htm_runtime::shutdown::INTERRUPTED;
use htm_runtime::{DatabaseServer, Runtime};
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tokio_util::sync::CancellationToken;

use crate::args::DemoArgs;
use crate::commands::import;
use crate::commands::recall::describe;
use crate::error::CliError;
use crate::output::{Output, count, table};

use self::collection::Question;
use self::processes::Workers;

/// The settings of the command line, which the workers get too.
type Overrides = BTreeMap<String, String>;

/// The demo's own database beside the one with real memories.
const DATABASE: &str = "htm_demo";

pub(crate) async fn run(
    config: &Config,
    overrides: &Overrides,
    args: DemoArgs,
    output: &Output,
) -> Result<ExitCode, CliError> {
    let stop = output.stop();
    let started = Instant::now();
    output.heading("1. The database");
    let server = DatabaseServer::open(config).await?;
    let result = match with_own_database(config, &server).await {
        Ok(config) => {
            let ready = started.elapsed().as_secs_f64();
            output.say(format!("database {DATABASE} ready in {ready:.1} s"));
            if args.keep {
                output.say(format!("to look around in it, set HTM_DATABASE__URL={}", config.database.url));
            }
            on_database(&config, overrides, output, stop).await
        }
        Err(error) => Err(error),
    };
    // The workers and the pool are gone. The rest is stopped also after an error.
    let dropped = if args.keep { Ok(()) } else { drop_database(&server).await };
    server.close().await;
    let passed = result?;
    dropped?;
    let Some(passed) = passed else {
        let answer = serde_json::json!({ "stopped": true });
        output.value(&answer, || "stopped; its processes have ended".into());
        return Ok(ExitCode::from(INTERRUPTED));
    };
    let seconds = started.elapsed().as_secs_f64();
    output.say(format!("\ndone in {seconds:.1} s; all processes are stopped"));
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Creates the demo's own database anew, on the configured server. Real memories are not touched.
async fn with_own_database(config: &Config, server: &DatabaseServer) -> Result<Config, CliError> {
    drop_database(server).await?;
    let options = htm_core::connect_options(&server.url())?;
    let mut connection = PgConnection::connect_with(&options).await?;
    let sql = format!("create database {DATABASE}");
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await?;
    connection.close().await?;
    let mut config = config.clone();
    config.database.url = SecretUrl::new(with_database(&server.url(), DATABASE));
    // A worker that is killed during the demo should not hold it up for half a minute.
    config.jobs.lease_ms = config.jobs.lease_ms.min(5_000);
    htm_runtime::migrate(&config).await?;
    Ok(config)
}

async fn drop_database(server: &DatabaseServer) -> Result<(), CliError> {
    let options = htm_core::connect_options(&server.url())?;
    let mut connection = PgConnection::connect_with(&options).await?;
    let sql = format!("drop database if exists {DATABASE} with (force)");
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await?;
    Ok(connection.close().await?)
}

/// Shows all of it. Returns whether it went well; none if a signal has stopped it.
async fn on_database(
    config: &Config,
    overrides: &Overrides,
    output: &Output,
    stop: CancellationToken,
) -> Result<Option<bool>, CliError> {
    let runtime = Runtime::open(config).await?;
    output.heading("2. The workers");
    let mut workers = Workers::start(config, overrides, output)?;
    let shown = stop.run_until_cancelled(show(&runtime, &mut workers, output)).await;
    let result = match shown {
        Some(result) => result.map(Some),
        // Nobody reads on, which is no failure of the demo.
        None if output.has_failed() => Ok(Some(true)),
        None => Ok(None),
    };
    workers.stop(output).await;
    runtime.close().await;
    result
}

async fn show(runtime: &Runtime, workers: &mut Workers, output: &Output) -> Result<bool, CliError> {
    let htm = runtime.htm();
    output.heading("3. The memories");
    let report = import::import(
        &htm,
        collection::MEMORIES.as_bytes(),
        Some(collection::MEMORIES.len() as u64),
        100,
        output,
    )
    .await?;
    output.say(format!(
        "{} written in {:.0} ms ({} existed already); full-text search finds them from now on",
        count(report.written, "memory"),
        report.seconds * 1_000.0,
        report.skipped
    ));
    let progress = enrich(runtime, workers, output).await?;

    output.heading("4. Recall");
    let question = RecallQuery::new("How fast was semantic parcel lookup when we measured it?")
        .namespace("atlas")
        .limit(3);
    for strategy in Strategy::ALL {
        for timeframe in [None, Some("2026-04-01..2026-05-01")] {
            let mut query = question.clone().strategy(strategy);
            output.say(format!(
                "\n{strategy}{}: {}",
                timeframe.map(|t| format!(", {t}")).unwrap_or_default(),
                query.text
            ));
            if let Some(timeframe) = timeframe {
                query.filter.timeframe = timeframe.parse()?;
            }
            output.say(describe(&htm.recall(&query).await?, &htm.settings().time.zone));
        }
    }

    output.heading("5. Scores");
    let questions = collection::questions()?;
    let scores = score_all(&htm, &questions).await?;
    output.say(format!(
        "{} with known answers, each asked in its namespace",
        count(questions.len(), "question")
    ));
    output.say(score::describe(&scores));

    output.heading("6. A node's life");
    let memory = Memory::new("The demo ended well: every memory is embedded and tagged.")
        .namespace("atlas")
        .robot("scribe");
    let (receipt, written_ms, status) = live(&htm, memory).await?;
    output.say(life("a single write, with idle workers", written_ms, &status));
    let slowest = collection_life(runtime).await?;
    output.say(slowest.clone());

    let complete =
        progress.embedded == progress.nodes && progress.tagged == progress.nodes && progress.dead == 0;
    if output.is_json() {
        let answer = serde_json::json!({
            "nodes": progress.nodes, "embedded": progress.embedded, "tagged": progress.tagged, "dead": progress.dead,
            "scores": scores, "life": { "node": receipt.node, "written_ms": written_ms, "status": status },
        });
        output.json(&answer);
    }
    Ok(complete)
}

/// Waits until each stage of every node is done or a dead letter. Workers that die are replaced.
async fn enrich(runtime: &Runtime, workers: &mut Workers, output: &Output) -> Result<Progress, CliError> {
    let started = Instant::now();
    let htm = runtime.htm();
    let database = htm.database()?;
    let total = database.progress().await?.nodes;
    let bar = output.progress(total as u64 * 2, "stages");
    bar.set_message("enrich");
    let progress = loop {
        let progress = database.progress().await?;
        bar.set_position((progress.embedded + progress.tagged) as u64);
        if progress.embedded + progress.tagged + progress.dead >= 2 * progress.nodes {
            break progress;
        }
        workers.replace_dead(&bar)?;
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    bar.finish_and_clear();
    let share = |part: i64| part as f64 * 100.0 / progress.nodes.max(1) as f64;
    output.say(format!(
        "{:.0} % embedded, {:.0} % tagged, {}, after {:.1} s",
        share(progress.embedded),
        share(progress.tagged),
        count(progress.dead, "dead letter"),
        started.elapsed().as_secs_f64()
    ));
    database.refresh_statistics().await?;
    Ok(progress)
}

async fn score_all(htm: &Htm, questions: &[Question]) -> Result<Vec<score::Row>, CliError> {
    let mut rows = Vec::new();
    for strategy in Strategy::ALL {
        for with_timeframe in [false, true] {
            let mut answers = Vec::with_capacity(questions.len());
            for question in questions {
                let timeframe = if with_timeframe { question.timeframe()? } else { Timeframe::ALL };
                let query = RecallQuery::new(&question.text)
                    .namespace(&question.ns)
                    .strategy(strategy)
                    .timeframe(timeframe);
                let recalled = htm.recall(&query).await?;
                let keys = recalled.hits.into_iter().filter_map(|hit| hit.node.key).collect();
                answers.push((keys, recalled.search_ms));
            }
            let name =
                if with_timeframe { format!("{strategy}, with timeframe") } else { strategy.to_string() };
            rows.push(score::row(name, questions, &answers));
        }
    }
    Ok(rows)
}

/// Writes one memory, and waits until it is embedded and tagged. Returns its receipt, the time of the write in
/// milliseconds, and its status.
async fn live(htm: &Htm, memory: Memory) -> Result<(Receipt, f64, NodeStatus), CliError> {
    // The first count of tokens loads the vocabulary, which a program does once.
    htm.settings().token_encoding.count("warm");
    let started = Instant::now();
    let receipt = htm.remember(memory).await?;
    let written_ms = started.elapsed().as_micros() as f64 / 1_000.0;
    let timeout = Duration::from_secs(60);
    htm.wait_for(receipt.node, Stage::Embed, timeout).await?;
    let status = htm.wait_for(receipt.node, Stage::Tag, timeout).await?;
    Ok((receipt, written_ms, status))
}

fn life(which: &str, written_ms: f64, status: &NodeStatus) -> String {
    let after = |stage| match status.stage(stage) {
        StageState::Done { after_ms, .. } => format!("{after_ms:.0} ms"),
        state => state.name().into(),
    };
    format!(
        "node {} ({which}): written in {written_ms:.1} ms, embedded after {}, tagged after {}",
        status.node,
        after(Stage::Embed),
        after(Stage::Tag)
    )
}

/// A table of each stage's latencies after the write, for the nodes of the collection, which were written all at once.
async fn collection_life(runtime: &Runtime) -> Result<String, CliError> {
    let rows = runtime.htm().database()?.stage_latencies().await?;
    let rows = rows
        .into_iter()
        .map(|row| {
            vec![
                row.stage.to_string(),
                format!("{:.0}", row.p50_ms),
                format!("{:.0}", row.p95_ms),
                format!("{:.0}", row.max_ms),
            ]
        })
        .collect();
    Ok(table(&["all nodes, ms after the write", "p50", "p95", "max"], &[1, 2, 3], rows))
}

/// The URL of another database on the same server.
fn with_database(url: &str, database: &str) -> String {
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    // A database among the parameters would win over that of the path.
    let others: Vec<&str> =
        query.split('&').filter(|it| !it.is_empty() && !it.starts_with("dbname=")).collect();
    let query = if others.is_empty() { String::new() } else { format!("?{}", others.join("&")) };
    let host = base.find("://").map_or(0, |scheme| scheme + 3);
    let end = base[host..].find('/').map_or(base.len(), |slash| host + slash);
    format!("{}/{database}{query}", &base[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_database_changes() {
        for (url, expected) in [
            ("postgres://u:p@h:5432/db?sslmode=disable", "postgres://u:p@h:5432/x?sslmode=disable"),
            ("postgres://u@%2Frun%2Fhtm:5432/htm", "postgres://u@%2Frun%2Fhtm:5432/x"),
            ("postgres://h", "postgres://h/x"),
            (
                "postgres:///?host=%2Frun&dbname=htm&sslmode=disable",
                "postgres:///x?host=%2Frun&sslmode=disable",
            ),
            ("postgres:///db?dbname=htm", "postgres:///x"),
        ] {
            assert_eq!(with_database(url, "x"), expected);
            assert_eq!(htm_core::connect_options(expected).unwrap().get_database(), Some("x"));
        }
    }
}
