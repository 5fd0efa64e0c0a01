//! `htm jobs audit`.

use std::process::ExitCode;

use htm_core::fault::Fault;
use htm_core::jobs::{Audit, Jobs};

use crate::error::CliError;
use crate::output::{Output, count, one_line, table};

/// The most lines that people are shown. Programs get all.
const SHOWN: usize = 50;

pub(super) async fn run(jobs: Jobs<'_>, repair: bool, output: &Output) -> Result<ExitCode, CliError> {
    let found = jobs.audit().await?;
    let repaired = match repair && !found.stranded.is_empty() {
        true => jobs.repair(&found.stranded).await?,
        false => 0,
    };
    let mut answer = serde_json::json!(found);
    answer["repaired"] = repaired.into();
    output.value(&answer, || describe(&found, repair.then_some(repaired)));
    // A node that was edited or forgotten since the audit needs no job. The next audit reports what is left to fix.
    let mended = repair && found.states_guarded;
    Ok(match found.is_clean() || mended {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(Fault::Permanent.exit_code()),
    })
}

fn describe(found: &Audit, repaired: Option<u64>) -> String {
    let mut lines = vec![format!("{} stranded", found.stranded.len())];
    if !found.stranded.is_empty() {
        let rows = found.stranded.iter().take(SHOWN).map(|it| {
            vec![
                it.node.to_string(),
                it.stage.to_string(),
                one_line(&it.namespace, 24),
                it.revision.to_string(),
                it.lost.about().into(),
            ]
        });
        lines.push(table(&["node", "stage", "namespace", "revision", "lost"], &[0, 3], rows.collect()));
        if found.stranded.len() > SHOWN {
            lines.push(format!("… and {} more (--json shows all)", found.stranded.len() - SHOWN));
        }
        lines.push(match repaired {
            Some(repaired) => format!("enqueued {}", count(repaired, "job")),
            None => "fix them: `htm jobs audit --repair`; the loss is a bug, please report it".into(),
        });
    }
    if !found.states_guarded {
        lines.push(
            "the table apalis.jobs has lost its constraint jobs_htm_state_possible: jobs may be in an impossible state"
                .into(),
        );
    }
    if found.awaiting_rescue > 0 {
        lines.push(format!(
            "held by lost workers, to be reclaimed by any worker: {}",
            count(found.awaiting_rescue, "job")
        ));
    }
    if found.unheld > 0 {
        lines.push(format!(
            "assigned to a worker that does not hold them, to be released by it: {}",
            count(found.unheld, "job")
        ));
    }
    if found.dead_letters > 0 {
        lines.push(format!(
            "dead letters: {} (reasons: `htm jobs list --state dead`)",
            count(found.dead_letters, "job")
        ));
    }
    lines.join("\n")
}
