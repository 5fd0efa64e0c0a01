//! `remember`.

use chrono::Utc;
use htm_core::{Memory, Node, NodeId, Outcome, RelationKind, read_expiry, read_instant};
use serde_json::{Map, json};

use super::{Answer, Effect, ToolSpec, Who};
use crate::McpServer;
use crate::arguments::{Argument, Arguments, Kind, NAMESPACE, ROBOT, argument};
use crate::error::ToolError;
use crate::text::{compact, name, plain};

/// The attributes of a memory, which a group's memory has too.
pub(super) const ARGUMENTS: &[Argument] = &[
    argument("text", Kind::Text).required().about("One fact, clear on its own"),
    argument("tags", Kind::Texts).about("Such as database:postgresql; more are added"),
    argument("importance", Kind::Number(1, 10, Some(1)))
        .about("1–3 transient, 7–10 decisions and preferences"),
    argument("type", Kind::Text).about("fact, decision, preference"),
    argument("source", Kind::Text).about("File or URL"),
    argument("metadata", Kind::Object),
    argument("key", Kind::Text).about("Unique name"),
    argument("speaker", Kind::Text).about("Who said it"),
    argument("session", Kind::Text).about("Conversation"),
    argument("time", Kind::Text).about("When it happened, if not now: 2026-03-01, yesterday"),
    argument("expires", Kind::Text).about("12h, 90d or a date"),
    NAMESPACE,
    ROBOT,
];

const SUPERSEDES: Argument = argument("supersedes", Kind::Numbers).about("Ids of memories that it corrects");

pub(super) const REMEMBER: ToolSpec = ToolSpec {
    name: "remember",
    about: "Store something worth knowing in later conversations: a decision, preference, correction, fact or result. \
            Not what is only of this task. Saying it again is harmless.",
    arguments: &{
        let mut all = [SUPERSEDES; ARGUMENTS.len() + 1];
        let mut place = 0;
        while place < ARGUMENTS.len() {
            all[place] = ARGUMENTS[place];
            place += 1;
        }
        all
    },
    effect: Effect::Adds,
    call: |server, arguments| Box::pin(remember(server, arguments)),
};

async fn remember(server: McpServer, arguments: Arguments) -> Result<Answer, ToolError> {
    let who = Who::of(&server, &arguments);
    let memory = memory(&server, &arguments)?.namespace(&who.namespace).robot(&who.robot);
    // Before the robot is opened: a rejected memory registers none.
    memory.validate()?;
    // As is one that corrects what is not there.
    let corrected = arguments.wholes("supersedes").into_iter().map(NodeId);
    for node in corrected.clone() {
        server.htm().get(node).await?;
    }
    let robot = server.robot(&who).await?;
    let remembered = robot.remember(memory).await?;
    server.save(robot).await;
    let node = remembered.receipt.node;
    let mut text = match remembered.receipt.outcome {
        Outcome::Written => format!("Remembered as [{node}]."),
        Outcome::Existing => format!("[{node}] has this key and text already; nothing was written."),
        Outcome::Repeated => {
            format!(
                "[{node}] has this text already; it was counted as remembered again and got the new tags."
            )
        }
    };
    if remembered.receipt.outcome == Outcome::Repeated {
        text.push_str(&not_taken_over(&server, &arguments, node).await);
    }
    if who.robot != server.configured_robot() {
        text.push_str(&format!(" The robot is {}.", name(&who.robot)));
    }
    if remembered.intake.oversized.iter().any(|it| it.node == node) {
        text.push_str(" It is too long for the robot's working memory; recall finds it.");
    }
    let mut superseded = Vec::new();
    for to in corrected {
        let caller = who.caller(&arguments);
        match server.htm().relate(node, RelationKind::Supersedes, to, None, &caller).await {
            Ok(made) => {
                superseded.push(to);
                text.push_str(&format!(" It supersedes [{to}]."));
                for ended in made.removed {
                    text.push_str(&format!(" [{}] no longer supersedes [{node}].", ended.from));
                }
            }
            Err(error) => {
                text.push_str(&format!(" It does not supersede [{to}]: {}.", plain(&error.to_string())))
            }
        }
    }
    let mut facts = compact(&remembered);
    if !superseded.is_empty() {
        facts["supersedes"] = json!(superseded);
    }
    facts["namespace"] = json!(who.namespace);
    facts["robot"] = json!(who.robot);
    Ok(Answer::new(text, facts))
}

/// The differences between a memory that was there already and the call. Empty: there are none.
pub(super) async fn not_taken_over(server: &McpServer, arguments: &Arguments, node: NodeId) -> String {
    let has_others = arguments.number("importance") > Some(1.0)
        || ["type", "source", "metadata"].iter().any(|it| arguments.is_filled(it));
    if !has_others {
        return String::new();
    }
    // The repeat is stored. A memory that cannot be read now does not make it fail.
    match server.htm().get(node).await {
        Ok(node) => differences(arguments, &node),
        Err(_) => String::new(),
    }
}

fn differences(arguments: &Arguments, node: &Node) -> String {
    // 1 is the default: nobody may have given it.
    let importance = arguments.number("importance").map(|it| it as f32);
    let importance = importance
        .filter(|it| *it > 1.0 && *it != node.importance)
        .map(|_| format!("importance (it has {})", node.importance));
    let text = |what: &str, its: Option<&str>| {
        let given = arguments.filled(what).filter(|given| Some(*given) != its);
        given.map(|_| format!("{what} (it has {})", its.map_or_else(|| "none".into(), name)))
    };
    let metadata = arguments
        .object("metadata")
        .filter(|it| !it.is_empty() && node.metadata.as_object() != Some(*it))
        .map(|_| "metadata".to_owned());
    let all =
        [importance, text("type", node.kind.as_deref()), text("source", node.source.as_deref()), metadata];
    let all: Vec<String> = all.into_iter().flatten().collect();
    match all.is_empty() {
        true => String::new(),
        false => format!(
            " Not taken over: {}. To change that, remember it in other words, with supersedes.",
            all.join(", ")
        ),
    }
}

/// The memory of a call, without namespace and robot.
pub(super) fn memory(server: &McpServer, arguments: &Arguments) -> Result<Memory, ToolError> {
    let settings = server.htm().settings();
    let now = Utc::now();
    let tags = arguments.texts("tags");
    let tags = tags.iter().map(|tag| Ok(server.htm().tag_rules().normalise(tag)?));
    Ok(Memory {
        key: arguments.owned("key"),
        importance: arguments.number("importance").unwrap_or(1.0) as f32,
        source: arguments.owned("source"),
        kind: arguments.owned("type"),
        speaker: arguments.owned("speaker"),
        session: arguments.owned("session"),
        tags: tags.collect::<Result<_, htm_core::Error>>()?,
        metadata: arguments.object("metadata").cloned().unwrap_or_else(Map::new),
        at: arguments.text("time").map(|time| read_instant(time, now, &settings.time)).transpose()?,
        expires: arguments.text("expires").map(|time| read_expiry(time, now, &settings.time)).transpose()?,
        ..Memory::new(arguments.text("text").unwrap_or_default())
    })
}
