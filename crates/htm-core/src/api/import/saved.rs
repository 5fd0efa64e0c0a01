//! Memories of an export, written in one transaction with all that belongs to them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use chrono::{DateTime, Utc};

use super::LineResult;
use crate::api::htm::Htm;
use crate::api::rooms::Taken;
use crate::model::error::{Error, Result, codes};
use crate::model::export::{ImportedLine, LineKind, SavedMemory, SavedRevision};
use crate::model::id::{GroupId, NodeId};
use crate::model::memory::{content_hash, filled, language_unknown};
use crate::model::nodes::key_taken;
use crate::model::remember::Outcome;
use crate::store::again::{again, was_overtaken};
use crate::store::embeddings::RegisteredModel;
use crate::store::import::{self as store, Identity, Known, NewSaved, parts};
use crate::store::robots::{self, ROBOT_KEYS};
use crate::store::{groups, nodes, priorities, statistics, tags};

/// The longest time for which a suspended import keeps the groups of its memories waiting.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);

/// Models by their labels in the export.
type Models = HashMap<String, Option<RegisteredModel>>;

/// The numbers of changes here, by those in the export.
type Changes = HashMap<i64, i64>;

/// The written lines, as far as later ones need them.
#[derive(Clone, Debug, Default)]
pub(super) struct Written {
    /// The last memory: its number in the export, and its node here if it has one.
    last: Option<(i64, Option<NodeId>)>,
    /// Nodes that are those of earlier lines of the same namespace and time: two memories may be the same in all else.
    of: Option<(String, DateTime<Utc>)>,
    nodes: HashSet<NodeId>,
    /// The nodes of the memories that lines of relations name, by their numbers in the export.
    related: HashMap<i64, NodeId>,
}

impl Written {
    pub(super) fn related(&self, number: i64) -> Option<NodeId> {
        self.related.get(&number).copied()
    }

    pub(super) fn last(&self) -> Option<i64> {
        self.last.map(|(number, _)| number)
    }

    /// The node here that is a memory of the export, claimed for it.
    fn claim<'a>(
        &mut self,
        item: &NewSaved<'_>,
        known: &'a HashMap<Identity, Vec<Known>>,
    ) -> Option<&'a Known> {
        let of = (item.saved.ns.as_str(), item.saved.created_at);
        if self.of.as_ref().map(|(namespace, time)| (namespace.as_str(), *time)) != Some(of) {
            self.of = Some((of.0.to_owned(), of.1));
            self.nodes.clear();
        }
        let found = Identity::each(item);
        let found = found.iter().filter_map(|it| known.get(it)).flatten();
        let found: Vec<&Known> = found.filter(|it| !self.nodes.contains(&it.node)).collect();
        let same_key = found.iter().find(|it| it.key == item.saved.id);
        let claimed = *same_key.or(found.first())?;
        self.nodes.insert(claimed.node);
        Some(claimed)
    }
}

/// Memories and their former texts, in the order of their lines.
#[derive(Debug, Default)]
pub(super) struct SavedChunk {
    memories: Vec<(u64, SavedMemory)>,
    texts: Vec<(u64, SavedRevision)>,
    bytes: usize,
    /// The number in the export of a memory whose line was refused.
    refused: Option<i64>,
}

impl SavedChunk {
    pub(super) fn first(&self) -> Option<u64> {
        self.memories
            .first()
            .map(|(number, _)| *number)
            .into_iter()
            .chain(self.texts.first().map(|it| it.0))
            .min()
    }

    pub(super) fn size(&self) -> (usize, usize) {
        (self.memories.len() + self.texts.len(), self.bytes)
    }

    /// Adds a memory if its line is valid.
    pub(super) fn add(
        &mut self,
        number: u64,
        mut memory: SavedMemory,
        htm: &Htm,
        models: &Models,
    ) -> Result<()> {
        self.refused = Some(memory.node);
        for field in [&mut memory.speaker, &mut memory.session, &mut memory.source, &mut memory.kind] {
            if filled(field).is_none() {
                *field = None;
            }
        }
        memory.check()?;
        htm.admit(&memory.ns)?;
        memory.in_memory_of.retain(|it| htm.admit(&it.ns).is_ok());
        for it in &memory.vectors {
            let unfit = |what: String| Error::new(codes::VECTOR_UNFIT, what);
            let model = models
                .get(&it.model)
                .ok_or_else(|| unfit(format!("the vector's model `{}` has no line before it", it.model)))?;
            if let Some(model) = model
                && model.dimensions != it.vector.len()
            {
                let (found, expected) = (it.vector.len(), model.dimensions);
                return Err(unfit(format!(
                    "the vector of `{}` has {found} numbers, not {expected}",
                    it.model
                )));
            }
        }
        self.refused = None;
        self.bytes += memory.text.len();
        self.memories.push((number, memory));
        Ok(())
    }

