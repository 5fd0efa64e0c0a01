//! Exports, and imports of them: what comes back, what is left, and what a cut file says.

#[path = "export/log.rs"]
mod log;
#[path = "export/settings.rs"]
mod settings;
#[path = "export/splits.rs"]
mod splits;
#[path = "export/stream.rs"]
mod stream;
#[path = "export/tables.rs"]
mod tables;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Duration;

use htm_core::ontology::{ChangeKind, Removal, Term};
use htm_core::providers::LimitChanges;
use htm_core::ranking::Learnt;
use htm_core::tag::Leftover;
use htm_core::{
    Caller, Confirmation, Edit, Expiry, ExportOptions, FieldChange, Htm, ImportedLine, JoinOptions,
    LearningSettings, LineKind, Memory, NodeId, Outcome, Quota, RankingFigures, RecallQuery, RelationKind,
    Retention, Signal, Stage, Strategy,
};
use htm_tests::{Sandbox, TestDatabase, drain, long_text, wait_until};
use nix::sys::signal;
use serde_json::{Map, Value, json};

const ALL: &[&str] = &[];

/// The lines of an export.
async fn export(htm: &Htm, namespaces: &[&str], with: &str) -> Vec<Value> {
    let options = ExportOptions {
        namespaces: namespaces.iter().map(|it| (*it).to_owned()).collect(),
        forgotten: with.contains("forgotten"),
        vectors: with.contains("vectors"),
    };
    let mut export = htm.export(options).await.unwrap();
    let mut text = String::new();
    while let Some(block) = export.next().await.unwrap() {
        text.push_str(std::str::from_utf8(&block).unwrap());
    }
    assert_eq!(export.memories(), export.exported());
    assert!(text.ends_with("}\n"));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The results of an import: the outcomes of the lines, and the codes of refused ones.
async fn import(htm: &Htm, lines: &[Value]) -> Vec<Result<ImportedLine, &'static str>> {
    let mut import = htm.importer(3, 1 << 20);
    let mut results = Vec::new();
    for line in lines {
        results.extend(import.line(line.to_string().as_bytes()).await.unwrap());
    }
    results.extend(import.finish().await.unwrap());
    assert!(results.is_sorted_by_key(|(number, _)| *number));
    results.into_iter().map(|(_, result)| result.map_err(|error| error.code())).collect()
}

/// The counts of results by kind and outcome. Every line is accepted.
fn counts(results: &[Result<ImportedLine, &'static str>]) -> BTreeMap<(String, String), usize> {
    let mut counts = BTreeMap::new();
    for result in results {
        let line = result.unwrap();
        *counts.entry((line.kind.to_string(), format!("{:?}", line.outcome))).or_default() += 1;
    }
    counts
}

/// An export without what differs between databases: the time of the snapshot and the numbers of nodes and changes,
/// which are replaced by their places.
fn comparable(lines: &[Value]) -> Vec<Value> {
    let mut lines = lines.to_vec();
    let (mut places, mut changes) = (HashMap::new(), HashMap::new());
    let mut place = |number: &mut Value| {
        if let Some(change) = number.as_i64() {
            let next = changes.len();
            *number = json!(*changes.entry(change).or_insert(next));
        }
    };
    for line in &mut lines {
        if line["kind"] == "header" {
            line.as_object_mut().unwrap().remove("made_at");
        }
        for pointer in ["/change", "/reverts", "/details/change"] {
            line.pointer_mut(pointer).map(&mut place);
        }
        for retagged in line.get_mut("retagged").and_then(Value::as_array_mut).into_iter().flatten() {
            place(&mut retagged["change"]);
        }
        for name in ["node", "from", "to"] {
            if let Some(node) = line[name].as_i64() {
                let next = places.len();
                line[name] = json!(*places.entry(node).or_insert(next));
            }
        }
    }
    lines
}

fn of_kind<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["kind"] == kind).collect()
}

