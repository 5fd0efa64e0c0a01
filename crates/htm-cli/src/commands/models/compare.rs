//! `htm models compare`: the agreement of two models.

use std::collections::HashSet;
use std::process::ExitCode;

use htm_core::fault::Fault;
use htm_core::models::retired;
use htm_core::{Filter, Htm, NodeId, RecallQuery, Strategy};
use htm_runtime::Runtime;
use serde::Serialize;

use crate::args::CompareArgs;
use crate::codes;
use crate::commands::recall::{BatchQuery, read_queries};
use crate::error::CliError;
use crate::output::{Output, count, one_line, table};

/// The number of hits that are compared.
const TOP: usize = 10;

/// The number of memories that replace missing queries.
const SAMPLE: u32 = 50;

pub(crate) async fn run(runtime: &Runtime, args: CompareArgs, output: &Output) -> Result<ExitCode, CliError> {
    let htm = runtime.htm();
    let models = htm.models()?;
    for label in [&args.a, &args.b] {
        if !models.get(label).await?.is_in_use() {
            return Err(retired(label).into());
        }
    }
    let (queries, sampled) = queries(runtime, &args).await?;
    let bar = output.progress(queries.len() as u64, "queries");
    let mut compared = Vec::new();
    for query in queries {
        let namespaces = query.ns.or_else(|| args.namespace.clone()).into_iter().collect();
        // A measurement does not count as access.
        let filter = Filter { namespaces, ..Filter::default() };
        let query = RecallQuery { filter, count_accesses: false, ..RecallQuery::new(query.text) }
            .strategy(Strategy::Vector)
            .limit(TOP);
        let (hits_a, hits_b) = (hits(&htm, &args.a, &query).await?, hits(&htm, &args.b, &query).await?);
        let shared = hits_a.intersection(&hits_b).count();
        compared.push(Compared { query: query.text, shared, of: hits_a.len().max(hits_b.len()) });
        bar.inc(1);
    }
    bar.finish_and_clear();
    let report = Report { mean_overlap: mean(&compared), a: args.a, b: args.b, sampled, queries: compared };
    output.value(&report, || report.describe());
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Report {
    a: String,
    b: String,
    /// Whether the queries are sentences of memories, because none was given.
    sampled: bool,
    /// The mean overlap, 0 to 1, of the queries with hits. None if no query has hits.
    mean_overlap: Option<f64>,
    queries: Vec<Compared>,
}

#[derive(Serialize)]
struct Compared {
    query: String,
    /// The number of hits that both models have among their first 10.
    shared: usize,
    /// The number of hits, at most 10: the larger of the two models'.
    of: usize,
}

impl Report {
    fn describe(&self) -> String {
        let rows = self
            .queries
            .iter()
            .map(|it| vec![format!("{} of {}", it.shared, it.of), one_line(&it.query, 80)])
            .collect();
        let mean = match self.mean_overlap {
            Some(mean) => {
                format!("{} and {} share {:.1} % of their first {TOP} hits", self.a, self.b, mean * 100.0)
            }
            None => "no query has a hit".into(),
        };
        let sampled = if self.sampled {
            format!(
                "; the queries are first sentences of {}, chosen at random",
                count(self.queries.len(), "memory")
            )
        } else {
            String::new()
        };
        format!(
            "{}\n{mean}, over {}{sampled}",
            table(&["shared", "query"], &[], rows),
            count(self.queries.len(), "query")
        )
    }
}

fn mean(compared: &[Compared]) -> Option<f64> {
    let overlaps: Vec<f64> =
        compared.iter().filter(|it| it.of > 0).map(|it| it.shared as f64 / it.of as f64).collect();
    (!overlaps.is_empty()).then(|| overlaps.iter().sum::<f64>() / overlaps.len() as f64)
}

async fn hits(htm: &Htm, label: &str, query: &RecallQuery) -> Result<HashSet<NodeId>, CliError> {
    let query = RecallQuery { models: vec![label.to_owned()], ..query.clone() };
    let recalled = htm.recall(&query).await?;
    match recalled.degraded.first() {
        None => Ok(recalled.hits.iter().map(|hit| hit.node.id).collect()),
        Some(degraded) => Err(CliError {
            code: degraded.code,
            message: format!("{label} cannot search: {}", degraded.reason),
            hint: "check its provider: `htm doctor`".into(),
            fault: Fault::User,
        }),
    }
}

/// The queries, and whether they are sentences of memories.
async fn queries(runtime: &Runtime, args: &CompareArgs) -> Result<(Vec<BatchQuery>, bool), CliError> {
    let made_of = |texts: Vec<String>| {
        texts.into_iter().map(|text| BatchQuery { id: String::new(), ns: None, text }).collect()
    };
    if let Some(file) = &args.file {
        return Ok((read_queries(file)?.collect::<Result<_, _>>()?, false));
    }
    if !args.queries.is_empty() {
        return Ok((made_of(args.queries.clone()), false));
    }
    let namespace = args.namespace.as_ref().unwrap_or(&runtime.config().memory.namespace);
    let contents = runtime.htm().models()?.sample_texts(namespace, SAMPLE).await?;
    if contents.is_empty() {
        return Err(CliError::new(
            codes::QUERIES_MISSING,
            format!("namespace `{}` has no memories to take queries from", one_line(namespace, 80)),
        ));
    }
    Ok((made_of(contents.iter().map(|content| first_sentence(content)).collect()), true))
}

/// The text up to the first end of a sentence or line, at most 300 characters.
fn first_sentence(content: &str) -> String {
    let content = content.trim();
    let end = content.char_indices().find(|&(at, character)| {
        let after = content[at + character.len_utf8()..].chars().next();
        character == '\n' || (matches!(character, '.' | '!' | '?') && after.is_none_or(char::is_whitespace))
    });
    let sentence = end.map_or(content, |(at, character)| &content[..at + character.len_utf8()]);
    sentence.trim().chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_ends_where_a_reader_ends_it() {
        for (content, sentence) in [
            (
                "We pin PostgreSQL 17.2: it is certified. Nothing newer is.",
                "We pin PostgreSQL 17.2: it is certified.",
            ),
            ("  A title\nand a text.", "A title"),
            ("no end", "no end"),
            ("Ja! Nein?", "Ja!"),
        ] {
            assert_eq!(first_sentence(content), sentence);
        }
    }
}
