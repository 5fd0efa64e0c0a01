//! Writing: what commits, what is refused, and that nothing is half written.

use htm_core::{
    Caller, Confirmation, MAX_METADATA_BYTES, Memory, NodeId, Outcome, RecallQuery, Stage, StageState,
    Strategy,
};
use htm_tests::TestDatabase;

/// The rows that a write may leave.
async fn rows(db: &TestDatabase) -> [i64; 5] {
    [
        db.count("select count(*) from htm.nodes").await,
        db.count("select count(*) from apalis.jobs").await,
        db.count("select count(*) from htm.tags").await, // those above too
        db.count("select count(*) from htm.node_tags").await,
        db.count("select count(*) from htm.robots").await,
    ]
}

#[tokio::test]
async fn a_node_commits_with_its_tags_and_two_jobs() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let memory = Memory::new("We chose PostgreSQL 17.2 for the ledger.")
        .namespace("atlas")
        .robot("architect")
        .key("decision-1")
        .importance(8.0)
        .source("meeting")
        .tag("database:postgresql".parse().unwrap())
        .metadata("ticket", 7)
        .at("2026-03-01T12:00:00Z".parse().unwrap());
    let receipt = htm.remember(memory).await.unwrap();
    assert_eq!(receipt.outcome, Outcome::Written);
    assert_eq!(rows(&db).await, [1, 2, 2, 1, 1]);

    let node = htm.get(receipt.node).await.unwrap();
    assert_eq!((node.namespace.as_str(), node.robot.as_str()), ("atlas", "architect"));
    assert_eq!((node.key.as_deref(), node.importance, node.revision), (Some("decision-1"), 8.0, 1));
    assert_eq!(node.tags, ["database:postgresql".parse().unwrap()]);
    assert_eq!(node.metadata["ticket"], 7);
    assert_eq!(node.created_at.to_rfc3339(), "2026-03-01T12:00:00+00:00");
    assert!(node.token_count > 5);
    assert_eq!(htm.get_by_key(Some("atlas"), "decision-1").await.unwrap(), Some(node));

    let status = htm.status(receipt.node).await.unwrap();
    for stage in Stage::ALL {
        assert!(matches!(status.stage(stage), StageState::Pending { attempts: 0, .. }), "{stage}");
    }
}

#[tokio::test]
async fn jobs_are_what_the_workers_read() {
    let db = TestDatabase::new().await;
    let receipt = db.htm().remember(Memory::new("x")).await.unwrap();
    let jobs: Vec<(String, Vec<u8>, String)> =
        sqlx::query_as("select job_type, job, status from apalis.jobs order by job_type")
            .fetch_all(&db.pool)
            .await
            .unwrap();
    let queues: Vec<&str> = jobs.iter().map(|job| job.0.as_str()).collect();
    assert_eq!(queues, ["htm.embed", "htm.tag"]);
    for (_, payload, status) in &jobs {
        let payload = htm_core::job::Payload::decode(payload).unwrap();
        assert_eq!((payload.v, payload.node, payload.revision), (1, receipt.node, 1));
        assert_eq!(status, "Pending");
    }
}

#[tokio::test]
async fn bad_input_is_refused_and_leaves_no_row() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let before = rows(&db).await;
    let cases = [
        ("content_empty", Memory::new("")),
        ("content_empty", Memory::new(" \n\t ")),
        ("content_too_large", Memory::new("x".repeat(1024 * 1024 + 1))),
        ("nul_byte", Memory::new("a\0b")),
        ("importance_out_of_range", Memory::new("a").importance(10.5)),
        ("importance_out_of_range", Memory::new("a").importance(f32::NAN)),
        ("namespace_invalid", Memory::new("a").namespace(" ")),
        ("robot_invalid", Memory::new("a").robot("")),
        ("key_invalid", Memory::new("a").key("k".repeat(513))),
        ("language_unknown", Memory { language: Some("klingon".into()), ..Memory::new("a").robot("new") }),
    ];
    for (code, memory) in cases {
        let error = htm.remember(memory).await.unwrap_err();
        assert_eq!(error.code(), code);
        assert!(!error.hint().is_empty());
        assert_eq!(error.fault().exit_code(), 2, "{code}");
    }
    assert_eq!(rows(&db).await, before);
}

/// Programs send an empty text for what they do not know.
#[tokio::test]
async fn an_empty_field_is_as_one_that_is_not_given() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let empty = |text: &str| {
        let field = || Some(String::new());
        let (source, kind, speaker, session, language) =
            (field(), Some(" ".into()), field(), field(), field());
        Memory { source, kind, speaker, session, language, ..Memory::new(text) }
    };
    let receipt = htm.remember(empty("Staging is on port 5433.")).await.unwrap();
    let repeated = htm.remember(Memory::new("Staging is on port 5433.")).await.unwrap();
    assert_eq!((repeated.node, repeated.outcome), (receipt.node, Outcome::Repeated));
    let many = [empty("Mara prefers tabs."), empty("Ann prefers spaces.")];
    let many = htm.remember_many(&many).await.unwrap().into_iter().map(|receipt| receipt.unwrap().node);
    for node in many.chain([receipt.node]) {
        let node = htm.get(node).await.unwrap();
        assert_eq!([node.source, node.kind, node.speaker, node.session], [None, None, None, None]);
    }
}