fn tag(path: &str) -> htm_core::TagPath {
    path.parse().unwrap()
}

/// A database with every feature in use.
async fn filled() -> TestDatabase {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let remember = async |memory: Memory| htm.remember(memory).await.unwrap().node;
    let decision = Memory::new("We pin PostgreSQL 17.2 for the ledger.")
        .namespace("atlas")
        .robot("ada")
        .key("adr-7")
        .importance(8.25)
        .source("minutes")
        .tag(tag("database:postgresql"))
        .metadata("ticket", json!({"number": 7, "ratio": 0.1, "big": 12345678901234567_i64}))
        .at("2026-03-01T10:00:00.123456Z".parse().unwrap());
    let edited = remember(Memory { kind: Some("decision".into()), ..decision }).await;
    let plain = remember(Memory::new("Mara prefers tabs.").namespace("atlas").robot("ada")).await;
    let again = Memory::new("Mara prefers tabs.").namespace("atlas").robot("bob").tag(tag("editor:tabs"));
    assert_eq!(htm.remember(again).await.unwrap().outcome, Outcome::Repeated);
    // Two events that differ in nothing.
    let said = Memory {
        session: Some("standup".into()),
        seq: Some(1),
        speaker: Some("Mara".into()),
        ..Memory::new("Thanks! \u{1} \u{2028} ünïcode")
    };
    let said = said.namespace("atlas").at("2026-04-01T00:00:00Z".parse().unwrap());
    for result in htm.remember_many(&vec![said; 2]).await.unwrap() {
        result.unwrap();
    }
    let hour = Expiry::After(Duration::from_secs(3_600));
    remember(Memory::new("Staging is down for an hour.").namespace("home").expires(hour)).await;
    remember(Memory { language: Some("german".into()), ..Memory::new("Die Häuser sind alt.") }).await;
    let gone = remember(Memory::new("A secret of the past.").namespace("home").key("old")).await;
    let expired = remember(Memory::new("This has expired.").expires(hour)).await;
    sqlx::query("update htm.nodes set expires_at = '2020-01-01', ttl_seconds = null where id = $1")
        .bind(expired)
        .execute(&db.pool)
        .await
        .unwrap();
    let file = b"---\ntags: [style]\n---\n# Guide\n\nKeep sentences short.\n";
    let read = htm_documents::read("docs/guide.md", file, &Default::default()).unwrap();
    let (mut document, _) = read.document("docs/guide.md", file.len() as u64, htm.tag_rules(), &[]);
    document.namespace = Some("atlas".into());
    htm.load_document(&document, &Caller::AnyRobot).await.unwrap();
    drain(&db, Stage::Embed).await;
    drain(&db, Stage::Tag).await;

    let edit = Edit::new().content("We pin PostgreSQL 17.3 for the ledger.").caller(Caller::AnyRobot);
    htm.edit(edited, &edit).await.unwrap();
    let edit = Edit::new().content("We run PostgreSQL 18.").caller(Caller::AnyRobot);
    htm.edit(edited, &edit).await.unwrap();
    htm.forget(gone, &Caller::AnyRobot, Confirmation::Confirmed).await.unwrap();
    htm.restore(gone, &Caller::AnyRobot).await.unwrap();
    htm.forget(gone, &Caller::AnyRobot, Confirmation::Confirmed).await.unwrap();
    let reason = Some("the vendor certified 18");
    htm.relate(edited, RelationKind::Supersedes, plain, reason, &Caller::AnyRobot).await.unwrap();
    htm.relate(plain, RelationKind::Contradicts, edited, None, &Caller::AnyRobot).await.unwrap();
    htm.sweep().await.unwrap();

    let ontology = htm.ontology(Some("atlas")).unwrap();
    let term = |tag: &str, text: &str, synonyms: &[&str]| Term {
        tag: tag.into(),
        description: Some(text.into()),
        synonyms: synonyms.iter().map(|it| (*it).to_owned()).collect(),
    };
    let terms = [term("database", "Where rows are", &["db"]), term("meeting", "People talk", &[])];
    ontology.define(ChangeKind::Add, &terms).await.unwrap();
    ontology
        .split(
            "meeting",
            &[term("standup", "Short", &[]), term("retrospective", "Long", &[])],
            Leftover::First,
        )
        .await
        .unwrap();
    ontology.define(ChangeKind::Add, &[term("nonsense", "Nothing", &[])]).await.unwrap();
    ontology.remove("nonsense", Removal::Unused).await.unwrap();
    ontology.rename("editor", "tool").await.unwrap();
    ontology.merge(&["tool:tabs"], "database").await.unwrap();
    ontology.mark_distinct("database", "standup").await.unwrap();
    let renamed = ontology.rename("meeting", "talk").await.unwrap().change.unwrap();
    ontology.revert(renamed).await.unwrap();

    let metadata = Map::from_iter([("team".to_owned(), json!("core"))]);
    htm.register_robot(Some("home"), Some("carla"), metadata).await.unwrap();
    htm.set_robot_budget(Some("home"), "carla", Some(5_000)).await.unwrap();
    let robot = htm.robot_in("home", "carla").await.unwrap();
    robot.add(&[plain, edited]).await.unwrap();
    robot.close().await.unwrap();
    let member = htm.group("duo").namespace("atlas").join("ada", JoinOptions::default()).await.unwrap();
    member.add(plain).await.unwrap();
    member.leave().await.unwrap();
    drop(htm.group("duo").namespace("atlas").join("bob", JoinOptions::default()).await.unwrap());
    let quota = Quota { max_memories: Some(300), requests_per_minute: Some(6_000), ..Quota::default() };
    htm.set_quota(Some("atlas"), quota).await.unwrap();
    let shared = Quota { requests_per_minute: Some(60), ..Quota::default() };
    htm.set_quota(Some("tenant-7/*"), shared).await.unwrap();
    let providers = htm.providers().unwrap();
    providers.set_budget("atlas", Some(40_000)).await.unwrap();
    let limits = LimitChanges { tokens_per_minute: FieldChange::Set(90_000), ..LimitChanges::default() };
    providers.set_limits("openai/text-embedding-3-small", limits).await.unwrap();
    let policy = Retention { forget_after_seconds: Some(86_400 * 900), purge_after_seconds: None };
    htm.set_retention(Some("home"), policy, Confirmation::Confirmed).await.unwrap();
    let signals = vec![Signal::Read, Signal::Cited];
    let settings = LearningSettings { is_on: true, least: 50, signals, ..LearningSettings::default() };
    htm.set_learning(Some("atlas"), &settings).await.unwrap();
    let ranking = json!(htm_core::ranking::Learnt::default_ranking());
    sqlx::query(
        "insert into htm.rankings (namespace, version, learnt, figures, adopted, reason)
         values ('atlas', 1, $1, $2, true, 'it is better')",
    )
    .bind(ranking)
    .bind(json!(htm_core::RankingFigures { judged: 120, ..Default::default() }))
    .execute(&db.pool)
    .await
    .unwrap();
    htm.activate_ranking(Some("atlas"), 1).await.unwrap();
    let query = RecallQuery::new("tabs").namespace("atlas").strategy(Strategy::Fulltext);
    assert_eq!(htm.recall(&query).await.unwrap().hits[0].node.id, plain);
    htm.flush().await;
    db
}

