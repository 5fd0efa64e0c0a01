//! Every table of the catalogue: it comes back by an import, or is named here with the reason why not.

use std::collections::BTreeMap;

use htm_tests::TestDatabase;
use sqlx::AssertSqlSafe;

use super::{ALL, export, filled, import};

/// The tables that come back, each with its columns that do not, and the condition on its rows that do.
const RESTORED: [(&str, &[&str], &str); 27] = [
    ("htm.nodes", &["id"], "true"),
    ("htm.node_revisions", &[], "true"),
    ("htm.node_absences", &[], "true"),
    ("htm.relations", &[], "true"),
    ("htm.repeats", &[], "true"),
    ("htm.node_accesses", &[], "true"),
    ("htm.node_tags", &[], "true"),
    // The worker and its attempt are of jobs here. A former text is neither embedded nor tagged again.
    ("htm.completions", &["worker", "attempt"], CURRENT),
    ("htm.embeddings_1", &[], CURRENT),
    ("htm.embedding_models", &["id", "created_at"], "true"),
    ("htm.robots", &["id"], "true"),
    ("htm.working_memory", &[], "true"),
    // Versions are counted for members with a copy.
    ("htm.robot_groups", &["id", "version", "pruned_version"], "true"),
    // The process of a member has ended for the new database.
    ("htm.group_members", &["membership", "lease_ms", "seen_at", "seen_version"], "true"),
    ("htm.group_memory", &["version"], "t.removed_at is null"),
    ("htm.tags", &["id"], "true"),
    // When a synonym was added is in the log.
    ("htm.tag_synonyms", &["created_at"], "true"),
    ("htm.tag_changes", &["id"], "true"),
    ("htm.tag_change_names", &[], "true"),
    ("htm.tag_change_nodes", &[], "true"),
    ("htm.documents", &[], "true"),
    ("htm.retention", &[], "true"),
    ("htm.rankings", &[], "true"),
    // Recalls are counted by the feedback that is kept, and a trial is of live recalls.
    ("htm.learning", &["judged", "asked_at", "trial", "trial_kind"], "true"),
    ("htm.quotas", &["minute", "taken"], "true"),
    ("htm.budgets", &["day", "tokens_used"], "true"),
    // The state of a provider is what its last answers said.
    (
        "htm.providers",
        &[
            "request_level",
            "token_level",
            "levels_at",
            "pace_ms",
            "breaker",
            "failures",
            "openings",
            "limits",
            "reason",
            "retry_at",
            "resume_at",
            "changed_at",
        ],
        "true",
    ),
];

const CURRENT: &str = "t.revision = (select n.revision from htm.nodes n where n.id = t.node_id)";

/// The tables that do not come back, each with the reason.
const LEFT: [(&str, &str); 26] = [
    ("htm.lexeme_statistics", "derived from the texts"),
    ("htm.namespace_statistics", "derived from the texts"),
    ("htm.statistics_watermark", "derived from the texts"),
    ("apalis.jobs", "memories get jobs for what they lack; a dead letter is the answer of a provider"),
    ("apalis.workers", "processes"),
    ("apalis._sqlx_migrations", "the schema"),
    ("htm.seaql_migrations", "the schema"),
    ("htm.compatibility", "the schema"),
    ("htm.worker_leases", "processes"),
    ("htm.provider_calls", "processes"),
    ("htm.waiting_calls", "processes"),
    ("htm.held_queues", "the state of this database"),
    ("htm.paused_queues", "the state of this installation"),
    ("htm.backfills", "positions by the numbers of this database"),
    ("htm.merged_robots", "for programs that have the merged robot open"),
    ("htm.operations", "answers with the numbers of this database, for a day"),
    ("htm.api_keys", "keys are of an installation; their secrets are not known"),
    ("htm.sign_ins", "browsers that are signed in to this installation"),
    ("htm.request_rates", "requests of this minute"),
    ("htm.recalls", "evidence for rankings, for a limited time"),
    ("htm.recall_candidates", "evidence for rankings, for a limited time"),
    ("htm.feedback", "evidence for rankings, for a limited time"),
    ("htm.ranking_choices", "evidence of what was done in this installation"),
    ("htm.audit_log", "evidence of what was done in this installation"),
    ("htm.erasures", "evidence of what was removed from this database"),
    ("htm.erased_nodes", "evidence of what was removed from this database"),
];

