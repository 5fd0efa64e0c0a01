//! The folder of a pulled model, and what is written in it of where it comes from.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use htm_core::{Error, Result};
use htm_providers::local::{self, LocalSettings, ModelFacts};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::io;
use crate::codes;
use crate::paths::sync_names;

/// The file of a model's folder that tells where it comes from. The local provider reads the prompts.
const SOURCE: &str = "htm.json";

/// The purpose of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It embeds texts.
    Embedder,
    /// It re-ranks hits.
    CrossEncoder,
}

impl Kind {
    /// The kind of the model in a folder, by its `config.json`. An encoder may have a folder of its own.
    pub(super) fn of(folder: &Path) -> Result<Self> {
        let path = folder.join("config.json");
        if !path.exists() {
            return Ok(Self::Embedder);
        }
        let read = fs::read(&path).map_err(io(&path))?;
        let config: Value = serde_json::from_slice(&read).map_err(|error| {
            Error::new(codes::HUB_MODEL_UNFIT, "its config.json is not JSON").with_source(error)
        })?;
        let architecture = config.pointer("/architectures/0").and_then(Value::as_str).unwrap_or_default();
        Ok(match architecture.ends_with("ForSequenceClassification") {
            true => Self::CrossEncoder,
            false => Self::Embedder,
        })
    }
}

/// Where a model comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Source {
    pub(super) repository: String,
    pub(super) commit: String,
    /// The prefixes of texts that the model was trained with, if its own files do not say them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) prompts: Option<Prompts>,
}

/// The prefixes of queries and of documents.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Prompts {
    pub(super) query: String,
    pub(super) document: String,
}

impl Source {
    /// Reads it. None for a folder that was made otherwise.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(folder.join(SOURCE)).ok()?).ok()
    }

    /// Whether the file is there and cannot be read. Earlier versions left an empty one after a power failure.
    pub(super) fn is_damaged(folder: &Path) -> bool {
        folder.join(SOURCE).is_file() && Self::read(folder).is_none()
    }

    /// Writes it. After a power failure the file is whole or as before.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(SOURCE);
        let part = path.with_added_extension("part");
        let text = serde_json::to_vec_pretty(self).unwrap_or_default();
        let write = || -> std::io::Result<()> {
            let mut file = File::create(&part)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&part, &path)?;
            sync_names(folder)
        };
        write().map_err(io(&path))
    }

    /// Whether both are the same files.
    pub(super) fn is_of(&self, other: &Self) -> bool {
        (&self.repository, &self.commit) == (&other.repository, &other.commit)
    }
}

/// Refuses a model that HTM cannot run, before its weights are fetched.
pub(super) fn check_files(folder: &Path) -> Result<()> {
    match Kind::of(folder)? {
        Kind::Embedder => local::facts(folder).map(|_| ()).map_err(unfit),
        Kind::CrossEncoder => Ok(()),
    }
}

/// Loads the model of a folder. Its properties, for an embedder.
pub(super) fn load(folder: &Path, kind: Kind) -> Result<Option<ModelFacts>> {
    match kind {
        Kind::Embedder => {
            local::embedder(LocalSettings { model_dir: folder.into(), ..LocalSettings::default() })
                .and_then(|_| local::facts(folder))
                .map(Some)
                .map_err(unfit)
        }
        Kind::CrossEncoder => local::reranker(folder, 0).map(|_| None).map_err(unfit),
    }
}

fn unfit(error: Error) -> Error {
    let message = format!("HTM cannot run it: {error}");
    Error::new(codes::HUB_MODEL_UNFIT, message).with_source(error)
}
