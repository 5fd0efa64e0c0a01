//! `htm groups join`: a member in the foreground.

use std::time::Duration;

use htm_core::{ContextOptions, Error, GroupEvent, GroupMember, GroupRole, JoinOptions, Memory, NodeId};
use htm_runtime::{Session, shutdown};
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;

use super::group;
use crate::args::JoinArgs;
use crate::error::CliError;
use crate::output::{Output, one_line, plain};

pub(super) async fn run(session: &Session, args: JoinArgs, output: &Output) -> Result<(), CliError> {
    let config = session.config();
    let stop = shutdown::on_signal().map_err(CliError::io("signals cannot be handled"))?;
    let robot = args.robot.as_deref().unwrap_or(config.memory.robot_name());
    let role = match (args.active, args.passive) {
        (true, _) => Some(GroupRole::Active),
        (_, true) => Some(GroupRole::Passive),
        _ => None,
    };
    let lease = Duration::from_millis(config.groups.lease_ms);
    let options = JoinOptions { role, lease, max_tokens: config.groups.max_tokens };
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
                            let (robot, group) = (robot.to_owned(), args.group.group);
                            return Err(Error::from(htm_core::GroupError::Replaced { robot, group }).into());
                        }
                        _ => {}
                    }
                }
                // What was missed is in what comes next.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => break,
            },
            line = lines.recv() => match line.transpose().map_err(CliError::io("standard input cannot be read as UTF-8"))? {
                None => break,
                Some(line) if line.trim().is_empty() => {}
                Some(line) => match obey(&member, &line).await {
                    Ok(answer) => say(output, answer),
                    Err(error) => say(output, json!({
                        "event": "error", "code": error.code(), "message": error.to_string(), "hint": error.hint(),
                    })),
                },
            },
        }
    }
    member.leave().await?;
    say(output, json!({ "event": "left" }));
    Ok(())
}

/// Read by a thread that nobody waits for: a read of a terminal cannot be given up.
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

/// Does what a line of standard input says.
async fn obey(member: &GroupMember, line: &str) -> Result<Value, Error> {
    let (command, argument) = match line.trim().split_once(char::is_whitespace) {
        Some((command, argument)) => (command, argument.trim()),
        None => (line.trim(), ""),
    };
    // Zero is no node: what is no number is not found.
    let node = NodeId(argument.parse().unwrap_or(0));
    Ok(match command {
        "/add" => json!({ "event": "added", "node": node, "evicted": member.add(node).await? }),
        "/remove" => json!({ "event": "removed", "node": node, "was_there": member.remove(node).await? }),
        "/touch" => json!({ "event": "touched", "node": node, "was_there": member.touch(node).await? }),
        "/memory" => {
            member.sync().await?;
            let mut nodes: Vec<NodeId> = member.entries().await.iter().map(|entry| entry.node).collect();
            nodes.sort_unstable();
            json!({ "event": "memory", "nodes": nodes })
        }
        "/context" => {
            let context = member.context(&ContextOptions::new(argument.parse().unwrap_or(4_000))).await?;
            json!({ "event": "context", "tokens": context.tokens, "text": context.text })
        }
        "/members" => json!({ "event": "members", "members": member.members().await? }),
        _ => json!({ "event": "remembered", "node": member.remember(Memory::new(line)).await?.node }),
    })
}

/// An event: a JSON object, or a line for people.
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
