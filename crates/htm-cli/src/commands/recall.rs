//! `htm recall`.

pub(crate) mod passage;
mod refine;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use chrono::Utc;
use console::style;
use htm_core::fault::Fault;
use htm_core::{
    ChosenFor, Explanation, Htm, MAX_LIMIT, MAX_QUERY_BYTES, RecallQuery, Recalled, RobotRecalled, ScorePart,
    Scores, Strategy, TimePhrase, Timeframe, VectorSearch, Zone, read_instant, read_object,
};
use htm_runtime::Runtime;
use htm_runtime::config::Config;

use super::context::whole;
use super::filter::{filter, tag_prefixes};
use super::learning::in_words;
use super::mind::{self, TakenIn};
use super::notes;
use super::relations::describe_successors;
use crate::args::RecallArgs;
use crate::codes;
use crate::error::CliError;
use crate::lines::{Line, Lines};
use crate::output::{Output, count, one_line, table};

/// Checks the arguments.
pub(crate) fn check(config: &Config, args: &RecallArgs) -> Result<(), CliError> {
    query(config, args).map(drop)
}

/// Recalls on an open runtime.
pub(crate) async fn on(runtime: &Runtime, args: RecallArgs, output: &Output) -> Result<(), CliError> {
    let query = query(runtime.config(), &args)?;
    refine::check(runtime, &query)?;
    let htm = runtime.htm();
    if let Some(file) = &args.batch {
        return answer_batch(&htm, &query, file, output).await;
    }
    let (mut recalled, working_memory) = match &args.asks {
        None => (htm.recall(&query).await?, None),
        Some(name) => recall_as(&htm, name, &query).await?,
    };
    notes::name_commands(&mut recalled.degraded);
    let phrase = recalled.time_phrase.as_ref();
    let notes = notes::of(&htm, &query.text, &query.filter, &query.boost_tags, phrase).await?;
    let answer = Answer { recalled, working_memory, notes };
    output.value(&answer, || {
        let facets = if args.facets { describe_facets(&answer.recalled) } else { String::new() };
        let recalled = describe(&answer.recalled, &htm.settings().time.zone);
        let taken = answer.working_memory.as_ref().map(TakenIn::describe).unwrap_or_default();
        format!("{facets}{recalled}{taken}{}", notes::describe(&answer.notes))
    });
    Ok(())
}

/// The hits, with notes on filters that name something unknown.
#[derive(serde::Serialize)]
struct Answer {
    #[serde(flatten)]
    recalled: Recalled,
    /// None if no robot asks.
    working_memory: Option<TakenIn>,
    notes: Vec<String>,
}

/// Recalls as a robot of the query's first namespace. The hits enter its working memory.
async fn recall_as(
    htm: &Htm,
    name: &str,
    query: &RecallQuery,
) -> htm_core::Result<(Recalled, Option<TakenIn>)> {
    let namespace = query.filter.namespaces.first().unwrap_or(&htm.settings().namespace);
    let (robot, is_new) = mind::open(htm, namespace, name).await?;
    let RobotRecalled { recalled, intake } = robot.recall(query).await?;
    let nodes: Vec<_> = recalled.hits.iter().map(|hit| hit.node.id).collect();
    let taken = TakenIn::of(&robot, is_new, nodes, intake);
    robot.close().await?;
    Ok((recalled, Some(taken)))
}

fn query(config: &Config, args: &RecallArgs) -> Result<RecallQuery, CliError> {
    let strategy = args.strategy.as_deref().unwrap_or(config.recall.strategy.as_ref());
    let query = RecallQuery {
        filter: filter(config, args.filter.clone())?,
        strategy: strategy.parse()?,
        boost_tags: tag_prefixes(config, &args.boost_tags)?,
        order_by: args.order_by.as_deref().map(str::parse).transpose()?,
        // The queries of a file are a measurement and do not count as accesses.
        count_accesses: args.batch.is_none(),
        models: args.models.clone(),
        limit: limit(config, args.limit.as_deref())?,
        min_similarity: args.min_similarity.as_deref().map(similarity).transpose()?,
        snippets: args.snippets,
        explain: args.explain,
        correct: !args.no_correct,
        refresh: args.refresh,
        follow: args.follow,
        as_of: args
            .as_of
            .as_deref()
            .map(|at| read_instant(at, Utc::now(), &config.time.settings()))
            .transpose()?,
        ..RecallQuery::new(args.query.join(" "))
    };
    Ok(refine::refined(query, &args.refine))
}

