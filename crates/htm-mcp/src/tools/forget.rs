//! `forget` and `restore`.

use htm_core::{Confirmation, ForgetPlan, Forgotten, NodeId};
use serde_json::json;

use super::{Answer, Effect, ToolSpec, Who};
use crate::arguments::{Argument, Arguments, ID, Kind, NAMESPACE, ROBOT, argument};
use crate::error::ToolError;
use crate::text::{self, compact, count};
use crate::{McpServer, codes};

pub(super) const ANY_ROBOT: Argument =
    argument("any_robot", Kind::Flag).about("Also memories of other robots");

/// The tokens of a plan.
const PLAN_TOKENS: usize = 2_000;

pub(super) const FORGET: ToolSpec = ToolSpec {
    name: "forget",
    about: "Forget a memory by id, or all that contain a text, when the user asks or it is wrong. Without confirm it only \
            shows what it would forget. By text, confirm with the plan that was shown. restore undoes it.",
    arguments: &[
        ID,
        argument("text", Kind::Text),
        argument("confirm", Kind::Flag),
        argument("plan", Kind::Text),
        ANY_ROBOT,
        NAMESPACE,
        ROBOT,
    ],
    effect: Effect::Removes,
    call: |server, arguments| Box::pin(forget(server, arguments)),
};

pub(super) const RESTORE: ToolSpec = ToolSpec {
    name: "restore",
    about: "Bring a forgotten memory back.",
    arguments: &[ID.required(), ANY_ROBOT, NAMESPACE, ROBOT],
    effect: Effect::Sets,
    call: |server, arguments| Box::pin(restore(server, arguments)),
};

async fn forget(server: McpServer, arguments: Arguments) -> Result<Answer, ToolError> {
    let who = Who::of(&server, &arguments);
    let caller = who.caller(&arguments);
    let htm = server.htm();
    let is_confirmed = arguments.flag("confirm");
    match (arguments.whole("id").map(NodeId), arguments.filled("text")) {
        (Some(_), None) if arguments.is_filled("plan") => {
            let error = ToolError::new(codes::ARGUMENTS_CONFLICT, "a plan is for text: an id needs none");
            Err(error.with_hint("leave out plan"))
        }
        (Some(node), None) => {
            if is_confirmed {
                return Ok(forgotten(&htm.forget(node, &caller, Confirmation::Confirmed).await?));
            }
            let plan = htm.plan_forget_node(node, &caller).await?;
            Ok(planned(&server, &plan, "forget it, call again with confirm: true", ""))
        }
        (None, Some(text)) => {
            let plan = htm.plan_forget(text, Some(&who.namespace), &caller).await?;
            let digest = plan.digest();
            let next = format!("forget them, call again with confirm: true, plan: \"{digest}\"");
            match arguments.filled("plan").filter(|_| is_confirmed) {
                Some(given) if given == digest && !plan.matches.is_empty() => {
                    Ok(forgotten(&htm.forget_planned(&plan, &caller, Confirmation::Confirmed).await?))
                }
                Some(_) => {
                    Ok(planned(&server, &plan, &next, "The matches have changed since the plan was made. "))
                }
                None => Ok(planned(&server, &plan, &next, "")),
            }
        }
        _ => Err(ToolError::new(codes::ARGUMENTS_CONFLICT, "give either id or text")),
    }
}

/// The memories that would be forgotten.
fn planned(server: &McpServer, plan: &ForgetPlan, next: &str, before: &str) -> Answer {
    let settings = server.htm().settings();
    let number = plan.matches.len();
    let mut header = format!(
        "{before}Nothing is forgotten yet. {}",
        match number {
            0 => "No memory matches".to_owned(),
            _ => format!("{} would be forgotten; to {next}", count(number, "memory")),
        }
    );
    if plan.more {
        header.push_str(". More match than one call forgets");
    }
    if plan.of_others > 0 {
        header.push_str(&format!(". {} of other robots match too (any_robot: true)", plan.of_others));
    }
    if number == 0 {
        header.push('.');
    }
    let rows = plan.matches.iter().map(|found| {
        let time = settings.time.zone.local(found.created_at).format("%Y-%m-%d %H:%M");
        format!("[{}] {time} | {} | {}", found.node, text::name(&found.robot), text::quoted(&found.excerpt))
    });
    let (text, shown) = text::rows(&header, rows, PLAN_TOKENS, settings.token_encoding);
    let mut facts = json!({
        "forgotten": [], "plan": plan.digest(), "matches": compact(&plan.matches[..shown]), "more": plan.more,
    });
    if plan.of_others > 0 {
        facts["of_others"] = plan.of_others.into();
    }
    Answer::new(text, facts)
}

fn forgotten(done: &Forgotten) -> Answer {
    let ids = done.forgotten.iter().map(|node| format!("[{node}]")).collect::<Vec<_>>();
    let mut text = match ids.len() {
        1..=20 => format!("Forgotten: {}. restore brings a memory back.", ids.join(" ")),
        number => format!("Forgotten: {}. restore brings a memory back.", count(number, "memory")),
    };
    if !done.left.is_empty() {
        text.push_str(&format!(" {} changed meanwhile and stay.", count(done.left.len(), "memory")));
    }
    Answer::new(text, compact(done))
}

async fn restore(server: McpServer, arguments: Arguments) -> Result<Answer, ToolError> {
    let who = Who::of(&server, &arguments);
    let node = NodeId(arguments.whole("id").unwrap_or_default());
    let restored = server.htm().restore(node, &who.caller(&arguments)).await?;
    Ok(Answer::new(format!("[{node}] is restored."), compact(restored)))
}