    /// Adds a former text of the memory before it; `last` is the number of the last memory that was written.
    pub(super) fn add_text(&mut self, number: u64, text: SavedRevision, last: Option<i64>) -> Result<()> {
        text.check()?;
        let invalid = |what: String| Err(Error::new(codes::LINE_INVALID, what));
        if self.refused == Some(text.node) {
            return invalid(format!("the line of its memory {} was refused", text.node));
        }
        let before = self.memories.last().map(|(_, it)| it.node).or(last);
        if before != Some(text.node) {
            return invalid(format!("memory {} is not the one before its former text", text.node));
        }
        self.bytes += text.text.len();
        self.texts.push((number, text));
        Ok(())
    }

    /// Writes the memories, in as many transactions as the locks of their tags need.
    pub(super) async fn write(
        &self,
        htm: &Htm,
        known: (&Models, &Changes),
        leaves_forgotten: bool,
        written: &mut Written,
    ) -> Result<Vec<LineResult>> {
        let mut results = Vec::new();
        let languages = htm
            .unknown_languages(&mut None, self.memories.iter().map(|(_, it)| it.language.as_str()))
            .await?;
        let forgotten = match leaves_forgotten {
            true => {
                let keys = self.memories.iter().map(|(_, it)| Some((it.ns.as_str(), it.id.as_deref()?)));
                store::forgotten(htm.pool(), &keys.collect::<Vec<_>>()).await?
            }
            false => vec![None; self.memories.len()],
        };
        let mut items = Vec::new();
        let mut numbers = Vec::new();
        for ((number, saved), forgotten) in self.memories.iter().zip(forgotten) {
            if languages.contains(saved.language.as_str()) {
                results.push((*number, Err(language_unknown(&saved.language))));
                continue;
            }
            let tokens = htm.settings().token_encoding.count(&saved.text);
            numbers.push(*number);
            items.push(NewSaved {
                saved,
                content_hash: content_hash(&saved.text),
                token_count: i32::try_from(tokens).unwrap_or(i32::MAX),
                first_hash: saved.first_hash()?,
                forgotten,
            });
        }
        // The room is kept until the memories are written.
        let (items, refused, taken) = with_room(htm, items, written).await?;
        for (place, error) in refused.into_iter().rev() {
            results.push((numbers.remove(place), Err(error)));
        }
        let mut here: HashMap<i64, Option<NodeId>> = written.last.into_iter().collect();
        let mut rest = &items[..];
        let mut found = Vec::new();
        while !rest.is_empty() {
            let names = rest.iter().map(|it| {
                let levels: usize = it.saved.tags.iter().map(|it| it.tag.levels().count()).sum();
                (it.saved.ns.as_str(), levels)
            });
            let (part, later) = rest.split_at(tags::room_in_tx(names));
            found.extend(htm.import_in_part(part, known, written).await?);
            rest = later;
        }
        drop(taken);
        htm.pinger().ping();
        if leaves_forgotten {
            compare_metadata(htm, &items, &mut found).await?;
        }
        for (item, result) in items.iter().zip(&found) {
            let node = result.as_ref().ok().and_then(|line| line.node);
            here.insert(item.saved.node, node);
            if let Some(node) = node.filter(|_| item.saved.related) {
                written.related.insert(item.saved.node, node);
            }
        }
        if let Some((_, last)) = self.memories.last() {
            written.last = Some((last.node, here.get(&last.node).copied().flatten()));
        }
        results.extend(numbers.into_iter().zip(found));
        results.extend(self.write_texts(htm, &here).await?);
        Ok(results)
    }