/// The limit of the command line, or the configuration's.
pub(crate) fn limit(config: &Config, text: Option<&str>) -> Result<usize, CliError> {
    let Some(text) = text else { return Ok(config.recall.limit as usize) };
    whole("limit", text, 1..=MAX_LIMIT)
}

/// Parses a similarity of the command line. The library checks its range.
fn similarity(text: &str) -> Result<f64, CliError> {
    text.parse().map_err(|_| {
        CliError::new(codes::MIN_SIMILARITY_OUT_OF_RANGE, format!("similarity {text} is not a number"))
            .with_hint("give a number from 0 to 1, such as 0.7")
    })
}

/// The meaning of a filter by time. None without such a filter.
pub(crate) fn describe_time(
    timeframe: &Timeframe,
    phrase: Option<&TimePhrase>,
    zone: &Zone,
) -> Option<String> {
    let meant = format!("{} ({zone})", timeframe.describe(zone));
    match phrase {
        Some(taken) if taken.query.is_empty() => {
            Some(format!("`{}` is {meant}; all of it was searched", one_line(&taken.phrase, 80)))
        }
        Some(taken) => Some(format!(
            "`{}` is {meant}; searched for `{}`",
            one_line(&taken.phrase, 80),
            one_line(&taken.query, 120)
        )),
        None => (!timeframe.is_all()).then_some(meant),
    }
}

/// The text for people: for each hit a line of scores, then its text. Times are in `zone`.
pub(crate) fn describe(recalled: &Recalled, zone: &Zone) -> String {
    let mut text = String::new();
    for (place, hit) in recalled.hits.iter().enumerate() {
        let scores = hit.scores;
        let tags = hit.node.tags.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        text.push_str(&format!(
            "{:>3}. {}  by {}{}\n     {}\n     {}\n",
            place + 1,
            style(match scores.relevance {
                Some(relevance) => format!("relevance {relevance:.3}  score {:.3}", scores.score),
                None => format!("score {:.3}", scores.score),
            })
            .bold(),
            hit.matched_by,
            refine::describe_hit(hit),
            one_line(passage::text(&hit.node), 100),
            style(format!(
                "node {}{}  {}  {}  {}",
                hit.node.id,
                passage::key(&hit.node),
                zone.local(hit.node.created_at).format("%Y-%m-%d %H:%M"),
                one_line(&hit.node.robot, 30),
                tags
            ))
            .dim(),
        ));
        if let Some(place) = hit.node.passage() {
            text.push_str(&format!("     {}\n", one_line(&place.to_string(), 160)));
        }
        text.push_str(&passage::around(hit));
        if let Some(from) = &hit.followed_from {
            let reason =
                from.reason.as_ref().map(|it| format!(" ({})", one_line(it, 80))).unwrap_or_default();
            let excerpt = one_line(&from.excerpt, 60);
            text.push_str(&format!(
                "     in place of node {}, which it supersedes: {excerpt}{reason}\n",
                from.node
            ));
        }
        for successor in describe_successors(&hit.node, zone) {
            text.push_str(&format!("     {successor}\n"));
        }
        if let Some(snippet) = &hit.snippet {
            text.push_str(&format!("     {}\n", passage::marked(snippet)));
        }
        if let Some(explanation) = &hit.explanation {
            text.push_str(&format!("     {}\n", describe_candidate(&hit.scores)));
            text.push_str(&format!("     {}\n", describe_order(explanation, &hit.scores)));
        }
    }
    if recalled.hits.is_empty() {
        text.push_str("nothing found\n");
    }
    text.push_str(&format!(
        "{} by {} in {:.1} ms (embedding the query {:.1} ms)",
        count(recalled.hits.len(), "hit"),
        recalled.strategy,
        recalled.embed_ms + recalled.search_ms,
        recalled.embed_ms
    ));
    if recalled.vector_search == Some(VectorSearch::Approximate) {
        text.push_str("; approximate vector search, by the index");
    }
    if recalled.unembedded > 0 {
        text.push_str(&match recalled.unembedded {
            1 => "; 1 memory of the namespace is not embedded (why: `htm doctor`): vectors find it by a former text or not at all"
                .into(),
            some => {
                let some = if some > 1_000 { "over 1,000".to_owned() } else { some.to_string() };
                format!(
                    "; {some} memories of the namespace are not embedded (why: `htm doctor`): vectors find them by a former \
                     text or not at all"
                )
            }
        });
    }
    text.push_str(&refine::describe(recalled));
    if let Some(chosen) = &recalled.chosen {
        let is_other = (chosen.strategy, chosen.reason) == (Strategy::Hybrid, ChosenFor::ExactTerms);
        let why = if is_other { " that full text did not find" } else { "" };
        text.push_str(&format!("\nstrategy: {}, for {}{why}", chosen.strategy, chosen.reason));
    }
    text.push_str(&notes::describe_words(&recalled.corrected, recalled.relaxed));
    if recalled.hits.iter().any(|hit| hit.explanation.is_some()) {
        let legs: Vec<String> = recalled.legs.iter().map(ToString::to_string).collect();
        text.push_str(&format!("\nlegs: {}", legs.join(", ")));
        if !recalled.ranking.weights.is_empty() {
            let weights = in_words(&recalled.ranking.weights);
            text.push_str(&format!("\nranking {}: {weights}", recalled.ranking.version));
        }
    }
    if let Some(time) = describe_time(&recalled.timeframe, recalled.time_phrase.as_ref(), zone) {
        text.push_str(&format!("\ntime: {time}"));
    }
    text.push_str(&notes::describe_as_of(recalled.as_of.as_ref(), zone));
    text.push_str(&notes::describe_model(&recalled.models, recalled.instead_of.as_deref()));
    text.push_str(&notes::describe_degraded(&recalled.degraded, &recalled.models));
    let namespace = recalled.hits.first().map(|hit| hit.node.namespace.as_str());
    text.push_str(&notes::describe_ranking(&recalled.ranking, namespace, recalled.recall_id.as_deref()));
    text
}

