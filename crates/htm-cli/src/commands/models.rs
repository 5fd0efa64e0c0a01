//! `htm models …`: embedding models side by side.

mod compare;
mod index;
mod pull;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use htm_core::models::{ModelOverview, ModelState, Models, RegisteredModel, VectorIndex, without_embedder};
use htm_core::provider::{CALLER, ModelName};
use htm_core::{BackfillRequest, Stage};
use htm_runtime::active_model::other_active;
use htm_runtime::config::{Config, Provider};
use htm_runtime::{Runtime, providers};
use serde::Serialize;
use strum::VariantNames;

use crate::args::{ActivateArgs, AddArgs, ListModelsArgs, ModelBackfillArgs, ModelsCommand, RetireArgs};
use crate::codes;
use crate::commands::backfill;
use crate::commands::runtime::with_runtime;
use crate::error::CliError;
use crate::output::{Output, count, table};

pub(crate) async fn run(
    config: &Config,
    command: ModelsCommand,
    output: &Output,
) -> Result<ExitCode, CliError> {
    if let ModelsCommand::Retire(RetireArgs { drop: true, yes: false, label }) = &command {
        return Err(CliError::not_confirmed(format!("dropping the vectors of {label}")));
    }
    match command {
        ModelsCommand::List(ListModelsArgs { known: true }) => pull::list(output),
        ModelsCommand::Pull(args) => pull::run(&args, output).await,
        ModelsCommand::List(_) => with_runtime(config, async |runtime| list(runtime, output).await).await,
        ModelsCommand::Add(args) => {
            with_runtime(config, async |runtime| add(runtime, args, output).await).await
        }
        ModelsCommand::Backfill(args) => {
            with_runtime(config, async |runtime| fill(runtime, args, output).await).await
        }
        ModelsCommand::Compare(args) => {
            with_runtime(config, async |runtime| compare::run(runtime, args, output).await).await
        }
        ModelsCommand::Activate(args) => {
            with_runtime(config, async |runtime| activate(runtime, args, output).await).await
        }
        ModelsCommand::Index(args) => {
            with_runtime(config, async |runtime| index::run(runtime, args, output).await).await
        }
        ModelsCommand::Retire(args) => {
            with_runtime(config, async |runtime| retire(runtime, args, output).await).await
        }
    }
}

/// A model with its progress.
#[derive(Serialize)]
struct Listed {
    label: String,
    dimensions: usize,
    state: ModelState,
    /// None: callers bring its vectors.
    queue: Option<String>,
    vector_index: VectorIndex,
    percent: f64,
    #[serde(flatten)]
    overview: ModelOverview,
}

async fn list(runtime: &Runtime, output: &Output) -> Result<ExitCode, CliError> {
    let mut listed = Vec::new();
    let htm = runtime.htm();
    let models = htm.models()?;
    for model in models.list().await? {
        let overview = models.overview(&model).await?;
        listed.push(Listed {
            label: model.label,
            dimensions: model.dimensions,
            state: model.state,
            queue: model.queue,
            vector_index: model.vector_index,
            percent: overview.percent(),
            overview,
        });
    }
    output.value(&listed, || match listed.is_empty() {
        true => {
            "no model is registered yet: start an `embed-worker`, or `htm models add PROVIDER/NAME`".into()
        }
        false => table(
            &["model", "dimensions", "state", "queue", "rows", "complete", "open", "dead", "index", "size"],
            &[1, 4, 5, 6, 7, 9],
            listed.iter().map(row).collect(),
        ),
    });
    Ok(ExitCode::SUCCESS)
}

fn row(listed: &Listed) -> Vec<String> {
    let ModelOverview { embedded, open, dead, indexed, bytes, .. } = listed.overview;
    vec![
        listed.label.clone(),
        listed.dimensions.to_string(),
        listed.state.to_string(),
        listed.queue.clone().unwrap_or_else(|| "none".into()),
        embedded.to_string(),
        // Rounded down, so that only a complete model has 100 %.
        format!("{:.1} %", (listed.percent * 10.0).floor() / 10.0),
        open.to_string(),
        dead.to_string(),
        match (indexed, listed.vector_index) {
            (true, kind) | (false, kind @ VectorIndex::None) => kind.to_string(),
            (false, kind) => format!("{kind}, missing"),
        },
        format!("{:.1} MB", bytes as f64 / 1e6),
    ]
}

