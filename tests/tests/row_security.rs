//! Row-level security: PostgreSQL keeps tenants apart even where the library does not.

use std::collections::BTreeMap;

use htm_core::jobs::JobFilter;
use htm_core::{
    Caller, Confirmation, Edit, Htm, JoinOptions, Memory, NodeId, RecallQuery, Scope, Strategy,
    TimelineQuery, tenant_options,
};
use htm_tests::TestDatabase;
use sqlx::postgres::PgPoolOptions;
use sqlx::{AssertSqlSafe, PgPool, Row};

/// A pool of the tenants' role whose connections see these namespaces, in PostgreSQL's form of an array.
fn tenants(db: &TestDatabase, namespaces: &str) -> PgPool {
    let options = tenant_options(db.options()).options([("htm.namespaces", namespaces)]);
    PgPoolOptions::new().max_connections(4).connect_lazy_with(options)
}

/// A handle without a wall: whatever namespace is asked for, the library asks PostgreSQL for it.
fn without_filter(db: &TestDatabase, namespaces: &str) -> Htm {
    let like = db.htm();
    Htm::with_pool(tenants(db, namespaces), like.settings().clone(), None)
}

/// A document of one passage.
fn document(namespace: &str) -> htm_core::Document {
    htm_core::Document {
        namespace: Some(namespace.into()),
        path: "docs/ships.md".into(),
        kind: htm_core::DocumentKind::Markdown,
        title: None,
        bytes: 20,
        digest: [7; 32],
        tags: Vec::new(),
        at: None,
        passages: vec![htm_core::DocumentPassage {
            content: "An airship needs a mast.".into(),
            heading: Vec::new(),
            line: 1,
            page: None,
            start: 0,
            end: 20,
        }],
    }
}

