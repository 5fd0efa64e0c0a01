//! The ontology: tags renamed, merged, split and removed, in one transaction each; every change undone again.

use std::collections::BTreeSet;

use htm_core::ontology::{ChangeKind, Changed, Leftover, Removal, Term};
use htm_core::provider::{ModelName, TagOrigin, TagSuggestion};
use htm_core::worker::jobs::{self, Lease, Tagged, TaggedBy};
use htm_core::worker::workers;
use htm_core::{Htm, Memory, NodeId, Stage, TagRules};
use htm_tests::TestDatabase;

#[path = "tags/changes.rs"]
mod changes;
#[path = "tags/dry_run.rs"]
mod dry_run;
#[path = "tags/limits.rs"]
mod limits;
#[path = "tags/look.rs"]
mod look;
#[path = "tags/read.rs"]
mod read;
#[path = "tags/replay.rs"]
mod replay;
#[path = "tags/revert.rs"]
mod revert;
#[path = "tags/split.rs"]
mod split;
#[path = "tags/together.rs"]
mod together;
#[path = "tags/written.rs"]
mod written;

/// Tags as a tagger of this name and version says them.
struct Says {
    model: ModelName,
    version: &'static str,
    origin: TagOrigin,
    rules: TagRules,
}

impl Says {
    fn by(self, rules: &TagRules) -> Self {
        Self { rules: rules.clone(), ..self }
    }

    fn llm(version: &'static str) -> Self {
        // The model of the handles, so that completions are theirs.
        Self {
            model: ModelName::new("fake", "tags"),
            version,
            origin: TagOrigin::Llm,
            rules: TagRules::default(),
        }
    }

    /// Claims what is due, and says of each node what `tags` gives; returns how many jobs ended.
    async fn of(
        &self,
        db: &TestDatabase,
        worker: &str,
        tags: impl Fn(NodeId) -> Vec<(String, f32)>,
    ) -> usize {
        workers::register(&db.pool, Stage::Tag.queue(), worker, "test", 30_000).await.unwrap();
        let claimed = jobs::claim(&db.pool, Stage::Tag.queue(), "fake/tags", worker, 10_000).await.unwrap();
        let Some((lease, claimed)) = claimed else { return 0 };
        let results: Vec<Tagged> = claimed
            .iter()
            .map(|job| {
                let payload = htm_core::job::Payload::decode(&job.payload).unwrap();
                let tags = tags(payload.node)
                    .into_iter()
                    .map(|(path, confidence)| TagSuggestion {
                        path: path.parse().unwrap(),
                        confidence: Some(confidence),
                    })
                    .collect();
                Tagged {
                    job: job.id.clone(),
                    node: payload.node,
                    namespace: "default".into(),
                    revision: payload.revision,
                    tags,
                }
            })
            .collect();
        self.ack(db, &lease, &results).await
    }

    async fn ack(&self, db: &TestDatabase, lease: &Lease, results: &[Tagged]) -> usize {
        let Self { model, version, origin, rules } = self;
        let by = TaggedBy { model, version, origin: *origin, rules };
        jobs::ack_tagged(&db.pool, lease, by, results).await.unwrap()
    }
}

/// Nodes with these tags by hand.
async fn remember(htm: &Htm, count: usize, text: &str, tags: &[&str]) -> Vec<NodeId> {
    let memories: Vec<Memory> = (0..count)
        .map(|n| {
            let memory = Memory::new(format!("{text} {n}"));
            tags.iter().fold(memory, |memory, tag| memory.tag(tag.parse().unwrap()))
        })
        .collect();
    let receipts = htm.remember_many(&memories).await.unwrap();
    receipts.into_iter().map(|receipt| receipt.unwrap().node).collect()
}

/// Every assignment with all that is recorded of it.
async fn assignments(db: &TestDatabase) -> BTreeSet<String> {
    let rows: Vec<String> = sqlx::query_scalar(
        "select concat_ws(' ', a.node_id, t.path, a.origin, a.model, a.prompt_version, a.confidence, a.created_at)
           from htm.node_tags a join htm.tags t on t.id = a.tag_id",
    )
    .fetch_all(&db.pool)
    .await
    .unwrap();
    rows.into_iter().collect()
}

/// The tags, and `name=tag` for each other name.
async fn names(db: &TestDatabase) -> Vec<String> {
    sqlx::query_scalar(
        "select path from htm.tags
          union all
         select s.path || '=' || t.path from htm.tag_synonyms s join htm.tags t on t.id = s.tag_id
          order by 1",
    )
    .fetch_all(&db.pool)
    .await
    .unwrap()
}

/// The tags that a node has, with their origin.
async fn tags_of(db: &TestDatabase, node: NodeId) -> Vec<String> {
    sqlx::query_scalar(
        "select t.path || ' ' || a.origin from htm.node_tags a join htm.tags t on t.id = a.tag_id
          where a.node_id = $1 order by 1",
    )
    .bind(node)
    .fetch_all(&db.pool)
    .await
    .unwrap()
}

async fn merge(htm: &Htm, from: &[&str], into: &str) -> Changed {
    htm.ontology(None).unwrap().merge(from, into).await.unwrap()
}

fn term(tag: &str, description: &str) -> Term {
    Term { tag: tag.into(), description: Some(description.into()), synonyms: Vec::new() }
}

async fn add(htm: &Htm, tag: &str, description: &str) -> Changed {
    htm.ontology(None).unwrap().define(ChangeKind::Add, &[term(tag, description)]).await.unwrap()
}

async fn remove(htm: &Htm, tag: &str) -> Changed {
    htm.ontology(None).unwrap().remove(tag, Removal::Assigned).await.unwrap()
}
