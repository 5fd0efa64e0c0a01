//! How fast a working memory is, and how it grows. No database: it is in process.
//!
//! `./justw bench-rust --bench working_memory`

use std::collections::{BTreeSet, HashMap};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use htm_core::context::assemble;
use htm_core::working_memory::Entry;
use htm_core::{ContextHeader, ContextOptions, ContextOrder, NodeId, TokenEncoding, WorkingMemory};

const ENCODING: TokenEncoding = TokenEncoding::O200kBase;
/// A measurement is the median of this many.
const ROUNDS: usize = 11;

fn main() {
    add_with_eviction();
    touch();
    context();
}

/// Twice as many nodes as fit: each of the second half makes one leave.
fn add_with_eviction() {
    println!(
        "{:<42} {:>9} {:>12} {:>10} {:>8} {:>12} {:>18}",
        "what", "nodes", "total ms", "ns a node", "÷ bare", "grew by", "n log n would by"
    );
    // One text for all: making and freeing texts is not what is measured.
    let text: Arc<str> = "text".into();
    let mut before: Option<(usize, f64)> = None;
    for nodes in [200, 2_000, 200_000] {
        let entries: Vec<Entry> = (0..2 * nodes).map(|number| entry(number, text.clone(), 10)).collect();
        let took = median(|| {
            let mut memory = WorkingMemory::new(nodes * 10);
            let entries = entries.clone();
            let started = Instant::now();
            let mut evicted = 0;
            for entry in entries {
                evicted += memory.add(entry).expect("it fits").len();
            }
            let took = started.elapsed();
            assert_eq!((memory.len(), evicted), (nodes, nodes));
            took
        })
        .as_secs_f64();
        let growth = before.map(|(fewer, shorter)| {
            let n_log_n = |n: usize| n as f64 * (n as f64).log2();
            (took / shorter, n_log_n(nodes) / n_log_n(fewer))
        });
        let shown = |of: fn((f64, f64)) -> f64| growth.map_or("–".into(), |it| format!("{:.1}", of(it)));
        println!(
            "{:<42} {nodes:>9} {:>12.3} {:>10.0} {:>8.2} {:>12} {:>18}",
            "add with eviction",
            took * 1e3,
            took * 1e9 / (2 * nodes) as f64,
            took / bare(nodes).as_secs_f64(),
            shown(|it| it.0),
            shown(|it| it.1)
        );
        before = Some((nodes, took));
    }
    // One that makes all the others leave.
    for nodes in [200, 2_000, 200_000] {
        let mut full = WorkingMemory::new(nodes * 10);
        for number in 0..nodes {
            full.add(entry(number, text.clone(), 10)).expect("it fits");
        }
        let took = median(|| {
            let mut memory = full.clone();
            let large = entry(nodes, text.clone(), nodes * 10);
            let started = Instant::now();
            let evicted = memory.add(large).expect("it fits");
            let took = started.elapsed();
            assert_eq!(evicted.len(), nodes);
            took
        });
        let ns = took.as_secs_f64() * 1e9 / nodes as f64;
        println!(
            "{:<42} {nodes:>9} {:>12.3} {ns:>10.0}",
            "one that makes all others leave",
            took.as_secs_f64() * 1e3
        );
    }
}

/// The floor: a tree of the order and a table of the ids do the same and hold nothing else. What larger ones cost beyond
/// n log n is the processor's cache.
fn bare(nodes: usize) -> Duration {
    median(|| {
        let mut order = BTreeSet::new();
        let mut table = HashMap::new();
        let started = Instant::now();
        for number in 0..2 * nodes {
            let entry = entry(number, "", 10);
            let key = (entry.importance.to_bits(), entry.added_at, entry.node);
            if order.len() == nodes {
                let (_, _, first) = order.pop_first().expect("it is full");
                assert!(table.remove(&first).is_some());
            }
            order.insert(key);
            table.insert(key.2, number);
        }
        let took = started.elapsed();
        assert_eq!((order.len(), table.len()), (nodes, nodes));
        took
    })
}

fn touch() {
    let nodes = 2_000;
    let mut memory = WorkingMemory::new(nodes * 10);
    for number in 0..nodes {
        memory.add(entry(number, "text", 10)).expect("it fits");
    }
    let took = median(|| {
        let started = Instant::now();
        for number in 0..nodes {
            let node = NodeId((number * 7_919 % nodes) as i64);
            assert!(memory.touch(black_box(node), at(number)));
        }
        started.elapsed()
    });
    let ns = took.as_secs_f64() * 1e9 / nodes as f64;
    println!("{:<42} {nodes:>9} {:>12.3} {ns:>10.0}", "touch", took.as_secs_f64() * 1e3);
}

/// Counts of the nodes are known; what the joins make of them is counted. The floor is counting the text once.
fn context() {
    println!(
        "\n{:<42} {:>9} {:>12} {:>10} {:>12} {:>18}",
        "context", "nodes", "ms", "tokens", "count it, ms", "assembly / count"
    );
    let entries: Vec<Entry> = (0..200)
        .map(|number| {
            let text = text(number);
            let tokens = ENCODING.count(&text);
            Entry { source: Some("chat".into()), ..entry(number, text, tokens) }
        })
        .collect();
    let all: usize = entries.iter().map(|entry| entry.tokens).sum();
    let options = ContextOptions::new(2 * all);
    let cases = [
        ("all fit, balanced", options.clone()),
        ("all fit, recent", options.clone().order(ContextOrder::Recent)),
        ("all fit, important", options.clone().order(ContextOrder::Important)),
        ("all fit, frequent", options.clone().order(ContextOrder::Frequent)),
        ("all fit, with headers", options.clone().header(ContextHeader::AgeAndSource)),
        ("all fit, joined by spaces", options.clone().separator(" ")),
        ("half fit", ContextOptions { max_tokens: all / 2, ..options }),
    ];
    for (name, options) in cases {
        let once = assemble(&entries, &[], &options, ENCODING, at(200));
        let assembly = median(|| timed(|| assemble(black_box(&entries), &[], &options, ENCODING, at(200))))
            .as_secs_f64();
        let count = median(|| timed(|| ENCODING.count(black_box(&once.text)))).as_secs_f64();
        assert_eq!(ENCODING.count(&once.text), once.tokens);
        println!(
            "{name:<42} {:>9} {:>12.3} {:>10} {:>12.3} {:>18.2}",
            once.included.len(),
            assembly * 1e3,
            once.tokens,
            count * 1e3,
            assembly / count
        );
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let started = Instant::now();
    black_box(work());
    started.elapsed()
}

fn median(mut measure: impl FnMut() -> Duration) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS).map(|_| measure()).collect();
    times.sort();
    times[ROUNDS / 2]
}

fn at(seconds: usize) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds as i64)
}

fn entry(number: usize, text: impl Into<Arc<str>>, tokens: usize) -> Entry {
    // Importances in no order: what leaves is found, not just the first that came.
    let importance = (number * 7_919 % 10 + 1) as f32;
    let mut entry = Entry::new(NodeId(number as i64), text, tokens, at(number)).importance(importance);
    entry.accesses = (number * 104_729 % 17) as u64;
    entry
}

/// Two or three sentences: some fifty tokens.
fn text(number: usize) -> String {
    format!(
        "Note {number}: the deployment of service {} waited for review {} until evening, because the migration of \
         the ledger's balances was not tested. Mara asked for a second run on staging; it \"passed\" (at last).{}",
        number % 97,
        number % 1_009,
        [" Next: the invoices!", "", " See https://example.com/adr/7"][number % 3]
    )
}