    async fn write_texts(&self, htm: &Htm, here: &HashMap<i64, Option<NodeId>>) -> Result<Vec<LineResult>> {
        if self.texts.is_empty() {
            return Ok(Vec::new());
        }
        let node = |text: &SavedRevision| here.get(&text.node).copied().flatten();
        let texts: Vec<(NodeId, &SavedRevision)> =
            self.texts.iter().filter_map(|(_, text)| Some((node(text)?, text))).collect();
        let mut connection = htm.pool().acquire().await?;
        let new: HashSet<(NodeId, i32)> =
            store::revisions_in_tx(&mut connection, &texts).await?.into_iter().collect();
        let result = |(number, text): &(u64, SavedRevision)| {
            let result = match node(text) {
                Some(node) => Ok(ImportedLine::new(LineKind::Revision, new.contains(&(node, text.revision)))),
                None => {
                    let what = format!("its memory {} was not written", text.node);
                    Err(Error::new(codes::LINE_INVALID, what))
                }
            };
            (*number, result)
        };
        Ok(self.texts.iter().map(result).collect())
    }
}

/// Marks the existing memories that have other metadata than those of another system. Forgotten ones stay as they are.
async fn compare_metadata(htm: &Htm, items: &[NewSaved<'_>], found: &mut [Found]) -> Result<()> {
    let existing = |(item, found): (&NewSaved<'_>, &Found)| {
        let line = found.as_ref().ok().filter(|it| it.outcome == Outcome::Existing)?;
        line.node.filter(|_| item.forgotten.is_none())
    };
    let existing: Vec<Option<NodeId>> = items.iter().zip(&*found).map(existing).collect();
    let nodes: Vec<(NodeId, &SavedMemory)> =
        existing.iter().zip(items).filter_map(|(node, item)| Some(((*node)?, item.saved))).collect();
    if nodes.is_empty() {
        return Ok(());
    }
    let other = store::with_other_metadata(htm.pool(), &nodes).await?;
    for (node, found) in existing.iter().zip(found) {
        if let (Some(node), Ok(line)) = (node, found) {
            line.differs |= other.contains(node);
        }
    }
    Ok(())
}

/// The memories that have room, the errors of the others by their places, and the room. Existing and forgotten memories
/// need none.
async fn with_room<'a>(
    htm: &Htm,
    items: Vec<NewSaved<'a>>,
    written: &Written,
) -> Result<(Vec<NewSaved<'a>>, BTreeMap<usize, Error>, Vec<Taken>)> {
    let mut limited: HashMap<&str, bool> = HashMap::new();
    for NewSaved { saved, .. } in &items {
        if !limited.contains_key(saved.ns.as_str()) {
            limited.insert(&saved.ns, htm.is_limited(&mut None, &saved.ns).await?);
        }
    }
    let is_forgotten = |it: &NewSaved<'_>| it.saved.forgotten_at.is_some() || it.forgotten.is_some();
    let needs = |it: &NewSaved<'_>| limited[it.saved.ns.as_str()] && !is_forgotten(it);
    let counted: Vec<NewSaved<'_>> = items.iter().copied().filter(needs).collect();
    if counted.is_empty() {
        return Ok((items, BTreeMap::new(), Vec::new()));
    }
    let known = store::known(&mut *htm.pool().acquire().await?, &counted).await?;
    // Two memories may be the same in all that identifies them.
    let mut claims = written.clone();
    let mut new = Vec::new();
    for (place, item) in items.iter().enumerate() {
        if needs(item) && claims.claim(item, &known).is_none() {
            new.push(place);
        }
    }
    let unique: Vec<nodes::Unique<'_>> = new.iter().map(|place| items[*place].unique()).collect();
    let admitted = htm.make_rooms(&mut None, &unique).await?;
    let (mut refused, mut taken) = (BTreeMap::new(), Vec::new());
    for (place, room) in new.into_iter().zip(admitted) {
        match room {
            Ok(room) => taken.extend(room),
            Err(error) => drop(refused.insert(place, error)),
        }
    }
    let fits = |(place, _): &(usize, NewSaved<'_>)| !refused.contains_key(place);
    let fitting = items.into_iter().enumerate().filter(fits).map(|(_, item)| item).collect();
    Ok((fitting, refused, taken))
}

/// The result of a memory's line.
type Found = Result<ImportedLine>;

impl Htm {
    /// Writes memories in one transaction. Tries again after a deadlock, or if a robot was removed meanwhile.
    async fn import_in_part(
        &self,
        items: &[NewSaved<'_>],
        known: (&Models, &Changes),
        written: &mut Written,
    ) -> Result<Vec<Found>> {
        let former = &*written;
        let import = || async move {
            let mut claims = former.clone();
            let imported = self.try_import(items, known, &mut claims).await?;
            Ok((imported, claims))
        };
        let ((found, groups), claims) = again(|error| was_overtaken(error, &ROBOT_KEYS), import).await?;
        *written = claims;
        for group in groups {
            groups::notify(self.pool(), group).await;
        }
        Ok(found)
    }

    /// Returns the results, and the groups to notify.
    async fn try_import(
        &self,
        items: &[NewSaved<'_>],
        (models, changes): (&Models, &Changes),
        claims: &mut Written,
    ) -> Result<(Vec<Found>, Vec<GroupId>)> {
        let mut tx = self.pool().begin().await?;
        // No other transaction takes this lock, so it comes before all others.
        store::hold_in_tx(&mut tx, items).await?;
        // Groups before robots, robots before tags, tags before nodes, as everywhere.
        let named: BTreeSet<(&str, &str)> = items
            .iter()
            .flat_map(|it| {
                it.saved.in_groups.iter().map(|entry| (it.saved.ns.as_str(), entry.group.as_str()))
            })
            .collect();
        let groups = store::groups_named(&mut tx, &named.into_iter().collect::<Vec<_>>()).await?;
        groups::lock_in_tx(&mut tx, &groups, PATIENCE).await?;
        robots::register_in_tx(&mut tx, &robots_of(items)).await?;
        let paths: Vec<(&str, &str)> = items
            .iter()
            .flat_map(|it| it.saved.tags.iter().map(|tag| (it.saved.ns.as_str(), tag.tag.as_str())))
            .collect();
        let names = tags::register_in_tx(&mut tx, &paths, self.tag_rules()).await?;
        let known = store::known(&mut tx, items).await?;
        let strange = store::strange_passages(&mut tx, items).await?;
        let mut found: Vec<Option<Found>> = items
            .iter()
            .enumerate()
            .map(|(place, item)| match (item.forgotten, claims.claim(item, &known)) {
                (Some(node), _) => Some(Ok(ImportedLine::memory(node, Outcome::Existing))),
                (None, Some(known)) => Some(Ok(ImportedLine {
                    differs: known.content_hash != item.content_hash,
                    ..ImportedLine::memory(known.node, Outcome::Existing)
                })),
                (None, None) if strange.contains(&place) => Some(Err(strange_passage(item.saved))),
                (None, None) => {
                    let full =
                        item.saved.tags.iter().find_map(|it| names.of(&item.saved.ns, it.tag.as_str()).err());
                    full.map(Err)
                }
            })
            .collect();
        let fresh: Vec<usize> = (0..items.len()).filter(|place| found[*place].is_none()).collect();
        let new: Vec<&NewSaved<'_>> = fresh.iter().map(|place| &items[*place]).collect();
        let ids = store::insert_in_tx(&mut tx, &new, self.settings().token_encoding.as_ref()).await?;
        let inserted: Vec<(NodeId, &SavedMemory)> =
            ids.iter().zip(&new).filter_map(|(id, item)| Some(((*id)?, item.saved))).collect();
        claims.nodes.extend(
            inserted
                .iter()
                .filter(|(_, it)| claims.of == Some((it.ns.clone(), it.created_at)))
                .map(|it| it.0),
        );
        for (place, id) in fresh.iter().zip(&ids) {
            found[*place] = id.map(|id| Ok(ImportedLine::memory(id, Outcome::Written)));
        }
        let left: Vec<usize> = (0..items.len()).filter(|place| found[*place].is_none()).collect();
        if !left.is_empty() {
            let items: Vec<&NewSaved<'_>> = left.iter().map(|place| &items[*place]).collect();
            for (place, reason) in left.into_iter().zip(why_left(&mut tx, &items).await?) {
                found[place] = Some(reason);
            }
        }
        parts::assign_in_tx(&mut tx, &inserted, |namespace, path| Ok(names.of(namespace, path)?.to_owned()))
            .await?;
        parts::retagged_in_tx(&mut tx, &inserted, changes).await?;
        parts::absences_in_tx(&mut tx, &inserted).await?;
        parts::counts_in_tx(&mut tx, &inserted).await?;
        parts::working_memory_in_tx(&mut tx, &inserted).await?;
        parts::group_memory_in_tx(&mut tx, &groups, &inserted).await?;
        parts::tagged_in_tx(&mut tx, &inserted).await?;
        for (label, model) in models {
            if let Some(model) = model {
                parts::embed_in_tx(&mut tx, &inserted, label, model).await?;
            }
        }
        self.enqueue_imported(&mut tx, &inserted).await?;
        let new = fresh.iter().zip(&ids).filter(|(_, id)| id.is_some());
        let namespaces = new.map(|(place, _)| items[*place].saved.ns.as_str());
        statistics::note_in_tx(&mut tx, namespaces).await?;
        tx.commit().await?;
        Ok((found.into_iter().map(|it| it.unwrap_or_else(|| Err(Error::contended()))).collect(), groups))
    }

    /// Enqueues the jobs that new nodes lack, behind those of others.
    async fn enqueue_imported(
        &self,
        connection: &mut sqlx::PgConnection,
        inserted: &[(NodeId, &SavedMemory)],
    ) -> Result<()> {
        // In bulk, however few of its memories a transaction has: many more may follow.
        let written = inserted.iter().map(|(_, saved)| saved.ns.as_str());
        let priorities = priorities::in_bulk(&mut *connection, written).await?;
        let nodes: Vec<(NodeId, &str, i32)> = inserted
            .iter()
            .map(|(node, saved)| (*node, saved.ns.as_str(), priorities[saved.ns.as_str()]))
            .collect();
        let settings = self.settings();
        let models = (settings.embedding_model.to_string(), settings.tag_model.to_string());
        parts::enqueue_in_tx(connection, &nodes, (&models.0, &models.1), settings.max_attempts).await
    }
}

/// The error of a passage of another version of a document that is here.
fn strange_passage(saved: &SavedMemory) -> Error {
    let path = saved.session.as_deref().unwrap_or_default();
    let message = format!("document `{path}` is here without this passage, and stays as it is");
    let hint = "load the file again, or unload the document here and import it again";
    Error::new(codes::LINE_INVALID, message).with_hint(hint)
}

/// The robots that memories name, by namespace and name.
fn robots_of<'a>(items: &'a [NewSaved<'_>]) -> Vec<(&'a str, &'a str)> {
    let mut robots = BTreeSet::new();
    for NewSaved { saved, .. } in items {
        let ns = saved.ns.as_str();
        robots.insert((ns, saved.robot.as_str()));
        robots.extend(saved.repeats.iter().map(|it| (ns, it.robot.as_str())));
        robots.extend(saved.in_groups.iter().filter_map(|it| Some((ns, it.robot.as_deref()?))));
        robots.extend(saved.in_memory_of.iter().map(|it| (it.ns.as_str(), it.robot.as_str())));
    }
    robots.into_iter().collect()
}

/// Why memories were not inserted: another node has the key, or the same content.
async fn why_left(connection: &mut sqlx::PgConnection, items: &[&NewSaved<'_>]) -> Result<Vec<Found>> {
    let keys: Vec<(&str, &str)> =
        items.iter().filter_map(|it| Some((it.saved.ns.as_str(), it.saved.id.as_deref()?))).collect();
    let holders = nodes::by_keys(&mut *connection, &keys).await?;
    let unique: Vec<nodes::Unique<'_>> = items.iter().map(|it| it.unique()).collect();
    let same = nodes::same_content(connection, &unique).await?;
    let reason = |(item, same): (&&NewSaved<'_>, Option<NodeId>)| {
        let holder = item.saved.id.as_ref().and_then(|key| {
            let holder = holders.get(&(item.saved.ns.clone(), key.clone()))?;
            Some((key, holder.node, holder.content_hash == item.content_hash))
        });
        match (holder, same) {
            (Some((_, node, true)), _) | (None, Some(node)) => {
                Ok(ImportedLine::memory(node, Outcome::Existing))
            }
            (Some((key, node, false)), _) => Err(key_taken(key, &item.saved.ns, node)),
            (None, None) => Err(Error::contended()),
        }
    };
    Ok(items.iter().zip(same).map(reason).collect())
}
