//! `htm models pull`, and `htm models list --known`.

use std::process::ExitCode;
use std::sync::OnceLock;

use htm_runtime::hub::{self, Hub, KNOWN, Kind, KnownModel, Pulled, Repository};
use htm_runtime::paths::Paths;
use serde_json::json;

use crate::args::PullArgs;
use crate::error::CliError;
use crate::output::{Output, count, table};

pub(super) async fn run(args: &PullArgs, output: &Output) -> Result<ExitCode, CliError> {
    let repository: Repository = args.repository.parse()?;
    let hub = Hub::from_env(args.endpoint.as_deref())?;
    let name = args.name.as_deref().unwrap_or(repository.name());
    output.leaves(json!({ "stopped": true }), "what has come is kept; pull again to go on");
    let bar = OnceLock::new();
    let on_bytes = |done: u64, all: u64| {
        bar.get_or_init(|| output.progress_of_bytes(all).with_message(name.to_owned())).set_position(done);
    };
    let pulled = hub::pull(&hub, &Paths::from_env()?, &repository, &args.revision, name, &on_bytes).await;
    drop(bar);
    let pulled = pulled?;
    output.value(&pulled, || describe(&pulled));
    Ok(ExitCode::SUCCESS)
}

fn describe(pulled: &Pulled) -> String {
    let Pulled { name, repository, commit, kind, directory, bytes, .. } = pulled;
    let (files, megabytes) = (count(pulled.files as u64, "file"), *bytes as f64 / 1e6);
    let commit = commit.get(..10).unwrap_or(commit);
    let state = if pulled.already_there { "was there already" } else { "is there" };
    let facts =
        pulled.facts.as_ref().map_or_else(String::new, |facts| format!("\nread from its files: {facts}"));
    let next = match kind {
        Kind::Embedder => format!(
            "for a new database: set embedding.model to \"{name}\" (HTM_EMBEDDING__MODEL={name})\n\
             for one with memories: `htm models add local/{name}`"
        ),
        Kind::CrossEncoder => format!("set rerank.provider to \"local\" and rerank.model to \"{name}\""),
    };
    format!(
        "{name} {state}: {repository} at {commit}, {files}, {megabytes:.1} MB\n{}{facts}\nnext: {next}",
        directory.display()
    )
}

pub(super) fn list(output: &Output) -> Result<ExitCode, CliError> {
    output.value(&KNOWN, || {
        let head =
            ["model", "for", "dimensions", "window", "MB", "languages", "before queries", "before documents"];
        table(&head, &[2, 3, 4], KNOWN.iter().map(row).collect())
    });
    Ok(ExitCode::SUCCESS)
}

fn row(model: &KnownModel) -> Vec<String> {
    let quoted = |prefix: &str| if prefix.is_empty() { String::new() } else { format!("{prefix:?}") };
    vec![
        model.repository.into(),
        match model.kind {
            Kind::Embedder => "embedding",
            Kind::CrossEncoder => "re-ranking",
        }
        .into(),
        model.dimensions.map_or_else(String::new, |dimensions| dimensions.to_string()),
        model.window.to_string(),
        model.megabytes.to_string(),
        model.languages.into(),
        quoted(model.query_prefix),
        quoted(model.document_prefix),
    ]
}