#[tokio::test]
async fn everything_comes_back_and_again_nothing_is_doubled() {
    let (from, to) = (filled().await, TestDatabase::new().await);
    let exported = export(&from.htm(), ALL, "forgotten vectors").await;
    assert_eq!((&exported[0]["kind"], &exported[0]["format"]), (&json!("header"), &json!("htm-export")));
    assert_eq!(exported[0]["memories"], 9);
    let memories = of_kind(&exported, "memory");
    let has = |field: &str| memories.iter().filter(|line| !line[field].is_null()).count();
    let features = [
        "id",
        "expires_at",
        "ttl_seconds",
        "speaker",
        "tags",
        "metadata",
        "forgotten_at",
        "repeats",
        "recalled",
        "tagged",
        "retagged",
        "in_memory_of",
        "in_groups",
        "vectors",
        "first_sha256",
        "unique_in",
        "author",
    ];
    for feature in features {
        assert!(has(feature) > 0, "no memory has {feature}: {memories:#?}");
    }
    let kinds = [
        "model",
        "retention",
        "budget",
        "limits",
        "robot",
        "group",
        "change",
        "name",
        "tag",
        "revision",
        "quota",
        "ranking",
        "learning",
        "end",
    ];
    for kind in kinds {
        assert!(!of_kind(&exported, kind).is_empty(), "no {kind}");
    }

    let first = counts(&import(&to.htm(), &exported).await);
    assert!(first.keys().all(|(_, outcome)| outcome == "Written"), "{first:?}");
    let again = export(&to.htm(), ALL, "forgotten vectors").await;
    let (one, other) = (comparable(&exported), comparable(&again));
    for (one, other) in one.iter().zip(&other) {
        assert_eq!(one, other);
    }
    assert_eq!(one.len(), other.len());

    // No node is stranded, and only the edited text has to be embedded and tagged.
    assert_eq!(to.count("select count(*) from htm.stranded").await, 0);
    let edited = "select count(*) from apalis.jobs j join htm.nodes n on j.metadata -> 'node' = n.id::text
                   where n.revision = 3 and j.status = 'Pending'";
    assert_eq!(to.count(edited).await, 2);
    assert_eq!(to.count("select count(*) from apalis.jobs").await, 2);
    let query = RecallQuery::new("Mara prefers tabs.").namespace("atlas").strategy(Strategy::Vector);
    assert_eq!(to.htm().recall(&query).await.unwrap().hits[0].node.content, "Mara prefers tabs.");

    let second = counts(&import(&to.htm(), &exported).await);
    assert!(second.keys().all(|(_, outcome)| outcome == "Existing"), "{second:?}");
    assert_eq!(first.values().sum::<usize>(), second.values().sum::<usize>());
    assert_eq!(comparable(&export(&to.htm(), ALL, "forgotten vectors").await), other);
    assert_eq!(to.count("select count(*) from apalis.jobs").await, 2);

    // Also into the database that it came from, after an edit, which stays.
    let key: NodeId = from.htm().get_by_key(Some("atlas"), "adr-7").await.unwrap().unwrap().id;
    let edit = Edit::new().content("We run PostgreSQL 19.").key("adr-8").caller(Caller::AnyRobot);
    from.htm().edit(key, &edit).await.unwrap();
    let third = counts(&import(&from.htm(), &exported).await);
    assert!(third.keys().all(|(_, outcome)| outcome == "Existing"), "{third:?}");
    assert_eq!(from.htm().get(key).await.unwrap().content, "We run PostgreSQL 19.");
    assert_eq!(from.count("select count(*) from htm.nodes").await, 9);
}

