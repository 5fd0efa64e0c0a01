//! What the tags are.

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;

use super::Ontology;
use super::change::Synonym;
use super::error::TagError;
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::recall::TagFilter;
use crate::model::tag::TagPath;
use crate::store::{ontology as store, tags};

/// How many nodes [`Ontology::show`] names.
const NODES_SHOWN: u32 = 5;

/// How many tags [`Ontology::unmatched`] names that are near.
const NEAREST: u32 = 3;

/// A tag and who has it.
#[derive(Clone, Debug, PartialEq, Serialize, sqlx::FromRow)]
pub struct TagUse {
    /// The tag.
    #[sqlx(try_from = "String")]
    pub tag: TagPath,
    /// What it is about.
    pub description: Option<String>,
    /// The tags that take its place.
    pub split_into: Vec<String>,
    /// When it was registered.
    pub created_at: DateTime<Utc>,
    /// Live nodes that have it.
    pub nodes: i64,
    /// Live nodes that have it or one below it, each counted once.
    pub total: i64,
    /// When it was assigned last.
    pub last_used: Option<DateTime<Utc>>,
}

/// What became of the live nodes of a split.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SplitOutcome {
    /// Nodes that are yet to be tagged again.
    pub waiting: i64,
    /// The tags in its place, each with the nodes that have it or one below it now.
    pub into: Vec<TagCount>,
    /// Nodes that fit none of those, and keep the tag.
    pub kept: i64,
}

/// How many nodes have a tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TagCount {
    /// The tag.
    pub tag: String,
    /// Live nodes.
    pub nodes: i64,
}

/// All about a tag.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TagDetails {
    /// The tag with its counts.
    #[serde(flatten)]
    pub tag: TagUse,
    /// Its other names.
    pub synonyms: Vec<String>,
    /// The tags above it, the root first.
    pub parents: Vec<TagPath>,
    /// The tags directly below it.
    pub children: Vec<TagUse>,
    /// The tags beside it, below the same parent.
    pub siblings: Vec<TagPath>,
    /// By whom it was assigned.
    pub origins: Vec<OriginCount>,
    /// The newest nodes that have it or one below it.
    pub newest: Vec<TaggedNode>,
}

/// How many nodes have a tag by the same evidence.
#[derive(Clone, Debug, PartialEq, Serialize, sqlx::FromRow)]
pub struct OriginCount {
    /// `manual`, `llm`, `local` or `rule`.
    pub origin: String,
    /// The model, none when assigned by hand.
    pub model: Option<String>,
    /// The version of its prompt or rules.
    pub prompt_version: Option<String>,
    /// How many live nodes.
    pub nodes: i64,
    /// The mean of their confidence, none when nothing was said.
    pub mean_confidence: Option<f32>,
}

/// A node that has a tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, sqlx::FromRow)]
pub struct TaggedNode {
    /// The node.
    pub node: NodeId,
    /// Its text.
    pub content: String,
}

/// A tag that is written nearly so.
#[derive(Clone, Debug, PartialEq, Serialize, sqlx::FromRow)]
pub struct SimilarTag {
    /// The tag.
    pub tag: String,
    /// The share of trigrams that both have, 0.3 to 1; of its name, its last level or another name of it.
    pub similarity: f32,
}

/// A tag that somebody asks by, and that there is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnmatchedTag {
    /// The tag asked by.
    pub tag: TagPath,
    /// Those that are written nearly so, the nearest first.
    pub nearest: Vec<String>,
}

/// Two tags that stand on the same nodes.
#[derive(Clone, Debug, PartialEq, Serialize, sqlx::FromRow)]
pub struct CoOccurrence {
    /// One tag.
    pub tag: String,
    /// The other.
    pub other: String,
    /// Live nodes that have both.
    pub nodes: i64,
    /// Live nodes that have the one.
    pub tag_nodes: i64,
    /// Live nodes that have the other.
    pub other_nodes: i64,
    /// The share of nodes with either that have both, 0 to 1.
    pub jaccard: f32,
}

/// A change in the log.
#[derive(Clone, Debug, PartialEq, Serialize, sqlx::FromRow)]
pub struct LoggedChange {
    /// Its number.
    pub change: i64,
    /// What it was, as `merge`.
    pub kind: String,
    /// What was asked for.
    pub details: Value,
    /// Who asked.
    pub made_by: Option<String>,
    /// When.
    pub made_at: DateTime<Utc>,
    /// The change that undid it.
    pub reverted_by: Option<i64>,
    /// How many names it is about.
    pub names: i64,
    /// How many nodes had other tags by it, or tags that are called otherwise.
    pub nodes: i64,
}

