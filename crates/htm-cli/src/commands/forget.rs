//! `htm forget`, `htm forgotten`, `htm restore`, `htm purge`.

use std::process::ExitCode;

use chrono::{DateTime, Utc};
use htm_core::{
    Caller, Confirmation, Error, ForgetPlan, Forgotten, ForgottenNode, Htm, MAX_MATCHES, NodeId, Purge,
    Purged, Removed, Scope, Zone, read_instant,
};
use htm_runtime::config::Config;

use crate::args::{ForgetArgs, ForgottenArgs, PurgeArgs, RestoreArgs};
use crate::codes;
use crate::commands::notes::tell_unknown;
use crate::commands::runtime::with_htm;
use crate::error::CliError;
use crate::instant::local;
use crate::output::{Output, count, limited, one_line, plain, table};

pub(crate) async fn forget(config: &Config, args: ForgetArgs, output: &Output) -> Result<ExitCode, CliError> {
    match (args.node, &args.matching) {
        (Some(node), _) if !args.consent.dry_run && args.consent.plan.is_none() => {
            forget_node(config, node, args, output).await
        }
        (Some(_), _) => forget_planned(config, args, output).await,
        (None, Some(_)) if args.consent.yes && args.consent.plan.is_none() => {
            Err(Error::new(codes::PLAN_MISSING, "the plan is missing; nothing is forgotten").into())
        }
        (None, Some(_)) => forget_planned(config, args, output).await,
        (None, None) => Err(CliError::new(codes::CONTENT_EMPTY, "the text is empty")),
    }
}

