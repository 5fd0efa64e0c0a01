//! A handle that sees some namespaces and no others: every call that takes a namespace or a node.

use htm_core::{
    BackfillRequest, Caller, Confirmation, ContextOptions, Edit, Htm, JoinOptions, Memory, NewApiKey, NodeId,
    Purge, RecallQuery, Role, Scope, Stage, StatsQuery, Strategy, TimelineQuery,
};
use htm_tests::TestDatabase;
use serde_json::Map;

const YES: Confirmation = Confirmation::Confirmed;

async fn remember(htm: &Htm, namespace: &str) -> NodeId {
    let memory = Memory::new(format!("a zeppelin over {namespace}")).key("k").namespace(namespace);
    htm.remember(memory).await.unwrap().node
}

/// A pooler may drop the settings of connections, and with them the role that the policies restrict.
#[tokio::test]
async fn connections_without_the_role_of_tenants_are_refused() {
    let db = TestDatabase::new().await;
    let node = remember(&db.htm(), "atlas").await;
    let other_role = htm_core::pool_options().connect_lazy_with(db.options());
    let htm = db.htm().with_tenants(other_role).within(["atlas"]).unwrap();
    let words = RecallQuery::new("zeppelin").strategy(Strategy::Fulltext);
    assert_eq!(htm.recall(&words).await.unwrap_err().code(), "database_pooled");
    assert_eq!(htm.get(node).await.unwrap_err().code(), "database_pooled");
    assert_eq!(htm.remember(Memory::new("another")).await.unwrap_err().code(), "database_pooled");
}

