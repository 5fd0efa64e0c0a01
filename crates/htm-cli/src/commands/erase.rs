//! `htm erase`: removes memories with every trace, and looks for traces.

use std::collections::BTreeSet;
use std::process::ExitCode;

use htm_core::error::codes::NOTHING_TO_ERASE;
use htm_core::{
    Confirmation, Erase, ErasePlan, Erasure, Error, Htm, MAX_MATCHES, MemoryWithText, Vacuumed, Verification,
    Zone,
};
use htm_runtime::config::Config;

use crate::args::{EraseArgs, EraseCommand, ListErasuresArgs, PlanArgs, VerifyArgs};
use crate::codes;
use crate::commands::forget::confirmation;
use crate::commands::notes;
use crate::commands::runtime::with_htm;
use crate::error::CliError;
use crate::instant::local;
use crate::output::{Output, count, limited, one_line, plain, table};

/// The memories of a plan that people are shown. Programs get the first [`MAX_MATCHES`].
const SHOWN: usize = 20;

pub(crate) async fn run(config: &Config, args: EraseArgs, output: &Output) -> Result<ExitCode, CliError> {
    match args.command {
        Some(EraseCommand::Verify(args)) => verify(config, args, output).await,
        Some(EraseCommand::List(args)) => list(config, args, output).await,
        Some(EraseCommand::Resume(args)) => {
            let number = named(args.receipt)?;
            let work = async |htm: &Htm| finish(htm, htm.erasure(number).await?, output).await;
            receipt(&with_htm(config, work).await?, output)
        }
        None => erase(config, args, output).await,
    }
}

/// The number of a receipt, which has to be named.
fn named(receipt: Option<i64>) -> Result<i64, CliError> {
    receipt.ok_or_else(|| {
        CliError::new(codes::USAGE, "no erasure is named")
            .with_hint("give the number of its receipt, as `htm erase list` has it")
    })
}

async fn erase(config: &Config, args: EraseArgs, output: &Output) -> Result<ExitCode, CliError> {
    let EraseArgs { nodes, matching, robot, namespace, consent, .. } = args;
    let PlanArgs { dry_run, plan, yes } = consent;
    let what = match (matching, robot, namespace) {
        (Some(text), _, namespace) => Erase::Matching { text, namespace },
        (None, Some(robot), namespace) => Erase::Robot { robot, namespace },
        (None, None, Some(namespace)) => Erase::Namespace(namespace),
        (None, None, None) => Erase::Memories(nodes),
    };
    if dry_run {
        let zone = &config.time.settings().zone;
        let work = async |htm: &Htm| {
            let notes = unknown(htm, &what).await?;
            let plan = htm.plan_erase(&what).await.map_err(|error| with_note(error, &notes))?;
            Ok((plan, notes))
        };
        let (plan, notes) = with_htm(config, work).await?;
        output.value(&plan, || describe_plan(&plan, &what, zone) + &notes::describe(&notes));
        return Ok(ExitCode::SUCCESS);
    }
    if !yes && plan.is_none() && matches!(what, Erase::Matching { .. }) {
        let hint = "see what it erases with `--dry-run`, then give the plan of that: `--plan NUMBER --yes`";
        return Err(CliError::not_confirmed("erasing memories by a text").with_hint(hint));
    }
    let confirmation: Confirmation = confirmation(yes);
    let work = async |htm: &Htm| {
        // Before: the namespace has nothing afterwards.
        let notes = unknown(htm, &what).await?;
        output.leaves(
            serde_json::json!({ "stopped": true, "erasure": "unknown" }),
            "an erasure may have begun; look: `htm erase list`",
        );
        let begun = htm.begin_erasure(&what, plan.as_deref(), confirmation).await;
        finish(htm, begun.map_err(|error| with_note(error, &notes))?, output).await
    };
    let erasure = with_htm(config, work).await?;
    output.value(&erasure, || describe(&erasure));
    Ok(ExitCode::SUCCESS)
}

/// The error that nothing is stored of a namespace names the nearest ones.
fn with_note(error: Error, notes: &[String]) -> Error {
    match notes.first() {
        Some(note) if error.is(NOTHING_TO_ERASE) => error.with_hint(note.clone()),
        _ => error,
    }
}

/// A note if no memory is stored in the namespace: its name may be mistyped.
async fn unknown(htm: &Htm, what: &Erase) -> htm_core::Result<Vec<String>> {
    match what {
        Erase::Namespace(namespace) => notes::unknown_namespaces(htm, &[namespace], true).await,
        _ => Ok(Vec::new()),
    }
}

