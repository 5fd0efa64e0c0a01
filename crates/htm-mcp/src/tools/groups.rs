//! The tools of groups: robots that share one working memory.

mod memberships;

use htm_core::groups::{AfterShutdown, TransferTarget, Transferred};
use htm_core::{
    ContextHeader, ContextOptions, DEFAULT_BUDGET, Group, GroupInfo, GroupRole, JoinOptions, MAX_BUDGET,
    NodeId, Outcome, RecallQuery, Scope,
};
use serde_json::json;

pub(crate) use self::memberships::Memberships;
use super::context::{RESERVE, framed, smaller_budget};
use super::recall::{LIMIT, STRATEGY, TAGS, TIMEFRAME, filter, strategy};
use super::remember::{memory, not_taken_over};
use super::{Answer, Effect, ToolSpec, Who, answer_hits};
use crate::arguments::{Argument, Arguments, Kind, MAX_TOKENS, NAMESPACE, ROBOT, argument};
use crate::error::ToolError;
use crate::text::{compact, count, name, names, plain, rows};
use crate::{McpServer, codes};

const GROUP: Argument = argument("group", Kind::Text).required();

/// The tokens of a list of groups.
const LIST_TOKENS: usize = 2_000;

pub(super) const TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "list_groups",
        about: "The groups of robots that share a working memory, with their members.",
        arguments: &[NAMESPACE],
        effect: Effect::Reads,
        call: |server, arguments| Box::pin(list(server, arguments)),
    },
    ToolSpec {
        name: "get_group",
        about: "A group, its members and their roles.",
        arguments: &[GROUP, NAMESPACE],
        effect: Effect::Reads,
        call: |server, arguments| Box::pin(get(server, arguments)),
    },
    ToolSpec {
        name: "create_group",
        about: "Create a group and join it.",
        arguments: &[
            GROUP,
            argument("budget", Kind::Whole(1, MAX_BUDGET as i64, Some(DEFAULT_BUDGET as i64)))
                .about("Tokens of its working memory"),
            NAMESPACE,
            ROBOT,
        ],
        effect: Effect::Adds,
        call: |server, arguments| Box::pin(create(server, arguments)),
    },
    ToolSpec {
        name: "join_group",
        about: "Join a group that exists, until leave_group or the end of this server. Active members write, passive ones take over.",
        arguments: &[GROUP, argument("role", Kind::Choice(&["active", "passive"])), NAMESPACE, ROBOT],
        effect: Effect::Sets,
        call: |server, arguments| Box::pin(join_known(server, arguments)),
    },
    ToolSpec {
        name: "leave_group",
        about: "End the robot's membership of a group.",
        arguments: &[GROUP, NAMESPACE, ROBOT],
        effect: Effect::Sets,
        call: |server, arguments| Box::pin(leave(server, arguments)),
    },
    ToolSpec {
        name: "group_remember",
        about: "As remember, and add the memory to the group's working memory.",
        arguments: REMEMBER,
        effect: Effect::Adds,
        call: |server, arguments| Box::pin(remember(server, arguments)),
    },
    ToolSpec {
        name: "group_recall",
        about: "As recall; the hits enter the group's working memory.",
        arguments: &[
            GROUP,
            argument("query", Kind::Text).required(),
            LIMIT,
            TIMEFRAME,
            TAGS,
            STRATEGY,
            MAX_TOKENS,
            NAMESPACE,
            ROBOT,
        ],
        effect: Effect::Adds,
        call: |server, arguments| Box::pin(recall(server, arguments)),
    },
    ToolSpec {
        name: "group_context",
        about: "The group's working memory as whole texts.",
        arguments: &[GROUP, MAX_TOKENS, NAMESPACE, ROBOT],
        effect: Effect::Reads,
        call: |server, arguments| Box::pin(context(server, arguments)),
    },
    ToolSpec {
        name: "promote_robot",
        about: "Make a member of a group active.",
        arguments: &[GROUP, argument("member", Kind::Text).required(), NAMESPACE],
        effect: Effect::Sets,
        call: |server, arguments| Box::pin(set_role(server, arguments, GroupRole::Active)),
    },
    ToolSpec {
        name: "demote_robot",
        about: "Make a member of a group passive.",
        arguments: &[GROUP, argument("member", Kind::Text).required(), NAMESPACE],
        effect: Effect::Sets,
        call: |server, arguments| Box::pin(set_role(server, arguments, GroupRole::Passive)),
    },
    ToolSpec {
        name: "transfer_group",
        about: "Move memories from a group's working memory to another group's or a robot's.",
        arguments: &[
            GROUP,
            argument("ids", Kind::Numbers).about("Default: all"),
            argument("to_group", Kind::Text),
            argument("to_robot", Kind::Text),
            NAMESPACE,
        ],
        effect: Effect::Removes,
        call: |server, arguments| Box::pin(transfer(server, arguments)),
    },
    ToolSpec {
        name: "shutdown_group",
        about: "Close a group and end all memberships. Its memories stay.",
        arguments: &[GROUP, argument("confirm", Kind::Flag), argument("clear", Kind::Flag), NAMESPACE],
        effect: Effect::Removes,
        call: |server, arguments| Box::pin(shutdown(server, arguments)),
    },
];

