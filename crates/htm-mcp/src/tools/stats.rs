//! `stats`.

use htm_core::{Counts, GroupCount, MemoryStats, Scope, StatsQuery};
use serde_json::json;

use super::{Answer, Effect, ToolSpec, Who};
use crate::McpServer;
use crate::arguments::{Arguments, Kind, NAMESPACE, argument};
use crate::error::ToolError;
use crate::text::{compact, count, name};

pub(super) const STATS: ToolSpec = ToolSpec {
    name: "stats",
    about: "How much is remembered: counts by robot, type, tag and age, and what is not embedded yet.",
    arguments: &[argument("top", Kind::Whole(1, 100, Some(10))), NAMESPACE],
    effect: Effect::Reads,
    call: |server, arguments| Box::pin(stats(server, arguments)),
};

async fn stats(server: McpServer, arguments: Arguments) -> Result<Answer, ToolError> {
    let who = Who::of(&server, &arguments);
    let query = StatsQuery { scope: Scope::Namespace(who.namespace), top: arguments.size("top") as u32 };
    let stats = server.htm().memory_stats(&query).await?;
    let text = describe(&stats);
    let mut facts = compact(&stats);
    // The disk is the operator's.
    if let Some(fields) = facts.as_object_mut() {
        fields.remove("storage");
        fields.remove("namespaces");
    }
    Ok(Answer::new(text, json!({ "stats": facts })))
}

fn describe(stats: &MemoryStats) -> String {
    let (totals, ages) = (stats.totals, stats.ages);
    let mut text = format!(
        "Namespace {}: {} of {}; {} forgotten.",
        name(stats.namespace.as_deref().unwrap_or_default()),
        count(totals.nodes, "memory"),
        count(totals.tokens, "token"),
        totals.forgotten
    );
    if let (Some(oldest), Some(newest)) = (totals.oldest, totals.newest) {
        text.push_str(&format!(
            "\nfrom {} to {}; {} of the last day or dated later, {} more of the last week, {} more of the last month, {} older",
            oldest.format("%Y-%m-%d"),
            newest.format("%Y-%m-%d"),
            ages.day,
            ages.week,
            ages.month,
            ages.older
        ));
    }
    for (what, counts) in [("robots", &stats.robots), ("types", &stats.types), ("tags", &stats.tags)] {
        text.push_str(&top(what, counts));
    }
    for stage in &stats.enrichment {
        let open = stage.pending + stage.parked + stage.running;
        if open + stage.dead > 0 {
            text.push_str(&format!(
                "\n{}: {} done, {open} open, {} failed",
                stage.stage, stage.done, stage.dead
            ));
        }
    }
    text
}

fn top(what: &str, counts: &Counts) -> String {
    // One group of all that have no name tells nothing.
    if counts.distinct <= 1 && counts.top.iter().all(|it| it.name.is_none()) {
        return String::new();
    }
    let named =
        |it: &GroupCount| format!("{} {}", it.name.as_deref().map_or("(none)".into(), name), it.nodes);
    let named: Vec<String> = counts.top.iter().map(named).collect();
    format!("\n{what}: {}", named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_without_a_type_do_not_hide_the_line_of_types() {
        let group = |name: Option<&str>, nodes| GroupCount {
            namespace: None,
            name: name.map(Into::into),
            nodes,
            tokens: None,
        };
        let types = |distinct, groups: Vec<GroupCount>| top("types", &Counts { distinct, top: groups });
        assert_eq!(types(2, vec![group(None, 7)]), "\ntypes: (none) 7");
        assert_eq!(types(2, vec![group(None, 7), group(Some("fact"), 1)]), "\ntypes: (none) 7, fact 1");
        assert_eq!(types(1, vec![group(None, 7)]), "");
        assert_eq!(types(0, Vec::new()), "");
    }
}