/// The value of a column, without the numbers that differ between databases.
fn value(table: &str, column: &str) -> String {
    match (table, column) {
        (_, "from_node" | "to_node") => {
            format!("(select n.content || n.created_at from htm.nodes n where n.id = t.{column})")
        }
        (_, "node_id") => "(select n.content || n.created_at from htm.nodes n where n.id = t.node_id)".into(),
        (_, "robot_id") => "(select r.namespace || '/' || r.name from htm.robots r where r.id = t.robot_id)".into(),
        (_, "tag_id") => "(select g.path from htm.tags g where g.id = t.tag_id)".into(),
        (_, "group_id") => "(select g.name from htm.robot_groups g where g.id = t.group_id)".into(),
        (_, "change_id" | "reverted_by") => {
            format!("(select c.made_at::text from htm.tag_changes c where c.id = t.{column})")
        }
        ("htm.tag_changes", "details") => "t.details - 'change'".into(),
        ("htm.nodes", "duplicate_scope") => {
            "coalesce((select r.name from htm.robots r where r.id = t.duplicate_scope), t.duplicate_scope::text)".into()
        }
        _ => format!("t.{column}::text"),
    }
}

/// The columns of a table that come back.
async fn columns(db: &TestDatabase, table: &str, without: &[&str]) -> Vec<String> {
    let mut columns: Vec<String> = sqlx::query_scalar(
        "select attname::text from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped
          order by attnum",
    )
    .bind(table)
    .fetch_all(&db.pool)
    .await
    .unwrap();
    for column in without {
        assert!(columns.iter().any(|it| it == column), "{table} has no column {column}");
    }
    columns.retain(|it| !without.contains(&it.as_str()));
    columns
}

/// The rows of a table that come back, as text, sorted.
async fn rows(db: &TestDatabase, (table, without, condition): (&str, &[&str], &str)) -> Vec<String> {
    let columns = columns(db, table, without).await;
    let kept: Vec<String> = columns.iter().map(|it| format!("{} as {it}", value(table, it))).collect();
    let select = format!(
        "select to_jsonb(x)::text from (select {} from {table} t where {condition}) x order by 1",
        kept.join(", ")
    );
    sqlx::query_scalar(AssertSqlSafe(select)).fetch_all(&db.pool).await.unwrap()
}

async fn tables(db: &TestDatabase) -> Vec<String> {
    sqlx::query_scalar(
        "select n.nspname || '.' || c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where n.nspname in ('htm', 'apalis') and c.relkind in ('r', 'p', 'm')
            and not c.relispartition order by 1",
    )
    .fetch_all(&db.pool)
    .await
    .unwrap()
}

/// The columns of the memories that have one value in all of them: an import without these would pass.
async fn of_one_value(db: &TestDatabase) -> Vec<String> {
    let (table, without, _) = RESTORED[0];
    let mut found = Vec::new();
    for column in columns(db, table, without).await {
        let differs = format!(
            "select count(distinct t.{column}) + (count(*) > count(t.{column}))::int > 1 from {table} t"
        );
        let differs: bool = sqlx::query_scalar(AssertSqlSafe(differs)).fetch_one(&db.pool).await.unwrap();
        found.extend((!differs).then_some(column));
    }
    found
}

#[tokio::test]
async fn every_table_comes_back_or_is_left_for_a_reason() {
    let (from, to) = (filled().await, TestDatabase::new().await);
    let mut decided: BTreeMap<&str, u32> = BTreeMap::new();
    let known = RESTORED.iter().map(|it| it.0).chain(LEFT.iter().map(|it| it.0));
    known.for_each(|table| *decided.entry(table).or_default() += 1);
    let there = tables(&from).await;
    let undecided: Vec<&String> = there.iter().filter(|it| decided.get(it.as_str()) != Some(&1)).collect();
    assert!(undecided.is_empty(), "does an export have these tables? {undecided:?}");
    assert_eq!(there.len(), decided.len(), "a table is named that is none: {decided:?}");

    // The installation has one encoding.
    assert_eq!(of_one_value(&from).await, ["token_encoding"], "nothing shows whether these come back");
    let exported = export(&from.htm(), ALL, "forgotten vectors").await;
    import(&to.htm(), &exported).await;
    for table in RESTORED {
        let before = rows(&from, table).await;
        assert!(!before.is_empty(), "nothing is in {}, so this shows nothing", table.0);
        assert_eq!(before, rows(&to, table).await, "{}", table.0);
    }
}