const REMEMBER: &[Argument] = &{
    let own = super::remember::ARGUMENTS;
    let mut all = [GROUP; super::remember::ARGUMENTS.len() + 1];
    let mut place = 0;
    while place < own.len() {
        all[place + 1] = own[place];
        place += 1;
    }
    all
};

/// The group of a call.
fn group(server: &McpServer, arguments: &Arguments) -> (Group, String, Who) {
    let who = Who::of(server, arguments);
    let name = arguments.owned("group").unwrap_or_default();
    (server.htm().group(&name).namespace(&who.namespace), name, who)
}

async fn list(server: McpServer, arguments: Arguments) -> Result<Answer, ToolError> {
    let who = Who::of(&server, &arguments);
    let all = server.htm().groups(&Scope::Namespace(who.namespace)).await?;
    Ok(answer(&server, &all))
}

/// The groups, a line each.
fn answer(server: &McpServer, all: &[GroupInfo]) -> Answer {
    let header = match all.len() {
        0 => "No groups.".to_owned(),
        number => format!("{}.", count(number, "group")),
    };
    let encoding = server.htm().settings().token_encoding;
    let (text, shown) = rows(&header, all.iter().map(describe), LIST_TOKENS, encoding);
    Answer::new(text, json!({ "groups": compact(&all[..shown]), "left_out": all.len() - shown }))
}

fn describe(group: &GroupInfo) -> String {
    let members = group.members.iter().map(|member| {
        let lost = if member.alive { "" } else { ", lost" };
        format!("{} ({}{lost})", name(&member.robot), member.role)
    });
    let members: Vec<String> = members.collect();
    format!(
        "{} | {} | {} in working memory, {} of {} tokens | members: {}",
        name(&group.name),
        if group.closed_at.is_some() { "closed" } else { "open" },
        count(group.nodes, "memory"),
        group.tokens,
        group.max_tokens,
        if members.is_empty() { "none".into() } else { members.join(", ") }
    )
}

async fn get(server: McpServer, arguments: Arguments) -> Result<Answer, ToolError> {
    let (group, ..) = group(&server, &arguments);
    let info = group.info().await?;
    Ok(Answer::new(describe(&info), json!({ "group": compact(&info) })))
}

async fn create(server: McpServer, arguments: Arguments) -> Result<Answer, ToolError> {
    let (group, called, _) = group(&server, &arguments);
    match group.info().await {
        Ok(info) if info.closed_at.is_none() => {
            return Err(ToolError::new(
                codes::GROUP_TAKEN,
                format!("there is a group {} already", name(&called)),
            ));
        }
        Ok(_) => {}
        Err(error) if error.code() == "group_unknown" => {}
        Err(error) => return Err(error.into()),
    }
    join(server, arguments).await
}

/// A mistyped name makes no group.
async fn join_known(server: McpServer, arguments: Arguments) -> Result<Answer, ToolError> {
    group(&server, &arguments).0.info().await?;
    join(server, arguments).await
}

async fn join(server: McpServer, arguments: Arguments) -> Result<Answer, ToolError> {
    let (group, called, who) = group(&server, &arguments);
    let mut options = JoinOptions { role: role(&arguments), ..JoinOptions::default() };
    if let Some(tokens) = arguments.whole("budget") {
        options.max_tokens = tokens.unsigned_abs();
    }
    let member = group.join(&who.robot, options).await?;
    let role = member.role();
    server.memberships().add(&who, &called, member).await;
    let text = format!("{} is a member of {}, {role}.", name(&who.robot), name(&called));
    Ok(Answer::new(text, json!({ "group": called, "robot": who.robot, "role": role })))
}

fn role(arguments: &Arguments) -> Option<GroupRole> {
    arguments.text("role").and_then(|role| role.parse().ok())
}

