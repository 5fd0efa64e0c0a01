//! `htm jobs list` and `show`.

use chrono::{DateTime, Utc};
use htm_core::job::JobState;
use htm_core::jobs::{Job, JobFilter, Jobs};
use htm_core::{Htm, ParkedFor, Zone};

use crate::args::ListArgs;
use crate::commands::notes::tell_unknown;
use crate::duration::rough;
use crate::error::CliError;
use crate::instant::local;
use crate::output::{Output, fields, one_line, table};

pub(super) async fn list(htm: &Htm, args: ListArgs, output: &Output) -> Result<(), CliError> {
    let jobs = htm.jobs()?;
    let filter: JobFilter = args.filter.into();
    let listed = jobs.list(&filter, None, args.limit).await?;
    let are_more = match listed.last() {
        Some(last) if listed.len() == args.limit as usize && !output.is_json() => {
            !jobs.list(&filter, Some(&last.cursor()), 1).await?.is_empty()
        }
        _ => false,
    };
    if listed.is_empty() {
        tell_unknown(htm, filter.namespace.as_deref().as_slice(), output).await?;
    }
    output.value(&listed, || match (listed.is_empty(), are_more) {
        (true, _) => none(&filter),
        (false, false) => in_table(&listed),
        (false, true) => format!(
            "{}\nthe first {}; there are more: --limit, or a filter (`htm jobs stats` counts them)",
            in_table(&listed),
            listed.len()
        ),
    });
    Ok(())
}

/// The text if no job matches.
fn none(filter: &JobFilter) -> String {
    let what = match filter.state {
        None => "no open or dead jobs".into(),
        Some(JobState::Dead) => "no dead letters".into(),
        Some(state) => format!("no {state} jobs"),
    };
    match *filter == (JobFilter { state: filter.state, ..JobFilter::default() }) {
        true => what,
        false => format!("{what} match the filters"),
    }
}

pub(super) async fn show(
    jobs: Jobs<'_>,
    ids: &[String],
    zone: &Zone,
    output: &Output,
) -> Result<(), CliError> {
    let shown = jobs.show(ids).await?;
    output.value(&shown, || shown.iter().map(|job| whole(job, zone)).collect::<Vec<_>>().join("\n\n"));
    Ok(())
}

fn in_table(listed: &[Job]) -> String {
    let rows = listed.iter().map(|job| {
        vec![
            job.id.clone(),
            job.queue.clone(),
            job.state.to_string(),
            when(job),
            job.node.map(|node| node.to_string()).unwrap_or_default(),
            one_line(job.namespace.as_deref().unwrap_or_default(), 24),
            format!("{}/{}", job.attempts, job.max_attempts),
            one_line(job.last_error.as_deref().unwrap_or_default(), 80),
        ]
    });
    let header = ["id", "queue", "state", "when", "node", "namespace", "attempts", "last error"];
    table(&header, &[4, 6], rows.collect())
}

/// The time since the job entered its state, or until it is due. For a parked job, the reason.
fn when(job: &Job) -> String {
    let ago = |at: DateTime<Utc>| format!("{} ago", rough((job.read_at - at).num_milliseconds()));
    match job.state {
        JobState::Due => ago(job.due_at),
        JobState::Waiting => format!("in {}", rough((job.due_at - job.read_at).num_milliseconds())),
        JobState::Parked => job.parked.map(|why| format!("by {why}")).unwrap_or_default(),
        JobState::Running => job.held_since.map(ago).unwrap_or_default(),
        JobState::Done | JobState::Dead => job.ended_at.map(ago).unwrap_or_default(),
    }
}

fn whole(job: &Job, zone: &Zone) -> String {
    let time = |at: Option<DateTime<Utc>>| at.map(|at| local(at, zone)).unwrap_or_default();
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let parked = job.parked.map(|why| match why {
        ParkedFor::Budget => {
            "budget: its namespace has spent its daily budget; `htm providers budget` raises it"
        }
        ParkedFor::Age => "age: it was put off for too long; fix the cause, then `htm jobs retry`",
    });
    let mut rows = vec![
        ("job", job.id.clone()),
        ("queue", job.queue.clone()),
        ("state", job.state.to_string()),
        ("parked", parked.unwrap_or_default().to_owned()),
        ("node", job.node.map(|node| node.to_string()).unwrap_or_default()),
        ("revision", job.revision.map(|revision| revision.to_string()).unwrap_or_default()),
        ("namespace", text(&job.namespace)),
        ("payload", job.payload_text()),
        ("attempts", format!("{} of {}", job.attempts, job.max_attempts)),
        // The line after the reason quotes what a model said.
        ("last error", text(&job.last_error).replacen('\n', "; ", 1)),
        ("outcome", text(&job.outcome)),
        ("due", time(Some(job.due_at))),
        ("put off since", time(job.deferred_since)),
        ("held by", text(&job.held_by)),
        ("held since", time(job.held_since)),
        ("ended", time(job.ended_at)),
        ("priority", job.priority.to_string()),
        ("key", text(&job.key)),
    ];
    rows.retain(|(_, value)| !value.is_empty());
    rows.iter_mut().for_each(|(_, value)| *value = one_line(value, usize::MAX));
    fields(&rows)
}