/// Writes something into every table with a namespace.
async fn fill(htm: &Htm, namespace: &str) -> [NodeId; 2] {
    let tag = |path: &str| htm.tag_rules().normalise(path).unwrap();
    let of = |text: &str| Memory::new(text).namespace(namespace).robot("ada");
    let mut first = of("A zeppelin is due on Friday.").key("k").tag(tag("vehicle:airship"));
    first.session = Some("s".into());
    first.metadata = serde_json::from_str(r#"{"project": "apollo"}"#).unwrap();
    let first = htm.remember(first).await.unwrap().node;
    let second = htm.remember(of("The zeppelin is late.")).await.unwrap().node;
    htm.remember(of("The zeppelin is late.").robot("bob")).await.unwrap();
    let content = Some("The zeppelin has left.".into());
    htm.edit(second, &Edit { caller: Caller::AnyRobot, content, ..Edit::new() }).await.unwrap();
    let robot = htm.robot_in(namespace, "ada").await.unwrap();
    robot.add(&[first]).await.unwrap();
    robot.close().await.unwrap();
    let group = htm.group("crew").namespace(namespace);
    let member = group.join("ada", JoinOptions::default()).await.unwrap();
    member.add(first).await.unwrap();
    drop(member);
    let ontology = htm.ontology(Some(namespace)).unwrap();
    ontology.rename("vehicle:airship", "vehicle:blimp").await.unwrap();
    htm.load_document(&document(namespace), &Caller::AnyRobot).await.unwrap();
    [first, second]
}

#[tokio::test]
async fn without_its_filter_a_handle_sees_its_tenant_alone() {
    let db = TestDatabase::new().await;
    let all = db.htm();
    let [own, _] = fill(&all, "atlas").await;
    let [other, edited] = fill(&all, "secret").await;
    let htm = without_filter(&db, "{atlas}");
    let words = |namespace: &str| {
        RecallQuery { count_accesses: false, ..RecallQuery::new("zeppelin").strategy(Strategy::Fulltext) }
            .namespace(namespace)
    };
    assert_eq!(htm.recall(&words("atlas")).await.unwrap().hits.len(), 2);
    assert!(htm.recall(&words("secret")).await.unwrap().hits.is_empty());
    let both = htm.recall(&words("secret").namespace("atlas")).await.unwrap();
    assert!(both.hits.iter().all(|hit| hit.node.namespace == "atlas"), "{both:?}");

    assert_eq!(htm.get(own).await.unwrap().namespace, "atlas");
    assert_eq!(htm.get(other).await.unwrap_err().code(), "node_not_found");
    assert!(htm.get_by_key(Some("secret"), "k").await.unwrap().is_none());
    assert!(htm.revisions(edited).await.is_err());
    assert_eq!(htm.status(other).await.unwrap_err().code(), "node_not_found");
    let everything = TimelineQuery::everything().namespace("secret").namespace("atlas");
    let timeline = htm.conversation_timeline(&everything).await.unwrap();
    assert!(!timeline.entries.is_empty());
    assert!(timeline.entries.iter().all(|entry| entry.node.namespace == "atlas"));
    let robots = htm.robots(&Scope::All).await.unwrap();
    assert!(!robots.is_empty() && robots.iter().all(|it| it.robot.namespace == "atlas"), "{robots:?}");
    assert!(htm.ontology(Some("secret")).unwrap().list(None).await.unwrap().is_empty());
    let jobs = htm.jobs().unwrap().list(&JobFilter::default(), None, 100).await.unwrap();
    assert!(!jobs.is_empty() && jobs.iter().all(|job| job.namespace.as_deref() == Some("atlas")), "{jobs:?}");

    // Nothing of the other is changed.
    let wanted =
        db.count("select count(*) from htm.nodes where namespace = 'secret' and deleted_at is null").await;
    assert!(htm.remember(Memory::new("mine").namespace("secret").robot("ada")).await.is_err());
    assert!(htm.forget(other, &Caller::AnyRobot, Confirmation::Confirmed).await.is_err());
    let content = Some("mine".into());
    assert!(htm.edit(other, &Edit { caller: Caller::AnyRobot, content, ..Edit::new() }).await.is_err());
    assert!(htm.ontology(Some("secret")).unwrap().rename("vehicle:blimp", "mine").await.is_err());
    let now =
        db.count("select count(*) from htm.nodes where namespace = 'secret' and deleted_at is null").await;
    assert_eq!(now, wanted);
    assert_eq!(db.count("select count(*) from htm.nodes where content = 'mine'").await, 0);
}

/// A new table needs policies, or a reason here.
#[tokio::test]
async fn every_table_is_restricted_or_concerns_no_namespace() {
    let db = TestDatabase::new().await;
    fill(&db.htm(), "atlas").await;
    fill(&db.htm(), "secret").await;
    let tables = "select c.oid::regclass::text, c.relrowsecurity,
                         has_table_privilege('htm_tenant', c.oid, 'select')
                    from pg_class c
                   where c.relnamespace in ('htm'::regnamespace, 'apalis'::regnamespace)
                     and c.relkind in ('r', 'p') and not c.relispartition
                   order by 1";
    let tables: Vec<(String, bool, bool)> = sqlx::query_as(tables).fetch_all(&db.pool).await.unwrap();
    let (mut readable, mut barred) = (Vec::new(), Vec::new());
    for (table, is_restricted, is_readable) in &tables {
        match (is_restricted, is_readable) {
            (true, _) => {}
            (false, true) => readable.push(table.as_str()),
            (false, false) => barred.push(table.as_str()),
        }
    }
    assert_eq!(
        readable,
        [
            "apalis.workers",
            "htm.compatibility",
            "htm.embedding_models",
            "htm.held_queues",
            "htm.paused_queues",
            "htm.providers",
            "htm.statistics_watermark",
            "htm.worker_leases"
        ],
        "these have no namespaces"
    );
    assert_eq!(
        barred,
        [
            "apalis._sqlx_migrations",
            "htm.api_keys",
            "htm.erased_nodes",
            "htm.erasures",
            "htm.provider_calls",
            "htm.request_rates",
            "htm.seaql_migrations",
            "htm.sign_ins",
            "htm.waiting_calls"
        ],
        "no tenant reads these"
    );

    // What each sees of a restricted table adds up to what is there.
    let rows = async |pool: &PgPool, table: &str| -> i64 {
        let count = AssertSqlSafe(format!("select count(*) from {table}"));
        sqlx::query_scalar(count).fetch_one(pool).await.unwrap()
    };
    let views = ["htm.visible_nodes", "htm.visible_jobs"];
    let restricted = tables.iter().filter(|(_, is, _)| *is).map(|(table, ..)| table.as_str()).chain(views);
    let (atlas, secret) = (tenants(&db, "{atlas}"), tenants(&db, "{secret}"));
    let (nobody, patterns) =
        (PgPool::connect_lazy_with(tenant_options(db.options())), tenants(&db, "{sec/*,atlas}"));
    let mut seen = BTreeMap::new();
    for table in restricted {
        let all = rows(&db.pool, table).await;
        let (one, other) = (rows(&atlas, table).await, rows(&secret, table).await);
        assert_eq!((one + other, rows(&nobody, table).await), (all, 0), "{table}");
        assert_eq!(rows(&patterns, table).await, one, "{table}");
        assert_eq!(one, other, "{table}");
        seen.insert(table, one);
    }
    let filled = seen.iter().filter(|(_, rows)| **rows > 0).map(|(table, _)| *table).collect::<Vec<_>>();
    assert!(filled.len() > 15, "{filled:?}");
}

/// A view writes as its owner, whom no policy restricts.
#[tokio::test]
async fn nothing_is_written_through_the_view_of_nodes() {
    let db = TestDatabase::in_one_table().await;
    fill(&db.htm(), "atlas").await;
    fill(&db.htm(), "secret").await;
    let nodes = "select md5(string_agg(n::text, ' ' order by n.id)) from htm.nodes n";
    let before: String = sqlx::query_scalar(nodes).fetch_one(&db.pool).await.unwrap();
    for partitions in [0, 2] {
        htm_migration::repartition(&db.options(), partitions, &mut |_| {}).await.unwrap();
        let pool = tenants(&db, "{atlas}");
        for statement in [
            "insert into htm.visible_nodes (namespace, robot_id, content, content_hash, token_count, token_encoding)
             select 'secret', robot_id, 'mine', sha256('mine'), 1, 'estimate' from htm.visible_nodes limit 1",
            "update htm.visible_nodes set namespace = 'secret'",
            "delete from htm.visible_nodes",
        ] {
            let error = sqlx::query(statement).execute(&pool).await.unwrap_err();
            let code = error.as_database_error().and_then(|error| error.code());
            assert_eq!(code.as_deref(), Some("42501"), "{statement}, {partitions} partitions: {error}");
        }
    }
    let after: String = sqlx::query_scalar(nodes).fetch_one(&db.pool).await.unwrap();
    assert_eq!(after, before);
}

#[tokio::test]
async fn a_pattern_stands_for_what_is_below() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for namespace in ["a_b/x", "a_b/x/y", "axb/x", "a_b"] {
        htm.remember(Memory::new("a memory").namespace(namespace)).await.unwrap();
    }
    for (namespaces, expected) in [
        ("{a_b/*}", &["a_b/x", "a_b/x/y"][..]),
        ("{a_b/x/*,axb/x}", &["a_b/x/y", "axb/x"]),
        ("{a_b}", &["a_b"]),
        ("{*,/*}", &[]),
        ("{}", &[]),
        ("", &[]),
    ] {
        let seen: Vec<String> = sqlx::query_scalar("select namespace from htm.nodes order by namespace")
            .fetch_all(&tenants(&db, namespaces))
            .await
            .unwrap();
        assert_eq!(seen, expected, "{namespaces}");
    }
}

