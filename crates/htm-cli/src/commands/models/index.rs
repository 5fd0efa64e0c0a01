//! `htm models index`: the kinds of a vector index.

use std::process::ExitCode;

use htm_core::models::VectorIndex;
use htm_runtime::Runtime;
use serde::Serialize;
use serde_json::json;
use strum::VariantArray;

use super::watching_index;
use crate::args::IndexArgs;
use crate::error::CliError;
use crate::output::{Output, table};

/// A kind of index in this database.
#[derive(Serialize)]
struct Kind {
    kind: VectorIndex,
    usable: bool,
    /// The extension of PostgreSQL that brings it.
    extension: Option<&'static str>,
    /// The models in use that have it.
    models: Vec<String>,
}

/// A change of a model's index.
#[derive(Serialize)]
struct Changed {
    model: String,
    from: VectorIndex,
    to: VectorIndex,
    /// The duration of the build; null: nothing was built.
    build_s: Option<f64>,
}

pub(super) async fn run(runtime: &Runtime, args: IndexArgs, output: &Output) -> Result<ExitCode, CliError> {
    match (args.label, args.kind) {
        (Some(label), Some(kind)) => change(runtime, &label, kind, output).await,
        _ => list(runtime, output).await,
    }
}

async fn list(runtime: &Runtime, output: &Output) -> Result<ExitCode, CliError> {
    let htm = runtime.htm();
    let (models, usable) = (htm.models()?.list().await?, htm.models()?.usable_indexes().await?);
    let kind = |kind: &VectorIndex| Kind {
        kind: *kind,
        usable: usable.contains(kind),
        extension: kind.extension(),
        models: models
            .iter()
            .filter(|model| model.is_in_use() && model.vector_index == *kind)
            .map(|model| model.label.clone())
            .collect(),
    };
    let kinds: Vec<Kind> = VectorIndex::VARIANTS.iter().map(kind).collect();
    let row = |kind: &Kind| {
        vec![
            kind.kind.to_string(),
            if kind.usable { "yes" } else { "no" }.to_owned(),
            kind.extension.unwrap_or_default().to_owned(),
            kind.models.join(", "),
        ]
    };
    output.value(&kinds, || {
        table(&["kind", "usable", "extension", "models"], &[], kinds.iter().map(row).collect())
    });
    Ok(ExitCode::SUCCESS)
}

async fn change(
    runtime: &Runtime,
    label: &str,
    kind: VectorIndex,
    output: &Output,
) -> Result<ExitCode, CliError> {
    let htm = runtime.htm();
    let models = htm.models()?;
    let model = models.get(label).await?;
    output.leaves(
        json!({ "stopped": true }),
        format!("searches use the index that is there; go on: `htm models index {label} --kind {kind}`"),
    );
    let built = watching_index(models, &model, output, models.change_index(label, kind)).await?;
    let build_s = built.map(|took| took.as_secs_f64());
    let changed = Changed { model: model.label, from: model.vector_index, to: kind, build_s };
    output.value(&changed, || match (kind, build_s, changed.from == kind) {
        (VectorIndex::None, ..) => {
            format!("{}: no index; each search compares all vectors in scope", changed.model)
        }
        (_, Some(s), _) => format!("{}: the index is {kind} now, built in {s:.1} s", changed.model),
        (_, None, true) => format!("{}: the index was {kind} already", changed.model),
        (_, None, false) => {
            format!("{}: the index will be {kind} when the model is complete", changed.model)
        }
    });
    Ok(ExitCode::SUCCESS)
}
