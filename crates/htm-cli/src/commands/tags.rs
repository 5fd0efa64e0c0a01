//! `htm tags …`: the ontology.

mod change;
mod exchange;
mod look;
mod split;
mod templates;
mod tree;

use std::process::ExitCode;

use htm_core::ontology::{ChangeKind, OntologyDocument};
use htm_core::{Htm, Ontology};
use htm_runtime::Runtime;
use htm_runtime::config::Config;

use super::filter::within_namespace;
use super::notes;
use super::runtime::with_runtime;
use crate::args::{DistinctCommand, InNamespace, SynonymsCommand, TagsCommand};
use crate::error::CliError;
use crate::output::Output;

pub(crate) async fn run(
    config: &Config,
    command: TagsCommand,
    output: &Output,
) -> Result<ExitCode, CliError> {
    if matches!(command, TagsCommand::Templates) {
        return templates::list(output).map(|()| ExitCode::SUCCESS);
    }
    // A faulty file is reported before the database is opened.
    let document = match &command {
        TagsCommand::Import(args) => Some(exchange::read(args)?),
        TagsCommand::ApplyTemplate(args) => Some(templates::read(&args.template)?),
        _ => None,
    };
    change::require_consent(&command)?;
    with_runtime(config, async |runtime| match document {
        Some(document) => lay(runtime, command, &document, output).await,
        None => dispatch(config, runtime, command, output).await,
    })
    .await?;
    Ok(ExitCode::SUCCESS)
}

/// Imports a document into the ontology.
async fn lay(
    runtime: &Runtime,
    command: TagsCommand,
    document: &OntologyDocument,
    output: &Output,
) -> Result<(), CliError> {
    let (kind, source, how) = match command {
        TagsCommand::Import(args) => (ChangeKind::Import, args.file.display().to_string(), args.how),
        TagsCommand::ApplyTemplate(args) => (ChangeKind::Template, args.template, args.how),
        _ => return Ok(()),
    };
    let htm = runtime.htm();
    let ontology = to_change(&htm, &how.whose, how.consent.dry_run)?;
    exchange::import(&ontology, kind, &source, document, &how, output).await
}

async fn dispatch(
    config: &Config,
    runtime: &Runtime,
    command: TagsCommand,
    output: &Output,
) -> Result<(), CliError> {
    let htm = &runtime.htm();
    let zone = &htm.settings().time.zone;
    match command {
        TagsCommand::List(args) => {
            look::list(&look_at(htm, &args.whose, output).await?, args.below.as_deref(), zone, output).await
        }
        TagsCommand::Tree(args) => tree::tree(&look_at(htm, &args.whose, output).await?, &args, output).await,
        TagsCommand::Export(args) => {
            exchange::export(&look_at(htm, &args.whose, output).await?, &args, output).await
        }
        TagsCommand::Show(args) => {
            look::show(&look_at(htm, &args.whose, output).await?, &args.tag, zone, output).await
        }
        TagsCommand::Orphans(args) => {
            let namespace = args.whose.namespace.as_deref();
            look::orphans(&look_at(htm, &args.whose, output).await?, namespace, args.max, output).await
        }
        TagsCommand::Suggest(args) => {
            let embedder = if args.embed { Some(runtime.embedder()?) } else { None };
            let ontology = look_at(htm, &args.top.whose, output).await?;
            look::suggest(&ontology, embedder.as_deref(), args.top.limit, output).await
        }
        TagsCommand::Similar(args) => {
            look::similar(&look_at(htm, &args.top.whose, output).await?, &args.text, args.top.limit, output)
                .await
        }
        TagsCommand::Cooccur(args) => {
            let ontology = look_at(htm, &args.top.whose, output).await?;
            let filter = within_namespace(config, args.which)?;
            look::cooccur(&ontology, args.tag.as_deref(), &filter, args.min, args.top.limit, output).await
        }
        TagsCommand::Popular(args) => {
            let ontology = look_at(htm, &args.top.whose, output).await?;
            look::popular(&ontology, &within_namespace(config, args.which)?, args.top.limit, zone, output)
                .await
        }
        TagsCommand::Log(args) => {
            look::log(&look_at(htm, &args.top.whose, output).await?, args.top.limit, zone, output).await
        }
        TagsCommand::Synonyms(SynonymsCommand::List(whose)) => {
            look::synonyms(&look_at(htm, &whose, output).await?, output).await
        }
        TagsCommand::Distinct(DistinctCommand::List(whose)) => {
            look::distinct(&look_at(htm, &whose, output).await?, output).await
        }
        command => change::run(htm, command, output).await,
    }
}

/// The ontology to read. If its namespace has neither memories nor tags, a note says so on standard error, because the
/// answer may be a document or a picture.
async fn look_at<'a>(
    htm: &'a Htm,
    whose: &'a InNamespace,
    output: &Output,
) -> Result<Ontology<'a>, CliError> {
    let ontology = of(htm, whose)?;
    let notes = notes::unknown_namespaces(htm, &[ontology.namespace()], whose.namespace.is_some()).await?;
    if !notes.is_empty() && ontology.list(None).await?.is_empty() {
        output.aside(notes::describe(&notes).trim_start());
    }
    Ok(ontology)
}

fn of<'a>(htm: &'a Htm, whose: &'a InNamespace) -> Result<Ontology<'a>, CliError> {
    Ok(htm.ontology(whose.namespace.as_deref())?)
}

fn to_change<'a>(htm: &'a Htm, whose: &'a InNamespace, dry_run: bool) -> Result<Ontology<'a>, CliError> {
    let ontology = of(htm, whose)?;
    Ok(if dry_run { ontology.dry_run() } else { ontology })
}