#[tokio::test]
async fn it_sees_and_writes_its_namespaces_and_no_others() {
    let db = TestDatabase::new().await;
    let all = db.htm();
    let nodes = [remember(&all, "atlas").await, remember(&all, "home").await, remember(&all, "secret").await];
    let robot = all.robot_in("atlas", "ada").await.unwrap();
    robot.add(&nodes).await.unwrap();
    robot.close().await.unwrap();

    let htm = all.within(["atlas", "home"]).unwrap();
    assert_eq!((htm.settings().namespace.as_str(), all.settings().namespace.as_str()), ("atlas", "default"));
    assert_eq!(htm.namespaces().unwrap(), ["atlas", "home"]);
    let words =
        |namespace: &str| RecallQuery::new("zeppelin").strategy(Strategy::Fulltext).namespace(namespace);
    let own = RecallQuery::new("zeppelin").strategy(Strategy::Fulltext);
    assert_eq!(htm.recall(&own).await.unwrap().hits[0].node.id, nodes[0]);
    assert_eq!(htm.recall(&words("home")).await.unwrap().hits[0].node.id, nodes[1]);
    let both = htm.recall(&words("home").namespace("atlas")).await.unwrap();
    assert_eq!(both.hits.len(), 2);
    assert_eq!(htm.get(nodes[1]).await.unwrap().namespace, "home");
    assert!(htm.remember(Memory::new("another")).await.map(|it| it.node.0 > 0).unwrap());
    // What the robot had in mind of another namespace is not seen.
    let robot = htm.robot("ada").await.unwrap();
    let mut in_mind: Vec<NodeId> = robot.working_memory().iter().map(|entry| entry.node).collect();
    in_mind.sort_unstable();
    assert_eq!(in_mind, nodes[..2]);
    assert!(!robot.context(&ContextOptions::new(1_000)).await.context.text.contains("secret"));

    let secret = nodes[2];
    let (caller, past) = (Caller::AnyRobot, chrono::Utc::now() - chrono::Duration::days(1));
    let plan = all.plan_forget("zeppelin", Some("secret"), &caller).await.unwrap();
    let elsewhere = Some("secret");
    let scope = Scope::Namespace("secret".into());
    let backfill = |namespace: Option<&str>| BackfillRequest {
        stage: Stage::Tag,
        model: None,
        namespace: namespace.map(Into::into),
        since: None,
        forced: true,
        prompt_version: None,
        max_queued: 10,
    };
    let no_metadata = Map::new;
    let purge = |scope: Scope| Purge::before(past).scope(scope).caller(caller.clone());
    let stats = |scope: Scope| StatsQuery { scope, top: 1 };
    let in_secret = Memory::new("x").namespace("secret");
    let mut tx = db.pool.begin().await.unwrap();
    for (what, error) in [
        ("remember", htm.remember(in_secret.clone()).await.unwrap_err()),
        (
            "remember many",
            htm.remember_many(std::slice::from_ref(&in_secret)).await.unwrap().remove(0).unwrap_err(),
        ),
        ("in a transaction", htm.remember_in_tx(&mut tx, in_secret.clone()).await.unwrap_err()),
        ("as a robot", robot.remember(in_secret).await.unwrap_err()),
        ("get_by_key", htm.get_by_key(elsewhere, "k").await.unwrap_err()),
        ("recall", htm.recall(&words("secret")).await.unwrap_err()),
        ("recall of several", htm.recall(&words("home").namespace("secret")).await.unwrap_err()),
        ("recall as a robot", robot.recall(&words("secret")).await.unwrap_err()),
        (
            "timeline",
            htm.conversation_timeline(&TimelineQuery::everything().namespace("secret")).await.unwrap_err(),
        ),
        (
            "timeline of several",
            htm.conversation_timeline(&TimelineQuery::everything().namespace("home").namespace("secret"))
                .await
                .unwrap_err(),
        ),
        (
            "topic",
            htm.conversation_timeline(&TimelineQuery::about("x").namespace("secret")).await.unwrap_err(),
        ),
        ("plan", htm.plan_forget("zeppelin", elsewhere, &caller).await.unwrap_err()),
        ("forgotten", htm.forgotten(elsewhere, None, 1).await.unwrap_err()),
        ("all forgotten", htm.forgotten(None, None, 1).await.unwrap_err()),
        ("purge", htm.plan_purge(&purge(scope.clone())).await.unwrap_err()),
        ("purge all", htm.purge(&purge(Scope::All), YES).await.unwrap_err()),
        ("stats", htm.memory_stats(&stats(scope.clone())).await.unwrap_err()),
        ("all stats", htm.memory_stats(&stats(Scope::All)).await.unwrap_err()),
        ("robots", htm.robots(&Scope::All).await.unwrap_err()),
        ("robot", htm.robot_in("secret", "ada").await.unwrap_err()),
        ("working memory", htm.working_memory(elsewhere, "ada").await.unwrap_err()),
        ("robot's info", htm.robot_info(elsewhere, "ada").await.unwrap_err()),
        ("register", htm.register_robot(elsewhere, Some("x"), no_metadata()).await.unwrap_err()),
        ("rename", htm.rename_robot(elsewhere, "htm", "x").await.unwrap_err()),
        ("describe", htm.set_robot_metadata(elsewhere, "htm", no_metadata()).await.unwrap_err()),
        ("merge", htm.merge_robots(elsewhere, &["htm"], "x").await.unwrap_err()),
        ("groups", htm.groups(&scope).await.unwrap_err()),
        ("group", htm.group("g").namespace("secret").join("x", JoinOptions::default()).await.unwrap_err()),
        ("group's info", htm.group("g").namespace("secret").info().await.unwrap_err()),
        ("ontology", htm.ontology(elsewhere).unwrap_err()),
        ("jobs", htm.jobs().unwrap_err()),
        ("models", htm.models().unwrap_err()),
        ("providers", htm.providers().unwrap_err()),
        ("database", htm.database().unwrap_err()),
        ("backfill", htm.count_backfill(&backfill(elsewhere)).await.unwrap_err()),
        ("backfill all", htm.count_backfill(&backfill(None)).await.unwrap_err()),
        ("counts of a cache that all share", htm.query_cache().unwrap_err()),
        ("the pool of all", htm.database_pool().unwrap_err()),
        ("a wider wall", htm.within(["atlas", "secret"]).unwrap_err()),
    ] {
        assert_eq!(error.code(), "namespace_forbidden", "{what}");
        assert_eq!(error.fault().exit_code(), 2);
    }
    drop(tx);
    for (what, error) in [
        ("get", htm.get(secret).await.unwrap_err()),
        ("status", htm.status(secret).await.unwrap_err()),
        ("wait", htm.wait_for(secret, Stage::Tag, std::time::Duration::from_secs(9)).await.unwrap_err()),
        ("keepers", htm.keepers(secret).await.unwrap_err()),
        ("neighbours", htm.neighbours(secret, 1, 1).await.unwrap_err()),
        (
            "edit",
            htm.edit(secret, &Edit { importance: Some(9.0), caller: caller.clone(), ..Edit::default() })
                .await
                .unwrap_err(),
        ),
        ("forget", htm.forget(secret, &caller, YES).await.unwrap_err()),
        ("plan to forget", htm.plan_forget_node(secret, &caller).await.unwrap_err()),
        ("forget a plan", htm.forget_planned(&plan, &caller, YES).await.unwrap_err()),
        ("restore", htm.restore(secret, &caller).await.unwrap_err()),
        ("into mind", robot.add(&[secret]).await.unwrap_err()),
    ] {
        assert_eq!(error.code(), "node_not_found", "{what}");
    }
    assert_eq!(all.get(secret).await.unwrap().importance, 1.0);
    assert_eq!(db.count("select count(*) from htm.nodes where namespace = 'secret'").await, 1);
    let narrower = htm.within(["home"]).unwrap();
    assert_eq!(narrower.get(nodes[0]).await.unwrap_err().code(), "node_not_found");
    assert_eq!(all.within(Vec::<String>::new()).unwrap_err().code(), "namespace_invalid");
    assert_eq!(all.within([" "]).unwrap_err().code(), "namespace_invalid");
}

