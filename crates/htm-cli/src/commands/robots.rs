//! `htm robots …`: the robots that remember.

use std::process::ExitCode;

use htm_core::{Htm, MAX_BUDGET, MergeReceipt, RobotStatistics, Scope, Zone};
use htm_runtime::config::Config;

use crate::again;
use crate::args::{AddRobotArgs, MergeArgs, RobotsCommand, SetRobotArgs};
use crate::commands::context::whole;
use crate::commands::edit::parse_object;
use crate::commands::notes::tell_unknown;
use crate::commands::runtime::with_runtime;
use crate::error::CliError;
use crate::instant::{local, local_or_dash};
use crate::output::{Output, count, fields, one_line, plain, table};

pub(crate) async fn run(
    config: &Config,
    command: RobotsCommand,
    output: &Output,
) -> Result<ExitCode, CliError> {
    if let RobotsCommand::Merge(MergeArgs { yes: false, dry_run: false, from, into, .. }) = &command {
        let from = count(from.len(), "robot");
        return Err(CliError::not_confirmed(format!(
            "merging {from} into {into}, which alone would be left,"
        )));
    }
    with_runtime(config, async |runtime| dispatch(&runtime.htm(), command, output).await).await?;
    Ok(ExitCode::SUCCESS)
}

async fn dispatch(htm: &Htm, command: RobotsCommand, output: &Output) -> Result<(), CliError> {
    let zone = &htm.settings().time.zone;
    match command {
        RobotsCommand::List(args) => {
            let scope = args.scope();
            let robots = htm.robots(&scope).await?;
            if let (true, Scope::Namespace(namespace)) = (robots.is_empty(), &scope) {
                tell_unknown(htm, &[namespace], output).await?;
            }
            output.value(&robots, || list(&robots, zone));
        }
        RobotsCommand::Show(args) => {
            let robot = htm.robot_info(args.namespace.as_deref(), &args.name).await?;
            output.value(&robot, || describe(&robot, zone));
        }
        RobotsCommand::Add(args) => add(htm, args, output).await?,
        RobotsCommand::Describe(args) => {
            let metadata = parse_object(&args.metadata)?;
            let robot = htm.set_robot_metadata(args.namespace.as_deref(), &args.name, metadata).await?;
            output
                .value(&robot, || format!("{}: {}", plain(&robot.name), plain(&robot.metadata.to_string())));
        }
        RobotsCommand::Rename(args) => {
            let robot = htm.rename_robot(args.namespace.as_deref(), &args.old, &args.new).await?;
            output.value(&robot, || format!("{} is now called {}", plain(&args.old), plain(&robot.name)));
        }
        RobotsCommand::Set(args) => set(htm, args, output).await?,
        RobotsCommand::Merge(args) => {
            let (namespace, from): (_, Vec<&str>) =
                (args.namespace.as_deref(), args.from.iter().map(String::as_str).collect());
            let receipt = match args.dry_run {
                true => htm.would_merge_robots(namespace, &from, &args.into).await?,
                false => htm.merge_robots(namespace, &from, &args.into).await?,
            };
            output.value(&receipt, || describe_merge(&receipt, args.dry_run));
        }
    }
    Ok(())
}

fn describe_merge(receipt: &MergeReceipt, is_dry_run: bool) -> String {
    let (gone, got, ended) = match is_dry_run {
        true => ("would be deleted", "would get", "would end; nothing was written"),
        false => ("deleted", "got", "ended"),
    };
    format!(
        "{} {gone}; {} {got} {}, {} of repeats, {} in working memory; {} in groups {ended}",
        plain(&receipt.from.join(", ")),
        plain(&receipt.into),
        count(receipt.nodes, "node"),
        count(receipt.repeats, "record"),
        count(receipt.working_memory, "node"),
        count(receipt.memberships, "membership")
    )
}

async fn set(htm: &Htm, args: SetRobotArgs, output: &Output) -> Result<(), CliError> {
    let max_tokens = match args.max_tokens.as_str() {
        "default" => None,
        text => Some(whole("budget", text, 1..=MAX_BUDGET)?),
    };
    let robot = htm.set_robot_budget(args.namespace.as_deref(), &args.name, max_tokens).await?;
    output.value(&robot, || match robot.max_tokens {
        Some(tokens) => format!("{}'s working memory holds {}", plain(&robot.name), count(tokens, "token")),
        None => format!(
            "{}'s working memory holds the default (working_memory.max_tokens): {}",
            plain(&robot.name),
            htm.settings().working_memory_tokens
        ),
    });
    Ok(())
}

async fn add(htm: &Htm, args: AddRobotArgs, output: &Output) -> Result<(), CliError> {
    let metadata = args.metadata.as_deref().map(parse_object).transpose()?.unwrap_or_default();
    let robot = htm.register_robot(args.namespace.as_deref(), args.name.as_deref(), metadata).await?;
    output.value(&robot, || {
        format!(
            "{} is registered in namespace {}, as {}",
            plain(&robot.name),
            plain(&robot.namespace),
            robot.uuid
        )
    });
    Ok(())
}

fn list(robots: &[RobotStatistics], zone: &Zone) -> String {
    if robots.is_empty() {
        let of = again::in_namespace();
        return format!("no robots; a robot is registered by its first memory or by `htm robots add{of}`");
    }
    let rows = robots.iter().map(|it| {
        vec![
            one_line(&it.robot.namespace, 30),
            one_line(&it.robot.name, 40),
            it.nodes.to_string(),
            it.tokens.to_string(),
            it.in_working_memory.to_string(),
            local_or_dash(it.first_memory, zone),
            local_or_dash(it.last_memory, zone),
            local_or_dash(it.robot.last_active, zone),
        ]
    });
    let header =
        ["namespace", "robot", "nodes", "tokens", "working memory", "first memory", "last memory", "active"];
    table(&header, &[2, 3, 4], rows.collect())
}

fn describe(it: &RobotStatistics, zone: &Zone) -> String {
    let robot = &it.robot;
    let rows: Vec<(&str, String)> = vec![
        ("robot", robot.name.clone()),
        ("namespace", robot.namespace.clone()),
        ("uuid", robot.uuid.to_string()),
        ("registered", local(robot.created_at, zone)),
        ("active", local_or_dash(robot.last_active, zone)),
        ("nodes", format!("{} of {}, {} forgotten", it.nodes, count(it.tokens, "token"), it.forgotten)),
        ("repeats", it.repeats.to_string()),
        ("first memory", local_or_dash(it.first_memory, zone)),
        ("last memory", local_or_dash(it.last_memory, zone)),
        (
            "working memory",
            format!(
                "{} of {}",
                count(it.in_working_memory, "node"),
                count(it.working_memory_tokens, "token")
            ),
        ),
        ("budget", robot.max_tokens.map_or("default".into(), |tokens| count(tokens, "token"))),
        ("groups", if it.groups.is_empty() { "–".into() } else { it.groups.join(", ") }),
        ("metadata", robot.metadata.to_string()),
    ];
    fields(&rows)
}
