//! Imports: plain lines of memories, and exports. What exists already is left as it is, so that a file can be imported
//! again.

mod log;
mod saved;
mod settings;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::api::htm::Htm;
use crate::model::error::{Error, Result, codes};
use crate::model::export::{
    Header, ImportedLine, Line, LineCounts, LineKind, SavedChange, SavedModel, SavedName, SavedTag,
};
use crate::model::fault::Fault;
use crate::model::id::NodeId;
use crate::model::memory::Memory;
use crate::model::ontology::OntologyDocument;
use crate::model::remember::Outcome;
use crate::store::embeddings::{self, RegisteredModel};
use crate::store::import as store;

use saved::SavedChunk;

/// The most tags that are imported as one change of the ontology.
const TAGS: usize = 1_000;
/// The source of imported tags in the log of the ontology.
const SOURCE: &str = "an export";

/// The number of a line, from 1, and its result.
pub type LineResult = (u64, Result<ImportedLine>);

impl Htm {
    /// Begins an import. Memories are written in transactions of at most this many lines and about this many bytes of
    /// text. Exports are read as well as lines that only have the fields of [`Memory::from_line`].
    ///
    /// ```no_run
    /// # async fn example(htm: htm_core::Htm, file: impl std::io::BufRead) -> Result<(), Box<dyn std::error::Error>> {
    /// let mut import = htm.importer(1_000, 16 << 20);
    /// for line in file.lines() {
    ///     for (number, result) in import.line(line?.as_bytes()).await? {
    ///         if let Err(error) = result {
    ///             eprintln!("line {number}: {error}");
    ///         }
    ///     }
    /// }
    /// let results = import.finish().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn importer(&self, lines: usize, bytes: usize) -> Importer {
        Importer {
            htm: self.clone(),
            most: (lines, bytes),
            // An export has memories of many robots.
            plain_only: self.bound_robot().is_some(),
            leaves_forgotten: false,
            number: 0,
            is_over: false,
            waiting: Waiting::Nothing,
            results: Vec::new(),
            export: None,
            models: HashMap::new(),
            changes: HashMap::new(),
            is_with_log: false,
            laid: HashMap::new(),
            written: saved::Written::default(),
        }
    }
}

/// An import. Lines that are not written yet are lost if it is dropped. It is over after an error, or if a call is dropped:
/// lines may be written that it counts among the unwritten ones, and it would write them a second time. A new import of the
/// same lines finds them.
#[derive(Debug)]
pub struct Importer {
    htm: Htm,
    most: (usize, usize),
    /// Whether the lines of an export are refused.
    plain_only: bool,
    /// Whether memories of other systems that were forgotten here are left.
    leaves_forgotten: bool,
    /// The number of the last line.
    number: u64,
    /// Whether a call failed, was dropped, or is running.
    is_over: bool,
    waiting: Waiting,
    /// Results that were not returned yet.
    results: Vec<LineResult>,
    /// The lines of an export so far, from its header to its end.
    export: Option<LineCounts>,
    /// The models of vectors, by their labels in the export; none: their vectors are left out.
    models: HashMap<String, Option<RegisteredModel>>,
    /// The changes of ontologies here, by their numbers in the export.
    changes: HashMap<i64, i64>,
    /// Whether the export has the log of its ontologies.
    is_with_log: bool,
    /// The tags of each namespace that the export has named so far.
    laid: HashMap<String, HashSet<String>>,
    written: saved::Written,
}

/// Lines of one kind that are written together.
#[derive(Debug)]
enum Waiting {
    Nothing,
    Plain { numbers: Vec<u64>, memories: Vec<Memory>, bytes: usize },
    Changes { changes: Vec<(u64, SavedChange)>, bytes: usize },
    Names { names: Vec<(u64, SavedName)>, bytes: usize },
    Tags(Vec<(u64, SavedTag)>),
    Saved(SavedChunk),
}

impl Waiting {
    fn first(&self) -> Option<u64> {
        match self {
            Self::Nothing => None,
            Self::Plain { numbers, .. } => numbers.first().copied(),
            Self::Changes { changes, .. } => changes.first().map(|(number, _)| *number),
            Self::Names { names, .. } => names.first().map(|(number, _)| *number),
            Self::Tags(tags) => tags.first().map(|(number, _)| *number),
            Self::Saved(chunk) => chunk.first(),
        }
    }