pub(crate) async fn forgotten(
    config: &Config,
    args: ForgottenArgs,
    output: &Output,
) -> Result<ExitCode, CliError> {
    let nodes = with_htm(config, async |htm| {
        let namespace = args.namespace.as_deref();
        let nodes = htm.forgotten(namespace, None, args.limit).await?;
        if nodes.is_empty() {
            tell_unknown(htm, namespace.as_slice(), output).await?;
        }
        Ok(nodes)
    })
    .await?;
    output.value(&nodes, || match nodes.is_empty() {
        true => "nothing is forgotten".into(),
        false => describe_forgotten(&nodes, &config.time.settings().zone) + &limited(nodes.len(), args.limit),
    });
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn restore(
    config: &Config,
    args: RestoreArgs,
    output: &Output,
) -> Result<ExitCode, CliError> {
    let caller: Caller = args.caller.into();
    let restored = with_htm(config, async |htm| htm.restore(args.node, &caller).await).await?;
    output.value(&restored, || {
        format!("node {} is restored; {} enqueued", restored.node, count(restored.jobs, "job"))
    });
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn purge(config: &Config, args: PurgeArgs, output: &Output) -> Result<ExitCode, CliError> {
    let scope = match args.caller.namespace.clone() {
        _ if args.all_namespaces => Scope::All,
        Some(namespace) => Scope::Namespace(namespace),
        None => Scope::Own,
    };
    let robot = args.caller.named_robot().map(ToOwned::to_owned);
    let namespace = args.caller.namespace.clone().unwrap_or_else(|| config.memory.namespace.clone());
    let before = read_instant(&args.before, Utc::now(), &config.time.settings())?;
    let purge = Purge { before, scope, caller: args.caller.into() };
    // An unknown robot is an error. Otherwise a purge of its memories would succeed and remove nothing.
    if let Some(robot) = &robot {
        with_htm(config, async |htm| htm.find_robot(Some(&namespace), robot).await).await?;
    }
    let whose = match (&purge.caller, &purge.scope) {
        (Caller::AnyRobot, Scope::All) => "any robot in every namespace".into(),
        (Caller::AnyRobot, _) => format!("any robot in namespace {}", plain(&namespace)),
        _ => {
            let robot = robot.as_deref().unwrap_or(config.memory.robot_name());
            format!("{} in namespace {}", plain(robot), plain(&namespace))
        }
    };
    let zone = config.time.settings().zone;
    let before = zone.local(purge.before).format("%Y-%m-%d %H:%M");
    let said = |what: &str, purged: &Purged| {
        let counts = describe_purged(purged);
        format!("{what} memories of {whose}, forgotten before {before} ({zone}):\n{counts}")
    };
    let receipt = |purged: &Purged| Receipt { before: purge.before, of: whose.clone(), purged: *purged };
    if args.dry_run {
        let plan = with_htm(config, async |htm| htm.plan_purge(&purge).await).await?;
        output.value(&receipt(&plan), || said("would purge", &plan));
        return Ok(ExitCode::SUCCESS);
    }
    output.leaves(
        serde_json::json!({ "stopped": true }),
        "what is purged by now is gone; the same command goes on",
    );
    let purged = with_htm(config, async |htm| htm.purge(&purge, confirmation(args.yes)).await).await?;
    output.value(&receipt(&purged), || said("purged", &purged));
    Ok(ExitCode::SUCCESS)
}

/// The result of a purge, with its time and its scope.
#[derive(serde::Serialize)]
struct Receipt {
    before: DateTime<Utc>,
    of: String,
    #[serde(flatten)]
    purged: Purged,
}

async fn forget_node(
    config: &Config,
    node: NodeId,
    args: ForgetArgs,
    output: &Output,
) -> Result<ExitCode, CliError> {
    let of = args.caller.typed();
    let caller: Caller = args.caller.into();
    let forgotten =
        with_htm(config, async |htm| htm.forget(node, &caller, confirmation(args.consent.yes)).await).await?;
    output.value(&forgotten, || {
        format!(
            "node {node} is forgotten, {}\n`htm restore {node}{of}` brings it back",
            describe_removed(&forgotten.removed)
        )
    });
    Ok(ExitCode::SUCCESS)
}

/// The result of a forget by a plan.
enum Done {
    Shown(ForgetPlan),
    PlanChanged,
    Forgotten(ForgetPlan, Forgotten),
}

async fn forget_planned(config: &Config, args: ForgetArgs, output: &Output) -> Result<ExitCode, CliError> {
    let namespace = args.caller.namespace.clone();
    let caller: Caller = args.caller.into();
    let work = async |htm: &Htm| {
        let plan = match (args.node, &args.matching) {
            (Some(node), _) => htm.plan_forget_node(node, &caller).await?,
            (None, text) => {
                let text = text.as_deref().unwrap_or_default();
                htm.plan_forget(text, namespace.as_deref(), &caller).await?
            }
        };
        if args.consent.dry_run || !args.consent.yes {
            return Ok(Done::Shown(plan));
        }
        if args.consent.plan.as_ref().is_some_and(|digest| *digest != plan.digest()) {
            return Ok(Done::PlanChanged);
        }
        let forgotten = htm.forget_planned(&plan, &caller, Confirmation::Confirmed).await?;
        Ok(Done::Forgotten(plan, forgotten))
    };
    let zone = &config.time.settings().zone;
    match with_htm(config, work).await? {
        Done::Shown(plan) if args.consent.dry_run => {
            let answer = serde_json::json!({ "plan": plan.digest(), "matches": plan.matches, "more": plan.more,
                                             "of_others": plan.of_others });
            output.value(&answer, || describe_plan(&plan, zone));
            Ok(ExitCode::SUCCESS)
        }
        Done::Shown(plan) => {
            let what = format!("forgetting {} was not confirmed", count(plan.matches.len(), "node"));
            Err(CliError::new(codes::NOT_CONFIRMED, what).with_hint(format!(
                "check them with `--dry-run`, then confirm: `--plan {} --yes`",
                plan.digest()
            )))
        }
        Done::PlanChanged => Err(CliError::new(
            codes::PLAN_CHANGED,
            "the matches have changed since the plan was made; nothing is forgotten",
        )),
        Done::Forgotten(plan, forgotten) => {
            output.value(&forgotten, || {
                let left = match forgotten.left.len() {
                    0 => String::new(),
                    left => {
                        format!("\n{left} skipped: edited or forgotten by others meanwhile")
                    }
                };
                format!(
                    "{}\nforgotten, {}{left}",
                    describe_matches(&plan, zone),
                    describe_removed(&forgotten.removed)
                )
            });
            Ok(ExitCode::SUCCESS)
        }
    }
}

pub(crate) fn confirmation(yes: bool) -> Confirmation {
    if yes { Confirmation::Confirmed } else { Confirmation::Missing }
}

fn describe_removed(removed: &Removed) -> String {
    format!(
        "with {} and {}; {} cancelled",
        count(removed.embeddings, "embedding"),
        count(removed.tags, "tag"),
        count(removed.jobs, "job")
    )
}

fn describe_plan(plan: &ForgetPlan, zone: &Zone) -> String {
    format!("{}\nplan {}: nothing is forgotten yet", describe_matches(plan, zone), plan.digest())
}

fn describe_matches(plan: &ForgetPlan, zone: &Zone) -> String {
    let rows = plan
        .matches
        .iter()
        .map(|found| {
            vec![
                found.node.to_string(),
                local(found.created_at, zone),
                plain(&found.robot),
                one_line(&found.excerpt, 80),
            ]
        })
        .collect();
    let mut text = table(&["node", "at", "robot", "text"], &[0], rows);
    text.push_str(&format!("\n{}", count(plan.matches.len(), "node")));
    if plan.more {
        text.push_str(&format!(", and more: at most {MAX_MATCHES} at once"));
    }
    if plan.of_others > 0 {
        text.push_str(&format!(
            "; {} of other robots are skipped (`--any-robot` includes them)",
            plan.of_others
        ));
    }
    text
}

fn describe_forgotten(nodes: &[ForgottenNode], zone: &Zone) -> String {
    let rows = nodes
        .iter()
        .map(|node| {
            vec![
                node.node.to_string(),
                local(node.deleted_at, zone),
                plain(&node.namespace),
                plain(&node.robot),
                node.reason.as_ref().to_owned(),
                one_line(node.key.as_deref().unwrap_or_default(), 30),
                one_line(&node.excerpt, 60),
            ]
        })
        .collect();
    table(&["node", "forgotten at", "namespace", "robot", "reason", "key", "text"], &[0], rows)
}

fn describe_purged(purged: &Purged) -> String {
    let rows = [
        ("nodes", purged.removed.nodes),
        ("embeddings", purged.removed.embeddings),
        ("tag assignments", purged.removed.tags),
        ("jobs", purged.removed.jobs),
        ("completions", purged.completions),
        ("repeats", purged.repeats),
        ("former texts", purged.revisions),
        ("working memory", purged.working_memory),
    ];
    let rows = rows.into_iter().map(|(what, count)| vec![what.into(), count.to_string()]).collect();
    table(&["", "rows"], &[1], rows)
}
