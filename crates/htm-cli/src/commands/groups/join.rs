//! `htm groups join`: a member in the foreground.

use htm_core::groups;
use htm_core::{
    ContextOptions, Error, GroupEvent, GroupMember, GroupRole, JoinOptions, Memory, NodeId, RecallQuery,
};
use htm_runtime::Session;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;

use super::group;
use crate::args::JoinArgs;
use crate::codes;
use crate::commands::notes;
use crate::error::{CliError, hint};
use crate::output::{Output, one_line, plain};

pub(super) async fn run(session: &Session, args: JoinArgs, output: &Output) -> Result<(), CliError> {
    let config = session.config();
    let stop = output.stop()?;
    let robot = args.robot.as_deref().unwrap_or(config.memory.robot_name());
    let role = match (args.active, args.passive) {
        (true, _) => Some(GroupRole::Active),
        (_, true) => Some(GroupRole::Passive),
        _ => None,
    };
    let options = JoinOptions { role, lease: args.lease, max_tokens: args.max_tokens };
    let member = group(&session.htm(), &args.group).join(robot, options).await?;
    let mut events = member.events();
    let nodes = member.entries().await.len();
    say(output, json!({ "event": "joined", "robot": robot, "role": member.role(), "nodes": nodes }));
    let mut lines = lines_of_stdin();
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            event = events.recv() => match event {
                Ok(event) => {
                    say(output, serde_json::to_value(&event).unwrap_or_default());
                    match event {
                        GroupEvent::Closed => return Ok(()),
                        GroupEvent::Replaced => {
                            return Err(groups::replaced(&args.group.group, robot).into());
                        }
                        _ => {}
                    }
                }
                // Only older events were dropped, never the last one, which ends the loop.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => break,
            },
            line = lines.recv() => match line.transpose().map_err(CliError::io("standard input cannot be read as UTF-8"))? {
                None => break,
                Some(line) if line.trim().is_empty() => {}
                Some(line) => say(output, match Command::read(&line) {
                    Ok(command) => obey(&member, command).await.unwrap_or_else(|error| {
                        refusal(error.code(), &error.to_string(), &hint(&error))
                    }),
                    Err(what) => refusal(codes::USAGE.name, &what, &format!("use one of: {COMMANDS}")),
                }),
            },
        }
    }
    member.leave().await?;
    say(output, json!({ "event": "left" }));
    Ok(())
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

/// Executes a line of standard input.
async fn obey(member: &GroupMember, command: Command<'_>) -> Result<Value, Error> {
    Ok(match command {
        Command::Add(node) => json!({ "event": "added", "node": node, "evicted": member.add(node).await? }),
        Command::Remove(node) => {
            json!({ "event": "removed", "node": node, "was_there": member.remove(node).await? })
        }
        Command::Touch(node) => {
            json!({ "event": "touched", "node": node, "was_there": member.touch(node).await? })
        }
        Command::Memory => {
            member.sync().await?;
            let mut nodes: Vec<NodeId> = member.entries().await.iter().map(|entry| entry.node).collect();
            nodes.sort_unstable();
            json!({ "event": "memory", "nodes": nodes })
        }
        Command::Context(tokens) => {
            let context = member.context(&ContextOptions::new(tokens)).await?;
            json!({ "event": "context", "tokens": context.tokens, "text": context.text })
        }
        Command::Members => json!({ "event": "members", "members": member.members().await? }),
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
            json!({
                "event": "recalled",
                "hits": hits,
                "corrected": found.recalled.corrected,
                "relaxed": found.recalled.relaxed,
                "degraded": found.recalled.degraded,
                "in_working_memory": found.is_in_working_memory,
                "evicted": found.evicted,
            })
        }
        Command::Remember(line) => {
            json!({ "event": "remembered", "node": member.remember(Memory::new(line)).await?.node })
        }
    })
}

fn refusal(code: &str, message: &str, hint: &str) -> Value {
    json!({ "event": "error", "code": code, "message": message, "hint": hint })
}

/// Prints an event, as a JSON object or as a line for people.
fn say(output: &Output, event: Value) {
    output.value(&event, || {
        let mut words = vec![event["event"].as_str().unwrap_or_default().to_owned()];
        for (name, value) in event.as_object().into_iter().flatten().filter(|(name, _)| *name != "event") {
            let value = match value {
                Value::String(text) if name == "text" => return plain(text),
                Value::String(text) => one_line(text, 200),
                other => other.to_string(),
            };
            words.push(format!("{name} {value}"));
        }
        words.join("  ")
    });
}
