//! Every table, and what it holds of a memory. A table that is missing here fails a test.

use std::borrow::Cow;

use super::super::embeddings;
use super::super::named::sql;
use crate::model::error::Result;
use sqlx::PgConnection;

/// The content of a table.
#[derive(Clone, Copy)]
pub(crate) enum Holds {
    /// Rows of nodes, by the columns with the id of one. They are removed with the node.
    Nodes(&'static [&'static str]),
    /// The waiting, running, dead and done jobs of nodes.
    Jobs,
    /// Recalls, with their candidates until they are judged. Unjudged ones are removed with any of their candidates.
    Recalls,
    /// Kept answers that may name a node. They are replaced.
    Answers,
    /// The words of a namespace's texts. They are counted anew.
    Words,
    /// The tags of a namespace. Those that only erased nodes had are removed.
    Tags,
    /// The documents of passages. Those without any passage are removed, and the digests of the others are cleared.
    Documents,
    /// Nothing of a memory, but of a namespace. It is removed with a whole namespace.
    Namespace,
    /// Nothing of a memory or a namespace, for this reason.
    Nothing(&'static str),
}

impl Holds {
    /// For people.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Nodes(_) => "rows of memories",
            Self::Jobs => "jobs of memories, with their errors",
            Self::Recalls => "recalls, with their candidates while nobody has judged them",
            Self::Answers => "answers that are kept for retries",
            Self::Words => "words of the texts of a namespace",
            Self::Tags => "tags of a namespace",
            Self::Documents => "paths and titles of documents that have passages",
            Self::Namespace => "settings, robots and rankings of a namespace",
            Self::Nothing(why) => why,
        }
    }
}

/// A table.
#[derive(Clone)]
pub(crate) struct TableOfTraces {
    pub(crate) table: Cow<'static, str>,
    pub(crate) holds: Holds,
    /// The condition on its rows of the namespace `:namespace`, if it has some.
    pub(crate) of_namespace: Option<&'static str>,
}

const OWN: Option<&str> = Some("namespace = :namespace");
const OF_ROBOTS: Option<&str> =
    Some("robot_id in (select r.id from htm.robots r where r.namespace = :namespace)");
const OF_GROUPS: Option<&str> =
    Some("group_id in (select g.id from htm.robot_groups g where g.namespace = :namespace)");
const INTO_ROBOTS: Option<&str> =
    Some("into_id in (select r.id from htm.robots r where r.namespace = :namespace)");
const OF_LEARNING: Option<&str> = Some("job_type = 'htm.learn' and metadata -> 'namespace' = :namespace");
const OF_CHANGES: Option<&str> =
    Some("change_id in (select c.id from htm.tag_changes c where c.namespace = :namespace)");