#[tokio::test]
async fn it_has_what_was_asked_for_and_what_the_handle_sees() {
    let db = filled().await;
    let htm = db.htm();
    let lines = export(&htm, &["home", "home"], "").await;
    let namespaces: Vec<&Value> = lines.iter().filter_map(|line| line.get("ns")).collect();
    assert!(namespaces.iter().all(|it| **it == "home") && !namespaces.is_empty());
    assert_eq!(of_kind(&lines, "memory").len(), 1, "the other one is forgotten");
    assert!(lines.iter().all(|line| line["vectors"].is_null() || line["kind"] == "header"));
    // Robots of other namespaces are no part of it.
    let atlas = export(&htm, &["atlas"], "").await;
    assert!(of_kind(&atlas, "memory").iter().all(|line| line["in_memory_of"].is_null()));

    let tenant = htm.within(["atlas"]).unwrap();
    assert_eq!(comparable(&export(&tenant, ALL, "").await), comparable(&atlas));
    let other = ExportOptions { namespaces: vec!["home".into()], ..ExportOptions::default() };
    assert_eq!(tenant.export(other).await.unwrap_err().code(), "namespace_forbidden");
    let invalid = ExportOptions { namespaces: vec!["a//b".into()], ..ExportOptions::default() };
    assert_eq!(htm.export(invalid).await.unwrap_err().code(), "namespace_invalid");

    // A pattern stands for what is below it.
    htm.remember(Memory::new("A note of a tenant.").namespace("tenant-7/notes")).await.unwrap();
    let below = export(&htm.within(["tenant-7/*"]).unwrap(), ALL, "").await;
    assert_eq!(of_kind(&below, "memory").len(), 1, "{below:?}");

    // A restricted handle restores its own namespaces, and embeds anew if the database lacks the model.
    let to = TestDatabase::new().await;
    let everything = export(&htm, ALL, "vectors").await;
    let results = import(&to.htm().within(["atlas"]).unwrap(), &everything).await;
    let refused = results.iter().filter(|it| **it == Err("namespace_forbidden")).count();
    assert!(
        refused > 0 && results.iter().all(|it| it.is_ok() || *it == Err("namespace_forbidden")),
        "{results:?}"
    );
    assert_eq!(to.count("select count(*) from htm.nodes where namespace <> 'atlas'").await, 0);
    assert_eq!(to.count("select count(*) from htm.embedding_models").await, 0);
    assert_eq!(to.count("select count(*) from htm.stranded").await, 0);
}

