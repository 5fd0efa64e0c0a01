//! A pull: list, fetch, check, load, place.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use htm_core::{Error, Result};
use htm_providers::local::ModelFacts;
use serde::{Deserialize, Serialize};

use super::place::{Kind, Source, check_files, load};
use super::repository::{Listing, MODULES, RemoteFile, Repository, is_name, is_weights};
use super::{Hub, download, io, known};
use crate::codes;
use crate::paths::{Paths, readable};

/// A model that was pulled.
#[derive(Clone, Debug, Serialize)]
pub struct Pulled {
    /// Its name: `local/NAME` is its label.
    pub name: String,
    /// Its repository.
    pub repository: String,
    /// The commit of its files.
    pub commit: String,
    /// Its purpose.
    pub kind: Kind,
    /// Its folder.
    #[serde(serialize_with = "readable")]
    pub directory: PathBuf,
    /// The number of its files.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Whether all of it was there already.
    pub already_there: bool,
    /// Its properties. None for a cross-encoder.
    pub facts: Option<ModelFacts>,
}

/// Pulls a model at a revision (a branch, a tag or a commit) into the folder `name` of the models below `HTM_HOME`.
/// `on_bytes` is called with the bytes that are there and those of all files.
///
/// # Errors
/// `hub_repository_invalid` for a name that is no folder's; `hub_not_found`, `hub_forbidden`, `hub_unreachable`,
/// `hub_answer_invalid` by the hub's answer; `hub_model_unfit` for a model that HTM cannot run; `hub_file_damaged`;
/// `hub_name_taken` if another model, or another commit of it, has the name; `hub_busy` while another process pulls it.
pub async fn pull(
    hub: &Hub,
    paths: &Paths,
    repository: &Repository,
    revision: &str,
    name: &str,
    on_bytes: &(dyn Fn(u64, u64) + Sync),
) -> Result<Pulled> {
    if !is_name(name) {
        let message = format!("`{name}` cannot be the name of a folder");
        return Err(Error::new(codes::HUB_REPOSITORY_INVALID, message));
    }
    let place = paths.model_dir(name);
    let models = place.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(models).map_err(io(models))?;
    let _lock = lock(models, name)?;
    let listing = hub.list(repository, revision).await?;
    let prompts = known::of(&repository.to_string()).and_then(|model| model.prompts());
    let source = Source { repository: repository.to_string(), commit: listing.commit.clone(), prompts };
    if Source::is_damaged(&place) && is_whole(&place, &listing).await? {
        source.write(&place)?;
    }
    refuse_another(&place, name, &source)?;

    // Existing files are checked, and damaged ones are fetched again.
    let folder = match place.exists() {
        true => place.clone(),
        false => begin(models, name, &source)?,
    };
    let fetch = async |file: &RemoteFile, on_file: &(dyn Fn(u64) + Sync)| {
        let url = hub.file(repository, &listing.commit, &file.path)?;
        download::file(hub, url, file, &folder.join(&file.path), on_file).await
    };
    let mut already_there = folder == place;
    if let Some(modules) = listing.get(MODULES) {
        already_there &= fetch(modules, &|_| ()).await?;
    }
    let files = listing.needed(&folders(&folder)?)?;
    let bytes = total(files.iter().map(|file| file.bytes));
    let mut done = 0;
    for file in &files {
        if is_weights(&file.path) {
            check_files(&folder)?;
        }
        already_there &= fetch(file, &|of_file| on_bytes(done + of_file, bytes)).await?;
        done += file.bytes;
    }

    let (kind, facts) = loaded(folder.clone()).await?;
    if folder != place {
        fs::rename(&folder, &place).map_err(io(&place))?;
    }
    let files = files.len();
    let Source { repository, commit, .. } = source;
    let name = name.to_owned();
    Ok(Pulled { name, repository, commit, kind, directory: place, files, bytes, already_there, facts })
}

/// The sum of sizes. Saturating: they are the hub's numbers.
fn total(mut sizes: impl Iterator<Item = u64>) -> u64 {
    sizes.try_fold(0_u64, u64::checked_add).unwrap_or(u64::MAX)
}

/// The folder in which a model is fetched, with what an interrupted pull of the same files has left. It is beside the
/// models, so that a reader never finds half a model.
fn begin(models: &Path, name: &str, source: &Source) -> Result<PathBuf> {
    let partial = models.join(format!(".{name}.partial"));
    let is_same = Source::read(&partial).is_some_and(|begun| begun.is_of(source));
    if !is_same && partial.exists() {
        fs::remove_dir_all(&partial).map_err(io(&partial))?;
    }
    fs::create_dir_all(&partial).map_err(io(&partial))?;
    source.write(&partial)?;
    Ok(partial)
}

/// Keeps other processes from pulling to the same name.
fn lock(models: &Path, name: &str) -> Result<File> {
    let path = models.join(format!(".{name}.lock"));
    let file = File::create(&path).map_err(io(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(Error::new(codes::HUB_BUSY, format!("another process pulls {name} now")))
        }
        Err(TryLockError::Error(error)) => Err(io(&path)(error)),
    }
}

/// The vectors of a model are those of one commit: another one would silently mix with them.
fn refuse_another(place: &Path, name: &str, wanted: &Source) -> Result<()> {
    if !place.exists() {
        return Ok(());
    }
    let message = match Source::read(place) {
        Some(there) if there.is_of(wanted) => return Ok(()),
        Some(there) => format!("{name} is {} at {} already", there.repository, there.commit),
        None => format!("{} is there already, and was not pulled", place.display()),
    };
    Err(Error::new(codes::HUB_NAME_TAKEN, message))
}

/// Whether a folder has the files of a list. The folder then is of its commit, too.
async fn is_whole(place: &Path, listing: &Listing) -> Result<bool> {
    for file in listing.needed(&folders(place)?)? {
        if !download::is_whole(&place.join(&file.path), file).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The folders of a model's parts.
fn folders(model: &Path) -> Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Module {
        path: String,
    }
    let path = model.join(MODULES);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let read = fs::read(&path).map_err(io(&path))?;
    let modules: Vec<Module> = serde_json::from_slice(&read).map_err(|error| {
        Error::new(codes::HUB_MODEL_UNFIT, "its modules.json is not one").with_source(error)
    })?;
    Ok(modules.into_iter().map(|module| module.path).filter(|path| !path.is_empty()).collect())
}

async fn loaded(folder: PathBuf) -> Result<(Kind, Option<ModelFacts>)> {
    let load = tokio::task::spawn_blocking(move || {
        let kind = Kind::of(&folder)?;
        Ok((kind, load(&folder, kind)?))
    });
    load.await.map_err(|error| Error::new(codes::HUB_MODEL_UNFIT, "loading it failed").with_source(error))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_beyond_all_numbers_are_added() {
        assert_eq!(total([3, 4].into_iter()), 7);
        assert_eq!(total([u64::MAX, 4].into_iter()), u64::MAX);
    }
}
