//! `htm db repartition`.

use std::time::Instant;

use htm_runtime::config::Config;
use htm_runtime::{Layout, LayoutChange, LayoutStep};
use serde_json::json;

use crate::error::CliError;
use crate::output::{Output, count};

/// Changes the number of partitions; none: ends a change that is not complete.
pub(super) async fn run(config: &Config, partitions: Option<u32>, output: &Output) -> Result<(), CliError> {
    let go_on = match partitions {
        Some(partitions) => format!("go on: `htm db repartition --partitions {partitions}`; or end it"),
        None => "end it".into(),
    };
    output.leaves(
        json!({ "stopped": true }),
        format!("the change is not complete; {go_on}: `htm db repartition --abandon`"),
    );
    let (started, mut bar, mut copied) = (Instant::now(), None, Copied::default());
    let mut show = |step: LayoutStep| {
        let waits = step == LayoutStep::Wait;
        let text = copied.add(step);
        // The start of the database is told before the first step.
        let bar = bar.get_or_insert_with(|| output.progress_of_steps());
        if waits {
            // Also where no bar is shown: it may take hours.
            output.note(bar, &text);
        }
        bar.set_message(text);
    };
    let Some(partitions) = partitions else {
        let abandoned = htm_runtime::abandon_repartition(config, &mut show).await;
        drop(bar);
        let abandoned = abandoned?;
        output.value(&json!({ "abandoned": abandoned }), || {
            if abandoned {
                "the change has ended; the memories are where they were"
            } else {
                "no change was under way"
            }
            .into()
        });
        return Ok(());
    };
    let changed = htm_runtime::repartition(config, partitions, &mut show).await;
    drop(bar);
    let changed = changed?;
    let seconds = started.elapsed().as_secs_f64();
    let answer = json!({
        "partitions": partitions, "changed": changed, "rows_copied": copied.all, "seconds": seconds,
    });
    output.value(&answer, || {
        let layout = in_words(partitions);
        match changed {
            true => {
                format!("the memories are in {layout}; {} copied in {seconds:.1} s", count(copied.all, "row"))
            }
            false => format!("the memories are in {layout} already"),
        }
    });
    Ok(())
}

fn in_words(partitions: u32) -> String {
    match partitions {
        0 => "one table".into(),
        _ => count(partitions, "partition"),
    }
}

/// The layout of the memories, and the command that goes on with a change.
pub(super) fn describe(layout: Layout) -> String {
    let now = in_words(layout.partitions);
    match layout.change {
        None => now,
        Some(change) => {
            let (what, help) = unfinished(layout.partitions, change);
            if change.is_running { format!("{now}; {what}") } else { format!("{now}; {what}; {help}") }
        }
    }
}

/// A change that is not complete, and the next step.
pub(crate) fn unfinished(partitions: u32, change: LayoutChange) -> (String, String) {
    let to = change.to.map_or("another number of partitions".into(), in_words);
    let number = change.to.map_or("N".into(), |to| to.to_string());
    let go_on = format!("go on with it: `htm db repartition --partitions {number}`");
    let state = if change.is_running { "is under way" } else { "was interrupted" };
    match change.to == Some(partitions) {
        true => (format!("a change to {to} {state}: the former tables are still there"), go_on),
        false => (
            format!("a change to {to} {state}: writes go to both, and backups are refused"),
            format!("{go_on}; or end it: `htm db repartition --abandon`"),
        ),
    }
}

/// The rows copied so far.
#[derive(Default)]
struct Copied {
    all: u64,
    table: String,
    of_table: u64,
}

impl Copied {
    /// Adds a step. Returns its description.
    fn add(&mut self, step: LayoutStep) -> String {
        match step {
            LayoutStep::Wait => "waiting for another process that changes the layout".to_owned(),
            LayoutStep::Copy { table, rows, of } => {
                if self.table != table {
                    (self.table, self.of_table) = (table, 0);
                }
                self.all += rows;
                self.of_table += rows;
                format!("copying {}: {} of about {of} rows", self.table, self.of_table)
            }
            LayoutStep::Index { statement } => {
                let index =
                    statement.split_whitespace().find(|word| word.ends_with("_idx")).unwrap_or_default();
                format!("building {index}")
            }
            LayoutStep::Swap => "waiting for the moment to swap the tables".to_owned(),
            LayoutStep::CleanUp => "dropping the former tables".to_owned(),
        }
    }
}