#[tokio::test]
async fn one_snapshot_is_exported_a_page_at_a_time() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let memories: Vec<Memory> = (0..1_300).map(|n| Memory::new(format!("memory {n}"))).collect();
    htm.remember_many(&memories).await.unwrap();
    let long: Vec<Memory> = (0..12).map(|n| Memory::new(long_text(n))).collect();
    htm.remember_many(&long).await.unwrap();
    let mut export = htm.export(ExportOptions::default()).await.unwrap();
    let mut blocks = vec![export.next().await.unwrap().unwrap()];
    // What is written meanwhile is no part of it, and what is forgotten meanwhile is.
    let late = htm.remember(Memory::new("late")).await.unwrap().node;
    htm.forget(NodeId(late.0 - 1), &Caller::AnyRobot, Confirmation::Confirmed).await.unwrap();
    while let Some(block) = export.next().await.unwrap() {
        blocks.push(block);
    }
    let longest = blocks.iter().map(Vec::len).max().unwrap();
    assert!(blocks.len() >= 6 && longest < 3 << 20, "{} blocks, {longest} bytes", blocks.len());
    let text = String::from_utf8(blocks.concat()).unwrap();
    assert_eq!(text.matches("\"kind\":\"memory\"").count(), 1_312);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let to = TestDatabase::new().await;
    let results = import(&to.htm(), &lines).await;
    assert_eq!(counts(&results).values().sum::<usize>(), 1_312 + 1, "the memories and their robot");
}

