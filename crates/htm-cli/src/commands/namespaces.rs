//! `htm namespaces`, `htm sweep`.

use std::process::ExitCode;

use htm_core::{Htm, NamespaceQuery, Quota, QuotaUse, Retention, RetentionPlan, Swept};
use htm_runtime::config::Config;
use serde::Serialize;

use crate::args::{NamespaceListArgs, NamespacesCommand, QuotaArgs, RetentionArgs};
use crate::commands::forget::confirmation;
use crate::commands::notes;
use crate::commands::runtime::with_htm;
use crate::duration::rough;
use crate::error::CliError;
use crate::output::{Output, count, limited, plain, table};

pub(crate) async fn run(
    config: &Config,
    command: NamespacesCommand,
    output: &Output,
) -> Result<ExitCode, CliError> {
    match command {
        NamespacesCommand::List(args) => list(config, args, output).await,
        NamespacesCommand::Retention(args) => retention(config, args, output).await,
        NamespacesCommand::Quota(args) => quota(config, args, output).await,
    }
}

async fn list(config: &Config, args: NamespaceListArgs, output: &Output) -> Result<ExitCode, CliError> {
    let NamespaceListArgs { prefix, suffix, depth, after, limit } = args;
    let query = NamespaceQuery { prefix, suffix, depth, after, limit };
    // Invalid input is rejected before a server is started for it.
    query.validate()?;
    let listed = with_htm(config, async |htm| htm.list_namespaces(&query).await).await?;
    output.value(&listed, || match listed.is_empty() {
        true => "no namespaces".into(),
        false => plain(&listed.join("\n")),
    });
    let cut = limited(listed.len(), query.limit);
    if !cut.is_empty() {
        // Not among the names, which another program may read.
        output.aside(cut.trim_start());
    }
    Ok(ExitCode::SUCCESS)
}

