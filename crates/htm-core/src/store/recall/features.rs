//! What the ranking has to know of candidates, and of the turns beside them.

use chrono::{DateTime, Utc};

use super::reader::{Reader, Vectors, ids};
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::rank::{self, Link, Member};
use crate::store::filter::Filter;
use crate::store::named::Named;

/// What the text of a query asks of each candidate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asking {
    pub(crate) words: Vec<String>,
    pub(crate) openings: Vec<String>,
    pub(crate) pairs: Vec<String>,
}

/// What is known of a node beside its text's words.
#[derive(Clone, Debug)]
pub(crate) struct Features {
    pub(crate) member: Member,
    /// In small letters.
    pub(crate) speaker: Option<String>,
    pub(crate) created_at: DateTime<Utc>,
}

impl Reader {
    /// The turns beside candidates.
    pub(crate) async fn links(
        &mut self,
        filter: &Filter,
        candidates: &[NodeId],
        is_filtered: bool,
    ) -> Result<Vec<Link>> {
        // Turns beside one another are of one namespace.
        let condition = match is_filtered {
            false => String::new(),
            true => format!(
                " where l.other = any (:nodes) or exists (select from htm.nodes m where m.id = l.other and {})",
                filter.nodes()
            ),
        };
        let sql = include_str!("../sql/recall/links.sql").replace("{{where}}", &condition);
        let statement = Named::new(&sql).bind("nodes", ids(candidates))?;
        let rows: Vec<(NodeId, NodeId, i64)> = filter.bind(statement)?.fetch_all(&mut self.tx).await?;
        Ok(rows.into_iter().map(|(turn, other, steps)| Link { turn, other, steps }).collect())
    }

    /// What the ranking has to know of nodes.
    pub(crate) async fn features(
        &mut self,
        nodes: &[NodeId],
        vectors: Option<&Vectors>,
        asking: Option<&Asking>,
    ) -> Result<Vec<Features>> {
        let (length, document, words) = match asking {
            Some(_) => (
                "length(d.tsv)",
                "cross join lateral (select ts_delete(m.tsv, '') as tsv offset 0) d",
                include_str!("../sql/recall/features_words.sql"),
            ),
            None => ("0", "", "'{}'::real[] as ranks, '{}'::int[] as openings, '{}'::int[] as together"),
        };
        let (similarity, embedding) = match vectors {
            Some(vectors) => (
                "1 - (e.embedding <=> :vector) as similarity",
                format!(
                    "left join lateral (select s.embedding from {} s where s.node_id = m.id offset 0) e on true",
                    vectors.store
                ),
            ),
            None => ("null::float8 as similarity", String::new()),
        };
        let sql = include_str!("../sql/recall/features.sql")
            .replace("{{length}}", length)
            .replace("{{document}}", document)
            .replace("{{words}}", words)
            .replace("{{similarity}}", similarity)
            .replace("{{embedding}}", &embedding);
        let asking = asking.cloned().unwrap_or_default();
        let rows: Vec<FeatureRow> = Named::new(&sql)
            .bind("nodes", ids(nodes))?
            .bind("vector", vectors.map(|vectors| &vectors.vector))?
            .bind("words", asking.words)?
            .bind("openings", asking.openings)?
            .bind("pairs", asking.pairs)?
            .fetch_all(&mut self.tx)
            .await?;
        Ok(rows.into_iter().map(FeatureRow::features).collect())
    }

    /// Which nodes have which exact terms and beginnings of words, and how often.
    pub(crate) async fn sought(
        &mut self,
        nodes: &[NodeId],
        queries: &[Option<String>],
        patterns: &[&str],
        prefixes: &[bool],
    ) -> Result<Vec<(NodeId, usize, f64)>> {
        let rows: Vec<(NodeId, i64, f64)> = Named::new(include_str!("../sql/recall/sought.sql"))
            .bind("nodes", ids(nodes))?
            .bind("queries", queries)?
            .bind("patterns", patterns)?
            .bind("prefixes", prefixes)?
            .fetch_all(&mut self.tx)
            .await?;
        Ok(rows.into_iter().map(|(node, place, count)| (node, place as usize, count)).collect())
    }
}

#[derive(sqlx::FromRow)]
struct FeatureRow {
    id: NodeId,
    speaker: Option<String>,
    created_at: DateTime<Utc>,
    length: i32,
    similarity: Option<f64>,
    ranks: Vec<f32>,
    openings: Vec<i32>,
    together: Vec<i32>,
}

/// A word in a long text's opening counts so many more.
const OPENING: f64 = 2.0;

impl FeatureRow {
    fn features(self) -> Features {
        let mut frequencies: Vec<f64> =
            self.ranks.iter().map(|rank| rank::frequency(f64::from(*rank))).collect();
        for at in self.openings {
            frequencies[at as usize - 1] += OPENING;
        }
        let together = self.together.into_iter().map(|at| at as usize - 1).collect();
        let (length, similarity) = (self.length, self.similarity);
        Features {
            member: Member { length, similarity, frequencies, together, ..Member::new(self.id) },
            speaker: self.speaker,
            created_at: self.created_at,
        }
    }
}
