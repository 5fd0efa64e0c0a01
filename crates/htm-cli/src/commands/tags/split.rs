//! `htm tags split`.

use std::time::{Duration, Instant};

use htm_core::ontology::{Changed, Leftover, SplitOutcome, Term};
use htm_core::{Htm, Ontology, Stage};
use serde::Serialize;

use super::change::{describe, term};
use super::to_change;
use crate::args::SplitTagArgs;
use crate::error::CliError;
use crate::output::{Output, count, plain};

/// The longest wait without a newly tagged node. The queue may be paused, or the provider away.
const PATIENCE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(200);

/// The change and its outcome.
#[derive(Serialize)]
struct Split {
    #[serde(flatten)]
    changed: Changed,
    /// None for a dry run.
    outcome: Option<SplitOutcome>,
}

pub(super) async fn run(htm: &Htm, args: &SplitTagArgs, output: &Output) -> Result<(), CliError> {
    let into: Vec<Term> = args.into.iter().map(|text| term(text)).collect();
    let leftover = if args.rest == "first" { Leftover::First } else { Leftover::Keep };
    let ontology = to_change(htm, &args.whose, args.consent.dry_run)?;
    let changed = ontology.split(&args.tag, &into, leftover).await?;
    let outcome = match changed.change {
        Some(change) if args.no_wait => Some(ontology.split_outcome(change).await?),
        Some(change) => Some(wait(htm, &ontology, change, output).await?),
        None => None,
    };
    let split = Split { changed, outcome };
    output.value(&split, || {
        let told = split.outcome.iter().flat_map(|outcome| tell(outcome, &args.tag, leftover));
        std::iter::once(describe(&split.changed)).chain(told).collect::<Vec<_>>().join("\n")
    });
    Ok(())
}

/// Waits for the tag-workers, while there are any.
async fn wait(
    htm: &Htm,
    ontology: &Ontology<'_>,
    change: i64,
    output: &Output,
) -> Result<SplitOutcome, CliError> {
    let mut outcome = ontology.split_outcome(change).await?;
    let total = outcome.waiting;
    let bar = output.progress(total.unsigned_abs(), "nodes");
    let mut last = Instant::now();
    while outcome.waiting > 0 && last.elapsed() < PATIENCE && is_served(htm).await? {
        tokio::time::sleep(POLL).await;
        let now = ontology.split_outcome(change).await?;
        if now.waiting < outcome.waiting {
            last = Instant::now();
        }
        bar.set_position((total - now.waiting).unsigned_abs());
        outcome = now;
    }
    bar.finish_and_clear();
    Ok(outcome)
}

async fn is_served(htm: &Htm) -> Result<bool, CliError> {
    let workers = htm.jobs()?.workers().await?;
    Ok(workers.iter().any(|worker| worker.alive && worker.queue == Stage::Tag.queue()))
}

fn tell(outcome: &SplitOutcome, tag: &str, leftover: Leftover) -> Vec<String> {
    let is_begun = outcome.kept > 0 || outcome.into.iter().any(|it| it.nodes > 0);
    let mut lines: Vec<String> = Vec::new();
    if is_begun {
        lines.extend(outcome.into.iter().map(|it| format!("{}: {}", it.tag, count(it.nodes, "node"))));
        match leftover {
            Leftover::Keep => lines.push(match outcome.kept {
                1 => format!("{tag}: 1 node fits none of them and keeps it"),
                n => format!("{tag}: {n} nodes fit none of them and keep it"),
            }),
            Leftover::First => {
                if let Some(first) = lines.first_mut() {
                    first.push_str(", including those that fit none");
                }
            }
        }
    }
    if outcome.waiting > 0 {
        lines.push(format!("{} still to be retagged by a tag-worker", count(outcome.waiting, "node")));
    }
    lines.iter().map(|line| plain(line)).collect()
}
