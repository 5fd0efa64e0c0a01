//! `htm tags …`: the ontology.

mod change;
mod look;

use std::process::ExitCode;

use htm_core::{Htm, Ontology};
use htm_runtime::Session;
use htm_runtime::config::Config;

use crate::args::{Consent, InNamespace, SynonymsCommand, TagsCommand};
use crate::error::CliError;
use crate::output::Output;

pub(crate) async fn run(
    config: &Config,
    command: TagsCommand,
    output: &Output,
) -> Result<ExitCode, CliError> {
    change::require_consent(&command)?;
    let session = Session::open(config).await?;
    let result = dispatch(&session, command, output).await;
    session.close().await;
    result.map(|()| ExitCode::SUCCESS)
}

async fn dispatch(session: &Session, command: TagsCommand, output: &Output) -> Result<(), CliError> {
    let htm = &session.htm();
    match command {
        TagsCommand::List(args) => look::list(&of(htm, &args.whose)?, args.below.as_deref(), output).await,
        TagsCommand::Show(args) => look::show(&of(htm, &args.whose)?, &args.tag, output).await,
        TagsCommand::Orphans(args) => look::orphans(&of(htm, &args.whose)?, args.max, output).await,
        TagsCommand::Suggest(args) => {
            let embedder = if args.embed { Some(session.embedder()?) } else { None };
            let ontology = of(htm, &args.top.whose)?;
            look::suggest(&ontology, embedder.as_deref(), args.top.limit, output).await
        }
        TagsCommand::Similar(args) => {
            look::similar(&of(htm, &args.top.whose)?, &args.text, args.top.limit, output).await
        }
        TagsCommand::Cooccur(args) => {
            let ontology = of(htm, &args.top.whose)?;
            look::cooccur(&ontology, args.tag.as_deref(), args.min, args.top.limit, output).await
        }
        TagsCommand::Popular(args) => look::popular(&of(htm, &args.whose)?, args.limit, output).await,
        TagsCommand::Log(args) => look::log(&of(htm, &args.top.whose)?, args.top.limit, output).await,
        TagsCommand::Synonyms(SynonymsCommand::List(whose)) => {
            look::synonyms(&of(htm, &whose)?, output).await
        }
        command => change::run(htm, command, output).await,
    }
}

fn of<'a>(htm: &'a Htm, whose: &'a InNamespace) -> Result<Ontology<'a>, CliError> {
    Ok(htm.ontology(whose.namespace.as_deref())?)
}

fn to_change<'a>(htm: &'a Htm, whose: &'a InNamespace, consent: &Consent) -> Result<Ontology<'a>, CliError> {
    let ontology = of(htm, whose)?;
    Ok(if consent.dry_run { ontology.dry_run() } else { ontology })
}