/// The raw scores of a hit, and its places among the candidates of both searches.
fn describe_candidate(scores: &Scores) -> String {
    let of = |name: &str, score: Option<f64>, place: Option<i64>| {
        let (score, place) = (score?, place.map_or("–".into(), |place| place.to_string()));
        Some(format!("{name} {score:.3} (candidate {place})"))
    };
    let both =
        [of("similarity", scores.similarity, scores.vector_rank), of("text", scores.text, scores.text_rank)];
    match both.into_iter().flatten().collect::<Vec<_>>().join("  ") {
        none if none.is_empty() => "no candidate of a search".into(),
        both => both,
    }
}

/// The value that orders a hit, and its parts. A part of relevance of which the hit has no score is one half by rule.
fn describe_order(explanation: &Explanation, scores: &Scores) -> String {
    // Without -0.
    let rounded = |value: f64| format!("{:.3}", (value * 1_000.0).round() / 1_000.0 + 0.0);
    let part = |part: &ScorePart| {
        let is_unknown = match &*part.name {
            "similarity" => scores.similarity.is_none(),
            "text" => scores.text.is_none(),
            "tags" => scores.tags.is_none(),
            _ => false,
        };
        let unknown = if is_unknown { " (not known)" } else { "" };
        format!("{} {}{unknown}", one_line(&part.name, 80), rounded(part.score))
    };
    let parts: Vec<String> = explanation.parts.iter().map(part).collect();
    let is = if parts.is_empty() { "" } else { " = " };
    format!("ordered by {}{is}{}", rounded(explanation.sum()), parts.join(" + "))
}

fn describe_facets(recalled: &Recalled) -> String {
    let rows = recalled.facets.iter().map(|facet| vec![facet.tag.to_string(), facet.hits.to_string()]);
    match recalled.facets.is_empty() {
        true => "the hits have no tags\n".into(),
        false => format!("{}\n\n", table(&["tag", "hits"], &[1], rows.collect())),
    }
}

/// A query of a file.
#[derive(serde::Deserialize)]
pub(crate) struct BatchQuery {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) ns: Option<String>,
    pub(crate) text: String,
}

/// The most bytes of a line. As JSON, a text of [`MAX_QUERY_BYTES`] has at most six times as many (`\u0001`).
const MAX_LINE_BYTES: usize = 8 * MAX_QUERY_BYTES;

/// The queries of a file, one per line. Each is read when it is needed.
pub(crate) struct Queries {
    lines: Lines<Box<dyn BufRead + Send>>,
    /// Its name for people.
    file: String,
}

/// Opens a file of queries; `-` is standard input.
pub(crate) fn read_queries(file: &Path) -> Result<Queries, CliError> {
    let is_input = file.as_os_str() == "-";
    let name = if is_input { "standard input".to_owned() } else { file.display().to_string() };
    let reader: Box<dyn BufRead + Send> = match is_input {
        true => Box::new(BufReader::new(std::io::stdin())),
        false => {
            let opened = File::open(file).map_err(CliError::io(format!("{name} cannot be read")))?;
            Box::new(BufReader::new(opened))
        }
    };
    Ok(Queries { lines: Lines::new(reader, MAX_LINE_BYTES), file: name })
}

impl Iterator for Queries {
    type Item = Result<BatchQuery, CliError>;