async fn add(runtime: &Runtime, args: AddArgs, output: &Output) -> Result<ExitCode, CliError> {
    let htm = runtime.htm();
    let models = htm.models()?;
    let model = match models.list().await?.iter().find(|model| model.label == args.model) {
        Some(known) if args.dimensions.is_none_or(|asked| usize::from(asked) == known.dimensions) => {
            models.add(&known.name, known.dimensions).await?
        }
        _ => {
            let name = parse_name(&args.model)?;
            let dimensions = dimensions(runtime, &name, args.dimensions.map(usize::from)).await?;
            models.add(&name, dimensions).await?
        }
    };
    output.value(&model, || {
        let RegisteredModel { label, dimensions, queue, state, .. } = &model;
        let queue = queue.as_deref().unwrap_or("none");
        let next = match state {
            ModelState::Building if model.is_of_callers() => {
                format!("\nnext: bring the vectors, then `htm models activate {label}`")
            }
            ModelState::Building => format!(
                "\nnext: `embed-worker --queue {queue}` (`htm up` starts one by itself), `htm models backfill {label}`, `htm \
                 models activate {label}`"
            ),
            _ => String::new(),
        };
        let facts = providers::local_facts(runtime.config(), runtime.paths(), &model.name);
        let facts = facts.and_then(Result::ok).map_or_else(String::new, |facts| format!("\nread from its files: {facts}"));
        format!("{label}: {dimensions} dimensions, queue {queue}, {state}{facts}{next}")
    });
    Ok(ExitCode::SUCCESS)
}

fn parse_name(text: &str) -> Result<ModelName, CliError> {
    let usage = |code, what: String| {
        CliError::new(code, what).with_hint(format!(
            "write it as PROVIDER/NAME; providers are {}",
            [Provider::VARIANTS, &[CALLER]].concat().join(", ")
        ))
    };
    match text.split_once('/') {
        Some((provider, _)) if provider != CALLER && provider.parse::<Provider>().is_err() => {
            Err(usage(codes::PROVIDER_UNKNOWN, format!("`{provider}` is not a provider")))
        }
        Some((provider, name)) if !name.trim().is_empty() => Ok(ModelName::new(provider, name.trim())),
        _ => Err(usage(codes::MODEL_NAME_INVALID, format!("`{text}` is not a model's name"))),
    }
}

/// The requested dimensions, or else the provider's own. An error if the provider does not have the requested ones.
async fn dimensions(runtime: &Runtime, name: &ModelName, asked: Option<usize>) -> Result<usize, CliError> {
    if name.provider == CALLER {
        let missing = || CliError::new(codes::DIMENSIONS_MISSING, format!("{name} has no dimensions yet"));
        return asked.ok_or_else(missing);
    }
    let (config, paths) = (runtime.config(), runtime.paths());
    let configured = config.embedding.dimensions;
    let is_configured = providers::model_names(config).0 == *name;
    let asked = asked.or((is_configured && configured > 0).then_some(configured));
    let embedder = providers::embedder_named(config, paths, name, asked)
        .ok_or_else(|| without_embedder(&name.to_string()))??;
    let dimensions = embedder.dimensions().await.map_err(htm_core::Error::from)?;
    match asked {
        Some(asked) if asked != dimensions => Err(CliError::new(
            codes::DIMENSIONS_MISMATCH,
            format!("{name} has {dimensions} dimensions, not {asked}"),
        )),
        _ => Ok(dimensions),
    }
}

