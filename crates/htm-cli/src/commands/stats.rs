//! `htm stats`: the memory in numbers.

use std::process::ExitCode;

use htm_core::{Counts, MemoryStats, Scope, StatsQuery, Zone};
use htm_runtime::config::Config;

use super::notes;
use super::runtime::with_runtime;
use crate::args::StatsArgs;
use crate::error::CliError;
use crate::instant::local;
use crate::output::{Output, count, one_line, table};

/// The most tables and indexes that people are shown. Programs get all of them.
const SHOWN: usize = 8;

pub(crate) async fn run(config: &Config, args: StatsArgs, output: &Output) -> Result<ExitCode, CliError> {
    let query = StatsQuery { scope: args.scope.scope(), top: args.top };
    let is_named = matches!(query.scope, Scope::Namespace(_));
    let answer = with_runtime(config, async |runtime| {
        let htm = runtime.htm();
        let stats = htm.memory_stats(&query).await?;
        let namespaces: Vec<&str> = stats.namespace.as_deref().into_iter().collect();
        let notes = notes::unknown_namespaces(&htm, &namespaces, is_named).await?;
        Ok(Answer { stats, notes })
    })
    .await?;
    if output.is_json() {
        output.value(&answer, String::new);
    } else {
        show(&answer.stats, &config.time.settings().zone, output);
        for note in &answer.notes {
            output.say(format!("note: {note}"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The numbers, with notes on an unknown namespace.
#[derive(serde::Serialize)]
struct Answer {
    #[serde(flatten)]
    stats: MemoryStats,
    notes: Vec<String>,
}

fn show(stats: &MemoryStats, zone: &Zone, output: &Output) {
    let totals = stats.totals;
    let whose = match &stats.namespace {
        Some(namespace) => format!("namespace {}", one_line(namespace, 60)),
        None => format!("{} in all", count(stats.namespaces.distinct, "namespace")),
    };
    output.say(format!(
        "{whose}: {} of {}; {} forgotten",
        count(totals.nodes, "node"),
        count(totals.tokens, "token"),
        totals.forgotten
    ));
    if let (Some(oldest), Some(newest)) = (totals.oldest, totals.newest) {
        output.say(format!("from {} to {}", local(oldest, zone), local(newest, zone)));
        let ages = stats.ages;
        output.say(format!(
            "{} of the last day or dated later, {} more of the last week, {} more of the last month, {} older",
            ages.day, ages.week, ages.month, ages.older
        ));
    }
    if stats.namespace.is_none() {
        counts(output, "Namespaces", &stats.namespaces, true);
    }
    counts(output, "Robots", &stats.robots, true);
    counts(output, "Types", &stats.types, true);
    counts(output, "Tags", &stats.tags, false);

    output.heading("Enrichment");
    let rows = stats.enrichment.iter().map(|it| {
        let model = it.model.clone().unwrap_or_else(|| "any".into());
        let jobs = [it.done, it.pending, it.parked, it.running, it.dead].map(|count| count.to_string());
        [vec![it.stage.to_string(), model], jobs.to_vec()].concat()
    });
    let header = ["stage", "model", "done", "pending", "parked", "running", "dead"];
    output.say(table(&header, &[2, 3, 4, 5, 6], rows.collect()));

    if !stats.working_memory.is_empty() {
        output.heading("Working memory");
        let rows = stats.working_memory.iter().map(|it| {
            vec![
                one_line(&it.namespace, 30),
                one_line(&it.robot, 40),
                it.nodes.to_string(),
                it.tokens.to_string(),
                it.max_tokens.to_string(),
                format!("{:.1} %", it.utilisation * 100.0),
            ]
        });
        let header = ["namespace", "robot", "nodes", "tokens", "of", "used"];
        output.say(table(&header, &[2, 3, 4, 5], rows.collect()));
    }

    if !stats.groups.is_empty() {
        output.heading("Groups");
        let rows = stats.groups.iter().map(|it| {
            vec![
                one_line(&it.namespace, 30),
                one_line(&it.group, 40),
                it.members.to_string(),
                it.active.to_string(),
                it.nodes.to_string(),
                it.tokens.to_string(),
                it.max_tokens.to_string(),
                format!("{:.1} %", it.utilisation * 100.0),
            ]
        });
        let header = ["namespace", "group", "members", "active", "nodes", "tokens", "of", "used"];
        output.say(table(&header, &[2, 3, 4, 5, 6, 7], rows.collect()));
    }

    let Some(storage) = &stats.storage else { return };
    output.heading(&format!("On disk: {}, all namespaces", megabytes(storage.database_bytes)));
    let rows = storage.tables.iter().take(SHOWN).map(|it| {
        let about = it.rows.map_or("–".into(), |rows| rows.to_string());
        vec![it.name.clone(), about, megabytes(it.table_bytes), megabytes(it.index_bytes)]
    });
    output.say(table(&["table", "rows (estimate)", "table size", "index size"], &[1, 2, 3], rows.collect()));
    output.say("");
    let rows = storage.indexes.iter().take(SHOWN);
    let rows = rows.map(|it| vec![it.name.clone(), it.table.clone(), megabytes(it.bytes)]);
    output.say(table(&["index", "table", "size"], &[2], rows.collect()));
}

/// Prints a heading with the number of all names, and a table of those with the most nodes.
fn counts(output: &Output, what: &str, counts: &Counts, tokens: bool) {
    if counts.top.is_empty() {
        return;
    }
    let shown = counts.top.len() as i64;
    let heading = match shown < counts.distinct {
        true => format!("{what}: top {shown} of {}", counts.distinct),
        false => what.to_owned(),
    };
    output.heading(&heading);
    // The table of the namespaces needs no column for them.
    let several = counts.top.iter().any(|it| it.namespace != counts.top[0].namespace)
        && counts.top.iter().any(|it| it.namespace != it.name);
    let rows = counts.top.iter().map(|it| {
        let mut row = vec![one_line(it.name.as_deref().unwrap_or("–"), 60)];
        if several {
            row.insert(0, one_line(it.namespace.as_deref().unwrap_or("–"), 30));
        }
        row.push(it.nodes.to_string());
        row.extend(tokens.then(|| it.tokens.unwrap_or(0).to_string()));
        row
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let all = ["namespace", "name", "nodes", "tokens"];
    let columns = rows[0].len();
    let start = usize::from(columns - 2 - usize::from(tokens) == 0);
    let numbers: Vec<usize> = (columns - 1 - usize::from(tokens)..columns).collect();
    output.say(table(&all[start..start + columns], &numbers, rows));
}

fn megabytes(bytes: i64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
