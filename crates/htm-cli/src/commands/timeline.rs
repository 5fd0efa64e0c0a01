//! `htm timeline` and `htm neighbours`.

use std::process::ExitCode;

use chrono::{DateTime, Utc};
use console::{Alignment, measure_text_width, pad_str, style};
use htm_core::{
    AsOf, Correction, Degraded, Grouping, Htm, Neighbours, Node, TimePhrase, Timeframe, TimelineGroup,
    TimelineQuery, Zone, read_instant,
};
use htm_runtime::config::Config;

use super::filter::filter;
use super::notes;
use super::recall::{describe_time, limit};
use super::relations::describe_successors;
use super::runtime::{with_htm, with_runtime};
use crate::args::{NeighboursArgs, TimelineArgs};
use crate::error::CliError;
use crate::output::{Output, count, one_line};

pub(crate) async fn run(config: &Config, args: TimelineArgs, output: &Output) -> Result<ExitCode, CliError> {
    let grouping: Grouping = args.by.parse()?;
    let topic = args.topic.join(" ");
    let query = TimelineQuery {
        topic: (!args.topic.is_empty()).then_some(topic),
        filter: filter(config, args.filter)?,
        strategy: args.strategy.as_deref().unwrap_or(config.recall.strategy.as_ref()).parse()?,
        correct: !args.no_correct,
        limit: limit(config, args.limit.as_deref())?,
        as_of: args
            .as_of
            .as_deref()
            .map(|at| read_instant(at, Utc::now(), &config.time.settings()))
            .transpose()?,
    };
    let (mut timeline, notes) = with_runtime(config, async |runtime| {
        let htm = runtime.htm();
        let mut timeline = htm.conversation_timeline(&query).await?;
        notes::name_commands(&mut timeline.degraded);
        let topic = query.topic.as_deref().unwrap_or_default();
        let mut notes = notes::of(&htm, topic, &query.filter, &[], timeline.time_phrase.as_ref()).await?;
        if timeline.entries.len() >= query.limit {
            let is_of_topic = timeline.entries.iter().any(|entry| entry.score.is_some());
            let which = if is_of_topic { "most relevant" } else { "latest" };
            let these = match query.limit {
                1 => format!("this is the {which}"),
                limit => format!("these are the {limit} {which}"),
            };
            notes.push(format!("{these}; there may be more: `--limit`"));
        }
        Ok((timeline, notes))
    })
    .await?;
    let zone = config.time.settings().zone;
    let shown = Shown {
        timeframe: std::mem::take(&mut timeline.timeframe),
        time_phrase: timeline.time_phrase.take(),
        models: std::mem::take(&mut timeline.models),
        instead_of: timeline.instead_of.take(),
        corrected: std::mem::take(&mut timeline.corrected),
        relaxed: timeline.relaxed,
        degraded: std::mem::take(&mut timeline.degraded),
        as_of: timeline.as_of.take(),
        groups: timeline.into_groups(grouping, &zone),
        notes,
    };
    output.value(&shown, || describe(&shown, grouping, &zone));
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn neighbours(
    config: &Config,
    args: NeighboursArgs,
    output: &Output,
) -> Result<ExitCode, CliError> {
    let neighbours = async |htm: &Htm| htm.neighbours(args.node, args.before, args.after).await;
    let found = with_htm(config, neighbours).await?;
    output.value(&found, || describe_neighbours(&found, &config.time.settings().zone));
    Ok(ExitCode::SUCCESS)
}

/// A timeline in groups.
#[derive(serde::Serialize)]
struct Shown {
    groups: Vec<TimelineGroup>,
    timeframe: Timeframe,
    time_phrase: Option<TimePhrase>,
    models: Vec<String>,
    instead_of: Option<String>,
    corrected: Vec<Correction>,
    relaxed: bool,
    degraded: Vec<Degraded>,
    #[serde(skip_serializing_if = "Option::is_none")]
    as_of: Option<AsOf>,
    /// Notes on filters that name something unknown, and on memories that are not shown.
    notes: Vec<String>,
}

fn describe(shown: &Shown, grouping: Grouping, zone: &Zone) -> String {
    let nodes = || shown.groups.iter().flat_map(|group| group.entries.iter().map(|entry| &entry.node));
    let width = nodes().map(|node| measure_text_width(&who(node))).max().unwrap_or(0);
    let time = |at: DateTime<Utc>, format: &str| zone.local(at).format(format).to_string();
    let mut text = String::new();
    for group in &shown.groups {
        let (heading, format) = match grouping {
            Grouping::Day => (time(group.first_at, "%Y-%m-%d, %A"), "%H:%M"),
            Grouping::Session => (
                match &group.name {
                    Some(session) => format!("session {}", one_line(session, 60)),
                    None => "no session".into(),
                },
                "%Y-%m-%d %H:%M",
            ),
        };
        text.push_str(&format!("{}\n", style(heading).bold()));
        for entry in &group.entries {
            text.push_str(&line("  ", &entry.node, &time(entry.node.created_at, format), width));
            for successor in describe_successors(&entry.node, zone) {
                text.push_str(&format!("    {successor}\n"));
            }
        }
    }
    if shown.groups.is_empty() {
        text.push_str("nothing found\n");
    }
    text.push_str(&count(nodes().count(), "memory"));
    if let Some(time) = describe_time(&shown.timeframe, shown.time_phrase.as_ref(), zone) {
        text.push_str(&format!("\ntime: {time}"));
    }
    text.push_str(&notes::describe_as_of(shown.as_of.as_ref(), zone));
    text.push_str(&notes::describe_model(&shown.models, shown.instead_of.as_deref()));
    text.push_str(&notes::describe_words(&shown.corrected, shown.relaxed));
    text.push_str(&notes::describe_degraded(&shown.degraded, &shown.models));
    text.push_str(&notes::describe(&shown.notes));
    text
}

fn describe_neighbours(found: &Neighbours, zone: &Zone) -> String {
    let all = || found.before.iter().chain([&found.node]).chain(&found.after);
    let width = all().map(|node| measure_text_width(&who(node))).max().unwrap_or(0);
    let mut text = match &found.node.session {
        Some(session) => format!("{}\n", style(format!("session {}", one_line(session, 60))).bold()),
        None => format!("{}\n", style(format!("namespace {}", one_line(&found.node.namespace, 60))).bold()),
    };
    for node in all() {
        let mark = if node.id == found.node.id { "> " } else { "  " };
        text.push_str(&line(
            mark,
            node,
            &zone.local(node.created_at).format("%Y-%m-%d %H:%M").to_string(),
            width,
        ));
    }
    text.trim_end().into()
}

/// A memory as one line. `width` is that of the longest name, in columns of a terminal.
fn line(mark: &str, node: &Node, time: &str, width: usize) -> String {
    let id = style(format!("node {}", node.id)).dim();
    let who = who(node);
    let who = pad_str(&who, width, Alignment::Left, None);
    format!("{mark}{time}  {who}  {}  {id}\n", one_line(&node.content, 100))
}

/// The speaker, or else the robot.
fn who(node: &Node) -> String {
    one_line(node.speaker.as_ref().unwrap_or(&node.robot), 20)
}
