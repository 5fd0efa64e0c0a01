//! `htm capacity`: what a number of memories needs, without a database.

use std::process::ExitCode;

use htm_runtime::capacity::{Calls, Kind, Plan, Storage, plan};

use crate::args::CapacityArgs;
use crate::output::{Output, count, table};
use crate::quantity::{bytes, grouped};

pub(crate) fn run(args: &CapacityArgs, output: &Output) -> ExitCode {
    let plan = plan(&args.workload());
    if output.is_json() {
        output.value(&plan, String::new);
    } else {
        show(&plan, output);
    }
    ExitCode::SUCCESS
}

fn show(plan: &Plan, output: &Output) {
    let it = plan.workload;
    output.say(format!(
        "{} of {} words in {}, {} dimensions",
        count(grouped(it.memories), "memory"),
        it.words,
        count(grouped(it.namespaces), "namespace"),
        it.dimensions
    ));
    storage(&plan.storage, output);

    output.heading("Memory");
    output.say(format!("read by each recall in parts: {}", bytes(plan.storage.hot_bytes)));
    output.say(format!("indexes in all: {}", bytes(plan.storage.index_bytes)));

    output.heading("Provider");
    calls(plan, output);
    output.say("");
    let workers = plan.workers;
    output.say(format!(
        "{} for {} a second, and one more for when one fails; {:.0} texts a second each, at most",
        count(workers.for_writes, "embed-worker"),
        count(it.writes_per_second, "write"),
        workers.texts_per_second
    ));
    output.say(format!("to embed all memories with them: {}", hours(workers.hours_for_all)));

    output.heading("Hosts");
    let hosts = plan.hosts;
    let rows = vec![
        vec!["memory of PostgreSQL".into(), bytes(hosts.memory_bytes)],
        vec!["disk, without copies and backups".into(), bytes(plan.storage.bytes)],
        vec!["write-ahead log a day".into(), bytes(plan.storage.wal_bytes_per_second * 86_400)],
        vec!["cores for writes".into(), format!("{:.2}", hosts.write_cores)],
        vec!["cores for recalls".into(), format!("{:.2}", hosts.recall_cores)],
        vec![format!("databases, on hosts of {} GB", it.host_memory_gb), hosts.parts.to_string()],
        vec!["hosts of each, and one more for fail-over".into(), hosts.hosts_per_part.to_string()],
    ];
    output.say(table(&["what", "needs"], &[1], rows));
    output.say("");
    for note in &plan.notes {
        output.say(format!("note: {note}"));
    }
}

fn storage(storage: &Storage, output: &Output) {
    output.heading(&format!("On disk: {}", bytes(storage.bytes)));
    let tables = storage.objects.iter().filter(|it| it.kind == Kind::Table);
    let rows = tables.map(|it| {
        let indexes =
            storage.objects.iter().filter(|index| index.kind == Kind::Index && index.table == it.table);
        let indexes = indexes.map(|index| index.bytes).sum();
        vec![
            it.table.to_owned(),
            grouped(it.rows),
            bytes(it.bytes),
            bytes(indexes),
            bytes(it.bytes + indexes),
        ]
    });
    output.say(table(
        &["table", "rows", "table size", "index size", "in all"],
        &[1, 2, 3, 4],
        rows.collect(),
    ));
    output.say("");
    let mut indexes: Vec<_> = storage.objects.iter().filter(|it| it.kind == Kind::Index).collect();
    indexes.sort_by_key(|it| std::cmp::Reverse(it.bytes));
    let rows = indexes
        .into_iter()
        .take(SHOWN)
        .map(|it| vec![it.name.to_owned(), bytes(it.bytes), if it.hot { "yes" } else { "no" }.into()]);
    output.say(table(&["largest indexes", "size", "read by each recall"], &[1], rows.collect()));
}

/// The most indexes that people are shown. Programs get all of them.
const SHOWN: usize = 6;

fn calls(plan: &Plan, output: &Output) {
    let (it, priced) = (plan.provider, plan.workload);
    let row = |what: &str, calls: Calls, price: f64| {
        let cost = if price > 0.0 { format!("{:.2}", calls.cost) } else { "–".into() };
        vec![what.to_owned(), grouped(calls.calls), grouped(calls.tokens), cost]
    };
    let rows = vec![
        row("embed all memories, once", it.embed_all, priced.price),
        row("embed new memories, 30 days", it.embed_month, priced.price),
        row("embed queries, 30 days", it.queries_month, priced.price),
        row("tag all memories by a language model, once", it.tag_all, priced.tag_price),
        row("tag new memories by a language model, 30 days", it.tag_month, priced.tag_price),
    ];
    output.say(table(&["what", "calls", "tokens", "cost"], &[1, 2, 3], rows));
}

/// A length of time in hours, for people.
fn hours(hours: f64) -> String {
    match hours {
        hours if hours < 1.0 => count((hours * 60.0).ceil(), "minute"),
        hours if hours < 72.0 => format!("{hours:.1} hours"),
        hours => format!("{:.1} days", hours / 24.0),
    }
}