async fn leave(server: McpServer, arguments: Arguments) -> Result<Answer, ToolError> {
    let (group, called, who) = group(&server, &arguments);
    server.memberships().remove(&who, &called).await;
    // Also a membership of another process.
    group.remove(&who.robot).await?;
    let text = format!("{} is no longer a member of {}.", name(&who.robot), name(&called));
    Ok(Answer::new(text, json!({ "group": called, "robot": who.robot })))
}

async fn remember(server: McpServer, arguments: Arguments) -> Result<Answer, ToolError> {
    let (_, called, who) = group(&server, &arguments);
    let member = server.memberships().get(&who, &called).await?;
    let receipt = member.remember(memory(&server, &arguments)?).await?;
    let mut text = format!("[{}] is in the working memory of {}.", receipt.node, name(&called));
    if receipt.outcome != Outcome::Written {
        text.push_str(&not_taken_over(&server, &arguments, receipt.node).await);
    }
    Ok(Answer::new(text, compact(receipt)))
}

async fn recall(server: McpServer, arguments: Arguments) -> Result<Answer, ToolError> {
    let (_, called, who) = group(&server, &arguments);
    let member = server.memberships().get(&who, &called).await?;
    let query = RecallQuery {
        filter: filter(&server, &arguments, &who.namespace)?,
        strategy: strategy(&server, &arguments)?,
        ..RecallQuery::new(arguments.text("query").unwrap_or_default()).limit(arguments.size("limit"))
    };
    let found = member.recall(&query).await?;
    let max_tokens = arguments.size("max_tokens");
    let mut answer = answer_hits(server.htm(), &found.recalled, &query, max_tokens).await?;
    answer.facts["is_in_working_memory"] = found.is_in_working_memory.into();
    Ok(answer)
}

async fn context(server: McpServer, arguments: Arguments) -> Result<Answer, ToolError> {
    let (_, called, who) = group(&server, &arguments);
    let member = server.memberships().get(&who, &called).await?;
    let encoding = server.htm().settings().token_encoding;
    let max_tokens = arguments.size("max_tokens");
    let mut budget = max_tokens.saturating_sub(RESERVE);
    loop {
        let options = ContextOptions::new(budget).header(ContextHeader::AgeAndSource);
        let mut context = member.context(&options).await?;
        context.text = plain(&context.text);
        let answer = framed(&format!("The working memory of {}", name(&called)), &context);
        match smaller_budget(budget, &answer, max_tokens, encoding) {
            Some(smaller) => budget = smaller,
            None => return Ok(answer),
        }
    }
}

async fn set_role(server: McpServer, arguments: Arguments, role: GroupRole) -> Result<Answer, ToolError> {
    let (group, called, _) = group(&server, &arguments);
    let member = arguments.text("member").unwrap_or_default();
    match role {
        GroupRole::Active => group.promote(member).await?,
        GroupRole::Passive => group.demote(member).await?,
    }
    let text = format!("{} is {role} in {}.", name(member), name(&called));
    Ok(Answer::new(text, json!({ "group": called, "robot": member, "role": role })))
}

async fn transfer(server: McpServer, arguments: Arguments) -> Result<Answer, ToolError> {
    let (group, ..) = group(&server, &arguments);
    let what = match arguments.has("ids") {
        true => Transferred::Nodes(arguments.wholes("ids").into_iter().map(NodeId).collect()),
        false => Transferred::All,
    };
    let to = match (arguments.owned("to_group"), arguments.owned("to_robot")) {
        (Some(group), None) => TransferTarget::Group(group),
        (None, Some(robot)) => TransferTarget::Robot(robot),
        _ => return Err(ToolError::new(codes::ARGUMENTS_CONFLICT, "give either to_group or to_robot")),
    };
    let receipt = group.transfer(&what, &to).await?;
    let text =
        format!("{} moved: {}", count(receipt.transferred.len(), "memory"), names(&receipt.transferred));
    Ok(Answer::new(text, compact(&receipt)))
}

async fn shutdown(server: McpServer, arguments: Arguments) -> Result<Answer, ToolError> {
    let (group, called, _) = group(&server, &arguments);
    if !arguments.flag("confirm") {
        let info = group.info().await?;
        let text = format!(
            "Nothing is done yet; to shut it down: call again with confirm: true.\n{}",
            describe(&info)
        );
        return Ok(Answer::new(text, json!({ "group": compact(&info) })));
    }
    let after = if arguments.flag("clear") { AfterShutdown::Clear } else { AfterShutdown::Keep };
    let members = group.shutdown(after).await?;
    let text = format!("{} is closed; it had {}.", name(&called), count(members, "member"));
    Ok(Answer::new(text, json!({ "group": called, "members": members })))
}
