//! `htm providers …`.

use std::process::ExitCode;

use htm_core::providers::{Budget, Provider, Providers, TokenUsage};
use htm_core::{BreakerState, Htm, Zone};
use htm_runtime::Runtime;
use htm_runtime::config::Config;

use super::runtime::with_runtime;
use super::{namespaces, notes};
use crate::args::{Limit, ProvidersArgs, ProvidersCommand, SetArgs};
use crate::error::CliError;
use crate::instant::local;
use crate::output::{Output, count, one_line, plain, table};

pub(crate) async fn run(config: &Config, args: ProvidersArgs, output: &Output) -> Result<ExitCode, CliError> {
    let command = args.command.unwrap_or(ProvidersCommand::List);
    with_runtime(config, async |runtime| dispatch(runtime, command, output).await).await?;
    Ok(ExitCode::SUCCESS)
}

async fn dispatch(runtime: &Runtime, command: ProvidersCommand, output: &Output) -> Result<(), CliError> {
    let htm = runtime.htm();
    let providers = htm.providers()?;
    match command {
        ProvidersCommand::List => {
            let listed = providers.list().await?;
            output.value(&listed, || describe(&listed, &htm.settings().time.zone));
        }
        ProvidersCommand::Set(args) => set(runtime, providers, &args, output).await?,
        ProvidersCommand::Reset { model } => {
            let hastened = providers.reset(&model).await?;
            let answer =
                serde_json::json!({ "model": model, "breaker": BreakerState::Closed, "hastened": hastened });
            output.value(&answer, || {
                let model = plain(&model);
                format!("{model}: the breaker is closed; postponed jobs due again: {hastened}")
            });
        }
        ProvidersCommand::Budget { namespace, tokens_per_day: Limit(tokens) } => {
            budget(&htm, &namespace, tokens, output).await?;
        }
        ProvidersCommand::Budgets => {
            let listed = providers.budgets().await?;
            output.value(&listed, || describe_budgets(&listed));
        }
        ProvidersCommand::Usage { days } => {
            let usage = providers.usage(days).await?;
            output.value(&usage, || describe_usage(&usage));
        }
    }
    Ok(())
}

async fn set(
    runtime: &Runtime,
    providers: Providers<'_>,
    args: &SetArgs,
    output: &Output,
) -> Result<(), CliError> {
    providers.set_limits(&args.model, args.changes()).await?;
    let known = known_models(runtime).await?;
    let is_known = known.contains(&args.model);
    let listed = providers.list().await?;
    let found: Vec<Provider> = listed.into_iter().filter(|provider| provider.model == args.model).collect();
    output.value(&serde_json::json!({ "provider": found.first(), "known": is_known }), || {
        let (model, zone) = (plain(&args.model), runtime.config().time.settings().zone);
        match (found.is_empty(), is_known) {
            (true, _) => format!("{model} has no limits"),
            (false, true) => describe(&found, &zone),
            (false, false) => format!(
                "{}\nnote: the limits wait for a model of this label: none is registered, configured here or used by a \
                 worker; known labels: {}\nto remove them: `htm providers set {model} --requests-per-minute none \
                 --tokens-per-minute none --concurrent none`",
                describe(&found, &zone),
                known.join(", ")
            ),
        }
    });
    Ok(())
}