/// `@@`, `@>` and `->` are not leakproof: behind a policy they would read every row of the namespace.
#[tokio::test]
async fn its_statements_use_the_indexes() {
    let db = TestDatabase::in_one_table().await;
    db.htm().remember(Memory::new("a zeppelin").namespace("atlas")).await.unwrap();
    let filling = "insert into htm.nodes (namespace, robot_id, content, content_hash, token_count, token_encoding, metadata)
         select case when i % 2 = 0 then 'atlas' else 'secret' end, (select min(id) from htm.robots),
                'word' || i || ' of ' || i % 100, sha256(i::text::bytea), 1, 'estimate',
                jsonb_build_object('number', i)
           from generate_series(1, 20000) i;
         insert into apalis.jobs (id, job_type, job, max_attempts, run_at, priority, metadata)
         select i, 'htm.embed', '{}', 5, now(), 0,
                hstore(array['namespace', case when i % 100 = 0 then 'atlas' else 'secret' end, 'node', i::text, 'revision', '1'])
           from generate_series(1, 20000) i;
         analyze";
    sqlx::raw_sql(filling).execute(&db.pool).await.unwrap();
    let pool = tenants(&db, "{atlas}");
    let sql = |text: &str, values: &[(&str, &str)]| {
        let text: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("--")).collect();
        values.iter().fold(text.join("\n"), |text, (name, value)| text.replace(name, value))
    };
    macro_rules! statement {
        ($name:literal) => {
            include_str!(concat!("../../crates/htm-core/src/store/sql/", $name))
        };
    }
    let scope = ("{{conditions}}", "m.namespace = any ('{atlas}') and m.deleted_at is null");
    let metadata = "m.namespace = any ('{atlas}') and m.deleted_at is null and m.metadata @> '{\"number\": 8}' and m.metadata <> '{}'";
    for (name, statement, values, index) in [
        (
            "text",
            statement!("recall/text.sql"),
            &[
                (":words", "'{word7,word9}'"),
                (":weights", "'{1,1}'"),
                (":exact", "'{false,false}'"),
                (":pool", "50"),
                scope,
            ][..],
            "nodes_tsv_idx",
        ),
        (
            "text, of nearly all",
            statement!("recall/text.sql"),
            &[
                (":words", "'{word7,word9}'"),
                (":weights", "'{1,1}'"),
                (":exact", "'{false,false}'"),
                (":pool", "50"),
                ("{{conditions}}", "(m.namespace = any ('{atlas}')) is true and m.deleted_at is null"),
            ],
            "nodes_tsv_idx",
        ),
        (
            "words",
            statement!("recall/words.sql"),
            &[
                ("{{lexemes}}", statement!("recall/lexemes.sql")),
                (":languages", "'{english}'"),
                (":namespaces", "'{atlas}'"),
                (":text::text", "'zeppelin'::text"),
                (":parts", "'{}'"),
                (":is_small_part", "false"),
            ],
            "nodes_namespace_created_at_idx",
        ),
        (
            "new words",
            statement!("recall/new_words.sql"),
            &[(":words", "'{zeppelin}'"), ("{{conditions}}", "m.namespace = any ('{atlas}')")],
            "nodes_tsv_idx",
        ),
        (
            "new words, of nearly all",
            statement!("recall/new_words.sql"),
            &[(":words", "'{zeppelin}'"), ("{{conditions}}", "(m.namespace = any ('{atlas}')) is true")],
            "nodes_tsv_idx",
        ),
        (
            "metadata",
            statement!("recall/vectors_of_few.sql"),
            &[
                ("{{store}}", "(select 1::bigint as node_id, null::halfvec as embedding)"),
                (":few", "1000"),
                (":pool", "50"),
                (":vector", "null::halfvec"),
                ("{{conditions}}", metadata),
                ("{{of_e}}", ""),
            ],
            "nodes_metadata_idx",
        ),
        (
            "newest",
            statement!("recall/newest_with.sql"),
            &[
                (":namespaces", "'{atlas}'"),
                (":most", "1000"),
                (":word", "'word7'"),
                (":pool", "50"),
                ("{{conditions}}", "m.deleted_at is null"),
            ],
            "nodes_namespace_created_at_idx",
        ),
        (
            "unembedded",
            statement!("recall/unembedded.sql"),
            &[
                (":queue", "'htm.embed'"),
                (":label", "'x'"),
                (":namespaces", "'{atlas}'"),
                ("{{scope}}", "n.namespace = any ('{atlas}')"),
                ("{{of_c}}", ""),
            ],
            "jobs_htm_open_idx",
        ),
        (
            "status",
            statement!("status.sql"),
            &[("{{state}}", statement!("job_state.sql")), (":node", "1")],
            "jobs_htm_open_idx",
        ),
    ] {
        let text = format!("explain {}", sql(statement, values));
        let rows = sqlx::raw_sql(AssertSqlSafe(text)).fetch_all(&pool).await.unwrap();
        let plan: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        assert!(plan.iter().any(|line| line.contains(index)), "{name}: {plan:#?}");
        let whole =
            plan.iter().any(|line| line.contains("Seq Scan on nodes") || line.contains("Seq Scan on jobs"));
        assert!(!whole, "{name}: {plan:#?}");
    }
}
