//! `htm context`, `htm memory`.

use std::ops::RangeInclusive;
use std::process::ExitCode;

use console::style;
use htm_core::error::codes::NODE_OVERSIZED;
use htm_core::working_memory::Entry;
use htm_core::{
    ContextHeader, ContextOptions, Filter, Htm, Intake, LeftOut, MAX_BUDGET, MAX_LIMIT, NodeId, Oversized,
    RecallQuery, Robot, RobotContext, RobotRecalled, Superseded, WorkingMemoryStats, Zone,
};
use htm_runtime::Runtime;
use htm_runtime::commands::{in_namespace, quoted};
use htm_runtime::config::Config;

use super::filter::filter;
use super::runtime::with_runtime;
use super::{mind, notes};
use crate::args::{ContextArgs, MemoryCommand, NodesArgs, WhoseArgs};
use crate::codes;
use crate::error::CliError;
use crate::output::{Output, count, one_line, plain, table};

/// The most omitted memories that are named to people.
const MOST_NAMED: usize = 10;

/// Checks the arguments.
pub(crate) fn check(config: &Config, args: &ContextArgs) -> Result<(), CliError> {
    asked(config, args).map(drop)
}

/// The question of `htm context`, read from its arguments.
struct ContextAsked {
    options: ContextOptions,
    filter: Filter,
    query: Option<RecallQuery>,
}

fn asked(config: &Config, args: &ContextArgs) -> Result<ContextAsked, CliError> {
    let options = ContextOptions {
        order: args.order.parse()?,
        separator: unescape(&args.separator),
        header: if args.header { ContextHeader::AgeAndSource } else { ContextHeader::None },
        ..ContextOptions::new(whole("budget", &args.budget, 1..=MAX_BUDGET)?)
    };
    let limit = match &args.limit {
        Some(limit) => whole("limit", limit, 1..=MAX_LIMIT)?,
        None => config.recall.limit as usize,
    };
    let filter = filter(config, args.filter.clone())?;
    let query = match args.query.is_empty() {
        true => None,
        false => Some(RecallQuery {
            strategy: args.strategy.as_deref().unwrap_or(config.recall.strategy.as_ref()).parse()?,
            correct: !args.no_correct,
            filter: filter.clone(),
            ..RecallQuery::new(args.query.join(" ")).limit(limit)
        }),
    };
    Ok(ContextAsked { options, filter, query })
}

/// Makes a context on an open runtime.
pub(crate) async fn on(runtime: &Runtime, args: ContextArgs, output: &Output) -> Result<(), CliError> {
    let ContextAsked { options, filter, query } = asked(runtime.config(), &args)?;
    let whose = WhoseArgs { namespace: filter.namespaces.first().cloned(), robot: args.asks };
    // Only a query registers a new robot, and the answer says so. Otherwise a mistyped name would have an empty working
    // memory.
    let answer = with_robot_on(runtime, &whose, query.is_some(), async |htm, robot, is_new| {
        let mut recalled = match &query {
            Some(query) => Some(robot.recall(query).await?),
            None => None,
        };
        if let Some(it) = &mut recalled {
            notes::name_commands(&mut it.recalled.degraded);
        }
        let phrase = recalled.as_ref().and_then(|it| it.recalled.time_phrase.as_ref());
        let text = query.as_ref().map_or("", |query| &query.text);
        let notes = notes::of(htm, text, &filter, &[], phrase).await?;
        let found = recalled.as_ref().map(|it| &it.recalled);
        let context = robot.context_after(found, &filter, &options).await?;
        let left_behind = robot.left_behind().to_vec();
        let working_memory = robot.working_memory_stats();
        Ok(Answer { context, recalled, is_new, left_behind, working_memory, notes })
    })
    .await?;
    if output.is_json() {
        output.value(&answer, String::new);
        return Ok(());
    }
    let text = &answer.context.context.text;
    if !text.is_empty() {
        // A terminal would execute control characters. A program gets the text whose tokens were counted.
        let shown = if output.is_terminal() { &plain(text) } else { text };
        output.line(shown);
    }
    output.aside(&answer.report());
    Ok(())
}