    fn next(&mut self) -> Option<Self::Item> {
        let file = &self.file;
        let (number, what) = loop {
            let is_first = self.lines.number() == 0;
            let line = match self.lines.next().map_err(CliError::io(format!("{file} cannot be read"))) {
                Ok(line) => line?,
                Err(error) => return Some(Err(error)),
            };
            let parsed = match line {
                Line::Whole(line) if line.trim_ascii().is_empty() => continue,
                Line::Whole(line) => {
                    // Some programs of Windows begin a file of UTF-8 with this mark.
                    let mark = if is_first { line.strip_prefix("\u{feff}".as_bytes()) } else { None };
                    read_object(mark.unwrap_or(line)).map_err(|error| error.to_string())
                }
                Line::TooLong => Err(format!("it has more than {MAX_LINE_BYTES} bytes")),
            };
            match parsed {
                Ok(query) => return Some(Ok(query)),
                Err(what) => break (self.lines.number(), what),
            }
        };
        Some(Err(CliError::new(
            codes::LINE_INVALID,
            format!("line {number} of {file} is not a query: {what}"),
        )
        .with_hint("write {\"id\", \"ns\", \"text\"} on each line")))
    }
}

/// Writes one answer per line. Each is written as soon as it is known, so that a program can ask one query after the other
/// through a pipe. In the place of a line that is no good query is its error, and the command fails when all are answered.
async fn answer_batch(htm: &Htm, base: &RecallQuery, file: &Path, output: &Output) -> Result<(), CliError> {
    let mut queries = read_queries(file)?;
    let bytes = std::fs::metadata(file).map_or(0, |metadata| metadata.len());
    let bar = output.progress_of_bytes(bytes);
    let (mut lines, mut refused, mut first) = (0_u64, 0_u64, None);
    while let Some(query) = queries.next() {
        lines += 1;
        let number = queries.lines.number();
        let (id, answered) = match query {
            Ok(query) => (Some(query.id.clone()), answer(htm, base, query).await),
            Err(error) => (None, Err(error)),
        };
        match answered {
            Ok(answer) => output.json(&answer),
            // Of another fault, the next query would have the same error.
            Err(error) if error.fault == Fault::User && error.code != codes::IO_ERROR.name => {
                refused += 1;
                output.json(&serde_json::json!({ "qid": id, "line": number, "error": error.json() }));
                first.get_or_insert((number, id, error));
            }
            Err(error) => return Err(error),
        }
        if output.has_failed() {
            break;
        }
        bar.set_position(queries.lines.bytes());
    }
    bar.finish_and_clear();
    let Some((number, id, error)) = first else { return Ok(()) };
    // The error of a line that is no query names it.
    let place = id.map_or_else(String::new, |_| format!("line {number} of {}: ", queries.file));
    let message =
        format!("{place}{}; without an answer: {refused} of {}", error.message, count(lines, "query"));
    Err(CliError { message, ..error })
}

/// The answer to a query, for scoring: the keys of the hits (ids for memories without one).
async fn answer(htm: &Htm, base: &RecallQuery, query: BatchQuery) -> Result<serde_json::Value, CliError> {
    let mut ask = RecallQuery { text: query.text, ..base.clone() };
    ask.filter.namespaces.extend(query.ns);
    let recalled = htm.recall(&ask).await?;
    let ids: Vec<String> = recalled
        .hits
        .iter()
        .map(|hit| hit.node.key.clone().unwrap_or_else(|| hit.node.id.to_string()))
        .collect();
    let rounded = |ms: f64| (ms * 1_000.0).round() / 1_000.0;
    let (ms, search_ms) = (rounded(recalled.embed_ms + recalled.search_ms), rounded(recalled.search_ms));
    Ok(serde_json::json!({ "qid": query.id, "ids": ids, "ms": ms, "search_ms": search_ms }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_sum_is_minus_zero() {
        let explained = |parts: &[(&'static str, f64)]| {
            let part = |&(name, score): &(&'static str, f64)| ScorePart { name: name.into(), score };
            describe_order(&Explanation { parts: parts.iter().map(part).collect() }, &Scores::default())
        };
        assert_eq!(explained(&[]), "ordered by 0.000");
        assert_eq!(explained(&[("words", -0.0001)]), "ordered by 0.000 = words 0.000");
        assert_eq!(
            explained(&[("words", 0.5), ("time", 0.3)]),
            "ordered by 0.800 = words 0.500 + time 0.300"
        );
        // Half of the weight of a signal that is not known.
        assert_eq!(explained(&[("similarity", 0.5)]), "ordered by 0.500 = similarity 0.500 (not known)");
    }
}