/// The tables, except those of vectors. A row refers to rows of later tables only, so they are removed in this order.
const TABLES: [(&str, Holds, Option<&str>); 47] = [
    ("htm.feedback", Holds::Nodes(&["node_id"]), OWN),
    ("htm.recall_candidates", Holds::Nodes(&["node_id"]), OWN),
    ("htm.node_revisions", Holds::Nodes(&["node_id"]), OWN),
    ("htm.node_absences", Holds::Nodes(&["node_id"]), OWN),
    ("htm.relations", Holds::Nodes(&["from_node", "to_node"]), OWN),
    ("htm.repeats", Holds::Nodes(&["node_id"]), OWN),
    ("htm.node_accesses", Holds::Nodes(&["node_id"]), OWN),
    ("htm.node_tags", Holds::Nodes(&["node_id"]), OWN),
    ("htm.completions", Holds::Nodes(&["node_id"]), OWN),
    ("htm.tag_change_nodes", Holds::Nodes(&["node_id"]), OWN),
    ("htm.working_memory", Holds::Nodes(&["node_id"]), OF_ROBOTS),
    ("htm.group_memory", Holds::Nodes(&["node_id"]), OF_GROUPS),
    ("htm.nodes", Holds::Nodes(&["id"]), OWN),
    ("htm.documents", Holds::Documents, OWN),
    ("htm.recalls", Holds::Recalls, OWN),
    ("htm.learning", Holds::Namespace, OWN),
    ("htm.rankings", Holds::Namespace, OWN),
    ("htm.ranking_choices", Holds::Namespace, OWN),
    ("apalis.jobs", Holds::Jobs, OF_LEARNING),
    ("htm.operations", Holds::Answers, None),
    ("htm.group_members", Holds::Namespace, OF_GROUPS),
    ("htm.robot_groups", Holds::Namespace, OWN),
    ("htm.merged_robots", Holds::Namespace, INTO_ROBOTS),
    ("htm.robots", Holds::Namespace, OWN),
    ("htm.tag_change_names", Holds::Namespace, OF_CHANGES),
    ("htm.tag_changes", Holds::Namespace, OWN),
    ("htm.tag_synonyms", Holds::Namespace, OWN),
    ("htm.tags", Holds::Tags, OWN),
    ("htm.backfills", Holds::Namespace, OWN),
    ("htm.budgets", Holds::Namespace, OWN),
    ("htm.quotas", Holds::Namespace, OWN),
    ("htm.retention", Holds::Namespace, OWN),
    ("htm.lexeme_statistics", Holds::Words, OWN),
    ("htm.namespace_statistics", Holds::Namespace, OWN),
    ("htm.erasures", Holds::Nothing("receipts of erasures: no content"), None),
    ("htm.erased_nodes", Holds::Nothing("the numbers of erased memories, for the verification"), None),
    ("htm.audit_log", Holds::Nothing("who did what: names and numbers, kept as evidence"), None),
    ("htm.api_keys", Holds::Nothing("keys of the API: they outlive what they open"), None),
    ("htm.sign_ins", Holds::Nothing("hashes of the tokens of browsers"), None),
    ("htm.request_rates", Holds::Nothing("requests a minute"), None),
    ("htm.embedding_models", Holds::Nothing("names of models"), None),
    ("htm.providers", Holds::Nothing("limits and failures of providers, without quotations of texts"), None),
    ("htm.provider_calls", Holds::Nothing("calls in flight: models and workers"), None),
    ("htm.waiting_calls", Holds::Nothing("calls that wait: models and workers"), None),
    ("htm.statistics_watermark", Holds::Nothing("one position: up to which node words were counted"), None),
    ("htm.worker_leases", Holds::Nothing("leases of workers"), None),
    ("apalis.workers", Holds::Nothing("names of workers"), None),
];

/// Tables of the schema and of operators.
const OTHERS: [(&str, &str); 5] = [
    ("htm.paused_queues", "queues, and an operator's reason for a pause"),
    ("htm.held_queues", "queues, and the database's reason for a rejected result"),
    ("htm.compatibility", "the version of the schema"),
    ("htm.seaql_migrations", "the applied migrations"),
    ("apalis._sqlx_migrations", "the applied migrations"),
];

/// The condition on a row that one of its nodes is among `nodes`, which is SQL.
pub(crate) fn of_nodes(columns: &[&str], nodes: &str) -> String {
    columns.iter().map(|column| format!("t.{column} {nodes}")).collect::<Vec<_>>().join(" or ")
}

/// Every table, in the order of removal.
pub(crate) async fn all(connection: &mut PgConnection) -> Result<Vec<TableOfTraces>> {
    let stores = embeddings::stores(&mut *connection).await?;
    let of_vectors = stores.into_iter().map(|store| TableOfTraces {
        table: store.into(),
        holds: Holds::Nodes(&["node_id"]),
        of_namespace: OWN,
    });
    let known =
        TABLES.map(|(table, holds, of_namespace)| TableOfTraces { table: table.into(), holds, of_namespace });
    let others = OTHERS.map(|(table, why)| TableOfTraces {
        table: table.into(),
        holds: Holds::Nothing(why),
        of_namespace: None,
    });
    Ok(of_vectors.chain(known).chain(others).collect())
}

/// The tables of the database's schemas `htm` and `apalis`, and those that a change of the layout has yet to drop.
pub(crate) async fn existing(connection: &mut PgConnection) -> Result<Vec<String>> {
    sql!(
        "select n.nspname || '.' || c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where n.nspname in ('htm', 'apalis', 'htm_previous') and c.relkind in ('r', 'p', 'm')
            and not c.relispartition order by 1"
    )
    .fetch_scalars(connection)
    .await
}
