//! `htm groups …`: robots that share a working memory.

mod join;

use std::process::ExitCode;

use htm_core::groups::{AfterShutdown, GroupMemberInfo, TransferTarget, Transferred};
use htm_core::{Group, GroupInfo, Htm, Zone};
use htm_runtime::Runtime;
use htm_runtime::config::Config;

use super::runtime::{with_connections, with_runtime};
use crate::again;
use crate::args::{GroupArgs, GroupsCommand, ShutdownArgs, TransferArgs};
use crate::duration::rough;
use crate::error::CliError;
use crate::instant::local;
use crate::output::{Output, count, one_line, plain, table};

pub(crate) async fn run(
    config: &Config,
    command: GroupsCommand,
    output: &Output,
) -> Result<ExitCode, CliError> {
    if let GroupsCommand::Shutdown(ShutdownArgs { yes: false, group, .. }) = &command {
        return Err(CliError::not_confirmed(format!("shutting down group {}", group.group)));
    }
    // The tasks of a member go on while it waits for what is typed.
    let is_member = matches!(&command, GroupsCommand::Join(_));
    let work = async |runtime: &Runtime| dispatch(runtime, command, output).await;
    match is_member {
        true => with_connections(config, work).await,
        false => with_runtime(config, work).await,
    }
}

async fn dispatch(runtime: &Runtime, command: GroupsCommand, output: &Output) -> Result<ExitCode, CliError> {
    let htm = runtime.htm();
    match command {
        GroupsCommand::List(args) => {
            let groups = htm.groups(&args.scope()).await?;
            output.value(&groups, || list(&groups));
        }
        GroupsCommand::Show(args) => {
            let info = group(&htm, &args).info().await?;
            output.value(&info, || describe(&info, &htm.settings().time.zone));
        }
        GroupsCommand::Join(args) => return join::run(runtime, args, output).await,
        GroupsCommand::Leave(args) => {
            group(&htm, &args.group).remove(&args.robot).await?;
            let (robot, group) = (&args.robot, &args.group.group);
            output.value(&serde_json::json!({ "group": group, "robot": robot }), || {
                format!("{} is no longer a member of {}", plain(robot), plain(group))
            });
        }
        GroupsCommand::Promote(args) => {
            group(&htm, &args.group).promote(&args.robot).await?;
            changed(output, &args.group.group, &args.robot, "active");
        }
        GroupsCommand::Demote(args) => {
            group(&htm, &args.group).demote(&args.robot).await?;
            changed(output, &args.group.group, &args.robot, "passive");
        }
        GroupsCommand::Transfer(args) => transfer(&htm, args, output).await?,
        GroupsCommand::Shutdown(args) => {
            let after = if args.clear { AfterShutdown::Clear } else { AfterShutdown::Keep };
            let members = group(&htm, &args.group).shutdown(after).await?;
            output.value(&serde_json::json!({ "group": args.group.group, "members": members }), || {
                format!("{} is shut down; it had {}", plain(&args.group.group), count(members, "member"))
            });
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn group(htm: &Htm, args: &GroupArgs) -> Group {
    let group = htm.group(&args.group);
    match &args.namespace {
        Some(namespace) => group.namespace(namespace),
        None => group,
    }
}

fn changed(output: &Output, group: &str, robot: &str, role: &str) {
    output.value(&serde_json::json!({ "group": group, "robot": robot, "role": role }), || {
        format!("{} is now {role} in {}", plain(robot), plain(group))
    });
}

async fn transfer(htm: &Htm, args: TransferArgs, output: &Output) -> Result<(), CliError> {
    let what = if args.all { Transferred::All } else { Transferred::Nodes(args.nodes) };
    let to = match (args.to_group, args.to_robot) {
        (Some(group), _) => TransferTarget::Group(group),
        (None, robot) => TransferTarget::Robot(robot.unwrap_or_default()),
    };
    let receipt = group(htm, &args.group).transfer(&what, &to).await?;
    output.value(&receipt, || {
        let transferred = count(receipt.transferred.len(), "node");
        format!("{transferred} transferred; {} evicted", receipt.evicted.len())
    });
    Ok(())
}

fn list(groups: &[GroupInfo]) -> String {
    if groups.is_empty() {
        let of = again::in_namespace();
        return format!("no groups; the first member creates one: `htm groups join NAME{of}`");
    }
    let rows = groups.iter().map(|it| {
        let names = it.members.iter().map(|member| format!("{} ({})", member.robot, member.role));
        vec![
            one_line(&it.namespace, 30),
            one_line(&it.name, 40),
            if it.closed_at.is_some() { "closed" } else { "open" }.into(),
            it.nodes.to_string(),
            format!("{} / {}", it.tokens, it.max_tokens),
            one_line(&names.collect::<Vec<_>>().join(", "), 80),
        ]
    });
    table(&["namespace", "group", "state", "nodes", "tokens", "members"], &[3, 4], rows.collect())
}

fn describe(it: &GroupInfo, zone: &Zone) -> String {
    let state = match it.closed_at {
        Some(at) => format!("closed at {}", local(at, zone)),
        None => "open".into(),
    };
    let head = format!(
        "{} in namespace {}, {state}: {} of {} in working memory, of {} at most; version {}",
        plain(&it.name),
        plain(&it.namespace),
        count(it.nodes, "node"),
        count(it.tokens, "token"),
        it.max_tokens,
        it.version
    );
    if it.members.is_empty() {
        return format!("{head}\nno members");
    }
    format!("{head}\n{}", in_table(&it.members, it.version, zone))
}

/// The members of a group whose working memory has this version.
fn in_table(members: &[GroupMemberInfo], version: i64, zone: &Zone) -> String {
    let rows = members.iter().map(|member| {
        vec![
            one_line(&member.robot, 40),
            member.role.to_string(),
            if member.alive { "alive" } else { "lost" }.into(),
            format!("{} ago", rough(member.unseen_ms)),
            format!("{} ms", member.lease_ms),
            (version - member.seen_version).max(0).to_string(),
            local(member.joined_at, zone),
        ]
    });
    let header = ["robot", "role", "state", "seen", "lease", "behind", "joined"];
    table(&header, &[4, 5], rows.collect())
}
