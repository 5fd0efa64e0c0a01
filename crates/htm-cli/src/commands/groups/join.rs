//! `htm groups join`: a member in the foreground.

use std::io::IsTerminal;
use std::process::ExitCode;

use htm_core::fault::Fault;
use htm_core::groups::{self, GroupRecalled};
use htm_core::{
    ContextOptions, GroupEvent, GroupMember, GroupRole, JoinOptions, Memory, NodeId, RecallQuery, Zone,
};
use htm_runtime::Runtime;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;

use super::{group, in_table};
use crate::args::JoinArgs;
use crate::codes;
use crate::commands::context::describe_superseded;
use crate::commands::notes;
use crate::error::CliError;
use crate::output::{Output, count, one_line, plain};

pub(super) async fn run(runtime: &Runtime, args: JoinArgs, output: &Output) -> Result<ExitCode, CliError> {
    let config = runtime.config();
    let zone = config.time.settings().zone;
    let stop = output.stop();
    let robot = args.robot.as_deref().unwrap_or(config.memory.robot_name());
    let role = match (args.active, args.passive) {
        (true, _) => Some(GroupRole::Active),
        (_, true) => Some(GroupRole::Passive),
        _ => None,
    };
    let max_tokens = args.max_tokens.unwrap_or(JoinOptions::default().max_tokens);
    let options = JoinOptions { role, lease: args.lease, max_tokens };
    let member = group(&runtime.htm(), &args.group).join(robot, options).await?;
    let mut events = member.events();
    let nodes = member.entries().await.len();
    let mut joined = json!({ "event": "joined", "robot": robot, "role": member.role(), "nodes": nodes });
    // The first member has set the budget for good.
    if let Some(asked) = args.max_tokens {
        let budget = member.stats().await?.max_tokens;
        joined["max_tokens"] = budget.into();
        if budget as u64 != asked {
            joined["note"] = format!("the group keeps its budget of {}", count(budget, "token")).into();
        }
    }
    say(output, joined.into());
    let mut lines = lines_of_stdin();
    // Of the first line that was refused. A person has seen the error and may have typed the line again.
    let mut fault = None;
    let is_person = std::io::stdin().is_terminal();
    let ended = loop {
        tokio::select! {
            () = stop.cancelled() => break Ok(false),
            event = events.recv() => match event {
                Ok(event) => {
                    say(output, serde_json::to_value(&event).unwrap_or_default().into());
                    match event {
                        GroupEvent::Closed => return Ok(exit_code(fault.filter(|_| !is_person))),
                        GroupEvent::Replaced => {
                            return Err(groups::replaced(&args.group.group, robot).into());
                        }
                        _ => {}
                    }
                }
                // Only older events were dropped, never the last one, which ends the loop.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => break Ok(false),
            },
            line = lines.recv() => match line.transpose() {
                Err(error) => break Err(CliError::io("standard input cannot be read as UTF-8")(error)),
                Ok(None) => break Ok(true),
                Ok(Some(line)) if line.trim().is_empty() => {}
                Ok(Some(line)) => match obey(&member, &line, &zone).await {
                    Ok(answer) => say(output, answer),
                    Err(error) => {
                        fault.get_or_insert(error.fault);
                        refuse(output, &error);
                    }
                },
            },
        }
    };
    let left = member.leave().await;
    if left.is_ok() {
        say(output, json!({ "event": "left" }).into());
    }
    let is_at_end = ended?;
    left?;
    Ok(exit_code(fault.filter(|_| is_at_end && !is_person)))
}

fn exit_code(fault: Option<Fault>) -> ExitCode {
    fault.map_or(ExitCode::SUCCESS, |fault| ExitCode::from(fault.exit_code()))
}

