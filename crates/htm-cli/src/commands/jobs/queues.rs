//! `htm jobs stats`, `pause`, `resume`, `prune`.

use std::time::Duration;

use htm_core::Zone;
use htm_core::job::{JobState, LEARN_QUEUE};
use htm_core::jobs::{Jobs, QueueStats};
use htm_runtime::Runtime;

use crate::args::PruneArgs;
use crate::duration::rough;
use crate::error::CliError;
use crate::instant::local;
use crate::output::{Output, count, one_line, table};

pub(super) async fn stats(jobs: Jobs<'_>, zone: &Zone, output: &Output) -> Result<(), CliError> {
    let stats = jobs.queues().await?;
    output.value(&stats, || describe(&stats, zone));
    Ok(())
}

pub(super) async fn pause(
    jobs: Jobs<'_>,
    queue: &str,
    reason: &str,
    output: &Output,
) -> Result<(), CliError> {
    jobs.pause(queue, reason).await?;
    let running = jobs.depth(queue).await?.running;
    output.value(&serde_json::json!({ "queue": queue, "paused": reason, "running": running }), || {
        let goes_on = match running {
            0 => "no job is running".into(),
            1 => "1 running job continues".into(),
            count => format!("{count} running jobs continue"),
        };
        format!("{queue} is paused: no more claims; {goes_on}")
    });
    Ok(())
}

pub(super) async fn resume(jobs: Jobs<'_>, queue: &str, output: &Output) -> Result<(), CliError> {
    let was_paused = jobs.resume(queue).await?;
    output.value(&serde_json::json!({ "queue": queue, "was_paused": was_paused }), || {
        format!("{queue} {}", if was_paused { "is resumed" } else { "was not paused" })
    });
    Ok(())
}

pub(super) async fn prune(
    runtime: &Runtime,
    jobs: Jobs<'_>,
    args: PruneArgs,
    output: &Output,
) -> Result<(), CliError> {
    if args.dead && !args.yes {
        return Err(CliError::not_confirmed("deleting dead letters")
            .after("check them with `htm jobs list --state dead`"));
    }
    let older_than = args.older_than.unwrap_or(Duration::from_millis(runtime.config().jobs.keep_done_ms));
    let pruned =
        if args.dead { jobs.prune_dead(older_than).await? } else { jobs.prune_done(older_than).await? };
    let workers = jobs.prune_workers().await?;
    output.value(&serde_json::json!({ "pruned": pruned, "workers": workers }), || {
        let ended = if args.dead { JobState::Dead } else { JobState::Done };
        format!("pruned {} and {}", count(pruned, &format!("{ended} job")), count(workers, "old worker"))
    });
    Ok(())
}

fn describe(stats: &[QueueStats], zone: &Zone) -> String {
    let rows = stats.iter().map(|queue| {
        let learns = queue.queue == LEARN_QUEUE;
        let mut row = vec![
            queue.queue.clone(),
            queue.model.clone().unwrap_or_else(|| if learns { "none" } else { "none yet" }.into()),
            queue.workers.to_string(),
        ];
        let counts =
            [queue.due, queue.waiting, queue.parked, queue.running, queue.done, queue.dead, queue.backfill];
        row.extend(counts.map(|count| count.to_string()));
        row.push(queue.oldest_due_ms.map(rough).unwrap_or_default());
        row.push(state(queue, zone));
        row
    });
    let header = [
        "queue", "model", "workers", "due", "waiting", "parked", "running", "done", "dead", "backfill",
        "oldest", "state",
    ];
    table(&header, &[2, 3, 4, 5, 6, 7, 8, 9, 10], rows.collect())
}

fn state(queue: &QueueStats, zone: &Zone) -> String {
    if let Some(reason) = &queue.paused {
        return one_line(&format!("paused: {reason}"), 100);
    }
    match queue.held_until {
        Some(until) => {
            let reason = queue.held.as_deref().unwrap_or("no reason recorded");
            let what = if queue.refused.is_some() { "results refused, held" } else { "provider held" };
            format!("{what} until {}: {}", local(until, zone), one_line(reason, 60))
        }
        None => "running".into(),
    }
}