pub(crate) async fn memory(
    config: &Config,
    command: MemoryCommand,
    output: &Output,
) -> Result<ExitCode, CliError> {
    match command {
        MemoryCommand::Show(whose) => {
            let (namespace, name) = names(config, &whose);
            let look = async |runtime: &Runtime| {
                let htm = runtime.htm();
                or_told(&htm, &whose, namespace, htm.working_memory(Some(namespace), name).await).await
            };
            let memory = with_runtime(config, look).await?;
            let nodes: Vec<&Entry> = memory.in_eviction_order().collect();
            output.value(&serde_json::json!({ "stats": memory.stats(), "nodes": nodes }), || {
                describe(name, memory.stats(), &nodes, &config.time.settings().zone)
            });
        }
        MemoryCommand::Add(args) => {
            let add = async |_: &Htm, robot: &Robot, _| {
                let intake = robot.add(&args.nodes).await?;
                Ok((intake, robot.working_memory_stats().max_tokens))
            };
            let (intake, max_tokens) = with_robot(config, &args.whose, false, add).await?;
            if args.nodes.iter().all(|node| intake.oversized.iter().any(|it| it.node == *node)) {
                let name = names(config, &args.whose).1;
                return Err(oversized(&intake, max_tokens, name, args.whose.namespace.as_deref()));
            }
            output.value(&intake, || describe_intake(&args.nodes, &intake));
        }
        MemoryCommand::Touch(args) => {
            let each = |robot: &Robot, node| robot.touch(node);
            change(config, &args, "touched", "used", each, output).await?;
        }
        MemoryCommand::Remove(args) => {
            let each = |robot: &Robot, node| robot.remove(node);
            change(config, &args, "removed", "removed from the working memory", each, output).await?;
        }
        MemoryCommand::Clear(whose) => {
            let cleared = with_robot(config, &whose, false, async |_, robot, _| Ok(robot.clear())).await?;
            output.value(&serde_json::json!({ "cleared": cleared }), || {
                format!(
                    "{} removed from the working memory; long-term memory is unchanged",
                    count(cleared, "memory")
                )
            });
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The error of nodes of which none fits into a robot's working memory.
fn oversized(intake: &Intake, max_tokens: usize, robot: &str, namespace: Option<&str>) -> CliError {
    let of_one = |it: &Oversized| format!("node {} has {}", it.node, count(it.tokens, "token"));
    let nodes: Vec<String> = intake.oversized.iter().map(of_one).collect();
    let message = format!("{}: more than the {max_tokens} that the working memory holds", nodes.join(", "));
    CliError::new(NODE_OVERSIZED, message).with_hint(format!(
        "it stays in long-term memory; give the robot room (`htm robots set {} --max-tokens N{}`), or split the text",
        quoted(robot),
        in_namespace(namespace)
    ))
}

/// Applies `each` to the nodes, and reports those that are not in the working memory.
async fn change(
    config: &Config,
    args: &NodesArgs,
    done: &str,
    said: &str,
    each: impl Fn(&Robot, NodeId) -> bool,
    output: &Output,
) -> Result<(), CliError> {
    let parted = async |_: &Htm, robot: &Robot, _| {
        Ok(args.nodes.iter().copied().partition::<Vec<NodeId>, _>(|node| each(robot, *node)))
    };
    let (there, not_there) = with_robot(config, &args.whose, false, parted).await?;
    if there.is_empty() {
        let (_, name) = names(config, &args.whose);
        let nodes: Vec<String> = not_there.iter().map(ToString::to_string).collect();
        return Err(CliError::new(
            codes::NOT_IN_WORKING_MEMORY,
            format!("{} has none of these in its working memory: {}", one_line(name, 40), nodes.join(", ")),
        )
        .with_hint(format!(
            "list its working memory: `htm memory show --robot {}{}`",
            quoted(name),
            in_namespace(args.whose.namespace.as_deref())
        )));
    }
    output.value(&serde_json::json!({ done: there, "not_in_working_memory": not_there }), || {
        let line = |node: &NodeId, what: &str| format!("node {node}: {what}");
        let lines = there.iter().map(|node| line(node, said));
        let others = not_there.iter().map(|node| line(node, "was not in the working memory"));
        lines.chain(others).collect::<Vec<_>>().join("\n")
    });
    Ok(())
}

fn describe_intake(nodes: &[NodeId], intake: &Intake) -> String {
    let mut lines = Vec::new();
    for node in nodes {
        let oversized = intake.oversized.iter().find(|it| it.node == *node);
        lines.push(match oversized {
            Some(Oversized { tokens, .. }) => {
                format!("node {node} ({}): larger than the working memory", count(tokens, "token"))
            }
            None if intake.evicted.contains(node) => {
                format!("node {node}: evicted, no room beside the others")
            }
            None => format!("node {node}: in the working memory"),
        });
    }
    let left = intake.evicted.iter().filter(|node| !nodes.contains(node));
    lines.extend(left.map(|node| format!("node {node}: evicted from the working memory")));
    lines.join("\n")
}

/// The JSON of `htm context`.
#[derive(serde::Serialize)]
struct Answer {
    #[serde(flatten)]
    context: RobotContext,
    /// None without a query.
    recalled: Option<RobotRecalled>,
    /// Whether the robot is new.
    is_new: bool,
    /// Memories that no longer fit, because the token budget is smaller than it was.
    left_behind: Vec<NodeId>,
    working_memory: WorkingMemoryStats,
    /// A note for each part of the filter that names something unknown.
    notes: Vec<String>,
}

impl Answer {
    /// Notes for people beside the context.
    fn report(&self) -> String {
        let context = &self.context.context;
        let mind = &self.working_memory;
        let order = match self.recalled {
            Some(_) => format!("hits first, then {}", context.order),
            None => format!("{} first", context.order),
        };
        let mut text = format!(
            "{} of {} in working memory, {} of {}, {order}",
            context.included.len(),
            count(mind.nodes, "memory"),
            context.tokens,
            count(context.max_tokens, "token")
        );
        if self.is_new {
            text.push_str("\nthe robot is new and was registered");
        }
        text.push_str(&notes::describe(&self.notes));
        if !self.left_behind.is_empty() {
            text.push_str(&format!(
                "\nno more room for {}: working memory now holds {}",
                count(self.left_behind.len(), "memory"),
                count(mind.max_tokens, "token")
            ));
        }
        if let Some(unverified) = &self.context.unverified {
            text.push_str(&format!(
                "\n{}: it may contain forgotten or outdated texts: {}",
                style("not verified").for_stderr().yellow(),
                one_line(&unverified.reason, 300)
            ));
        }
        text.push_str(&describe_superseded(&context.superseded));
        for recalled in self.recalled.iter().map(|recalled| &recalled.recalled) {
            text.push_str(&notes::describe_model(&recalled.models, recalled.instead_of.as_deref()));
            text.push_str(&notes::describe_words(&recalled.corrected, recalled.relaxed));
            text.push_str(&notes::describe_degraded(&recalled.degraded, &recalled.models));
        }
        let intake = self.recalled.as_ref().map(|recalled| &recalled.intake);
        text.push_str(&describe_left_out(
            &context.left_out,
            intake.map(|it| it.oversized.as_slice()).unwrap_or_default(),
        ));
        let evicted = intake.map_or(0, |intake| intake.evicted.len());
        if evicted > 0 {
            text.push_str(&format!("\n{} evicted from the working memory", count(evicted, "memory")));
        }
        text
    }
}

/// A line for each superseded memory.
pub(super) fn describe_superseded(superseded: &[Superseded]) -> String {
    let line = |it: &Superseded| {
        let by: Vec<String> = it.superseded_by.iter().map(|by| by.node.to_string()).collect();
        format!("\nnode {} is superseded by node {}", it.node, by.join(", "))
    };
    superseded.iter().map(line).collect()
}

/// A line for each of the first omitted memories, and one for the others.
fn describe_left_out(left_out: &[LeftOut], oversized: &[Oversized]) -> String {
    let line = |node: NodeId, tokens: usize, why: &str| {
        format!("\nleft out: node {node} ({}): {why}", count(tokens, "token"))
    };
    let of_context = left_out.iter().map(|it| line(it.node, it.tokens, &it.reason.to_string()));
    let of_recall = oversized.iter().map(|it| line(it.node, it.tokens, "larger than the working memory"));
    let mut text: String = of_context.chain(of_recall).take(MOST_NAMED).collect();
    let others = (left_out.len() + oversized.len()).saturating_sub(MOST_NAMED);
    if others > 0 {
        text.push_str(&format!("\nleft out: {} more; all are in `--json`", count(others, "memory")));
    }
    text
}

fn describe(name: &str, stats: WorkingMemoryStats, entries: &[&Entry], zone: &Zone) -> String {
    let rows = entries
        .iter()
        .map(|entry| {
            vec![
                entry.node.to_string(),
                entry.tokens.to_string(),
                entry.importance.to_string(),
                entry.accesses.to_string(),
                zone.local(entry.added_at).format("%Y-%m-%d %H:%M").to_string(),
                one_line(&entry.content, 60),
            ]
        })
        .collect();
    let summary = format!(
        "{} has {} in its working memory: {} of {} ({:.1} %)",
        one_line(name, 40),
        count(stats.nodes, "memory"),
        stats.tokens,
        count(stats.max_tokens, "token"),
        stats.utilisation * 100.0
    );
    match entries.is_empty() {
        true => summary,
        false => format!(
            "{summary}\n{}",
            table(&["node", "tokens", "importance", "accesses", "added", "text"], &[0, 1, 2, 3], rows)
        ),
    }
}

/// Works with a robot, and tells `work` whether it is new. An unknown robot is registered only if `may_be_new`.
async fn with_robot<T>(
    config: &Config,
    whose: &WhoseArgs,
    may_be_new: bool,
    work: impl AsyncFnOnce(&Htm, &Robot, bool) -> Result<T, CliError>,
) -> Result<T, CliError> {
    with_runtime(config, async |runtime| with_robot_on(runtime, whose, may_be_new, work).await).await
}

/// As [`with_robot`], on an open runtime.
async fn with_robot_on<T>(
    runtime: &Runtime,
    whose: &WhoseArgs,
    may_be_new: bool,
    work: impl AsyncFnOnce(&Htm, &Robot, bool) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let (htm, (namespace, name)) = (&runtime.htm(), names(runtime.config(), whose));
    if !may_be_new {
        or_told(htm, whose, namespace, htm.find_robot(Some(namespace), name).await).await?;
    }
    let (robot, is_new) = mind::open(htm, namespace, name).await?;
    let done = work(htm, &robot, is_new).await;
    let closed = robot.close().await;
    let done = done?;
    closed?;
    Ok(done)
}

/// The result or the error. The error about an unknown robot also says if its namespace is unknown.
async fn or_told<T>(
    htm: &Htm,
    whose: &WhoseArgs,
    namespace: &str,
    found: htm_core::Result<T>,
) -> Result<T, CliError> {
    let error = match found {
        Err(error) if error.code() == "robot_unknown" => error,
        found => return Ok(found?),
    };
    let notes = notes::unknown_namespaces(htm, &[namespace], whose.namespace.is_some()).await?;
    Err(match notes.into_iter().next() {
        Some(hint) => CliError::from(error).with_hint(hint),
        None => error.into(),
    })
}

/// The namespace and the robot, from the arguments or else from the configuration.
fn names<'a>(config: &'a Config, whose: &'a WhoseArgs) -> (&'a str, &'a str) {
    (
        whose.namespace.as_deref().unwrap_or(&config.memory.namespace),
        whose.robot.as_deref().unwrap_or(config.memory.robot_name()),
    )
}

pub(crate) fn whole(what: &str, text: &str, range: RangeInclusive<usize>) -> Result<usize, CliError> {
    text.parse().ok().filter(|value| range.contains(value)).ok_or_else(|| {
        let (from, to) = range.into_inner();
        let code = if what == "limit" { codes::LIMIT_OUT_OF_RANGE } else { codes::BUDGET_OUT_OF_RANGE };
        let digits = text.trim_start_matches(['-', '+']);
        let message = match !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit()) {
            true => format!("{what} {text} is outside {from} to {to}"),
            false => format!("{what} `{text}` is not a whole number"),
        };
        CliError::new(code, message).with_hint(format!("give a {what} from {from} to {to}"))
    })
}

/// Replaces the escapes `\n`, `\t` and `\\` by their characters.
fn unescape(text: &str) -> String {
    let mut unescaped = String::new();
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        let escaped = match (character, rest.clone().next()) {
            ('\\', Some('n')) => Some('\n'),
            ('\\', Some('t')) => Some('\t'),
            ('\\', Some('\\')) => Some('\\'),
            _ => None,
        };
        if escaped.is_some() {
            rest.next();
        }
        unescaped.push(escaped.unwrap_or(character));
    }
    unescaped
}