    /// The number of lines, and the bytes of their texts.
    fn size(&self) -> (usize, usize) {
        match self {
            Self::Nothing => (0, 0),
            Self::Plain { memories, bytes, .. } => (memories.len(), *bytes),
            Self::Changes { changes, bytes } => (changes.len(), *bytes),
            Self::Names { names, bytes } => (names.len(), *bytes),
            Self::Tags(tags) => (tags.len(), 0),
            Self::Saved(chunk) => chunk.size(),
        }
    }
}

impl Importer {
    /// Refuses the lines of an export, which also set policies, robots, groups and tags.
    #[must_use]
    pub fn plain_only(self) -> Self {
        Self { plain_only: true, ..self }
    }

    /// Takes a memory of another system whose key is that of a forgotten one as existing, whatever its text. Without this,
    /// it is a new memory. The memories between the first and the last line of an export are known by their times and texts.
    #[must_use]
    pub fn leaves_forgotten(self) -> Self {
        Self { leaves_forgotten: true, ..self }
    }

    /// Reads a line. Returns the results of this and of earlier lines that were written now, in their order. Blank lines
    /// and the first and last line of an export have no result.
    ///
    /// # Errors
    /// `export_version`, or a database error: of the lines from [`first_unwritten`](Self::first_unwritten) on, none has a
    /// result. The import is over then: further calls fail with `export_incomplete`. The inner errors are those of single
    /// lines.
    pub async fn line(&mut self, line: &[u8]) -> Result<Vec<LineResult>> {
        self.begin_call()?;
        let results = self.read(line).await?;
        self.is_over = false;
        Ok(results)
    }

    async fn read(&mut self, line: &[u8]) -> Result<Vec<LineResult>> {
        self.number += 1;
        // Some programs of Windows begin a file of UTF-8 with this mark.
        let mark = if self.number == 1 { line.strip_prefix("\u{feff}".as_bytes()) } else { None };
        let line = mark.unwrap_or(line);
        let read = match Line::read(line) {
            Ok(Some(saved)) => self.saved(saved, line.len()).await,
            Ok(None) => self.plain(line).await,
            Err(error) => Err(error),
        };
        match read {
            Ok(()) => {}
            Err(error) if error.fault() == Fault::User && !error.is(codes::EXPORT_VERSION) => {
                self.refuse(error)
            }
            Err(error) => return Err(error),
        }
        let (lines, bytes) = self.waiting.size();
        match lines + self.results.len() >= self.most.0 || bytes >= self.most.1 {
            true => self.take_results().await,
            false => Ok(Vec::new()),
        }
    }

    fn begin_call(&mut self) -> Result<()> {
        if self.is_over {
            let message = "the import is over: an earlier call failed or was dropped";
            return Err(Error::new(codes::EXPORT_INCOMPLETE, message)
                .with_hint("begin a new import of the same lines: it finds what is written"));
        }
        self.is_over = true;
        Ok(())
    }

    /// Counts a line that the caller could not read.
    pub fn unread(&mut self, error: Error) {
        self.number += 1;
        self.refuse(error);
    }

    /// The number of the first line that is not known to be written, or of the last line.
    pub fn first_unwritten(&self) -> u64 {
        self.waiting.first().unwrap_or(self.number)
    }

    /// Writes the lines so far, and returns their results.
    ///
    /// # Errors
    /// As [`line`](Self::line).
    pub async fn write(&mut self) -> Result<Vec<LineResult>> {
        self.begin_call()?;
        let results = self.take_results().await?;
        self.is_over = false;
        Ok(results)
    }

    async fn take_results(&mut self) -> Result<Vec<LineResult>> {
        self.write_waiting().await?;
        let mut results = std::mem::take(&mut self.results);
        results.sort_by_key(|(number, _)| *number);
        Ok(results)
    }

    /// Ends the import: as [`write`](Self::write), with `export_incomplete` as the result of a line after the last if an
    /// export has no end.
    ///
    /// # Errors
    /// As [`line`](Self::line).
    pub async fn finish(mut self) -> Result<Vec<LineResult>> {
        if self.export.is_some() {
            let message = format!("the export has no end: its last line is line {}", self.number);
            self.unread(Error::new(codes::EXPORT_INCOMPLETE, message));
        }
        self.write().await
    }

