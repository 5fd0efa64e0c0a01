//! `htm relate`, `htm unrelate`, `htm related`.

use std::process::ExitCode;

use htm_core::{Caller, Htm, Node, Related, RelatedBy, RelatedNode, Relation, Zone};
use htm_runtime::config::Config;

use crate::args::{RelateArgs, RelatedArgs, RelationArgs, UnrelateArgs};
use crate::commands::runtime::{with_htm, within};
use crate::error::CliError;
use crate::output::{Output, count, one_line, table};

pub(crate) async fn relate(config: &Config, args: RelateArgs, output: &Output) -> Result<ExitCode, CliError> {
    let RelationArgs { from, kind, to } = args.relation;
    let caller: Caller = args.caller.into();
    let reason = args.reason.as_deref();
    let made = with_htm(config, async |htm| htm.relate(from, kind, to, reason, &caller).await).await?;
    output.value(&made, || match made.is_new {
        true => std::iter::once(describe(&made.relation))
            .chain(made.removed.iter().map(|it| format!("removed: {}", describe(it))))
            .collect::<Vec<_>>()
            .join("\n"),
        false => format!("{}; it was set before, and nothing has changed", describe(&made.relation)),
    });
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn unrelate(
    config: &Config,
    args: UnrelateArgs,
    output: &Output,
) -> Result<ExitCode, CliError> {
    let RelationArgs { from, kind, to } = args.relation;
    let caller: Caller = args.caller.into();
    let removed = with_htm(config, async |htm| htm.unrelate(from, kind, to, &caller).await).await?;
    output.value(&removed, || format!("removed: {}", describe(&removed)));
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn related(
    config: &Config,
    args: RelatedArgs,
    output: &Output,
) -> Result<ExitCode, CliError> {
    let related = async |htm: &Htm| {
        let htm = within(htm, args.namespace.as_deref())?;
        htm.related(args.node, args.kind, args.limit).await
    };
    let found = with_htm(config, related).await?;
    output.value(&found, || describe_related(&found, &config.time.settings().zone));
    Ok(ExitCode::SUCCESS)
}

fn describe(relation: &Relation) -> String {
    let Relation { from, kind, to, reason, .. } = relation;
    let reason = reason.as_ref().map(|reason| format!(": {}", one_line(reason, 200))).unwrap_or_default();
    format!("node {from} {kind} node {to}{reason}")
}

fn describe_related(found: &Related, zone: &Zone) -> String {
    let row = |it: &RelatedNode| {
        vec![
            it.by.to_string(),
            it.node.to_string(),
            zone.local(it.created_at).format("%Y-%m-%d").to_string(),
            one_line(&it.excerpt, 60),
            why(it, zone),
        ]
    };
    let mut text = match found.related.is_empty() {
        true => format!("node {} is related to no other", found.node),
        false => {
            table(&["relation", "node", "date", "text", "why"], &[1], found.related.iter().map(row).collect())
        }
    };
    if found.former_texts > 0 {
        let texts = count(found.former_texts, "former text");
        text.push_str(&format!("\n{texts}: `htm get {} --revisions`", found.node));
    }
    for why in &found.not_searched {
        text.push_str(&format!("\nnot searched: {why}"));
    }
    text
}

fn why(it: &RelatedNode, zone: &Zone) -> String {
    match it.by {
        RelatedBy::NearDuplicate => format!("similarity {:.3}", it.similarity.unwrap_or_default()),
        RelatedBy::SharedTags => {
            one_line(&it.tags.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "), 60)
        }
        RelatedBy::Supersedes | RelatedBy::SupersededBy | RelatedBy::Contradicts => {
            let by = it.made_by.as_deref().unwrap_or_default();
            let at = it.made_at.map(|at| zone.local(at).format("%Y-%m-%d").to_string()).unwrap_or_default();
            let reason = it.reason.as_ref().map(|reason| format!("{}; ", one_line(reason, 60)));
            format!("{}by {}, {at}", reason.unwrap_or_default(), one_line(by, 30))
        }
    }
}

/// A line for each memory that supersedes a node.
pub(crate) fn describe_successors(node: &Node, zone: &Zone) -> Vec<String> {
    let line = |it: &htm_core::Successor| {
        let reason =
            it.reason.as_ref().map(|reason| format!(" ({})", one_line(reason, 80))).unwrap_or_default();
        format!(
            "superseded by node {}, {}: {}{reason}",
            it.node,
            zone.local(it.created_at).format("%Y-%m-%d"),
            one_line(&it.excerpt, 60)
        )
    };
    node.superseded_by.iter().map(line).collect()
}