#[tokio::test]
async fn the_largest_text_is_kept_whole() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    // A million distinct words overflow a tsvector; the text is kept all the same.
    let mut words = String::new();
    for word in 0.. {
        if words.len() + 8 > 1024 * 1024 {
            break;
        }
        words.push_str(&format!("{word:x} "));
    }
    for text in [words, "é".repeat(512 * 1024)] {
        let receipt = htm.remember(Memory::new(text.clone())).await.unwrap();
        assert_eq!(htm.get(receipt.node).await.unwrap().content, text);
    }
}

#[tokio::test]
async fn a_key_is_taken_by_other_content_only() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let first = htm.remember(Memory::new("one").key("k")).await.unwrap();
    let again = htm.remember(Memory::new("one").key("k")).await.unwrap();
    assert_eq!((again.node, again.outcome), (first.node, Outcome::Existing));
    let before = rows(&db).await;
    let tagged = Memory::new("two").key("k").tag("new:tag".parse().unwrap());
    for memory in [Memory::new("two").key("k"), tagged] {
        let error = htm.remember(memory).await.unwrap_err();
        assert_eq!(error.code(), "key_taken");
        assert!(error.hint().contains(&first.node.to_string()));
    }
    assert_eq!(rows(&db).await, before);
    // Another namespace has keys of its own.
    htm.remember(Memory::new("two").key("k").namespace("other")).await.unwrap();
}

#[tokio::test]
async fn many_go_in_at_once_and_the_refused_do_not_hold_back_the_rest() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    htm.remember(Memory::new("taken").key("k7")).await.unwrap();
    let mut memories: Vec<Memory> = (0..1_000)
        .map(|n| Memory::new(format!("memory {n}")).key(format!("k{n}")).robot(format!("r{}", n % 3)))
        .collect();
    memories[3].content = String::new();
    memories[5].tags = vec!["a:b".parse().unwrap(), "c".parse().unwrap()];
    memories.push(Memory::new("memory 0").key("k0"));
    memories.push(Memory::new("other").key("k0"));
    let results = htm.remember_many(&memories).await.unwrap();
    assert_eq!(results.len(), memories.len());
    assert_eq!(results[3].as_ref().unwrap_err().code(), "content_empty");
    assert_eq!(results[7].as_ref().unwrap_err().code(), "key_taken");
    assert_eq!(results[1000].as_ref().unwrap().outcome, Outcome::Existing);
    assert_eq!(results[1000].as_ref().unwrap().node, results[0].as_ref().unwrap().node);
    assert_eq!(results[1001].as_ref().unwrap_err().code(), "key_taken");
    assert_eq!(rows(&db).await[..2], [999, 1998]);
    // Their ids tell the order in which they were given.
    let ids: Vec<NodeId> = results[..1_000].iter().flatten().map(|receipt| receipt.node).collect();
    assert!(ids.is_sorted_by_key(|id| id.0), "{ids:?}");
    let ninth = results[9].as_ref().unwrap().node;
    assert_eq!(htm.get(ninth).await.unwrap().content, "memory 9");
    assert_eq!(htm.get(results[5].as_ref().unwrap().node).await.unwrap().tags.len(), 2);
    assert!(htm.remember_many(&[]).await.unwrap().is_empty());
}

#[tokio::test]
async fn many_namespaces_with_tags_need_no_more_locks_than_there_is_room_for() {
    let db = TestDatabase::new().await;
    let tags = ["a:b:c", "d:e:f", "g:h:i", "j:k:l", "m:n:o"].map(|tag| tag.parse().unwrap());
    let memories: Vec<Memory> = (0..2_500)
        .map(|n| {
            let mut memory = Memory::new(format!("memory {n}")).namespace(format!("tenant {n}"));
            memory.tags = tags.to_vec();
            memory
        })
        .collect();
    let results = db.htm().remember_many(&memories).await.unwrap();
    for (place, result) in results.iter().enumerate() {
        assert_eq!(result.as_ref().unwrap().outcome, Outcome::Written, "{place}");
    }
    assert_eq!(rows(&db).await[0], 2_500);
    assert_eq!(db.count("select count(*) from htm.node_tags").await, 12_500);
}