#[tokio::test]
async fn a_robot_that_is_called_any_robot_is_one_robot() {
    let db = TestDatabase::new().await;
    let node = db.htm().remember(Memory::new("a zeppelin").robot("ada")).await.unwrap().node;
    for name in ["any robot", "a new robot"] {
        let htm = db.htm().acting_as(name).unwrap();
        let refused = [
            htm.edit(node, &Edit { importance: Some(7.0), caller: Caller::AnyRobot, ..Edit::default() })
                .await
                .err(),
            htm.forget(node, &Caller::AnyRobot, YES).await.err(),
            htm.register_robot(None, None, Map::new()).await.err(),
            htm.create_api_key(&NewApiKey::new(Role::Writer)).await.err(),
        ];
        assert_eq!(refused.map(|error| error.unwrap().code()), ["robot_forbidden"; 4], "{name}");
        let own = NewApiKey { robot: Some(name.into()), ..NewApiKey::new(Role::Writer) };
        htm.create_api_key(&own).await.unwrap();
    }
}

#[tokio::test]
async fn only_who_sees_its_namespace_is_told_that_a_node_is_forgotten() {
    let db = TestDatabase::new().await;
    let all = db.htm();
    let node = remember(&all, "secret").await;
    all.forget(node, &Caller::AnyRobot, YES).await.unwrap();
    let inside = all.within(["secret"]).unwrap();
    for htm in [&all, &inside] {
        for error in [
            htm.get(node).await.unwrap_err(),
            htm.status(node).await.unwrap_err(),
            htm.keepers(node).await.unwrap_err(),
            htm.revisions(node).await.unwrap_err(),
            htm.edit(node, &Edit { caller: Caller::AnyRobot, ..Edit::new().importance(2.0) })
                .await
                .unwrap_err(),
            htm.forget(node, &Caller::AnyRobot, YES).await.unwrap_err(),
        ] {
            assert!(
                error.code() == "node_not_found" && error.to_string().ends_with("is forgotten"),
                "{error}"
            );
            assert_eq!(error.value("namespace"), Some("secret"));
        }
    }
    let outside = all.within(["home"]).unwrap();
    let never = outside.get(NodeId(node.0 + 1)).await.unwrap_err();
    for error in [
        outside.get(node).await.unwrap_err(),
        outside.status(node).await.unwrap_err(),
        outside.edit(node, &Edit::new().importance(2.0)).await.unwrap_err(),
        outside.forget(node, &Caller::AnyRobot, YES).await.unwrap_err(),
    ] {
        assert_eq!(
            error.to_string(),
            never.to_string().replace(&(node.0 + 1).to_string(), &node.to_string())
        );
        assert_eq!((error.hint(), error.value("namespace")), (never.hint(), None));
    }
}