/// The lines of standard input. A detached thread reads them, because a read of a terminal cannot be cancelled.
fn lines_of_stdin() -> mpsc::Receiver<std::io::Result<String>> {
    let (sender, receiver) = mpsc::channel(1);
    std::thread::spawn(move || {
        for line in std::io::stdin().lines() {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// The commands on standard input.
const COMMANDS: &str =
    "/recall QUERY, /add NODE, /remove NODE, /touch NODE, /memory, /context TOKENS, /members, /sync";
/// The tokens of a context without a number in the command.
const CONTEXT_TOKENS: usize = 4_000;

/// A parsed line of standard input.
enum Command<'a> {
    Add(NodeId),
    Remove(NodeId),
    Touch(NodeId),
    Memory,
    Context(usize),
    Members,
    Sync,
    Recall(&'a str),
    Remember(&'a str),
}

impl<'a> Command<'a> {
    /// Parses a line. The error explains an invalid command.
    fn read(line: &'a str) -> Result<Self, String> {
        let said = line.trim();
        if !said.starts_with('/') {
            return Ok(Self::Remember(line));
        }
        let (command, argument) = said.split_once(char::is_whitespace).unwrap_or((said, ""));
        let argument = argument.trim();
        let node = || {
            argument
                .parse()
                .map(NodeId)
                .map_err(|_| format!("{command} takes a node's number, not `{argument}`"))
        };
        Ok(match (command, argument) {
            ("/add", _) => Self::Add(node()?),
            ("/remove", _) => Self::Remove(node()?),
            ("/touch", _) => Self::Touch(node()?),
            ("/memory", "") => Self::Memory,
            ("/members", "") => Self::Members,
            ("/sync", "") => Self::Sync,
            ("/recall", "") => return Err(format!("{command} takes a query")),
            ("/recall", query) => Self::Recall(query),
            ("/context", "") => Self::Context(CONTEXT_TOKENS),
            ("/context", tokens) => match tokens.parse() {
                Ok(1..) => Self::Context(tokens.parse().unwrap_or(CONTEXT_TOKENS)),
                _ => return Err(format!("{command} takes a number of tokens, not `{tokens}`")),
            },
            ("/memory" | "/members" | "/sync", more) => {
                return Err(format!("{command} takes nothing, not `{more}`"));
            }
            _ => return Err(format!("`{command}` is not a command")),
        })
    }
}

/// The answer to a line: an event, and its text for people unless its fields are that.
struct Answer {
    event: Value,
    text: Option<String>,
}

impl From<Value> for Answer {
    fn from(event: Value) -> Self {
        Self { event, text: None }
    }
}

/// Executes a line of standard input.
async fn obey(member: &GroupMember, line: &str, zone: &Zone) -> Result<Answer, CliError> {
    let command = Command::read(line)
        .map_err(|what| CliError::new(codes::USAGE, what).with_hint(format!("use one of: {COMMANDS}")))?;
    let event = match command {
        Command::Add(node) => json!({ "event": "added", "node": node, "evicted": member.add(node).await? }),
        Command::Remove(node) => return Ok(of_node("removed", node, member.remove(node).await?)),
        Command::Touch(node) => return Ok(of_node("touched", node, member.touch(node).await?)),
        Command::Memory => {
            member.sync().await?;
            let mut nodes: Vec<NodeId> = member.entries().await.iter().map(|entry| entry.node).collect();
            nodes.sort_unstable();
            json!({ "event": "memory", "nodes": nodes })
        }
        Command::Context(tokens) => {
            let context = member.context(&ContextOptions::new(tokens)).await?;
            let text = match (context.text.is_empty(), context.left_out.len()) {
                (false, _) => plain(&context.text) + &describe_superseded(&context.superseded),
                (true, 0) => "the working memory is empty".into(),
                (true, left_out) => {
                    let (tokens, left_out) = (count(tokens, "token"), count(left_out, "memory"));
                    format!("nothing fits into {tokens}; left out: {left_out}")
                }
            };
            let text = Some(text);
            let event = json!({
                "event": "context",
                "tokens": context.tokens,
                "text": context.text,
                "superseded": context.superseded,
            });
            return Ok(Answer { event, text });
        }
        Command::Members => {
            let members = member.members().await?;
            let version = members.iter().map(|it| it.seen_version).max().unwrap_or_default();
            let text = Some(in_table(&members, version, zone));
            return Ok(Answer { event: json!({ "event": "members", "members": members }), text });
        }
        Command::Sync => {
            member.sync().await?;
            json!({ "event": "in_step", "nodes": member.entries().await.len() })
        }
        Command::Recall(query) => {
            let mut found = member.recall(&RecallQuery::new(query)).await?;
            notes::name_commands(&mut found.recalled.degraded);
            let hits = found.recalled.hits.iter();
            let hits: Vec<Value> =
                hits.map(|hit| json!({ "node": hit.node.id, "content": hit.node.content })).collect();
            let event = json!({
                "event": "recalled",
                "hits": hits,
                "corrected": found.recalled.corrected,
                "relaxed": found.recalled.relaxed,
                "degraded": found.recalled.degraded,
                "in_working_memory": found.is_in_working_memory,
                "evicted": found.evicted,
            });
            return Ok(Answer { event, text: Some(describe_recalled(&found)) });
        }
        Command::Remember(line) => {
            json!({ "event": "remembered", "node": member.remember(Memory::new(line)).await?.node })
        }
    };
    Ok(event.into())
}

/// The answer to a command about a node, which may not have been in the working memory.
fn of_node(event: &str, node: NodeId, was_there: bool) -> Answer {
    let text = (!was_there).then(|| format!("node {node} was not there"));
    Answer { event: json!({ "event": event, "node": node, "was_there": was_there }), text }
}

fn describe_recalled(found: &GroupRecalled) -> String {
    let recalled = &found.recalled;
    let place = if found.is_in_working_memory { "in" } else { "not in" };
    let mut text = format!("recalled  {}, {place} the working memory", count(recalled.hits.len(), "hit"));
    for hit in &recalled.hits {
        text.push_str(&format!("\n  node {}: {}", hit.node.id, one_line(&hit.node.content, 200)));
    }
    if !found.evicted.is_empty() {
        let evicted: Vec<String> = found.evicted.iter().map(ToString::to_string).collect();
        text.push_str(&format!("\n  evicted {}", evicted.join(", ")));
    }
    text.push_str(&notes::describe_words(&recalled.corrected, recalled.relaxed));
    text + &notes::describe_degraded(&recalled.degraded, &recalled.models)
}

/// Prints an event, as a JSON object or for people.
fn say(output: &Output, Answer { event, text }: Answer) {
    output.value(&event, || text.unwrap_or_else(|| describe(&event)));
}

/// Prints the error of a line. For a program it is the answer to the line, among those to others.
fn refuse(output: &Output, error: &CliError) {
    let CliError { code, message, hint, .. } = error;
    match output.is_json() {
        true => output.json(&json!({ "event": "error", "code": code, "message": message, "hint": hint })),
        false => output.error(error),
    }
}

/// The fields of an event on a line: numbers, names, and lists of them.
fn describe(event: &Value) -> String {
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), |text| one_line(text, 200));
    let mut words = vec![word(&event["event"]).replace('_', " ")];
    for (name, value) in event.as_object().into_iter().flatten().filter(|(name, _)| *name != "event") {
        let value = match value.as_array().map(Vec::as_slice) {
            None => word(value),
            Some([]) => "none".into(),
            Some(list) => list.iter().map(word).collect::<Vec<_>>().join(", "),
        };
        words.push(format!("{} {value}", name.replace('_', " ")));
    }
    words.join("  ")
}