/// Removes what is left of an erasure, and frees the space.
async fn finish(htm: &Htm, begun: Erasure, output: &Output) -> htm_core::Result<Erasure> {
    let bar = output.progress(begun.memories, "memories");
    bar.set_message("erase");
    output.note(&bar, format!("erasure {}; if it is interrupted: `htm erase resume {0}`", begun.id));
    output.leaves(
        serde_json::json!({ "stopped": true, "erasure": begun.id }),
        format!("the erasure has not ended; go on: `htm erase resume {}`", begun.id),
    );
    let resumed = htm.resume_erasure(begun.id, |now| {
        bar.set_length(now.memories);
        bar.set_position(now.erased);
    });
    resumed.await?;
    bar.set_message("vacuum");
    let vacuumed = htm.vacuum_erased(begun.id).await?;
    bar.finish_and_clear();
    Ok(vacuumed)
}

fn receipt(erasure: &Erasure, output: &Output) -> Result<ExitCode, CliError> {
    output.value(erasure, || describe(erasure));
    Ok(ExitCode::SUCCESS)
}

async fn list(config: &Config, args: ListErasuresArgs, output: &Output) -> Result<ExitCode, CliError> {
    let erasures = with_htm(config, async |htm| htm.erasures(None, args.limit).await).await?;
    output.value(&erasures, || match erasures.is_empty() {
        true => "nothing was erased".into(),
        false => {
            describe_list(&erasures, &config.time.settings().zone) + &limited(erasures.len(), args.limit)
        }
    });
    Ok(ExitCode::SUCCESS)
}

