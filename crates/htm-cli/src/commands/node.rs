//! `htm get`, `htm status`.

use std::process::ExitCode;
use std::time::Duration;

use chrono::{DateTime, Utc};
use htm_core::{
    Keepers, KeptBy, Node, NodeStatus, ParkedFor, Revision, StageState, StageStatus, Zone, read_instant,
};
use htm_runtime::config::Config;

use super::relations::describe_successors;
use super::runtime::with_htm;
use crate::args::{GetArgs, StatusArgs};
use crate::codes;
use crate::duration::rough;
use crate::error::CliError;
use crate::instant::{exact, local};
use crate::output::{Output, count, fields, plain, table};

/// Milliseconds of a day.
const DAY_MS: f64 = 86_400_000.0;

pub(crate) async fn get(config: &Config, args: GetArgs, output: &Output) -> Result<ExitCode, CliError> {
    let zone = &config.time.settings().zone;
    if let (Some(node), Some(at)) = (args.node, &args.as_of) {
        let at = read_instant(at, Utc::now(), &config.time.settings())?;
        let node = with_htm(config, async |htm| htm.get_as_of(node, at).await).await?;
        let found = Found { node, stages: Vec::new(), keepers: Keepers::default(), revisions: None };
        output.value(&found.node, || describe(&found, zone));
        return Ok(ExitCode::SUCCESS);
    }
    let found = with_htm(config, async |htm| {
        let node = match (args.node, &args.key) {
            (Some(node), _) => Some(htm.get(node).await?),
            (None, Some(key)) => htm.get_by_key(args.namespace.as_deref(), key).await?,
            (None, None) => None,
        };
        let Some(node) = node else { return Ok(None) };
        let stages = htm.status(node.id).await?.stages;
        let keepers = htm.keepers(node.id).await?;
        let revisions = if args.revisions { Some(htm.revisions(node.id).await?) } else { None };
        Ok(Some(Found { node, stages, keepers, revisions }))
    })
    .await?;
    let found = found.ok_or_else(|| key_not_found(args.key))?;
    output.value(&found, || describe(&found, zone));
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn status(config: &Config, args: StatusArgs, output: &Output) -> Result<ExitCode, CliError> {
    let status = with_htm(config, async |htm| match args.wait {
        None => htm.status(args.node).await,
        Some(stage) => htm.wait_for(args.node, stage, Duration::from_secs(args.timeout)).await,
    })
    .await?;
    output.value(&status, || describe_status(&status, &config.time.settings().zone));
    Ok(ExitCode::SUCCESS)
}

/// A node with its progress.
#[derive(serde::Serialize)]
struct Found {
    #[serde(flatten)]
    node: Node,
    stages: Vec<StageStatus>,
    keepers: Keepers,
    #[serde(skip_serializing_if = "Option::is_none")]
    revisions: Option<Vec<Revision>>,
}

pub(crate) fn key_not_found(key: Option<String>) -> CliError {
    CliError::new(codes::KEY_NOT_FOUND, format!("no node has the key `{}`", key.unwrap_or_default()))
}

fn describe(Found { node, stages, keepers, revisions }: &Found, zone: &Zone) -> String {
    let tags = node.tags.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let mut rows: Vec<(&str, String)> = vec![
        ("node", node.id.to_string()),
        ("namespace", node.namespace.clone()),
        ("robot", node.robot.clone()),
        ("key", node.key.clone().unwrap_or_default()),
        ("at", exact(node.created_at, zone)),
        ("session", node.session.clone().unwrap_or_default()),
        ("seq", node.seq.map(|seq| seq.to_string()).unwrap_or_default()),
        ("speaker", node.speaker.clone().unwrap_or_default()),
        ("type", node.kind.clone().unwrap_or_default()),
        ("remembered", remembered(node, keepers, zone)),
        ("working memory of", working_memory_of(node, keepers)),
        ("importance", node.importance.to_string()),
        ("tokens", format!("{} ({})", node.token_count, node.token_encoding)),
        ("source", node.source.clone().unwrap_or_default()),
        ("expires", expires(node, zone)),
        ("tags", tags),
    ];
    let successors = describe_successors(node, zone);
    rows.extend(successors.iter().map(|it| ("superseded", it.trim_start_matches("superseded ").to_owned())));
    if node.metadata.as_object().is_some_and(|metadata| !metadata.is_empty()) {
        rows.push(("metadata", node.metadata.to_string()));
    }
    rows.extend(stages.iter().map(|stage| (stage.stage.as_ref(), progress_of(stage, zone))));
    rows.retain(|(_, value)| !value.is_empty());
    let mut text = fields(&rows) + "\n\n";
    match revisions {
        None => text.push_str(&plain(&node.content)),
        Some(revisions) => {
            let texts = revisions.iter().map(|it| {
                let head =
                    format!("revision {} by {}, {}", it.revision, it.author, exact(it.written_at, zone));
                format!("{}\n{}", plain(&head), plain(&it.content))
            });
            text.push_str(&texts.collect::<Vec<_>>().join("\n\n"));
        }
    }
    text
}

pub(crate) fn describe_status(status: &NodeStatus, zone: &Zone) -> String {
    let rows = status
        .stages
        .iter()
        .map(|stage| {
            vec![stage.stage.to_string(), stage.state.name().into(), plain(&progress_of(stage, zone))]
        })
        .collect();
    format!(
        "node {} written at {}\n{}",
        status.node,
        local(status.written_at, zone),
        table(&["stage", "state", ""], &[], rows)
    )
}

/// The expiry of a node. Empty for none.
fn expires(node: &Node, zone: &Zone) -> String {
    let Some(at) = node.expires_at else { return String::new() };
    match node.ttl_seconds {
        None => local(at, zone),
        Some(seconds) => format!("{} ({} after a refresh)", local(at, zone), rough(seconds * 1_000)),
    }
}

/// The number of times that a node was remembered, and by whom. Empty for once.
fn remembered(node: &Node, keepers: &Keepers, zone: &Zone) -> String {
    let count @ 2.. = node.remember_count else { return String::new() };
    let said = keepers.robots.iter().filter(|it| it.remember_count > 0);
    let by: Vec<String> = said.map(|it| format!("{} {}", it.robot, it.remember_count)).collect();
    let (first, last) = (local(node.first_remembered, zone), local(node.last_remembered, zone));
    format!("{count} times ({}), from {first} to {last}", by.join(", "))
}

/// The robots and the groups that have the node in their working memory.
fn working_memory_of(node: &Node, keepers: &Keepers) -> String {
    let name = |it: &KeptBy| match it.namespace == node.namespace {
        true => it.robot.clone(),
        false => format!("{} of {}", it.robot, it.namespace),
    };
    let robots = keepers.robots.iter().filter(|it| it.in_working_memory).map(name);
    let groups = keepers.groups.iter().map(|group| format!("group {group}"));
    robots.chain(groups).collect::<Vec<_>>().join(", ")
}

/// The progress of a stage, in one sentence.
fn progress_of(stage: &StageStatus, zone: &Zone) -> String {
    match stage.stale {
        Some(revision) => {
            format!("{}; until then the result of revision {revision} stays", progress(&stage.state, zone))
        }
        None => progress(&stage.state, zone),
    }
}

fn progress(state: &StageState, zone: &Zone) -> String {
    let time = |at: &Option<DateTime<Utc>>| at.map(|at| local(at, zone)).unwrap_or_default();
    match state {
        StageState::Pending { attempts: 0, last_error: None, .. } => "waits in its queue".into(),
        StageState::Pending { attempts: 0, last_error: Some(error), due_at, .. } => {
            format!("put off: {error}; next attempt at {}", time(due_at))
        }
        StageState::Pending { attempts, max_attempts, due_at, last_error } => format!(
            "attempt {attempts} of {max_attempts} failed: {}; next attempt at {}",
            last_error.as_deref().unwrap_or("unknown"),
            time(due_at)
        ),
        StageState::Parked { why: ParkedFor::Budget, until, .. } => format!(
            "its namespace's budget is spent; next attempt at {}, or when the budget is raised (`htm providers budget`)",
            time(until)
        ),
        StageState::Parked { last_error, .. } => format!(
            "put off for too long: {}; fix the cause, then `htm jobs retry`",
            last_error.as_deref().unwrap_or("unknown")
        ),
        StageState::Running { attempt, worker } => format!("attempt {attempt} by {worker}"),
        StageState::Done { model, outcome, after_ms, .. } if *after_ms < DAY_MS => {
            format!("{outcome} by {model}, {after_ms:.0} ms after the write")
        }
        // An imported text was written long before it came.
        StageState::Done { model, outcome, at, .. } => {
            format!("{outcome} by {model} at {}", local(*at, zone))
        }
        StageState::Dead { attempts, error } => {
            format!("dead letter after {}: {error}", count(attempts, "attempt"))
        }
        StageState::Awaited => "its caller has not brought the vector".into(),
        StageState::Stranded => "no job and no result: `htm jobs audit`".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_stage_counts_from_the_write_for_a_day() {
        let done = |after_ms: f64| {
            let (model, outcome, worker) = ("fake/small".into(), "embedded".into(), "w".into());
            let at = "2026-03-01T09:00:00Z".parse().unwrap();
            progress(&StageState::Done { model, outcome, at, after_ms, worker, attempt: 1 }, &Zone::default())
        };
        assert_eq!(done(12.4), "embedded by fake/small, 12 ms after the write");
        assert!(done(57_683_868_284.0).starts_with("embedded by fake/small at 2026-03-01"));
    }
}