impl Ontology<'_> {
    /// The tags with their counts, each followed by those below it; `below`: only that one and those below it. Reads
    /// the assignments of those: seconds for a million.
    ///
    /// # Errors
    /// `tag_unknown`, `tag_invalid`, or a database error.
    pub async fn list(&self, below: Option<&str>) -> Result<Vec<TagUse>> {
        let below = match below {
            Some(tag) => Some(self.resolve(tag).await?),
            None => None,
        };
        store::uses(self.htm.pool(), self.namespace, below.as_ref().map(TagPath::as_str)).await
    }

    /// What a tag is called, by any of its names.
    ///
    /// # Errors
    /// `tag_unknown`, `tag_invalid`, or a database error.
    pub async fn resolve(&self, tag: &str) -> Result<TagPath> {
        let mut connection = self.htm.pool().acquire().await?;
        // A tag of before the rules may be written in a way that is not stored any more.
        let (written, stored) = (tag.trim(), self.htm.tag_rules().normalise(tag));
        let written = if written.contains('\0') { "" } else { written };
        let called = match &stored {
            Ok(stored) => {
                let tags = [(self.namespace, stored.as_str())];
                tags::as_in_use(&mut *connection, self.htm.tag_rules(), &tags).await?.pop()
            }
            Err(_) => None,
        };
        match store::resolve(&mut connection, self.namespace, written, called.as_deref()).await? {
            Some(found) => Ok(found.parse()?),
            None => self.find(&mut connection, None, tag).await,
        }
    }

    /// All about a tag.
    ///
    /// # Errors
    /// `tag_unknown`, `tag_invalid`, or a database error.
    pub async fn show(&self, tag: &str) -> Result<TagDetails> {
        let (pool, namespace) = (self.htm.pool(), self.namespace);
        let path = self.resolve(tag).await?;
        let parent = path.parent();
        let mut below = store::uses(pool, namespace, Some(path.as_str())).await?;
        let siblings = store::children(pool, namespace, parent.as_ref().map(TagPath::as_str)).await?;
        let siblings = siblings.iter().filter_map(|it| it.parse().ok()).filter(|it| *it != path).collect();
        if below.is_empty() {
            // It went away at this moment.
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

    /// Live nodes that have a tag or one below it, the newest first: those before `before`, a page.
    ///
    /// # Errors
    /// `tag_unknown`, `tag_invalid`, or a database error.
    pub async fn nodes(&self, tag: &str, before: Option<NodeId>, limit: u32) -> Result<Vec<TaggedNode>> {
        let tag = self.resolve(tag).await?;
        store::nodes_below(self.htm.pool(), self.namespace, tag.as_str(), before, limit).await
    }

    /// The other names of all tags, by tag.
    ///
    /// # Errors
    /// A database error.
    pub async fn synonyms(&self) -> Result<Vec<Synonym>> {
        store::synonyms(self.htm.pool(), self.namespace, None).await
    }

    /// The tags of most live nodes, the most used first; those that no node has are left out.
    ///
    /// # Errors
    /// A database error.
    pub async fn popular(&self, limit: u32) -> Result<Vec<TagUse>> {
        let mut uses = store::uses(self.htm.pool(), self.namespace, None).await?;
        uses.retain(|it| it.nodes > 0);
        uses.sort_by(|a, b| b.nodes.cmp(&a.nodes).then_with(|| a.tag.cmp(&b.tag)));
        uses.truncate(limit as usize);
        Ok(uses)
    }

    /// Tags that are written nearly as `text`: the share of common trigrams is 0.3 or more, the nearest first.
    ///
    /// # Errors
    /// `tag_invalid` for a text that could be no tag, or a database error.
    pub async fn similar(&self, text: &str, limit: u32) -> Result<Vec<SimilarTag>> {
        let text = self.htm.tag_rules().normalise(text)?;
        store::similar(&mut *self.htm.pool().acquire().await?, self.namespace, text.as_str(), limit).await
    }

    /// Which of these filters no tag matches, by whatever name: nobody has them, and nobody ever can by a slip of the pen.
    /// With the nearest that there are.
    ///
    /// # Errors
    /// A database error.
    pub async fn unmatched(&self, filters: &[TagFilter]) -> Result<Vec<UnmatchedTag>> {
        if filters.is_empty() {
            return Ok(Vec::new());
        }
        let filters = self.htm.filters_in_use(&[self.namespace], filters).await?;
        let mut connection = self.htm.pool().acquire().await?;
        let mut unmatched = Vec::new();
        for place in store::unmatched(&mut connection, self.namespace, &filters).await? {
            let (TagFilter::Exact(tag) | TagFilter::Prefix(tag)) = &filters[place];
            let nearest = store::similar(&mut connection, self.namespace, tag.as_str(), NEAREST).await?;
            let nearest = nearest.into_iter().map(|it| it.tag).collect();
            unmatched.push(UnmatchedTag { tag: tag.clone(), nearest });
        }
        Ok(unmatched)
    }

    /// Pairs of tags that at least `min_nodes` live nodes have together, the most first; `tag`: only pairs with that one. A
    /// tag and one below it are no pair.
    ///
    /// # Errors
    /// `tag_unknown`, `tag_invalid`, or a database error.
    pub async fn cooccurring(
        &self,
        tag: Option<&str>,
        min_nodes: u32,
        limit: u32,
    ) -> Result<Vec<CoOccurrence>> {
        let tag = match tag {
            Some(tag) => Some(self.resolve(tag).await?),
            None => None,
        };
        let tag = tag.as_ref().map(TagPath::as_str);
        store::cooccurring(self.htm.pool(), self.namespace, tag, min_nodes, None, limit).await
    }

    /// What has become of a split by now, by its number in the log.
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
            _ => Err(TagError::ChangeUnknown { change, namespace: self.namespace.into() }.into()),
        }
    }

    /// The last changes, the newest first.
    ///
    /// # Errors
    /// A database error.
    pub async fn log(&self, limit: u32) -> Result<Vec<LoggedChange>> {
        store::log(self.htm.pool(), self.namespace, limit).await
    }
}