#[tokio::test]
async fn a_cut_or_foreign_file_is_no_success() {
    let from = filled().await;
    let exported = export(&from.htm(), ALL, "forgotten").await;
    let to = TestDatabase::new().await;
    let htm = to.htm();
    // Cut among the memories; nothing is doubled when the rest comes.
    let first = exported.iter().position(|line| line["kind"] == "memory").unwrap();
    let text = exported.iter().position(|line| line["kind"] == "revision").unwrap();
    // Between a memory and its former texts too.
    for cut in [1, first + 3, text, exported.len() - 1] {
        let results = import(&htm, &exported[..cut]).await;
        assert_eq!(results.last().unwrap(), &Err("export_incomplete"), "{cut}");
    }
    let mut gap = exported.clone();
    gap.remove(exported.len() - 2);
    assert_eq!(import(&htm, &gap).await.last().unwrap(), &Err("export_incomplete"));
    let joined = [&exported[..2], &exported].concat();
    let results = import(&htm, &joined).await;
    let refused: Vec<_> = results.iter().filter_map(|it| it.err()).collect();
    assert_eq!(refused, ["export_incomplete"]);
    assert_eq!(comparable(&export(&htm, ALL, "forgotten").await), comparable(&exported));

    let mut later = exported[0].clone();
    later["version"] = json!(3);
    let mut import_later = htm.importer(10, 1 << 20);
    let error = import_later.line(later.to_string().as_bytes()).await.unwrap_err();
    assert_eq!(error.code(), "export_version");
}

#[tokio::test]
async fn a_bad_line_is_refused_and_the_others_are_imported() {
    let from = filled().await;
    let exported = export(&from.htm(), &["atlas"], "vectors").await;
    let to = TestDatabase::new().await;
    let memory = (**of_kind(&exported, "memory").iter().find(|it| it["vectors"].is_array()).unwrap()).clone();
    let text = (*of_kind(&exported, "revision")[0]).clone();
    let model = (*of_kind(&exported, "model")[0]).clone();
    let changed = |field: &str, value: Value| {
        let mut line = memory.clone();
        line[field] = value;
        line
    };
    let repeat = json!([{"robot": "ada", "count": 0, "first_at": "2026-01-01T00:00:00Z", "last_at": "2026-01-01T00:00:00Z"}]);
    let at = "2026-01-01T00:00:00Z";
    let vector = |model: &str, vector: Value| json!([{"model": model, "outcome": "embedded", "at": at, "vector": vector}]);
    let label = model["label"].as_str().unwrap();
    let early = "-5000-01-01T00:00:00Z";
    let ranking = |version, reason| {
        json!({"kind": "ranking", "ns": "n", "version": version, "learnt": Learnt::default_ranking(),
               "figures": RankingFigures::default(), "adopted": true, "reason": reason, "made_at": at})
    };
    let lines = [
        (changed("vectors", Value::Array(Vec::new())), None),
        (memory.clone(), Some("vector_unfit")), // its model is not known yet
        (model.clone(), None),
        (changed("vectors", vector(label, json!([0.5]))), Some("vector_unfit")),
        (changed("vectors", vector(label, json!([1e30]))), Some("line_invalid")),
        (changed("text", json!(" ")), Some("content_empty")),
        (changed("language", json!("klingon")), Some("language_unknown")),
        (changed("repeats", repeat), Some("line_invalid")),
        (changed("revision", json!(0)), Some("line_invalid")),
        (changed("first_sha256", json!("éé")), Some("line_invalid")),
        (changed("ttl_seconds", json!(7)), Some("line_invalid")),
        (changed("forgotten_because", json!("boredom")), Some("line_invalid")),
        (text, Some("line_invalid")), // its memory is not before it
        (
            json!({"kind": "robot", "ns": "n", "name": "", "uuid": uuid(), "created_at": at}),
            Some("robot_invalid"),
        ),
        (
            json!({"kind": "group", "ns": "n", "name": "g", "max_tokens": 0, "created_at": at}),
            Some("line_invalid"),
        ),
        (json!({"kind": "retention", "ns": "n", "forget_after_seconds": -1}), Some("expiry_out_of_range")),
        (json!({"kind": "quota", "ns": "n", "max_bytes": -1}), Some("limit_out_of_range")),
        (
            json!({"kind": "learning", "ns": "n", "learns_with": "n", "is_on": true, "keeps_text": false,
                   "keep_days": 0, "least": 100}),
            Some("learning_invalid"),
        ),
        (changed("absences", json!([{"forgotten_at": early, "restored_at": at}])), Some("time_out_of_range")),
        (json!({"kind": "tag", "ns": "n", "tag": "t", "created_at": early}), Some("time_out_of_range")),
        (ranking(0, "learnt"), Some("line_invalid")),
        (ranking(1, "\u{0}"), Some("nul_byte")),
        (json!({"kind": "budget", "ns": "n", "tokens_per_day": -1}), Some("line_invalid")),
        (json!({"kind": "limits", "model": "m", "concurrent_calls": 0}), Some("line_invalid")),
        (
            json!({"kind": "change", "ns": "n", "change": 1, "action": "dream", "details": {}, "made_at": at}),
            Some("line_invalid"),
        ),
        (
            json!({"kind": "change", "ns": "n", "change": 1, "action": "add", "details": {"a": ["\u{0}"]}, "made_at": at}),
            Some("nul_byte"),
        ),
        (
            json!({"kind": "change", "ns": "n", "change": 2, "action": "revert", "details": {}, "made_at": at, "reverts": 1}),
            Some("line_invalid"),
        ),
        (json!({"kind": "name", "ns": "n", "change": 1, "name": "a"}), Some("line_invalid")),
        (
            json!({"kind": "change", "ns": "n", "change": 1, "action": "add", "details": {}, "made_at": at}),
            None,
        ),
        (
            json!({"kind": "name", "ns": "n", "change": 1, "name": "a", "after": {"synonym": "A tag!"}}),
            Some("line_invalid"),
        ),
        (json!({"kind": "name", "ns": "n", "change": 1, "name": "a", "after": {"synonym": "b"}}), None),
        (json!({"kind": "tag", "ns": "n", "tag": "a", "synonyms": ["a"]}), Some("tag_into_itself")),
        (json!({"kind": "tag", "ns": "n", "tag": "b"}), None),
        (json!({"kind": "memory"}), Some("line_invalid")),
        (json!({"id": "k", "ns": "n", "text": "a plain line among them"}), None),
    ];
    let all: Vec<Value> = lines.iter().map(|(line, _)| line.clone()).collect();
    let results = import(&to.htm(), &all).await;
    for ((line, code), result) in lines.iter().zip(&results) {
        assert_eq!(result.err(), *code, "{line}");
    }
    assert_eq!(results.len(), lines.len());
    assert_eq!(to.count("select count(*) from htm.nodes").await, 2);
    assert_eq!(results.last().unwrap().unwrap().kind, LineKind::Memory);
}