async fn fill(runtime: &Runtime, args: ModelBackfillArgs, output: &Output) -> Result<ExitCode, CliError> {
    let stop = output.stop();
    let request = BackfillRequest { model: Some(args.label.clone()), ..BackfillRequest::new(Stage::Embed) };
    let request = backfill::with_options(request, &args.options, &runtime.config().time.settings())?;
    if args.options.dry_run {
        return backfill::preview(runtime, &request, output).await;
    }
    let mut report = backfill::backfill(runtime, &request, &args.options, output, &stop).await?;
    // If the index is still missing afterwards, `activate` builds it.
    if report.is_done() && request.namespace.is_none() && request.since.is_none() {
        let htm = runtime.htm();
        let models = htm.models()?;
        let model = models.get(&args.label).await?;
        let (started, build) = (Instant::now(), models.build_index(&model));
        match stop.run_until_cancelled(watching_index(models, &model, output, build)).await.transpose()? {
            Some(true) => report.has_built(started.elapsed()),
            Some(false) => {}
            None => report.was_stopped(),
        }
    }
    output.value(&report, || report.describe());
    Ok(report.exit_code())
}

async fn activate(runtime: &Runtime, args: ActivateArgs, output: &Output) -> Result<ExitCode, CliError> {
    let htm = runtime.htm();
    let models = htm.models()?;
    let model = models.get(&args.label).await?;
    output.leaves(
        serde_json::json!({ "stopped": true }),
        format!("`htm models list` shows the active model; go on: `htm models activate {}`", args.label),
    );
    let activation = models.activate(&args.label, args.force);
    let activation = watching_index(models, &model, output, activation).await?;
    output.value(&activation, || {
        let mut text = format!("recall now uses {}", activation.active);
        if let Some(standby) = &activation.standby {
            text.push_str(&format!(
                "; {standby} is on standby: `htm models activate {standby}` switches back"
            ));
        }
        if activation.enqueued > 0 {
            text.push_str(&format!(
                "\n{} enqueued, embedded by neither model",
                count(activation.enqueued, "node")
            ));
        }
        if activation.lost > 0 {
            text.push_str(&format!(
                "\nnot found by vector until embedded: {}",
                count(activation.lost, "node")
            ));
        }
        text
    });
    Ok(ExitCode::SUCCESS)
}

async fn retire(runtime: &Runtime, args: RetireArgs, output: &Output) -> Result<ExitCode, CliError> {
    let htm = runtime.htm();
    let models = htm.models()?;
    let removed = models.retire(&args.label, args.drop).await?;
    let answer = serde_json::json!({ "retired": args.label, "jobs_removed": removed, "dropped": args.drop });
    output.value(&answer, || {
        let vectors = if args.drop { "its vectors are deleted" } else { "its vectors stay" };
        format!("{} is retired: {} removed, {vectors}", args.label, count(removed, "job"))
    });
    // The model is retired, whether or not the others can be read.
    let listed = models.list().await.unwrap_or_default();
    let other = other_active(runtime.config(), &listed).filter(|other| !other.active.is_of_callers());
    if let Some(other) = other.filter(|other| other.configured == args.label) {
        output.aside(&format!("note: it is the configured model; {}", other.help));
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows the progress of a model's index during `work`, which may build it.
pub(super) async fn watching_index<T>(
    models: Models<'_>,
    model: &RegisteredModel,
    output: &Output,
    work: impl Future<Output = htm_core::Result<T>>,
) -> htm_core::Result<T> {
    let bar = output.progress(100, "%");
    bar.set_message("index");
    let watch = async {
        let mut is_said = false;
        loop {
            if let Ok(Some(share)) = models.index_progress(model).await {
                // Without a bar nothing else tells why it takes long.
                if bar.is_hidden() && !std::mem::replace(&mut is_said, true) {
                    output.note(&bar, format!("building the vector index of {}", model.label));
                }
                bar.set_position((share * 100.0) as u64);
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    };
    let result = tokio::select! {
        result = work => result,
        () = watch => unreachable!("it watches for ever"),
    };
    bar.finish_and_clear();
    result
}