async fn budget(htm: &Htm, namespace: &str, tokens: Option<i64>, output: &Output) -> Result<(), CliError> {
    let providers = htm.providers()?;
    let unparked = providers.set_budget(namespace, tokens).await?;
    // It is set, whatever comes of this.
    let own = providers.budgets().await.unwrap_or_default().into_iter().find(|it| it.namespace == namespace);
    let spent = own.filter(|it| it.tokens_used > 0 && it.tokens_used >= it.tokens_per_day);
    let notes = namespaces::unknown(htm, namespace).await?;
    let mut answer =
        serde_json::json!({ "namespace": namespace, "tokens_per_day": tokens, "unparked": unparked });
    if !notes.is_empty() {
        answer["notes"] = notes.clone().into();
    }
    output.value(&answer, || {
        let may = match tokens {
            Some(tokens) => format!("may spend {} per day", count(tokens, "token")),
            None => "may spend any number of tokens".into(),
        };
        let unparked = match unparked {
            0 => String::new(),
            1 => "; 1 parked job is due again".into(),
            count => format!("; {count} parked jobs are due again"),
        };
        let spent = spent.as_ref().map_or_else(String::new, |it| {
            format!("; {} spent today already", count(it.tokens_used, "token"))
        });
        format!("{} {may}{spent}{unparked}{}", plain(namespace), notes::describe(&notes))
    });
    Ok(())
}

/// The labels of the models that are or may be called: the configured, the registered and the workers' ones.
async fn known_models(runtime: &Runtime) -> Result<Vec<String>, CliError> {
    let htm = runtime.htm();
    let settings = htm.settings();
    let mut known = vec![settings.embedding_model.to_string(), settings.tag_model.to_string()];
    known.extend(htm.models()?.list().await?.into_iter().map(|model| model.label));
    let workers = htm.jobs()?.workers().await?;
    // One that learns calls no model.
    let called = workers.iter().filter_map(|worker| worker.detail.split(' ').nth(2));
    known.extend(called.filter(|label| !label.is_empty()).map(Into::into));
    known.sort();
    known.dedup();
    Ok(known)
}

fn describe(listed: &[Provider], zone: &Zone) -> String {
    if listed.is_empty() {
        return "no model has limits or failures".into();
    }
    let rows = listed.iter().map(|provider| {
        let limit = |limit: Option<i32>| limit.map_or("none".into(), |limit| limit.to_string());
        vec![
            plain(&provider.model),
            limit(provider.requests_per_minute),
            limit(provider.tokens_per_minute),
            limit(provider.concurrent_calls),
            provider.calls.to_string(),
            provider.waiting.to_string(),
            breaker(provider, zone),
            provider.failures.to_string(),
            provider.resume_at.map(|at| local(at, zone)).unwrap_or_default(),
            one_line(provider.reason.as_deref().unwrap_or_default(), 80),
        ]
    });
    let header = [
        "model",
        "requests/min",
        "tokens/min",
        "concurrent",
        "calls",
        "waiting",
        "breaker",
        "failures",
        "resume at",
        "reason",
    ];
    table(&header, &[1, 2, 3, 4, 5, 7], rows.collect())
}

fn breaker(provider: &Provider, zone: &Zone) -> String {
    match (provider.breaker, provider.retry_at) {
        (BreakerState::Open, Some(until)) => format!("open until {}", local(until, zone)),
        (BreakerState::HalfOpen, _) => "half open".into(),
        (breaker, _) => breaker.to_string(),
    }
}

fn describe_usage(usage: &[TokenUsage]) -> String {
    if usage.is_empty() {
        return "no memory has a result of these days".into();
    }
    let rows = usage.iter().map(|row| {
        vec![
            row.day.to_string(),
            plain(&row.namespace),
            row.stage.to_string(),
            plain(&row.model),
            row.jobs.to_string(),
            row.tokens.to_string(),
        ]
    });
    table(&["day", "namespace", "stage", "model", "jobs", "tokens"], &[4, 5], rows.collect())
}

fn describe_budgets(listed: &[Budget]) -> String {
    if listed.is_empty() {
        return "no namespace has a budget".into();
    }
    let rows = listed.iter().map(|budget| {
        vec![
            plain(&budget.namespace),
            budget.tokens_used.to_string(),
            budget.tokens_per_day.to_string(),
            budget.parked.to_string(),
        ]
    });
    table(&["namespace", "used today", "tokens/day", "parked jobs"], &[1, 2, 3], rows.collect())
}
