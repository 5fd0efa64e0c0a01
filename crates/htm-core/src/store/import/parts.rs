//! The parts of imported nodes: tags, counts, places in working memories, vectors and jobs.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use pgvector::HalfVector;
use sqlx::PgConnection;

use crate::model::error::Result;
use crate::model::export::{SavedCompletion, SavedMemory};
use crate::model::id::{GroupId, NodeId};
use crate::store::embeddings::RegisteredModel;
use crate::store::named::{Named, sql};

/// The word of the worker in the completions of imported nodes.
const WORKER: &str = "import";

/// The parts of inserted nodes, each with its node.
fn parts<'a, T>(
    nodes: &[(NodeId, &'a SavedMemory)],
    of: impl Fn(&'a SavedMemory) -> &'a [T],
) -> Vec<(NodeId, &'a SavedMemory, &'a T)> {
    nodes.iter().flat_map(|(id, saved)| of(saved).iter().map(|part| (*id, *saved, part))).collect()
}

/// Assigns tags, whose names here `name` gives.
pub(crate) async fn assign_in_tx<'a>(
    connection: &mut PgConnection,
    nodes: &[(NodeId, &'a SavedMemory)],
    name: impl Fn(&'a str, &'a str) -> Result<String>,
) -> Result<()> {
    let parts = parts(nodes, |saved| &saved.tags);
    if parts.is_empty() {
        return Ok(());
    }
    let names =
        parts.iter().map(|(_, saved, it)| name(&saved.ns, it.tag.as_str())).collect::<Result<Vec<_>>>()?;
    sql!(
        "insert into htm.node_tags (namespace, node_id, tag_id, origin, model, prompt_version, confidence, created_at)
         select distinct on (u.node, t.id) u.namespace, u.node, t.id, u.origin, u.model, u.version, u.confidence, u.at
           from unnest(:namespaces::text[], :nodes::bigint[], :paths::text[], :origins::text[], :models::text[],
                       :versions::text[], :confidences::real[], :times::timestamptz[])
                as u(namespace, node, path, origin, model, version, confidence, at)
           join htm.tags t on t.namespace = u.namespace and t.path = u.path
          order by u.node, t.id, u.origin = 'manual' desc
         on conflict (node_id, tag_id, namespace) do nothing"
    )
    .bind("namespaces", parts.iter().map(|(_, saved, _)| saved.ns.as_str()).collect::<Vec<_>>())?
    .bind("nodes", parts.iter().map(|part| part.0).collect::<Vec<_>>())?
    .bind("paths", names)?
    .bind("origins", parts.iter().map(|(.., it)| it.origin.as_ref().to_owned()).collect::<Vec<_>>())?
    .bind("models", parts.iter().map(|(.., it)| it.model.as_deref()).collect::<Vec<_>>())?
    .bind("versions", parts.iter().map(|(.., it)| it.prompt_version.as_deref()).collect::<Vec<_>>())?
    .bind("confidences", parts.iter().map(|(.., it)| it.confidence).collect::<Vec<_>>())?
    .bind("times", parts.iter().map(|(.., it)| it.at).collect::<Vec<_>>())?
    .execute(connection)
    .await
    .map(drop)
}

/// Logs the assignments that changes of the ontology took from nodes and gave them, so that these can be reverted.
/// `changes` has the numbers here of the changes of the export; those of refused changes are left out.
pub(crate) async fn retagged_in_tx(
    connection: &mut PgConnection,
    nodes: &[(NodeId, &SavedMemory)],
    changes: &HashMap<i64, i64>,
) -> Result<()> {
    let mut parts = parts(nodes, |saved| &saved.retagged);
    parts.retain(|(.., it)| changes.contains_key(&it.change));
    if parts.is_empty() {
        return Ok(());
    }
    let assigned = || parts.iter().map(|(.., it)| &it.assignment);
    sql!(
        "insert into htm.tag_change_nodes (change_id, namespace, node_id, path, added, assignment)
         select c.id, u.namespace, u.node, u.path, u.added,
                jsonb_build_object('origin', u.origin, 'model', u.model, 'prompt_version', u.version,
                                   'confidence', u.confidence, 'created_at', u.at)
           from unnest(:changes::bigint[], :namespaces::text[], :nodes::bigint[], :added::bool[], :paths::text[],
                       :origins::text[], :models::text[], :versions::text[], :confidences::real[], :times::timestamptz[])
                as u(change, namespace, node, added, path, origin, model, version, confidence, at)
           join htm.tag_changes c on c.id = u.change and c.namespace = u.namespace
         on conflict on constraint tag_change_nodes_pk do nothing"
    )
    .bind("changes", parts.iter().filter_map(|(.., it)| changes.get(&it.change).copied()).collect::<Vec<_>>())?
    .bind("namespaces", parts.iter().map(|(_, saved, _)| saved.ns.as_str()).collect::<Vec<_>>())?
    .bind("nodes", parts.iter().map(|part| part.0).collect::<Vec<_>>())?
    .bind("added", parts.iter().map(|(.., it)| it.added).collect::<Vec<_>>())?
    .bind("paths", assigned().map(|it| it.tag.as_str()).collect::<Vec<_>>())?
    .bind("origins", assigned().map(|it| it.origin.as_ref().to_owned()).collect::<Vec<_>>())?
    .bind("models", assigned().map(|it| it.model.as_deref()).collect::<Vec<_>>())?
    .bind("versions", assigned().map(|it| it.prompt_version.as_deref()).collect::<Vec<_>>())?
    .bind("confidences", assigned().map(|it| it.confidence).collect::<Vec<_>>())?
    .bind("times", assigned().map(|it| it.at).collect::<Vec<_>>())?
    .execute(connection)
    .await
    .map(drop)
}

/// Writes when nodes were forgotten and restored.
pub(crate) async fn absences_in_tx(
    connection: &mut PgConnection,
    nodes: &[(NodeId, &SavedMemory)],
) -> Result<()> {
    let absences = parts(nodes, |saved| &saved.absences);
    if absences.is_empty() {
        return Ok(());
    }
    sql!(
        "insert into htm.node_absences (namespace, node_id, forgotten_at, restored_at)
         select u.namespace, u.node, u.forgotten_at, greatest(u.restored_at, u.forgotten_at)
           from unnest(:namespaces::text[], :nodes::bigint[], :forgotten::timestamptz[], :restored::timestamptz[])
                as u(namespace, node, forgotten_at, restored_at)
         on conflict on constraint node_absences_pk do nothing"
    )
    .bind("namespaces", absences.iter().map(|(_, saved, _)| saved.ns.as_str()).collect::<Vec<_>>())?
    .bind("nodes", absences.iter().map(|part| part.0).collect::<Vec<_>>())?
    .bind("forgotten", absences.iter().map(|(.., it)| it.forgotten_at).collect::<Vec<_>>())?
    .bind("restored", absences.iter().map(|(.., it)| it.restored_at).collect::<Vec<_>>())?
    .execute(connection)
    .await
    .map(drop)
}

/// Writes what is counted of nodes: repeats and recalls.
pub(crate) async fn counts_in_tx(
    connection: &mut PgConnection,
    nodes: &[(NodeId, &SavedMemory)],
) -> Result<()> {
    let repeats = parts(nodes, |saved| &saved.repeats);
    if !repeats.is_empty() {
        sql!(
            "insert into htm.repeats (namespace, node_id, robot_id, count, first_at, last_at)
             select u.namespace, u.node, r.id, u.count, u.first_at, u.last_at
               from unnest(:namespaces::text[], :nodes::bigint[], :robots::text[], :counts::bigint[],
                           :first::timestamptz[], :last::timestamptz[])
                    as u(namespace, node, robot, count, first_at, last_at)
               join htm.robots r on r.namespace = u.namespace and r.name = u.robot
             on conflict on constraint repeats_pk do nothing"
        )
        .bind("namespaces", repeats.iter().map(|(_, saved, _)| saved.ns.as_str()).collect::<Vec<_>>())?
        .bind("nodes", repeats.iter().map(|part| part.0).collect::<Vec<_>>())?
        .bind("robots", repeats.iter().map(|(.., it)| it.robot.as_str()).collect::<Vec<_>>())?
        .bind("counts", repeats.iter().map(|(.., it)| it.count).collect::<Vec<_>>())?
        .bind("first", repeats.iter().map(|(.., it)| it.first_at).collect::<Vec<_>>())?
        .bind("last", repeats.iter().map(|(.., it)| it.last_at).collect::<Vec<_>>())?
        .execute(&mut *connection)
        .await?;
    }
    let recalled = parts(nodes, |saved| saved.recalled.as_slice());
    if !recalled.is_empty() {
        sql!(
            "insert into htm.node_accesses (namespace, node_id, access_count, last_accessed)
             select * from unnest(:namespaces::text[], :nodes::bigint[], :counts::bigint[], :times::timestamptz[])"
        )
        .bind("namespaces", recalled.iter().map(|(_, saved, _)| saved.ns.as_str()).collect::<Vec<_>>())?
        .bind("nodes", recalled.iter().map(|part| part.0).collect::<Vec<_>>())?
        .bind("counts", recalled.iter().map(|(.., it)| it.count).collect::<Vec<_>>())?
        .bind("times", recalled.iter().map(|(.., it)| it.last_at).collect::<Vec<_>>())?
        .execute(connection)
        .await?;
    }
    Ok(())
}

/// Puts nodes into the working memories of robots, which are registered.
pub(crate) async fn working_memory_in_tx(
    connection: &mut PgConnection,
    nodes: &[(NodeId, &SavedMemory)],
) -> Result<()> {
    let entries = parts(nodes, |saved| &saved.in_memory_of);
    if entries.is_empty() {
        return Ok(());
    }
    sql!(
        "insert into htm.working_memory (robot_id, namespace, node_id, added_at, accessed_at, accesses)
         select r.id, u.namespace, u.node, u.added_at, u.accessed_at, u.accesses
           from unnest(:namespaces::text[], :nodes::bigint[], :homes::text[], :robots::text[], :added::timestamptz[],
                       :accessed::timestamptz[], :accesses::bigint[])
                as u(namespace, node, home, robot, added_at, accessed_at, accesses)
           join htm.robots r on r.namespace = u.home and r.name = u.robot
          order by r.id, u.node
         on conflict on constraint working_memory_pk do nothing"
    )
    .bind("namespaces", entries.iter().map(|(_, saved, _)| saved.ns.as_str()).collect::<Vec<_>>())?
    .bind("nodes", entries.iter().map(|part| part.0).collect::<Vec<_>>())?
    .bind("homes", entries.iter().map(|(.., it)| it.ns.as_str()).collect::<Vec<_>>())?
    .bind("robots", entries.iter().map(|(.., it)| it.robot.as_str()).collect::<Vec<_>>())?
    .bind("added", entries.iter().map(|(.., it)| it.added_at).collect::<Vec<_>>())?
    .bind("accessed", entries.iter().map(|(.., it)| it.accessed_at).collect::<Vec<_>>())?
    .bind("accesses", entries.iter().map(|(.., it)| it.accesses).collect::<Vec<_>>())?
    .execute(connection)
    .await
    .map(drop)
}

/// Puts nodes into the working memories of locked groups, each with its next version.
pub(crate) async fn group_memory_in_tx(
    connection: &mut PgConnection,
    groups: &[GroupId],
    nodes: &[(NodeId, &SavedMemory)],
) -> Result<()> {
    let entries = parts(nodes, |saved| &saved.in_groups);
    if groups.is_empty() || entries.is_empty() {
        return Ok(());
    }
    sql!(
        "with next as (
            update htm.robot_groups set version = version + 1 where id = any (:groups) returning id, namespace, name, version
         )
         insert into htm.group_memory (group_id, namespace, node_id, version, robot_id, added_at, accessed_at, accesses)
         select g.id, u.namespace, u.node, g.version, r.id, u.added_at, u.accessed_at, u.accesses
           from unnest(:namespaces::text[], :nodes::bigint[], :names::text[], :robots::text[], :added::timestamptz[],
                       :accessed::timestamptz[], :accesses::bigint[])
                as u(namespace, node, name, robot, added_at, accessed_at, accesses)
           join next g on g.namespace = u.namespace and g.name = u.name
           left join htm.robots r on r.namespace = u.namespace and r.name = u.robot
         on conflict on constraint group_memory_pk do nothing"
    )
    .bind("groups", groups)?
    .bind("namespaces", entries.iter().map(|(_, saved, _)| saved.ns.as_str()).collect::<Vec<_>>())?
    .bind("nodes", entries.iter().map(|part| part.0).collect::<Vec<_>>())?
    .bind("names", entries.iter().map(|(.., it)| it.group.as_str()).collect::<Vec<_>>())?
    .bind("robots", entries.iter().map(|(.., it)| it.robot.as_deref()).collect::<Vec<_>>())?
    .bind("added", entries.iter().map(|(.., it)| it.added_at).collect::<Vec<_>>())?
    .bind("accessed", entries.iter().map(|(.., it)| it.accessed_at).collect::<Vec<_>>())?
    .bind("accesses", entries.iter().map(|(.., it)| it.accesses).collect::<Vec<_>>())?
    .execute(connection)
    .await
    .map(drop)
}

/// Records which taggers have read the texts of nodes, so that they are not tagged again.
pub(crate) async fn tagged_in_tx(
    connection: &mut PgConnection,
    nodes: &[(NodeId, &SavedMemory)],
) -> Result<()> {
    let done = parts(nodes, |saved| &saved.tagged);
    let row = |(node, saved, it): &(NodeId, &SavedMemory, &SavedCompletion)| Completion {
        namespace: saved.ns.clone(),
        node: *node,
        revision: saved.revision,
        model: it.model.clone(),
        version: it.version.clone(),
        outcome: it.outcome.clone(),
        at: it.at,
    };
    complete_in_tx(connection, "tag", &done.iter().map(row).collect::<Vec<_>>()).await
}

struct Completion {
    namespace: String,
    node: NodeId,
    revision: i32,
    model: String,
    version: String,
    outcome: String,
    at: DateTime<Utc>,
}

async fn complete_in_tx(connection: &mut PgConnection, stage: &str, done: &[Completion]) -> Result<()> {
    if done.is_empty() {
        return Ok(());
    }
    sql!(
        "insert into htm.completions (namespace, node_id, revision, stage, model, version, outcome, worker, attempt, done_at)
         select u.namespace, u.node, u.revision, :stage, u.model, u.version, u.outcome, :worker, 1, u.at
           from unnest(:namespaces::text[], :nodes::bigint[], :revisions::int[], :models::text[], :versions::text[],
                       :outcomes::text[], :times::timestamptz[])
                as u(namespace, node, revision, model, version, outcome, at)
         on conflict on constraint completions_pk do nothing"
    )
    .bind("stage", stage)?
    .bind("worker", WORKER)?
    .bind("namespaces", done.iter().map(|it| it.namespace.as_str()).collect::<Vec<_>>())?
    .bind("nodes", done.iter().map(|it| it.node).collect::<Vec<_>>())?
    .bind("revisions", done.iter().map(|it| it.revision).collect::<Vec<_>>())?
    .bind("models", done.iter().map(|it| it.model.as_str()).collect::<Vec<_>>())?
    .bind("versions", done.iter().map(|it| it.version.as_str()).collect::<Vec<_>>())?
    .bind("outcomes", done.iter().map(|it| it.outcome.as_str()).collect::<Vec<_>>())?
    .bind("times", done.iter().map(|it| it.at).collect::<Vec<_>>())?
    .execute(connection)
    .await
    .map(drop)
}

/// Writes the vectors of nodes by one model, which the export calls `label`, and records that they are embedded.
pub(crate) async fn embed_in_tx(
    connection: &mut PgConnection,
    nodes: &[(NodeId, &SavedMemory)],
    label: &str,
    model: &RegisteredModel,
) -> Result<()> {
    let mut vectors = parts(nodes, |saved| &saved.vectors);
    vectors.retain(|(.., it)| it.model == label);
    if vectors.is_empty() {
        return Ok(());
    }
    let statement = format!(
        "insert into {} (node_id, namespace, created_at, revision, embedding)
         select n.id, n.namespace, n.created_at, n.revision, u.embedding
           from unnest(:namespaces::text[], :nodes::bigint[], :vectors::halfvec[]) u(namespace, node, embedding)
           join htm.nodes n on n.id = u.node and n.namespace = u.namespace
         on conflict (node_id, namespace) do nothing",
        model.store()
    );
    let halved = |vector: &[f32]| HalfVector::from_f32_slice(vector);
    Named::new(&statement)
        .bind("namespaces", vectors.iter().map(|(_, saved, _)| saved.ns.as_str()).collect::<Vec<_>>())?
        .bind("nodes", vectors.iter().map(|part| part.0).collect::<Vec<_>>())?
        .bind("vectors", vectors.iter().map(|(.., it)| halved(&it.vector)).collect::<Vec<_>>())?
        .execute(&mut *connection)
        .await?;
    let done: Vec<Completion> = vectors
        .iter()
        .map(|(node, saved, it)| Completion {
            namespace: saved.ns.clone(),
            node: *node,
            revision: saved.revision,
            model: model.label.clone(),
            version: String::new(),
            outcome: it.outcome.clone(),
            at: it.at,
        })
        .collect();
    complete_in_tx(connection, "embed", &done).await
}

/// Enqueues the jobs that new nodes lack; each comes with its namespace and their priority. `models` are the embedding model, for as long as none is registered, and the
/// tag model.
pub(crate) async fn enqueue_in_tx(
    connection: &mut PgConnection,
    nodes: &[(NodeId, &str, i32)],
    models: (&str, &str),
    max_attempts: u32,
) -> Result<()> {
    sql!(concat!(include_str!("../sql/targets.sql"), include_str!("../sql/import_jobs.sql")))
        .bind("namespaces", nodes.iter().map(|node| node.1).collect::<Vec<_>>())?
        .bind("nodes", nodes.iter().map(|node| node.0).collect::<Vec<_>>())?
        .bind("priorities", nodes.iter().map(|node| node.2).collect::<Vec<_>>())?
        .bind("embedding_model", models.0)?
        .bind("tag_model", models.1)?
        .bind("max_attempts", max_attempts as i32)?
        .execute(connection)
        .await
        .map(drop)
}