#[tokio::test]
async fn of_many_namespaces_those_before_a_failure_are_written_and_the_others_are_told() {
    let db = TestDatabase::new().await;
    let memories: Vec<Memory> = (0..1_000)
        .map(|n| {
            let mut memory = Memory::new(format!("memory {n}")).namespace(format!("tenant {n}"));
            memory.tags = vec!["a:b:c".parse().unwrap()];
            memory
        })
        .collect();
    sqlx::raw_sql(
        "create function public.refuse() returns trigger language plpgsql as $$ begin
             if new.content = 'memory 700' then
                 raise 'out of shared memory' using errcode = '53200',
                     hint = 'You might need to increase \"max_locks_per_transaction\".';
             end if;
             return new;
         end $$;
         create trigger refuse before insert on htm.nodes for each row execute function public.refuse()",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    let results = db.htm().remember_many(&memories).await.unwrap();
    // 250 namespaces a transaction: 1 + 3 locks each.
    let codes: Vec<&str> = results
        .iter()
        .map(|result| result.as_ref().map_or_else(|error| error.code(), |_| "written"))
        .collect();
    assert!(codes[..500].iter().all(|code| *code == "written"), "{codes:?}");
    assert_eq!(codes[500], "database_locks");
    assert!(codes[501..].iter().all(|code| *code == "not_written"), "{codes:?}");
    assert_eq!(rows(&db).await[0], 500);
    let error = results[500].as_ref().unwrap_err();
    assert_eq!(error.fault(), htm_core::fault::Fault::Permanent, "the same call meets the same end");
    assert!(error.hint().contains("max_locks_per_transaction"), "{}", error.hint());
}

#[tokio::test]
async fn a_language_that_is_unknown_holds_back_its_item_alone() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let in_language =
        |text: &str, language: &str| Memory { language: Some(language.into()), ..Memory::new(text) };
    // An empty one is as one that is not given.
    let accepted = ["simple", "english", "German", "pg_catalog.french", ""];
    let refused = ["klingon", "12345", "a.b.c", "simple'"];
    for round in 0..2 {
        let memories: Vec<Memory> = accepted
            .iter()
            .chain(&refused)
            .map(|language| in_language(&format!("{round}, said in {language}"), language))
            .collect();
        let results = htm.remember_many(&memories).await.unwrap();
        for (result, language) in results.iter().zip(accepted) {
            assert!(result.is_ok(), "{language}: {result:?}");
        }
        for (result, language) in results[accepted.len()..].iter().zip(refused) {
            let error = result.as_ref().unwrap_err();
            assert_eq!(error.code(), "language_unknown", "{language}");
            assert!(error.to_string().contains(&format!("`{language}`")), "{error}");
        }
    }
    for language in refused {
        let error = htm.remember(in_language("one", language)).await.unwrap_err();
        assert_eq!(error.code(), "language_unknown", "{language}");
        let mut tx = db.pool.begin().await.unwrap();
        let error = htm.remember_in_tx(&mut tx, in_language("one", language)).await.unwrap_err();
        assert_eq!(error.code(), "language_unknown", "{language}");
        let error = htm.robot("ada").await.unwrap().remember(in_language("one", language)).await.unwrap_err();
        assert_eq!(error.code(), "language_unknown", "{language}");
    }
    assert_eq!(db.count("select count(*) from htm.nodes").await, 10);
    let none = htm.remember_many(&[in_language("nothing", "klingon")]).await.unwrap();
    assert_eq!(none[0].as_ref().unwrap_err().code(), "language_unknown");
}

#[tokio::test]
async fn a_memory_commits_or_vanishes_with_the_callers_transaction() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    sqlx::raw_sql("create table tickets (title text)").execute(&db.pool).await.unwrap();
    for commit in [false, true] {
        let mut tx = db.pool.begin().await.unwrap();
        sqlx::query("insert into tickets values ('disk full')").execute(&mut *tx).await.unwrap();
        let memory = Memory::new("Ticket: disk full").robot("helpdesk").tag("ops:disk".parse().unwrap());
        let pending = htm.remember_in_tx(&mut tx, memory).await.unwrap();
        if commit {
            tx.commit().await.unwrap();
            let receipt = pending.notify();
            htm.get(receipt.node).await.unwrap();
        } else {
            let node = pending.receipt().node;
            tx.rollback().await.unwrap();
            assert_eq!(htm.get(node).await.unwrap_err().code(), "node_not_found");
            assert_eq!(rows(&db).await, [0; 5]);
        }
        assert_eq!(db.count("select count(*) from tickets").await, i64::from(commit));
    }
    assert_eq!(rows(&db).await, [1, 2, 2, 1, 1]);
}