/// The policy of a namespace.
#[derive(Serialize)]
struct Policy {
    namespace: String,
    #[serde(flatten)]
    retention: Retention,
    /// Only for a new policy.
    #[serde(flatten)]
    plan: Option<RetentionPlan>,
    /// For a new policy of a namespace that has nothing yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// Notes about a namespace that is given a policy or a quota: its name may be mistyped. A pattern names several.
pub(super) async fn unknown(htm: &Htm, namespace: &str) -> htm_core::Result<Vec<String>> {
    match namespace.ends_with("/*") {
        true => Ok(Vec::new()),
        false => notes::unknown_namespaces(htm, &[namespace], true).await,
    }
}

async fn retention(config: &Config, args: RetentionArgs, output: &Output) -> Result<ExitCode, CliError> {
    let namespace = args.namespace.unwrap_or_else(|| config.memory.namespace.clone());
    let policy = with_htm(config, async |htm| {
        let name = Some(namespace.as_str());
        let is_new = args.forget_after.is_some() || args.purge_after.is_some();
        let changed = |present: Retention| Retention {
            forget_after_seconds: args.forget_after.map_or(present.forget_after_seconds, |after| after.0),
            purge_after_seconds: args.purge_after.map_or(present.purge_after_seconds, |after| after.0),
        };
        let (retention, plan) = if is_new && !args.dry_run {
            let (policy, plan) = htm.change_retention(name, changed, confirmation(args.yes)).await?;
            (policy, Some(plan))
        } else {
            let policy = changed(htm.retention(name).await?);
            (policy, if is_new { Some(htm.plan_retention(name, policy).await?) } else { None })
        };
        let notes = if is_new { unknown(htm, &namespace).await? } else { Vec::new() };
        Ok(Policy { namespace, retention, plan, notes })
    })
    .await?;
    output.value(&policy, || describe(&policy, args.dry_run) + &notes::describe(&policy.notes));
    Ok(ExitCode::SUCCESS)
}

fn describe(Policy { namespace, retention, plan, .. }: &Policy, is_dry: bool) -> String {
    let length = |seconds: i64| rough(seconds * 1_000);
    let forgets =
        retention.forget_after_seconds.map(|after| format!("forgets memories of {}", length(after)));
    let purges = retention.purge_after_seconds.map(|after| match after {
        0 => "purges forgotten ones at once".to_owned(),
        after => format!("purges forgotten ones after {}", length(after)),
    });
    let policy: Vec<String> = forgets.into_iter().chain(purges).collect();
    let policy = if policy.is_empty() { "keeps everything".into() } else { policy.join(", ") };
    let mut text = format!("{} {policy}", plain(namespace));
    if let Some(RetentionPlan { to_forget, to_purge }) = plan
        && (is_dry || to_forget + to_purge > 0)
    {
        let verbs = if is_dry { ["would forget", "purge"] } else { ["forgets", "purges"] };
        let forgotten = count(to_forget, "memory");
        text.push_str(&format!("\nthe next sweep {} {forgotten} and {} {to_purge}", verbs[0], verbs[1]));
    }
    text
}

/// The quota of a namespace and its use.
#[derive(Serialize)]
struct QuotaAndUse {
    namespace: String,
    quota: Quota,
    /// None for a pattern: its quota is of requests alone.
    used: Option<QuotaUse>,
    /// For a new quota of a namespace that has nothing yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

async fn quota(config: &Config, args: QuotaArgs, output: &Output) -> Result<ExitCode, CliError> {
    let namespace = args.namespace.unwrap_or_else(|| config.memory.namespace.clone());
    let found = with_htm(config, async |htm| {
        let name = Some(namespace.as_str());
        let is_new = args.memories.is_some() || args.bytes.is_some() || args.requests_per_minute.is_some();
        let changed = |present: Quota| Quota {
            max_memories: args.memories.map_or(present.max_memories, |limit| limit.0),
            max_bytes: args.bytes.map_or(present.max_bytes, |limit| limit.0),
            requests_per_minute: args.requests_per_minute.map_or(present.requests_per_minute, |limit| {
                limit.0.map(|it| it.try_into().unwrap_or(i32::MAX))
            }),
        };
        let quota = if is_new { htm.change_quota(name, changed).await? } else { htm.quota(name).await? };
        let notes = if is_new { unknown(htm, &namespace).await? } else { Vec::new() };
        let used = htm.quota_use(name).await?;
        Ok(QuotaAndUse { namespace, quota, used, notes })
    })
    .await?;
    let of = |used: i64, limit: Option<i64>| {
        limit.map_or_else(|| format!("{used}, no limit"), |limit| format!("{used} of {limit}"))
    };
    output.value(&found, || {
        let QuotaAndUse { namespace, quota, used, notes } = &found;
        let used = used.map_or_else(String::new, |used| {
            let (memories, bytes) = (of(used.memories, quota.max_memories), of(used.bytes, quota.max_bytes));
            format!("memories: {memories}\nbytes: {bytes}\n")
        });
        let requests = quota.requests_per_minute.map_or("no limit".into(), |limit| limit.to_string());
        let (name, notes) = (plain(namespace), notes::describe(notes));
        format!("{name}\n{used}requests a minute: {requests}{notes}")
    });
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn sweep(config: &Config, output: &Output) -> Result<ExitCode, CliError> {
    let swept = with_htm(config, async |htm| htm.sweep().await).await?;
    output.value(&swept, || describe_sweep(&swept));
    Ok(ExitCode::SUCCESS)
}

fn describe_sweep(swept: &Swept) -> String {
    if swept.namespaces.is_empty() {
        return "nothing has expired".into();
    }
    let rows = swept.namespaces.iter().map(|row| {
        let numbers = [row.expired, row.aged, row.purged.removed.nodes].map(|number| number.to_string());
        [vec![plain(&row.namespace)], numbers.to_vec()].concat()
    });
    let header = ["namespace", "expired", "too old", "purged"];
    table(&header, &[1, 2, 3], rows.collect())
}