async fn verify(config: &Config, args: VerifyArgs, output: &Output) -> Result<ExitCode, CliError> {
    let (number, text) = (named(args.receipt)?, args.text.as_deref());
    let verified = with_htm(config, async |htm| htm.verify_erasure(number, text).await).await?;
    output.value(&verified, || describe_verification(&verified, &config.time.settings().zone));
    Ok(if verified.is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn rows<'a>(removed: impl IntoIterator<Item = (&'a String, &'a u64)>) -> String {
    let rows = removed.into_iter().map(|(name, rows)| vec![name.clone(), rows.to_string()]).collect();
    table(&["table", "rows"], &[1], rows)
}

fn describe_plan(plan: &ErasePlan, what: &Erase, zone: &Zone) -> String {
    match what {
        _ if plan.memories > 0 => {}
        Erase::Namespace(_) => {
            return "no memory to erase; only robots, tags and settings of the namespace would be removed"
                .into();
        }
        _ => return "nothing to erase".into(),
    }
    let memories = plan.matches.iter().take(SHOWN).map(|found| {
        vec![
            found.node.to_string(),
            local(found.created_at, zone),
            plain(&found.robot),
            one_line(&found.excerpt, 80),
        ]
    });
    let memories = table(&["node", "at", "robot", "text"], &[0], memories.collect());
    let more = match plan.memories.saturating_sub(SHOWN as u64) {
        0 => String::new(),
        more => format!("\nand {more} more; --json lists the first {MAX_MATCHES}"),
    };
    format!(
        "plan {}: {} to erase; nothing is erased yet\n\n{}\n\n{memories}{more}",
        plan.plan,
        count(plan.memories, "memory"),
        rows(&plan.removed)
    )
}

fn describe(erasure: &Erasure) -> String {
    let Erasure { id, erased, namespaces, removed, .. } = erasure;
    let of = plain(&namespaces.join(", "));
    let mut text = format!("erasure {id}: {} of {of} erased\n{}", count(erased, "memory"), rows(removed));
    text.push_str(&erasure.vacuum.as_ref().map(describe_vacuum).unwrap_or_default());
    text.push_str(&format!("\n`htm erase verify {id}` looks for traces"));
    text
}

fn describe_vacuum(vacuum: &Vacuumed) -> String {
    let mut text = format!("\nvacuumed: {}", count(vacuum.tables.len(), "table"));
    if !vacuum.not_permitted.is_empty() {
        let tables = vacuum.not_permitted.join(", ");
        text.push_str(&format!("\nnot vacuumed, because the role does not own them: {tables}"));
    }
    text + &describe_older(vacuum)
}

/// The rows that the vacuum may have left.
fn describe_older(vacuum: &Vacuumed) -> String {
    match vacuum.older_transactions {
        Some(0) => String::new(),
        Some(open) => {
            format!("\nnot freed yet: {} of before may still read the rows", count(open, "transaction"))
        }
        None => "\nthe role does not see whether older transactions may still read the rows".into(),
    }
}

fn describe_list(erasures: &[Erasure], zone: &Zone) -> String {
    let rows = erasures.iter().map(|erasure| {
        vec![
            erasure.id.to_string(),
            local(erasure.began_at, zone),
            erasure.ended_at.map_or_else(|| "interrupted".into(), |at| local(at, zone)),
            plain(&erasure.asked_by),
            erasure.kind.as_ref().to_owned(),
            plain(&erasure.namespaces.join(", ")),
            format!("{} of {}", erasure.erased, erasure.memories),
        ]
    });
    table(&["erasure", "began", "ended", "who", "what", "namespaces", "memories"], &[0], rows.collect())
}

/// The finds after the end of an erasure, and the command that removes them. A copy in another memory is no trace.
fn describe_found(verified: &Verification) -> String {
    let Verification { erasure, places, with_text, .. } = verified;
    let mut lines = Vec::new();
    if places.iter().any(|place| place.traces > 0) {
        lines.push(format!("traces are left: `htm erase resume {}`", erasure.id));
    }
    let rows = places.iter().filter_map(|place| place.mentions).sum::<u64>();
    match (with_text.is_empty(), rows) {
        (true, 0) => {}
        (true, rows) => lines.push(format!("the text is in {} that belong to no memory", count(rows, "row"))),
        (false, _) => lines.push(describe_with_text(with_text)),
    }
    if lines.is_empty() {
        lines.push(
            "nothing was found where the program could look; look into the tables that it does not know or see".into(),
        );
    }
    format!("\n{}", lines.join("\n"))
}

fn describe_with_text(rows: &[MemoryWithText]) -> String {
    let nodes: BTreeSet<_> = rows.iter().map(|row| row.node).collect();
    let nodes: Vec<String> = nodes.iter().map(ToString::to_string).collect();
    let rows = rows.iter().map(|row| vec![row.node.to_string(), row.table.clone(), row.columns.join(", ")]);
    format!(
        "the text is in memories that the erasure was not about, of which these are the first:\n{}\n\
         to erase these memories: `htm erase {}`, first with `--dry-run`, then with `--yes`",
        table(&["node", "table", "columns"], &[0], rows.collect()),
        nodes.join(" ")
    )
}

fn describe_verification(verified: &Verification, zone: &Zone) -> String {
    let Verification { erasure, places, .. } = verified;
    let has_text = places.iter().any(|place| place.mentions.is_some());
    let rows = places.iter().map(|place| {
        let mut row = vec![place.table.clone(), place.holds.clone(), place.traces.to_string()];
        if has_text {
            row.push(place.mentions.map_or_else(String::new, |rows| rows.to_string()));
        }
        row.push(place.vacuumed_at.map(|at| local(at, zone)).unwrap_or_default());
        row
    });
    let header: &[&str] = match has_text {
        true => &["table", "holds", "traces", "with the text", "vacuumed"],
        false => &["table", "holds", "traces", "vacuumed"],
    };
    let mut text = table(header, if has_text { &[2, 3] } else { &[2] }, rows.collect());
    text.push_str(&match (verified.is_clean, erasure.ended_at) {
        (true, Some(at)) => {
            format!("\nno trace: {} erased, {}", count(erasure.erased, "memory"), local(at, zone))
        }
        (_, None) => format!("\nthe erasure is not at its end: `htm erase resume {}`", erasure.id),
        (false, Some(_)) => describe_found(verified),
    });
    if let Some(vacuum) = &erasure.vacuum {
        text.push_str(&describe_older(vacuum));
        if vacuum.older_transactions.is_some_and(|open| open > 0) {
            text.push_str(&format!(" as of the vacuum; to vacuum again: `htm erase resume {}`", erasure.id));
        }
    }
    let redo = &verified.redo_position;
    text.push_str(&match (&erasure.wal_position, verified.is_behind_checkpoint) {
        (None, _) => format!("\nwrite-ahead log: the erasure has not ended; a recovery begins at {redo}"),
        (Some(position), true) => format!(
            "\nwrite-ahead log: the erasure ended at {position}; a recovery begins after it, at {redo}"
        ),
        (Some(position), false) => format!(
            "\nwrite-ahead log: the erasure ended at {position}; until the next checkpoint a recovery begins before it, at {redo}"
        ),
    });
    text + "\nnot seen from here: archives of the log, replicas, backups, and files that were exported"
}