#[tokio::test]
async fn two_writers_create_a_tag_and_a_robot_once_and_a_key_once() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let writes = (0..16).map(|n| {
        let htm = htm.clone();
        tokio::spawn(async move {
            let memory =
                Memory::new(format!("text {n}")).key("same").robot("same").tag("same:tag".parse().unwrap());
            htm.remember(memory).await
        })
    });
    let results: Vec<_> = futures::future::join_all(writes).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    assert!(results.iter().flat_map(|result| result.as_ref().err()).all(|error| error.code() == "key_taken"));
    assert_eq!(rows(&db).await, [1, 2, 2, 1, 1]);
}

#[tokio::test]
async fn a_robot_that_was_removed_is_registered_again() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let first = htm.remember(Memory::new("one").robot("ghost")).await.unwrap();
    sqlx::raw_sql("delete from htm.nodes; delete from htm.robots").execute(&db.pool).await.unwrap();
    let second = htm.remember(Memory::new("two").robot("ghost")).await.unwrap();
    assert_ne!(first.node, second.node);
    assert_eq!(htm.get(second.node).await.unwrap().robot, "ghost");
}

#[tokio::test]
async fn forgetting_wants_a_confirmation_and_is_at_once() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let receipt = htm.remember(Memory::new("the secret of the lighthouse").key("k")).await.unwrap();
    assert_eq!(
        htm.forget(receipt.node, &Caller::Handle, Confirmation::Missing).await.unwrap_err().code(),
        "not_confirmed"
    );
    let query = RecallQuery::new("lighthouse").strategy(Strategy::Fulltext);
    assert_eq!(htm.recall(&query).await.unwrap().hits.len(), 1);
    htm.forget(receipt.node, &Caller::Handle, Confirmation::Confirmed).await.unwrap();
    assert!(htm.recall(&query).await.unwrap().hits.is_empty());
    for error in [
        htm.get(receipt.node).await.unwrap_err(),
        htm.status(receipt.node).await.unwrap_err(),
        htm.forget(receipt.node, &Caller::Handle, Confirmation::Confirmed).await.unwrap_err(),
        htm.get(NodeId(999)).await.unwrap_err(),
    ] {
        assert_eq!(error.code(), "node_not_found");
    }
    assert_eq!(db.count("select count(*) from apalis.jobs where status = 'Pending'").await, 0);
    assert_eq!(db.count("select count(*) from htm.stranded").await, 0);
    // The key is free again.
    htm.remember(Memory::new("another secret").key("k")).await.unwrap();
}

#[tokio::test]
async fn a_write_sends_no_notification_inside_its_transaction() {
    let db = TestDatabase::new().await;
    let triggers = db.count("select count(*) from pg_trigger where tgname = 'notify_workers'").await;
    assert_eq!(triggers, 0);
}

/// Who writes past the library: the database has the limits that the library explains.
#[tokio::test]
async fn the_schema_refuses_larger_fields_than_the_library_takes() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    // Small numbers are what JSON writes shortest, compared with jsonb.
    let numbers = vec![1; MAX_METADATA_BYTES / 2 - 8];
    let largest = Memory {
        source: Some("x".repeat(4_096)),
        kind: Some("x".repeat(128)),
        speaker: Some("x".repeat(512)),
        session: Some("x".repeat(512)),
        ..Memory::new("the largest of each").metadata("k", numbers)
    };
    let node = htm.remember(largest).await.unwrap().node;
    for (change, constraint) in [
        ("type = type || 'x'", "nodes_texts_size"),
        ("speaker = speaker || 'x'", "nodes_texts_size"),
        ("session = session || 'x'", "nodes_texts_size"),
        ("source = source || 'x'", "nodes_texts_size"),
        ("metadata = jsonb_build_object('k', repeat('x', 1048576))", "nodes_metadata_size"),
    ] {
        let update = format!("update htm.nodes set {change} where id = $1");
        let refused =
            sqlx::query(sqlx::AssertSqlSafe(update)).bind(node).execute(&db.pool).await.unwrap_err();
        let refused = refused.into_database_error().unwrap();
        assert_eq!(refused.constraint(), Some(constraint), "{change}: {refused}");
    }
}

#[tokio::test]
async fn the_largest_numbers_of_metadata_are_read_again() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let numbers = serde_json::json!([1e308, -1e308, 5e-324, 1.5e-300, u64::MAX, i64::MIN, 0.1]);
    let node = htm.remember(Memory::new("numbers").metadata("n", numbers.clone())).await.unwrap().node;
    let read = htm.get(node).await.unwrap().metadata["n"].clone();
    assert_eq!(read.as_array().unwrap().len(), 7, "{read}");
    let found =
        htm.recall(&RecallQuery { strategy: Strategy::Fulltext, ..RecallQuery::new("numbers") }).await;
    assert_eq!(found.unwrap().hits.len(), 1);
    let largest = Memory::new("too large").metadata("n", f64::MAX);
    assert_eq!(htm.remember(largest).await.unwrap_err().code(), "metadata_number_out_of_range");
}