fn uuid() -> &'static str {
    "8e03978e-40d5-43dd-bc93-6894a57f9324"
}

#[tokio::test]
async fn what_is_there_under_the_same_name_stays() {
    let from = filled().await;
    let exported = export(&from.htm(), ALL, "forgotten").await;
    let to = TestDatabase::new().await;
    let htm = to.htm();
    htm.remember(Memory::new("another text").namespace("atlas").key("adr-7")).await.unwrap();
    htm.remember(Memory::new("Mara prefers tabs.").namespace("atlas").robot("zoe")).await.unwrap();
    let old =
        Memory::new("older than the policy").namespace("home").at("2020-01-01T00:00:00Z".parse().unwrap());
    htm.remember(old).await.unwrap();
    sqlx::query("update htm.nodes set remembered_at = created_at where namespace = 'home'")
        .execute(&to.pool)
        .await
        .unwrap();
    let terms = [Term { tag: "database".into(), description: Some("Mine".into()), synonyms: Vec::new() }];
    htm.ontology(Some("atlas")).unwrap().define(ChangeKind::Add, &terms).await.unwrap();
    let results = import(&htm, &exported).await;
    let mut refused: Vec<_> = results.iter().filter_map(|it| it.err()).collect();
    refused.sort_unstable();
    // The policy would forget at once; the key has another text, whose two former texts and two relations therefore have
    // no memory.
    let invalid = ["line_invalid"; 4];
    assert_eq!(refused, [&["key_taken"], &invalid[..], &["not_confirmed"]].concat());
    let described = export(&htm, &["atlas"], "").await;
    let database = of_kind(&described, "tag").into_iter().find(|it| it["tag"] == "database").unwrap();
    assert_eq!(
        (&database["description"], &database["synonyms"]),
        (&json!("Mine"), &json!(["db", "tool:tab"]))
    );
    assert_eq!(to.count("select count(*) from htm.nodes where content = 'Mara prefers tabs.'").await, 1);
}