#[cfg(test)]
mod tests {
    use htm_core::{LeftOut, LeftOutReason, NodeId, Oversized};

    #[test]
    fn what_is_no_whole_number_is_not_outside_of_a_range() {
        for (text, message) in [
            ("abc", "budget `abc` is not a whole number"),
            ("1e3", "budget `1e3` is not a whole number"),
            ("", "budget `` is not a whole number"),
            ("-1", "budget -1 is outside 1 to 9"),
            ("99999999999999999999", "budget 99999999999999999999 is outside 1 to 9"),
        ] {
            let error = super::whole("budget", text, 1..=9).unwrap_err();
            assert_eq!((error.code, error.message.as_str()), ("budget_out_of_range", message));
        }
    }

    #[test]
    fn only_the_first_omitted_memories_are_named() {
        let left_out = |node| LeftOut { node: NodeId(node), tokens: 7, reason: LeftOutReason::NoRoom };
        let left_out: Vec<LeftOut> = (1..=9).map(left_out).collect();
        let oversized = |node| Oversized { node: NodeId(node), tokens: 1 };
        let told = super::describe_left_out(&left_out, &[oversized(10)]);
        assert_eq!(told.lines().count(), 11);
        assert!(told.ends_with("left out: node 10 (1 token): larger than the working memory"), "{told}");
        let told = super::describe_left_out(&left_out, &[oversized(10), oversized(11)]);
        assert!(told.ends_with("\nleft out: 1 memory more; all are in `--json`"), "{told}");
        assert_eq!(super::describe_left_out(&[], &[]), "");
    }

    #[test]
    fn a_separator_may_have_line_breaks() {
        assert_eq!(super::unescape(r"\n---\n"), "\n---\n");
        assert_eq!(super::unescape(r"a\\n\q\"), "a\\n\\q\\");
    }
}
