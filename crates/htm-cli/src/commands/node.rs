//! `htm get`, `htm forget`, `htm status`.

use std::process::ExitCode;
use std::time::Duration;

use chrono::{DateTime, Utc};
use htm_core::{Confirmation, Error, Htm, Node, NodeStatus, StageState, StageStatus};
use htm_runtime::Session;
use htm_runtime::config::Config;

use crate::args::{ForgetArgs, GetArgs, StatusArgs};
use crate::error::CliError;
use crate::output::{Output, plain, table};

pub(crate) async fn get(config: &Config, args: GetArgs, output: &Output) -> Result<ExitCode, CliError> {
    let found = with_htm(config, async |htm| {
        let node = match (args.node, &args.key) {
            (Some(node), _) => Some(htm.get(node).await?),
            (None, Some(key)) => htm.get_by_key(args.namespace.as_deref(), key).await?,
            (None, None) => None,
        };
        let Some(node) = node else { return Ok(None) };
        let stages = htm.status(node.id).await?.stages;
        Ok(Some(Found { node, stages }))
    })
    .await?;
    let Some(found) = found else {
        let key = args.key.unwrap_or_default();
        return Err(CliError::Usage {
            code: "key_not_found",
            what: format!("no node has the key `{key}`"),
            hint: "name its namespace with --namespace, or look for it: `htm recall QUERY`".into(),
        });
    };
    output.value(&found, || describe(&found));
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn forget(config: &Config, args: ForgetArgs, output: &Output) -> Result<ExitCode, CliError> {
    let confirmation = if args.yes { Confirmation::Confirmed } else { Confirmation::Missing };
    if confirmation == Confirmation::Missing {
        return Err(Error::NotConfirmed { node: args.node }.into());
    }
    with_htm(config, async |htm| htm.forget(args.node, confirmation).await).await?;
    output
        .value(&serde_json::json!({ "forgotten": args.node }), || format!("node {} is forgotten", args.node));
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn status(config: &Config, args: StatusArgs, output: &Output) -> Result<ExitCode, CliError> {
    let status = with_htm(config, async |htm| match args.wait {
        None => htm.status(args.node).await,
        Some(stage) => htm.wait_for(args.node, stage, Duration::from_secs(args.timeout)).await,
    })
    .await?;
    output.value(&status, || describe_status(&status));
    Ok(ExitCode::SUCCESS)
}

/// A node with how far it is.
#[derive(serde::Serialize)]
struct Found {
    #[serde(flatten)]
    node: Node,
    stages: Vec<StageStatus>,
}

async fn with_htm<T>(
    config: &Config,
    work: impl AsyncFnOnce(&Htm) -> htm_core::Result<T>,
) -> Result<T, CliError> {
    let session = Session::open(config).await?;
    let result = work(&session.htm()).await;
    session.close().await;
    Ok(result?)
}

fn describe(Found { node, stages }: &Found) -> String {
    let tags = node.tags.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let mut rows: Vec<(&str, String)> = vec![
        ("node", node.id.to_string()),
        ("namespace", node.namespace.clone()),
        ("robot", node.robot.clone()),
        ("key", node.key.clone().unwrap_or_default()),
        ("at", node.created_at.to_rfc3339()),
        ("importance", node.importance.to_string()),
        ("tokens", format!("{} ({})", node.token_count, node.token_encoding)),
        ("source", node.source.clone().unwrap_or_default()),
        ("tags", tags),
    ];
    if node.metadata.as_object().is_some_and(|metadata| !metadata.is_empty()) {
        rows.push(("metadata", node.metadata.to_string()));
    }
    rows.extend(stages.iter().map(|stage| (stage.stage.as_str(), progress(&stage.state))));
    rows.retain(|(_, value)| !value.is_empty());
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, value) in rows {
        text.push_str(&format!("{name:width$}  {}\n", plain(&value)));
    }
    text.push('\n');
    text.push_str(&plain(&node.content));
    text
}

pub(crate) fn describe_status(status: &NodeStatus) -> String {
    let rows = status
        .stages
        .iter()
        .map(|stage| vec![stage.stage.to_string(), stage.state.name().into(), plain(&progress(&stage.state))])
        .collect();
    format!(
        "node {} written at {}\n{}",
        status.node,
        status.written_at.to_rfc3339(),
        table(&["stage", "state", ""], &[], rows)
    )
}

/// How far a stage is, in one sentence.
fn progress(state: &StageState) -> String {
    let time = |at: &Option<DateTime<Utc>>| at.map(|at| at.to_rfc3339()).unwrap_or_default();
    match state {
        StageState::Pending { attempts: 0, last_error: None, .. } => "waits for a worker".into(),
        StageState::Pending { attempts: 0, last_error: Some(error), due_at, .. } => {
            format!("put off: {error}; again at {}", time(due_at))
        }
        StageState::Pending { attempts, max_attempts, due_at, last_error } => format!(
            "attempt {attempts} of {max_attempts} failed: {}; again at {}",
            last_error.as_deref().unwrap_or("unknown"),
            time(due_at)
        ),
        StageState::Parked { why, until, .. } if why == "budget" => format!(
            "its namespace's budget is spent; again at {}, or when the budget is raised (`htm providers budget`)",
            time(until)
        ),
        StageState::Parked { last_error, .. } => format!(
            "put off for too long: {}; `htm jobs retry` when that is mended",
            last_error.as_deref().unwrap_or("unknown")
        ),
        StageState::Running { attempt, worker } => format!("attempt {attempt} by {worker}"),
        StageState::Done { model, outcome, after_ms, .. } => {
            format!("{outcome} by {model}, {after_ms:.0} ms after the write")
        }
        StageState::Dead { attempts, error } => format!("dead letter after {attempts} attempts: {error}"),
        StageState::Stranded => "no job and no result: `htm jobs audit`".into(),
    }
}