/// The names in the directory of a file.
fn beside(file: &str) -> Vec<String> {
    let names = Path::new(file).parent().unwrap().read_dir().unwrap();
    names.map(|it| it.unwrap().file_name().into_string().unwrap()).collect()
}

#[tokio::test]
async fn an_export_that_is_interrupted_leaves_the_last_file() {
    let db = filled().await;
    let sandbox = Sandbox::new(&db);
    let file = sandbox.write("backup.jsonl", "what was there");
    let mut lock = db.pool.begin().await.unwrap();
    sqlx::query("lock table htm.nodes in access exclusive mode").execute(&mut *lock).await.unwrap();
    let mut exporting = sandbox.start("htm", &["--json", "export", "--output", &file]);
    wait_until(|| async { beside(&file).len() == 2 }).await;
    exporting.signal(signal::Signal::SIGINT);
    wait_until(|| async { beside(&file) == ["backup.jsonl"] }).await;
    lock.rollback().await.unwrap();
    assert_eq!(exporting.end().await.code(), Some(130), "{}", exporting.log());
    let said = json!({ "stopped": true, "exported": false }).to_string();
    assert!(exporting.log().contains(&said), "{}", exporting.log());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "what was there");
}

#[tokio::test]
async fn the_command_writes_a_file_that_the_command_reads() {
    let from = filled().await;
    let to = TestDatabase::new().await;
    let (one, other) = (Sandbox::new(&from), Sandbox::new(&to));
    let file = one.write("backup.jsonl", "what was there");
    let said = one.htm(&["export", "--output", &file, "--vectors", "--forgotten"]).await;
    assert!(said.succeeds().contains("9 memories exported to "), "{}", said.stdout);
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written.starts_with("{\"kind\":\"header\""), "{written}");
    assert_eq!(beside(&file), ["backup.jsonl"]);
    let printed = one.htm(&["export", "--vectors", "--forgotten"]).await;
    let without_time = |text: &str| text.split_once('\n').unwrap().1.to_owned();
    assert_eq!(without_time(printed.succeeds()), without_time(&written));
    let said = other.htm(&["import", &file]).await;
    let said = said.succeeds();
    assert!(said.contains("9 written, 0 skipped, 0 rejected") && said.contains("2 former texts"), "{said}");
    let report = other.htm(&["import", &file, "--json"]).await.json();
    assert_eq!((&report["written"], &report["skipped"], report.get("others")), (&json!(0), &json!(9), None));
    let begun = written[..written.len() / 2].rfind('\n').unwrap() + 10;
    let cut = other.write("cut.jsonl", &written[..begun]);
    let report = other.htm(&["import", &cut, "--json"]).await;
    let report: Value = serde_json::from_str(&report.exits(2).stdout).unwrap();
    let codes: Vec<&Value> = report["refused"].as_array().unwrap().iter().map(|it| &it["code"]).collect();
    assert_eq!(codes, ["line_invalid", "export_incomplete"]);
    let mistyped = one.htm(&["export", "--namespace", "atlos"]).await;
    assert!(mistyped.exits(0).stderr.contains("namespace `atlos`; the nearest: atlas"), "{mistyped:?}");
    let refused = one.htm(&["export", "--namespace", "", "--json"]).await;
    assert!(refused.exits(2).stderr.contains("namespace_invalid"));
}