    fn refuse(&mut self, error: Error) {
        self.results.push((self.number, Err(error)));
    }

    async fn plain(&mut self, line: &[u8]) -> Result<()> {
        let Some(memory) = Memory::from_line(line, self.htm.tag_rules())? else { return Ok(()) };
        if !matches!(self.waiting, Waiting::Plain { .. }) {
            self.write_waiting().await?;
            self.waiting = Waiting::Plain { numbers: Vec::new(), memories: Vec::new(), bytes: 0 };
        }
        if let Waiting::Plain { numbers, memories, bytes } = &mut self.waiting {
            numbers.push(self.number);
            *bytes += memory.content.len();
            memories.push(memory);
        }
        Ok(())
    }

    async fn saved(&mut self, line: Line, bytes: usize) -> Result<()> {
        if self.plain_only {
            let message = "the line is of an export, and only plain lines of memories may be imported here";
            return Err(Error::new(codes::EXPORT_FORBIDDEN, message));
        }
        if let Some(counts) = &mut self.export
            && !matches!(line, Line::Header(_) | Line::End(_))
        {
            *counts.entry(line.kind()).or_default() += 1;
        }
        match line {
            line @ (Line::Memory(_) | Line::Revision(_)) => {
                if !matches!(self.waiting, Waiting::Saved(_)) {
                    self.write_waiting().await?;
                    self.waiting = Waiting::Saved(SavedChunk::default());
                }
                match (&mut self.waiting, line) {
                    (Waiting::Saved(chunk), Line::Memory(memory)) => {
                        chunk.add(self.number, *memory, &self.htm, &self.models)
                    }
                    (Waiting::Saved(chunk), Line::Revision(text)) => {
                        chunk.add_text(self.number, text, self.written.last())
                    }
                    _ => Ok(()),
                }
            }
            Line::Change(change) => self.change(change, bytes).await,
            Line::Name(name) => self.name(name, bytes).await,
            Line::Tag(tag) => self.tag(tag).await,
            other => {
                self.write_waiting().await?;
                let number = self.number;
                if let Some(result) = self.single(other).await? {
                    self.results.push((number, Ok(result)));
                }
                Ok(())
            }
        }
    }

    async fn tag(&mut self, tag: SavedTag) -> Result<()> {
        tag.check()?;
        self.htm.admit(&tag.ns)?;
        let joins = |(_, last): &(u64, SavedTag)| last.ns == tag.ns && last.removed == tag.removed;
        let has_room = match &self.waiting {
            Waiting::Tags(tags) => tags.len() < TAGS && tags.last().is_some_and(joins),
            _ => false,
        };
        if !has_room {
            self.write_waiting().await?;
            self.waiting = Waiting::Tags(Vec::new());
        }
        if let Waiting::Tags(tags) = &mut self.waiting {
            tags.push((self.number, tag));
        }
        Ok(())
    }

    /// Writes a line that is written alone; none if it has no result.
    async fn single(&mut self, line: Line) -> Result<Option<ImportedLine>> {
        let kind = line.kind();
        let is_new = match line {
            Line::Header(header) => return self.begin(&header).map(|()| None),
            Line::End(end) => return self.end(&end.lines).map(|()| None),
            Line::Model(model) => self.model(model).await?,
            Line::Retention(policy) => self.retention(&policy).await?,
            Line::Budget(budget) => self.budget(&budget).await?,
            Line::Limits(limits) => self.limits(&limits).await?,
            Line::Document(document) => self.document(&document).await?,
            Line::Quota(quota) => self.quota(&quota).await?,
            Line::Ranking(ranking) => self.ranking(&ranking).await?,
            Line::Learning(learning) => self.learning(&learning).await?,
            Line::Robot(robot) => {
                robot.check()?;
                self.htm.admit(&robot.ns)?;
                store::robot(self.htm.pool(), &robot).await?
            }
            Line::Group(group) => {
                group.check()?;
                self.htm.admit(&group.ns)?;
                store::group(self.htm.pool(), &group).await?
            }
            Line::Relation(relation) => {
                relation.check()?;
                self.htm.admit(&relation.ns)?;
                let node = |number| {
                    let missing = || {
                        let what =
                            format!("no line before it has a related memory {number} that was written");
                        Error::new(codes::LINE_INVALID, what)
                    };
                    self.written.related(number).ok_or_else(missing)
                };
                store::relation(self.htm.pool(), &relation, node(relation.from)?, node(relation.to)?).await?
            }
            Line::Change(_) | Line::Name(_) | Line::Tag(_) | Line::Memory(_) | Line::Revision(_) => {
                return Ok(None);
            }
        };
        Ok(Some(ImportedLine::new(kind, is_new)))
    }

