//! The partitions that statements about one namespace read, as their plans say.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use htm_core::job::JobState;
use htm_core::provider::{CALLER, ModelName};
use htm_core::worker::jobs::{self, Failed, Verdict};
use htm_core::worker::workers;
use htm_core::{
    Caller, Confirmation, ContextOptions, Conversation, Document, Edit, Expiry, Filter, Htm, Memory,
    RecallQuery, RecallSettings, RelationKind, Replacement, Settings, Stage, Strategy, TagFilter,
    TimelineQuery, VectorSearch,
};
use htm_documents::{Cutting, read};
use htm_providers::fake::{self, FakeSettings};
use htm_tests::{Plan, Plans, TestDatabase, drain, explained};
use sqlx::PgPool;

use super::repartition;

/// Parts of the statements that are about all namespaces: the sweeps of workers.
const OF_ALL: [&str; 2] = ["n.expires_at <= now()", "htm.statistics_watermark"];

/// A model whose vectors callers bring.
pub(super) const MINE: &str = "caller/mine";

/// The tables of which a plan read or wrote more than one partition.
fn of_several(plan: &Plan) -> BTreeSet<String> {
    let mut partitions = BTreeMap::<String, u32>::new();
    for (table, number) in plan.tables().iter().filter_map(|table| table.rsplit_once("_p")) {
        if number.bytes().all(|byte| byte.is_ascii_digit()) {
            *partitions.entry(table.to_owned()).or_default() += 1;
        }
    }
    partitions.into_iter().filter(|(_, read)| *read > 1).map(|(table, _)| table).collect()
}

/// A document of two passages. Its number tells its tag, the text of the first passage and the place of the second.
fn document(number: usize) -> Document {
    let (tag, fuel) = (["odd", "even"][number % 2], "Helium floats. ".repeat(number + 1));
    let text =
        format!("---\ntags: [{tag}]\n---\n# Fuel\n\n{fuel}\n\n# Mooring\n\nA mast holds the zeppelin.\n");
    let read = read("guide.md", text.as_bytes(), &Cutting { size: 300, overlap: 0, least: 0 }).unwrap();
    let (document, _) = read.document("guide.md", text.len() as u64, &Default::default(), &[]);
    Document { namespace: Some("atlas".into()), ..document }
}

/// The plans of this thread's statements, and what they read of more than one partition.
pub(super) struct Watched {
    plans: Plans,
    several: Vec<String>,
    exceptions: BTreeSet<String>,
}

impl Watched {
    pub(super) fn from_now_on() -> Self {
        Self { plans: Plans::collect(), several: Vec::new(), exceptions: BTreeSet::new() }
    }

    /// Judges the statements since the last call, and returns their plans. They may read all partitions of the table
    /// `of_all`.
    pub(super) fn judge(&mut self, name: &str, of_all: &str) -> Vec<Plan> {
        let seen = self.plans.take();
        assert!(!seen.is_empty(), "{name}: no plan");
        for plan in seen.iter().filter(|plan| !OF_ALL.iter().any(|part| plan.sql.contains(part))) {
            let tables = of_several(plan);
            if tables.iter().any(|table| table != of_all) {
                self.several.push(format!("{name}: {tables:?}\n{plan}"));
            }
            self.exceptions.extend(tables);
        }
        seen
    }

    /// Asserts that no statement has read more than it may, and that these are the tables of the exceptions.
    pub(super) fn end(self, exceptions: &[&str]) {
        assert!(self.several.is_empty(), "{}", self.several.join("\n"));
        assert_eq!(Vec::from_iter(&self.exceptions), exceptions);
    }
}

/// Makes each statement on the database's pool report its plan, with the plans of large tables, which read by index.
/// Returns the tenants' pool, which does so too.
pub(super) async fn explain(db: &mut TestDatabase) -> PgPool {
    let by_index = [("enable_hashjoin", "off"), ("enable_mergejoin", "off"), ("enable_seqscan", "off")];
    let options = explained(db.options()).options(by_index);
    db.pool = htm_core::pool_options().max_connections(10).connect_with(options).await.unwrap();
    let tenants = htm_core::tenant_options(explained(db.options()).options(by_index));
    htm_core::pool_options().connect_lazy_with(tenants)
}

