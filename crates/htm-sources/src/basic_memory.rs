//! The folders of basic-memory: a note a Markdown file, with front matter in YAML, observations
//! (`- [decision] Use REST #api`) and relations (`- requires [[Grinder]]`).

mod note;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use htm_core::{Error, MAX_CONTENT_BYTES, Result};
use serde_json::{Value, json};

use self::note::{CREATED, Note, UPDATED};
use crate::foreign::{Foreign, Item, Left, Why};
use crate::{Counts, Source, codes, files, json};

/// The most relations of a note that come: the metadata is limited.
const RELATIONS: usize = 500;
/// The most bytes of a file that is read: a text of the largest size and its front matter.
const MOST_BYTES: u64 = 2 * MAX_CONTENT_BYTES as u64;

/// A folder, read file by file in the order of the paths.
pub(crate) struct BasicMemory {
    folder: PathBuf,
    /// The files that are not read yet, in reverse.
    paths: Vec<PathBuf>,
    /// The links that are not listed yet, in reverse.
    links: Vec<PathBuf>,
    /// The file that each permalink names. A copied file has the permalink of its original.
    owners: HashMap<String, PathBuf>,
    counts: Counts,
}

pub(crate) fn open(location: &str) -> Result<BasicMemory> {
    let folder = files::file(location)?.to_owned();
    let metadata = folder.metadata().map_err(files::unreadable(&folder))?;
    let (mut paths, mut links) = (Vec::new(), Vec::new());
    match metadata.is_dir() {
        true => walk(&folder, &mut paths, &mut links)?,
        false => paths.push(folder.clone()),
    }
    if !paths.iter().any(|path| is_note(path)) {
        let message = format!("{location} has no Markdown files (*.md), also not below it");
        return Err(Error::new(codes::SOURCE_UNRECOGNISED, message));
    }
    paths.sort_by(|a, b| b.cmp(a));
    links.sort_by(|a, b| b.cmp(a));
    let owners = owners(&paths);
    Ok(BasicMemory { folder, paths, links, owners, counts: Counts::new() })
}

/// Collects the files and the links below a folder. Hidden ones are those of programs.
fn walk(folder: &Path, paths: &mut Vec<PathBuf>, links: &mut Vec<PathBuf>) -> Result<()> {
    for entry in folder.read_dir().map_err(files::unreadable(folder))? {
        let entry = entry.map_err(files::unreadable(folder))?;
        let kind = entry.file_type().map_err(files::unreadable(folder))?;
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if kind.is_dir() {
            walk(&entry.path(), paths, links)?;
        } else if kind.is_file() {
            paths.push(entry.path());
        } else if kind.is_symlink() {
            links.push(entry.path());
        }
    }
    Ok(())
}

fn is_note(path: &Path) -> bool {
    path.extension().is_some_and(|it| it.eq_ignore_ascii_case("md"))
}

/// The file that each permalink names. If several files have the same permalink, it is the one whose path agrees with it
/// most, or the first of those that agree equally. `paths` are in reverse.
fn owners(paths: &[PathBuf]) -> HashMap<String, PathBuf> {
    let mut owners: HashMap<String, (usize, &PathBuf)> = HashMap::new();
    for path in paths.iter().rev().filter(|path| is_note(path)) {
        let Ok(text) = read(path) else { continue };
        let Ok(note) = Note::parse(&text) else { continue };
        let Some(permalink) = note.permalink() else { continue };
        let agreed = agreed(path, permalink);
        let owner = owners.entry(permalink.into()).or_insert((agreed, path));
        if agreed > owner.0 {
            *owner = (agreed, path);
        }
    }
    owners.into_iter().map(|(permalink, (_, path))| (permalink, path.clone())).collect()
}

/// How many of the last names of a path are those of a permalink, which is spelled without blanks and capitals.
fn agreed(path: &Path, permalink: &str) -> usize {
    let spelled = |name: &str| -> String {
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let path = path.with_extension("");
    let names = path.iter().rev().map(|name| spelled(&name.to_string_lossy()));
    names.zip(permalink.rsplit('/').map(spelled)).take_while(|(name, of_link)| name == of_link).count()
}

/// The text of a file. The error says why there is none.
fn read(path: &Path) -> std::result::Result<String, String> {
    let metadata = fs::metadata(path).map_err(|error| error.to_string())?;
    if metadata.len() > MOST_BYTES {
        return Err(format!("it has {} bytes", metadata.len()));
    }
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}

#[async_trait]
impl Source for BasicMemory {
    async fn next(&mut self) -> Result<Option<Item>> {
        let Some(path) = self.paths.pop() else {
            let Some(link) = self.links.pop() else { return Ok(None) };
            *self.counts.entry("link").or_default() += 1;
            return Ok(Some(Item::Left(Left::new("link", self.name(&link), Why::Link))));
        };
        *self.counts.entry("file").or_default() += 1;
        let name = self.name(&path);
        if !is_note(&path) {
            return Ok(Some(Item::Left(Left::new("file", name, Why::NotText))));
        }
        Ok(Some(match self.note(&path, &name) {
            Ok(item) => item,
            Err(what) => Item::Left(Left::new("note", name, Why::Unreadable).detail(what)),
        }))
    }

    fn counts(&self) -> Counts {
        self.counts.clone()
    }
}

impl BasicMemory {
    /// The path below the folder, or that of a location that is a file.
    fn name(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.folder).unwrap_or(path);
        let named = if below.as_os_str().is_empty() { path } else { below };
        named.to_string_lossy().into_owned()
    }

    fn note(&mut self, path: &Path, name: &str) -> std::result::Result<Item, String> {
        let text = read(path)?;
        let note = Note::parse(&text)?;
        if note.body.is_empty() {
            return Ok(Item::Left(Left::new("note", name, Why::Empty)));
        }
        *self.counts.entry("note").or_default() += 1;
        let front = &note.front;
        let is_own = |permalink: &&str| self.owners.get(*permalink).is_some_and(|owner| owner == path);
        let permalink = note.permalink().filter(is_own);
        let stem = name.strip_suffix(".md").unwrap_or(name);
        let title = json::text(front, "title").or_else(|| stem.rsplit('/').next());
        let mut metadata = note.further();
        json::keep(&mut metadata, "title", title.map(Value::from).as_ref());
        json::keep(&mut metadata, "permalink", front.get("permalink"));
        let relations: Vec<Value> = note.relations.iter().take(RELATIONS).map(|it| json!(it)).collect();
        json::keep(&mut metadata, "relations", Some(&Value::Array(relations)));
        let first_time = |names: &[&str]| names.iter().find_map(|name| json::time(front, name));
        let modified = fs::metadata(path).and_then(|it| it.modified()).ok().map(from_system);
        let memory = Foreign {
            id: permalink.unwrap_or(name).into(),
            text: note.body.into(),
            kind: Some(json::text(front, "type").unwrap_or("note").into()),
            source: Some(name.into()),
            tags: note.tags,
            metadata,
            at: first_time(&CREATED).or(modified),
            updated_at: first_time(&UPDATED),
            ..Foreign::default()
        };
        Ok(Item::Memory(Box::new(memory.keeping_times(front, &[CREATED, UPDATED].concat()))))
    }
}

fn from_system(time: SystemTime) -> DateTime<Utc> {
    time.into()
}

#[cfg(test)]
mod tests;