    fn begin(&mut self, header: &Header) -> Result<()> {
        header.check()?;
        self.models.clear();
        self.changes.clear();
        self.is_with_log = header.version > 1;
        self.laid.clear();
        // The numbers of its memories are its own.
        self.written = saved::Written::default();
        match self.export.replace(LineCounts::new()) {
            None => Ok(()),
            Some(_) => {
                let message = "another export begins here, and the one before it has no end";
                Err(Error::new(codes::EXPORT_INCOMPLETE, message))
            }
        }
    }

    fn end(&mut self, expected: &LineCounts) -> Result<()> {
        let found = self.export.take();
        if found.as_ref() == Some(expected) {
            return Ok(());
        }
        let found = found.unwrap_or_default();
        let differs = |kind: &&LineKind| found.get(kind) != expected.get(kind);
        let kind = expected.keys().chain(found.keys()).find(differs).copied().unwrap_or(LineKind::Header);
        let count = |of: &LineCounts| of.get(&kind).copied().unwrap_or(0);
        let message = format!(
            "the export has {} lines of the kind `{kind}`, and its end says {}",
            count(&found),
            count(expected)
        );
        Err(Error::new(codes::EXPORT_INCOMPLETE, message))
    }

    /// Registers a model, so that vectors can be written; true if it is new. A restricted handle registers none. The
    /// vectors of a model that is not in use are left out.
    async fn model(&mut self, saved: SavedModel) -> Result<bool> {
        saved.check()?;
        let name = crate::provider::ModelName::new(saved.provider, saved.name);
        let known = embeddings::models(self.htm.pool()).await?;
        let found = known.into_iter().find(|it| it.name == name && it.dimensions == saved.dimensions);
        let is_new = found.is_none() && self.htm.admit_all().is_ok();
        let model = match is_new {
            true => Some(embeddings::register_model(self.htm.pool(), &name, saved.dimensions).await?),
            false => found.filter(RegisteredModel::is_in_use),
        };
        self.models.insert(saved.label, model);
        Ok(is_new)
    }