#[tokio::test]
async fn a_statement_about_one_namespace_reads_one_partition() {
    let mut db = TestDatabase::new().await;
    repartition(&db, 8).await;
    let filler = db.htm();
    for number in 0..30 {
        filler
            .remember(Memory::new(format!("filler {number}")).namespace(format!("tenant-{number}")))
            .await
            .unwrap();
    }
    filler.remember(Memory::new("a zeppelin at anchor").namespace("atlas")).await.unwrap();
    let hangar = Memory::new("a hangar").namespace("atlas").key("hangar");
    let hangar = filler.remember(hangar).await.unwrap().node;
    filler.forget(hangar, &Caller::AnyRobot, Confirmation::Confirmed).await.unwrap();
    drain(&db, Stage::Embed).await;
    drain(&db, Stage::Tag).await;
    sqlx::raw_sql("analyze").execute(&db.pool).await.unwrap();
    let tenants = explain(&mut db).await;
    let htm = db.htm().with_tenants(tenants);
    let tenant = htm.within(["atlas"]).unwrap();
    htm.models().unwrap().add(&ModelName::new(CALLER, "mine"), 4).await.unwrap();
    let embedder = fake::embedder(FakeSettings::default()).unwrap();
    let by_index = Htm::with_pool(
        db.pool.clone(),
        Settings {
            recall: RecallSettings { exact_scope: 0, ..RecallSettings::default() },
            ..htm.settings().clone()
        },
        Some(embedder),
    );
    let mut turns = Vec::new();
    for place in 0..6 {
        let mut memory = Memory::new(format!("the zeppelin of turn {place}"))
            .namespace("atlas")
            .tag("a:b".parse().unwrap());
        (memory.session, memory.seq) = (Some("flight".into()), Some(place));
        turns.push(memory);
    }
    let mut watched = Watched::from_now_on();
    // Each with the table whose partitions it may all read.
    macro_rules! watch {
        ($name:literal, $of_all:literal, $work:expr) => {
            $work;
            watched.judge($name, $of_all);
        };
    }
    let of = || Filter::default().namespace("atlas");
    let mut ids = Vec::new();
    watch!(
        "remember",
        "",
        ids.extend(htm.remember_many(&turns).await.unwrap().iter().flatten().map(|it| it.node))
    );
    watch!("remember again", "", htm.remember_many(&turns).await.unwrap());
    watch!("remember one again", "", htm.remember(turns[0].clone()).await.unwrap());
    let ask = |strategy| RecallQuery {
        count_accesses: false,
        ..RecallQuery::new("zeppelin anchor").strategy(strategy).filter(of())
    };
    let me = &Caller::AnyRobot;
    let (queue, model) = (Stage::Embed.queue(), htm.settings().embedding_model.to_string());
    let claim = async || {
        workers::register(&db.pool, queue, "watched", "test", 30_000).await.unwrap();
        jobs::claim(&db.pool, queue, &model, "watched", 1).await.unwrap().expect("a job is due")
    };
    // A memory is found by its id alone in each partition, and the memories with a tag by the tag's id. What is then read
    // and written is in one. Six times a statement is planned for its values, then once for all.
    for number in 0..7_usize {
        watch!("fulltext", "", htm.recall(&ask(Strategy::Fulltext)).await.unwrap());
        watch!("vector", "", htm.recall(&ask(Strategy::Vector)).await.unwrap());
        watch!("hybrid", "", htm.recall(&ask(Strategy::Hybrid)).await.unwrap());
        watch!("by the index of vectors", "", {
            let recalled = by_index.recall(&ask(Strategy::Vector)).await.unwrap();
            assert_eq!(recalled.vector_search, Some(VectorSearch::Approximate), "{:?}", recalled.degraded);
        });
        watch!(
            "timeline",
            "",
            htm.conversation_timeline(&TimelineQuery::everything().filter(of())).await.unwrap()
        );
        let tagged = of().tag(TagFilter::Prefix("a".parse().unwrap()));
        watch!("by tag", "node_tags", htm.recall(&ask(Strategy::Hybrid).filter(tagged)).await.unwrap());
        let beside = RecallQuery { neighbours: 1, ..ask(Strategy::Fulltext) };
        watch!("recall with neighbours", "", htm.recall(&beside).await.unwrap());
        watch!("get", "nodes", htm.get(ids[0]).await.unwrap());
        let edit =
            Edit::new().content(format!("the zeppelin turns {number}")).importance(7.0).caller(me.clone());
        watch!("edit", "nodes", htm.edit(ids[1], &edit).await.unwrap());
        watch!("forget", "nodes", htm.forget(ids[2], me, Confirmation::Confirmed).await.unwrap());
        watch!("restore", "nodes", htm.restore(ids[2], me).await.unwrap());
        watch!(
            "relate",
            "nodes",
            htm.relate(ids[3], RelationKind::Supersedes, ids[4], None, me).await.unwrap()
        );
        watch!("superseded", "", htm.recall(&ask(Strategy::Vector)).await.unwrap());
        watch!("counts of recalls", "", {
            htm.recall(&RecallQuery { count_accesses: true, ..ask(Strategy::Vector) }).await.unwrap();
            htm.flush().await;
        });
        let landing =
            || Memory::new(format!("a landing {number}")).namespace("atlas").key(format!("landing-{number}"));
        let mut landed = Vec::new();
        watch!("remember one", "", landed.push(htm.remember(landing()).await.unwrap().node));
        watch!(
            "relate one that is no hit",
            "nodes",
            htm.relate(landed[0], RelationKind::Supersedes, ids[4], None, me).await.unwrap()
        );
        watch!("superseded by one that is no hit", "", {
            let recalled = htm.recall(&ask(Strategy::Fulltext)).await.unwrap();
            let ranks = |node| recalled.hits.iter().any(|hit| hit.node.id == node);
            assert!(ranks(ids[4]) && !ranks(landed[0]));
        });
        watch!(
            "get by its key",
            "",
            htm.get_by_key(Some("atlas"), &format!("landing-{number}")).await.unwrap()
        );
        watch!("import of what was forgotten", "", {
            let mut import = htm.importer(10, 1 << 20).leaves_forgotten();
            import.line(br#"{"id":"hangar","ns":"atlas","text":"a hangar"}"#).await.unwrap();
            let results = import.finish().await.unwrap();
            assert_eq!(results[0].1.as_ref().unwrap().node, Some(hangar));
        });
        let flight = || {
            let expiry = Expiry::After(Duration::from_secs(86_400));
            Memory::new(format!("a flight {number}"))
                .namespace("atlas")
                .vector(MINE, vec![1.0; 4])
                .expires(expiry)
        };
        watch!("remember with a vector", "", htm.remember(flight()).await.unwrap());
        watch!("prolong", "", htm.remember(flight()).await.unwrap());
        let refreshing = RecallQuery { refresh: true, ..ask(Strategy::Fulltext) };
        watch!("recall that prolongs", "nodes", htm.recall(&refreshing).await.unwrap());
        // The lock of what goes is by ids.
        watch!("replace", "nodes", {
            let parts = ["one", "two"].map(|part| {
                let memory = Memory::new(format!("part {part} of manual {number}")).namespace("atlas");
                Memory { session: Some("manual".into()), ..memory }
            });
            let conversations = vec![Conversation {
                namespace: Some("atlas".into()),
                session: "manual".into(),
                expected: None,
            }];
            let replacement = Replacement { conversations, caller: me.clone(), continues: true };
            htm.replace(&replacement, &parts).await.unwrap();
        });
        watch!("load a document", "nodes", {
            htm.load_document(&document(number), me).await.unwrap();
        });
        watch!("working memory", "nodes", {
            let robot = htm.robot_in("atlas", "pilot").await.unwrap();
            robot.recall(&ask(Strategy::Fulltext)).await.unwrap();
            robot.context(&ContextOptions::new(100)).await;
            robot.close().await.unwrap();
        });
        watch!("a tenant's memory", "", {
            let memory = Memory::new(format!("a tenant's flight {number}")).namespace("atlas");
            tenant.remember(memory).await.unwrap();
        });
        for strategy in [Strategy::Fulltext, Strategy::Vector, Strategy::Hybrid] {
            watch!("a tenant's recall", "", tenant.recall(&ask(strategy)).await.unwrap());
        }
        watch!(
            "a tenant's timeline",
            "",
            tenant.conversation_timeline(&TimelineQuery::everything().filter(of())).await.unwrap()
        );
        watch!("a job that fails", "", {
            let (lease, claimed) = claim().await;
            let verdict = Verdict::Retry { delay_ms: 0 };
            let failed = Failed { job: claimed[0].id.clone(), reason: "scripted".into(), verdict };
            let ended = jobs::fail(&db.pool, &lease, &[failed], Duration::from_secs(3_600)).await.unwrap();
            assert_eq!(ended.into_values().collect::<Vec<_>>(), [JobState::Due]);
        });
        watch!("a job that is released", "", {
            let (lease, claimed) = claim().await;
            let claim = (claimed[0].id.clone(), lease.claimed_at);
            assert_eq!(jobs::release(&db.pool, &lease.worker, &[claim]).await.unwrap(), 1);
        });
        watch!("a job that its worker does not know of", "", {
            let (lease, _) = claim().await;
            assert_eq!(jobs::release_unheld(&db.pool, &lease.worker, &[]).await.unwrap(), 1);
        });
        watch!("embed", "", drain(&db, Stage::Embed).await);
        watch!("tag", "node_tags", drain(&db, Stage::Tag).await);
    }
    watched.end(&["node_tags", "nodes"]);
}
