//! The active embedding model beside the configured one.

use htm_core::models::{ModelState, RegisteredModel, by_name};

use crate::config::Config;
use crate::providers::model_names;

/// Another model than the configured one is active.
pub struct OtherActive<'a> {
    /// The active model.
    pub active: &'a RegisteredModel,
    /// The label that the configured model has, or would get.
    pub configured: String,
    /// A sentence with the labels of both.
    pub what: String,
    /// How to stay with the active model, and how to switch.
    pub help: String,
}

/// The registered model that the configuration means.
pub fn configured<'a>(config: &Config, models: &'a [RegisteredModel]) -> Option<&'a RegisteredModel> {
    let name = model_names(config).0;
    match config.embedding.dimensions {
        0 => by_name(models, &name),
        number => models.iter().find(|model| model.name == name && model.dimensions == number),
    }
}

/// The active model, unless it is the configured one.
pub fn other_active<'a>(config: &Config, models: &'a [RegisteredModel]) -> Option<OtherActive<'a>> {
    let active = models.iter().find(|model| model.state == ModelState::Active)?;
    let (name, dimensions) = (model_names(config).0, config.embedding.dimensions);
    let former = || models.iter().find(|model| dimensions == 0 && model.name == name);
    let known = configured(config, models).or_else(former);
    if known.is_some_and(|known| known.id == active.id) {
        return None;
    }
    let label = &active.label;
    let (add, new) = match dimensions {
        0 => (name.to_string(), name.to_string()),
        number if models.iter().any(|model| model.label == name.to_string()) => {
            (format!("{name} --dimensions {number}"), format!("{name}@{number}"))
        }
        number => (format!("{name} --dimensions {number}"), name.to_string()),
    };
    let wanted = known.map_or(new, |known| known.label.clone());
    let state = known.map_or("not registered".into(), |model| format!("in state {}", model.state));
    let what = format!("recall uses {label}, the active model; the configured one, {wanted}, is {state}");
    let back = match active.name == name {
        true => format!("embedding.dimensions = {}", active.dimensions),
        false => format!(
            "embedding.provider = \"{}\" and embedding.model = \"{}\"",
            active.name.provider, active.name.name
        ),
    };
    let over = match known.filter(|model| model.is_in_use()) {
        Some(_) => format!("`htm models backfill {wanted}`, then `htm models activate {wanted}`"),
        None => format!(
            "`htm models add {add}`, `htm models backfill {wanted}`, then `htm models activate {wanted}`"
        ),
    };
    let help = format!("stay with {label}: set {back}; or switch to {wanted}: {over}");
    Some(OtherActive { active, configured: wanted, what, help })
}
