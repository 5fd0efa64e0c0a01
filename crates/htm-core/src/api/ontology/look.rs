//! Queries about tags.

use super::Ontology;
use crate::model::error::Result;
use crate::model::filter::{Filter, TagFilter};
use crate::model::id::NodeId;
use crate::model::ontology::errors::change_unknown;
use crate::model::ontology::{
    CoOccurrence, LoggedChange, SimilarTag, SplitOutcome, Synonym, TagCount, TagDetails, TagUse, TaggedNode,
    UnmatchedTag,
};
use crate::model::tags::TagPath;
use crate::store::filter::Conditions;
use crate::store::ontology::{self as store, Pairs};
use crate::store::tags_in_use;

/// The number of nodes that [`Ontology::show`] names.
const NODES_SHOWN: u32 = 5;

/// The number of near tags that [`Ontology::unmatched`] names for each filter.
const NEAREST: u32 = 3;

impl Ontology<'_> {
    /// The tags with their counts, each followed by those below it; `below` limits them to one branch. Reads their
    /// assignments: seconds for a million.
    ///
    /// # Errors
    /// `tag_unknown`, `tag_invalid`, or a database error.
    pub async fn list(&self, below: Option<&str>) -> Result<Vec<TagUse>> {
        let below = match below {
            Some(tag) => Some(self.resolve(tag).await?),
            None => None,
        };
        store::uses(self.htm.pool(), self.namespace, below.as_ref().map(TagPath::as_str), None).await
    }

    /// The tag that a name means.
    ///
    /// # Errors
    /// `tag_unknown`, `tag_invalid`, or a database error.
    pub async fn resolve(&self, tag: &str) -> Result<TagPath> {
        let mut connection = self.htm.pool().acquire().await?;
        // A tag from before the rules may have a spelling that is no longer stored.
        let (written, stored) = (tag.trim(), self.htm.tag_rules().normalise(tag));
        let written = if written.contains('\0') { "" } else { written };
        let called = match &stored {
            Ok(stored) => {
                let tags = [(self.namespace, stored.as_str())];
                tags_in_use::names(&mut *connection, self.htm.tag_rules(), &tags).await?.pop()
            }
            Err(_) => None,
        };
        match store::resolve(&mut connection, self.namespace, written, called.as_deref()).await? {
            Some(found) => Ok(found.parse()?),
            None => self.find(&mut connection, None, tag).await,
        }
    }

    /// The details of a tag.
    ///
    /// # Errors
    /// `tag_unknown`, `tag_invalid`, or a database error.
    pub async fn show(&self, tag: &str) -> Result<TagDetails> {
        let (pool, namespace) = (self.htm.pool(), self.namespace);
        let path = self.resolve(tag).await?;
        let parent = path.parent();
        let mut below = store::uses(pool, namespace, Some(path.as_str()), None).await?;
        let siblings = store::children(pool, namespace, parent.as_ref().map(TagPath::as_str)).await?;
        let siblings = siblings.iter().filter_map(|it| it.parse().ok()).filter(|it| *it != path).collect();
        if below.is_empty() {
            // The tag was removed at this moment.
            self.find(&mut *pool.acquire().await?, None, tag).await?;
        }
        let tag = below.remove(0);
        Ok(TagDetails {
            synonyms: store::synonyms(pool, namespace, Some(path.as_str()))
                .await?
                .into_iter()
                .map(|it| it.name)
                .collect(),
            parents: path.ancestors(),
            children: below.into_iter().filter(|it| it.tag.parent().as_ref() == Some(&path)).collect(),
            siblings,
            origins: store::origins(pool, namespace, path.as_str()).await?,
            newest: store::nodes_below(pool, namespace, path.as_str(), None, NODES_SHOWN).await?,
            tag,
        })
    }

    /// A page of live nodes with a tag or one below it, the newest first, before `before`.
    ///
    /// # Errors
    /// `tag_unknown`, `tag_invalid`, or a database error.
    pub async fn nodes(&self, tag: &str, before: Option<NodeId>, limit: u32) -> Result<Vec<TaggedNode>> {
        let tag = self.resolve(tag).await?;
        store::nodes_below(self.htm.pool(), self.namespace, tag.as_str(), before, limit).await
    }

    /// All synonyms, by tag.
    ///
    /// # Errors
    /// A database error.
    pub async fn synonyms(&self) -> Result<Vec<Synonym>> {
        store::synonyms(self.htm.pool(), self.namespace, None).await
    }

    /// The tags with the most live nodes, the most used first. Unused tags are left out. Only nodes that pass the filter
    /// are counted.
    ///
    /// # Errors
    /// As [`Htm::latest`](crate::Htm::latest); `namespace_forbidden` for a filter by another namespace.
    pub async fn popular(&self, filter: &Filter, limit: u32) -> Result<Vec<TagUse>> {
        let conditions = self.conditions(filter).await?;
        let mut uses = store::uses(self.htm.pool(), self.namespace, None, conditions.as_ref()).await?;
        uses.retain(|it| it.nodes > 0);
        uses.sort_by(|a, b| b.nodes.cmp(&a.nodes).then_with(|| a.tag.cmp(&b.tag)));
        uses.truncate(limit as usize);
        Ok(uses)
    }

    /// Tags with a name similar to `text` (a trigram similarity of at least 0.3, or one or two typing errors), the nearest
    /// first.
    ///
    /// # Errors
    /// `tag_invalid` for a text that could be no tag, or a database error.
    pub async fn similar(&self, text: &str, limit: u32) -> Result<Vec<SimilarTag>> {
        let text = self.htm.tag_rules().normalise(text)?;
        store::similar(&mut *self.htm.pool().acquire().await?, self.namespace, text.as_str(), limit).await
    }

    /// The filters that match no tag by any name, each with the nearest tags.
    ///
    /// # Errors
    /// A database error.
    pub async fn unmatched(&self, filters: &[TagFilter]) -> Result<Vec<UnmatchedTag>> {
        if filters.is_empty() {
            return Ok(Vec::new());
        }
        let mut connection = self.htm.pool().acquire().await?;
        let mut named =
            tags_in_use::filters(&mut connection, self.htm.tag_rules(), &[self.namespace], filters).await?;
        let Some((_, filters)) = named.pop() else { return Ok(Vec::new()) };
        let mut unmatched = Vec::new();
        for place in store::unmatched(&mut connection, self.namespace, &filters).await? {
            let tag = filters[place].tag();
            let nearest = store::similar(&mut connection, self.namespace, tag.as_str(), NEAREST).await?;
            let nearest = nearest.into_iter().map(|it| it.tag).collect();
            unmatched.push(UnmatchedTag { tag: tag.clone(), nearest });
        }
        Ok(unmatched)
    }

    /// Pairs of tags with at least `min_nodes` common live nodes, the most first; `tag` limits them to pairs with it. A
    /// tag and one below it are not a pair. Only nodes that pass the filter are counted.
    ///
    /// # Errors
    /// `tag_unknown`, `tag_invalid`, and as [`popular`](Self::popular).
    pub async fn cooccurring(
        &self,
        tag: Option<&str>,
        filter: &Filter,
        min_nodes: u32,
        limit: u32,
    ) -> Result<Vec<CoOccurrence>> {
        let tag = match tag {
            Some(tag) => Some(self.resolve(tag).await?),
            None => None,
        };
        let pairs = Pairs { tag: tag.as_ref().map(TagPath::as_str), min_nodes, min_jaccard: None, limit };
        let conditions = self.conditions(filter).await?;
        store::cooccurring(self.htm.pool(), self.namespace, pairs, conditions.as_ref()).await
    }

    /// The conditions of a filter in the namespace; none for an empty filter.
    async fn conditions(&self, filter: &Filter) -> Result<Option<Conditions>> {
        match filter.is_empty() {
            true => Ok(None),
            false => self.htm.within([self.namespace])?.conditions(filter).await.map(Some),
        }
    }

    /// The progress of a split, by its number in the log.
    ///
    /// # Errors
    /// `change_unknown` for one that is no split, or a database error.
    pub async fn split_outcome(&self, change: i64) -> Result<SplitOutcome> {
        let mut rows = store::split_outcome(self.htm.pool(), self.namespace, change).await?;
        match (rows.pop(), rows.first()) {
            (Some((Some(_), kept)), Some((None, waiting))) => {
                let count = |(tag, nodes): &(Option<String>, i64)| {
                    Some(TagCount { tag: tag.clone()?, nodes: *nodes })
                };
                Ok(SplitOutcome { waiting: *waiting, into: rows.iter().filter_map(count).collect(), kept })
            }
            _ => Err(change_unknown(self.namespace, change)),
        }
    }

    /// The last changes before the change `before`, the newest first.
    ///
    /// # Errors
    /// A database error.
    pub async fn log(&self, before: Option<i64>, limit: u32) -> Result<Vec<LoggedChange>> {
        store::log(self.htm.pool(), self.namespace, before, limit).await
    }
}