#[tokio::test]
async fn an_import_tells_nothing_of_what_others_forgot() {
    let db = TestDatabase::new().await;
    let all = db.htm();
    let secret = remember(&all, "secret").await;
    all.forget(secret, &Caller::AnyRobot, YES).await.unwrap();
    for (htm, code) in [
        (all.within(["atlas"]).unwrap(), "namespace_forbidden"),
        (all.acting_as("ada").unwrap(), "robot_forbidden"),
    ] {
        let mut import = htm.importer(10, 1 << 20).leaves_forgotten();
        import.line(br#"{"id":"k","ns":"secret","text":"a guess","robot":"spy"}"#).await.unwrap();
        let results = import.finish().await.unwrap();
        assert_eq!(results[0].1.as_ref().unwrap_err().code(), code);
    }
}

/// The handle of one tenant tells nothing of the others of its database.
#[tokio::test]
async fn others_are_neither_named_nor_measured() {
    let db = TestDatabase::new().await;
    let all = db.htm();
    let node = remember(&all, "atlas").await;
    for n in 0..20 {
        all.remember(Memory::new(format!("another {n}")).namespace("secret")).await.unwrap();
    }
    // A robot of another namespace has the memory in mind.
    let spy = all.robot_in("secret", "spy").await.unwrap();
    spy.add(&[node]).await.unwrap();
    spy.close().await.unwrap();
    assert_eq!(all.keepers(node).await.unwrap().robots.len(), 2);

    let atlas = all.within(["atlas"]).unwrap();
    let keepers = atlas.keepers(node).await.unwrap();
    let robots: Vec<&str> = keepers.robots.iter().map(|it| it.namespace.as_str()).collect();
    assert_eq!(robots, ["atlas"]);
    assert!(all.memory_stats(&StatsQuery::default()).await.unwrap().storage.is_some());
    assert_eq!(atlas.memory_stats(&StatsQuery::default()).await.unwrap().storage, None);
    let request = BackfillRequest { namespace: Some("atlas".into()), ..BackfillRequest::new(Stage::Tag) };
    let mut backfill = atlas.start_backfill(&request).await.unwrap();
    let own = u64::try_from(node.0).unwrap();
    assert_eq!(backfill.position(), (0, own), "the last node of its own");
    backfill.step().await.unwrap();
    assert_eq!(backfill.position(), (own, own));
}

#[tokio::test]
async fn who_closes_it_closes_it_for_nobody_else() {
    let db = TestDatabase::new().await;
    let all = db.htm();
    let node = remember(&all, "atlas").await;
    let (tenant, other) = (all.within(["atlas"]).unwrap(), all.within(["home"]).unwrap());
    tenant.recall(&RecallQuery::new("zeppelin").strategy(Strategy::Fulltext)).await.unwrap();
    tenant.close().await;
    assert_eq!(db.count("select access_count from htm.node_accesses").await, 1, "what waited is written");
    other.remember(Memory::new("another")).await.unwrap();
    assert_eq!(all.get(node).await.unwrap().id, node);
    all.close().await;
    assert!(other.remember(Memory::new("one more")).await.is_err());
}

#[tokio::test]
async fn what_debug_shows_of_a_restricted_handle_is_its_own() {
    let db = TestDatabase::new().await;
    let shown = format!("{:?}", db.htm().within(["atlas"]).unwrap().acting_as("bob").unwrap());
    for own in ["namespace: \"atlas\"", "robot: \"bob\"", "namespaces: Some([\"atlas\"])"] {
        assert!(shown.contains(own), "{own}: {shown}");
    }
}