    async fn write_waiting(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.waiting, Waiting::Nothing) {
            Waiting::Nothing => {}
            Waiting::Plain { numbers, memories, bytes } => {
                let written = self.remember(&memories).await;
                if written.is_err() {
                    self.waiting = Waiting::Plain { numbers, memories, bytes };
                    return written.map(drop);
                }
                self.results.extend(numbers.into_iter().zip(written?));
            }
            Waiting::Changes { changes, bytes } => match self.write_changes(&changes).await {
                Ok(results) => self.results.extend(results),
                Err(error) => {
                    self.waiting = Waiting::Changes { changes, bytes };
                    return Err(error);
                }
            },
            Waiting::Names { names, bytes } => match self.write_names(&names).await {
                Ok(results) => self.results.extend(results),
                Err(error) => {
                    self.waiting = Waiting::Names { names, bytes };
                    return Err(error);
                }
            },
            Waiting::Tags(tags) => match self.write_tags(&tags).await {
                Ok(results) => self.results.extend(results),
                Err(error) => {
                    self.waiting = Waiting::Tags(tags);
                    return Err(error);
                }
            },
            Waiting::Saved(chunk) => {
                // An export may have a live memory with the key of one that it says was forgotten.
                let leaves_forgotten = self.leaves_forgotten && self.export.is_none();
                let known = (&self.models, &self.changes);
                match chunk.write(&self.htm, known, leaves_forgotten, &mut self.written).await {
                    Ok(results) => self.results.extend(results),
                    Err(error) => {
                        self.waiting = Waiting::Saved(chunk);
                        return Err(error);
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes the memories of plain lines.
    async fn remember(&self, memories: &[Memory]) -> Result<Vec<Result<ImportedLine>>> {
        let forgotten = match self.leaves_forgotten {
            true => {
                // The write says why the others are refused.
                let keys = memories.iter().map(|memory| {
                    let (namespace, _) = self.htm.admit_memory(memory).ok()?;
                    Some((namespace, memory.key.as_deref()?))
                });
                store::forgotten(self.htm.pool(), &keys.collect::<Vec<_>>()).await?
            }
            false => vec![None; memories.len()],
        };
        let new: Cow<'_, [Memory]> = match forgotten.iter().all(Option::is_none) {
            true => memories.into(),
            false => {
                let new = memories.iter().zip(&forgotten).filter(|(_, node)| node.is_none());
                new.map(|(memory, _)| memory.clone()).collect()
            }
        };
        let receipts = match new.is_empty() {
            true => Vec::new(),
            false => self.htm.remember_many_at(&new, None).await?,
        };
        let mut receipts = receipts.into_iter();
        let line = |forgotten: Option<NodeId>| match forgotten {
            Some(node) => Some(Ok(ImportedLine::memory(node, Outcome::Existing))),
            None => Some(receipts.next()?.map(|it| ImportedLine::memory(it.node, it.outcome))),
        };
        Ok(forgotten.into_iter().filter_map(line).collect())
    }

    /// Writes tags of one namespace as one change. If a tag is refused, they are written one by one.
    async fn write_tags(&mut self, tags: &[(u64, SavedTag)]) -> Result<Vec<LineResult>> {
        let Some((first, SavedTag { removed, .. })) = tags.first() else { return Ok(Vec::new()) };
        let written = if *removed { self.remove(tags).await } else { self.lay(tags).await };
        match written {
            Ok(results) => Ok(results),
            Err(error) if error.fault() != Fault::User => Err(error),
            Err(error) if tags.len() == 1 => Ok(vec![(*first, Err(error))]),
            Err(_) => {
                let mut results = Vec::new();
                for tag in tags.chunks(1) {
                    results.extend(Box::pin(self.write_tags(tag)).await?);
                }
                Ok(results)
            }
        }
    }

    async fn lay(&mut self, tags: &[(u64, SavedTag)]) -> Result<Vec<LineResult>> {
        let namespace = tags.first().map_or("", |(_, tag)| &tag.ns);
        let document = OntologyDocument::new(tags.iter().map(|(_, tag)| tag.document_tag()).collect());
        let ontology = self.htm.ontology(Some(namespace))?;
        // The export's own log says how the ontology came to be.
        let source = (!self.is_of_the_export(namespace, tags).await?).then_some(SOURCE);
        let changed = ontology.restore(source, &document).await?.changed;
        let times: Vec<_> =
            tags.iter().filter_map(|(_, tag)| Some((tag.tag.as_str(), tag.created_at?))).collect();
        store::date_tags(self.htm.pool(), namespace, &times).await?;
        let laid = self.laid.entry(namespace.to_owned()).or_default();
        // The parts of a split are made with it. Their own lines may follow.
        for it in &document.tags {
            laid.extend(it.split_into.iter().chain([&it.tag]).map(ToString::to_string));
        }
        let is_new = |tag: &str| {
            changed.added.iter().chain(&changed.described).any(|it| it == tag)
                || changed.synonyms.iter().any(|it| it.tag == tag)
        };
        let result = |(number, tag): &(u64, SavedTag)| {
            (*number, Ok(ImportedLine::new(LineKind::Tag, is_new(tag.tag.as_str()))))
        };
        Ok(tags.iter().map(result).collect())
    }

    async fn remove(&self, tags: &[(u64, SavedTag)]) -> Result<Vec<LineResult>> {
        let namespace = tags.first().map_or("", |(_, tag)| &tag.ns);
        let paths: Vec<&str> = tags.iter().map(|(_, tag)| tag.tag.as_str()).collect();
        let by = &self.htm.settings().robot;
        let removed = store::remove_tags(self.htm.pool(), namespace, &paths, by).await?;
        let result = |(number, tag): &(u64, SavedTag)| {
            (*number, Ok(ImportedLine::new(LineKind::Tag, removed.contains(tag.tag.as_str()))))
        };
        Ok(tags.iter().map(result).collect())
    }
}
