//! Names that change, and the nodes that go along.

use htm_core::ontology::{ChangeKind, Moved, Removal, Term};
use htm_core::{Edit, RecallQuery, TagFilter};

use super::*;

#[tokio::test]
async fn a_rename_takes_what_stands_below_along_and_the_old_name_means_the_new() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let nodes = remember(&htm, 300, "ledger", &["db:postgresql"]).await;
    let changed = htm.ontology(None).unwrap().rename("db", "database").await.unwrap();
    assert_eq!((changed.nodes, changed.moved.len()), (300, 2));
    assert_eq!(names(&db).await, ["database", "database:postgresql", "db=database"]);
    // By hand, by a model, by an edit: whoever says the old name.
    let later = remember(&htm, 1, "later", &["db", "db:new"]).await[0];
    assert_eq!(tags_of(&db, later).await, ["database manual", "database:new manual"]);
    Says::llm("1").of(&db, "w", |_| vec![("db:postgresql".into(), 0.5), ("db:other".into(), 0.5)]).await;
    assert_eq!(
        tags_of(&db, nodes[0]).await,
        ["database:other llm", "database:postgresql manual"],
        "what is assigned by hand stays so"
    );
    htm.edit(later, &Edit::new().tag("db:edited".parse().unwrap())).await.unwrap();
    assert!(tags_of(&db, later).await.contains(&"database:edited manual".into()));
    assert!(names(&db).await.iter().all(|name| !name.starts_with("db:")));
    // What is renamed back keeps the other name.
    let back = htm.ontology(None).unwrap().rename("db", "db").await.unwrap();
    assert!(back.change.is_some());
    assert!(names(&db).await.contains(&"database=db".into()));
    assert_eq!(tags_of(&db, later).await.len(), 5);
}

#[tokio::test]
async fn a_merge_is_one_transaction_over_any_number_of_nodes() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let only = remember(&htm, 1_500, "from", &["postgres"]).await;
    let both = remember(&htm, 500, "both", &["psql", "postgres:index"]).await;
    add(&htm, "database:postgresql", "The ledger's").await;
    let says = |node| {
        let sure = if only.contains(&node) { 0.25 } else { 0.75 };
        vec![("database:postgresql".to_owned(), sure), ("psql".to_owned(), 0.5)]
    };
    assert_eq!(Says::llm("1").of(&db, "w", says).await, 2_000);
    let ontology = htm.ontology(None).unwrap();
    let would = ontology.clone().dry_run().merge(&["postgres", "psql"], "database:postgresql").await.unwrap();
    assert_eq!((would.change, would.nodes, would.dry_run), (None, 2_000, true));
    assert_eq!(db.count("select count(*) from htm.tag_changes where kind = 'merge'").await, 0);

    let changed = merge(&htm, &["postgres", "psql"], "database:postgresql").await;
    assert_eq!(changed.nodes, 2_000);
    let moved = |from: &str, to: &str, merged| Moved { from: from.into(), to: to.into(), merged };
    assert_eq!(
        changed.moved,
        [
            moved("postgres", "database:postgresql", true),
            moved("postgres:index", "database:postgresql:index", false),
            moved("psql", "database:postgresql", true),
        ]
    );
    assert_eq!(tags_of(&db, only[0]).await, ["database:postgresql manual"], "by hand wins");
    assert_eq!(
        tags_of(&db, both[0]).await,
        ["database:postgresql manual", "database:postgresql:index manual"]
    );
    assert_eq!(
        names(&db).await,
        [
            "database",
            "database:postgresql",
            "database:postgresql:index",
            "postgres=database:postgresql",
            "psql=database:postgresql"
        ]
    );
    // Who asks by the old name finds them.
    let psql = TagFilter::Prefix(ontology.resolve("psql").await.unwrap());
    let query = RecallQuery::new("from 7").tag(psql);
    assert!(!htm.recall(&query).await.unwrap().hits.is_empty());
}

#[tokio::test]
async fn a_split_tags_the_nodes_again_and_what_was_said_by_hand_stays() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let nodes = remember(&htm, 40, "text", &[]).await;
    let by_hand = remember(&htm, 1, "by hand", &["work"]).await[0];
    Says::llm("1").of(&db, "w", |_| vec![("work".into(), 0.5)]).await;
    let before = assignments(&db).await;
    let into = [term("work:meeting", "What was said"), term("task", "What is to be done")];
    let changed = htm.ontology(None).unwrap().split("work", &into, Leftover::Keep).await.unwrap();
    assert_eq!((changed.nodes, changed.jobs), (41, 41));
    assert_eq!(assignments(&db).await, before, "until the tagger has spoken");
    assert_eq!(
        db.count("select count(*) from apalis.jobs where status = 'Pending' and priority < 0").await,
        41
    );
    // The tagger is shown what takes its place.
    let shown = htm_core::worker::tags::in_use(&db.pool, "default", 10).await.unwrap();
    let shown_about: Vec<&str> = shown.iter().filter_map(|tag| tag.description.as_deref()).collect();
    let shown: Vec<&str> = shown.iter().map(|tag| tag.path.as_str()).collect();
    assert_eq!(shown, ["task", "work:meeting"]);
    assert_eq!(shown_about, ["What is to be done", "What was said"]);
    // Jobs that wait for this tag are not doubled.
    assert_eq!(htm.ontology(None).unwrap().split("work", &into, Leftover::Keep).await.unwrap().jobs, 0);
    let says = |node: NodeId| vec![(if node.0 % 2 == 0 { "task" } else { "work:meeting" }.to_owned(), 0.5)];
    assert_eq!(Says::llm("1").of(&db, "w", says).await, 41);
    for node in nodes {
        let expected = if node.0 % 2 == 0 { "task llm" } else { "work:meeting llm" };
        assert_eq!(tags_of(&db, node).await, [expected]);
    }
    assert!(tags_of(&db, by_hand).await.contains(&"work manual".into()));
    assert_eq!(htm_core::worker::queues::count_stranded(&db.pool).await.unwrap(), 0);
}

#[tokio::test]
async fn a_tagger_is_told_what_became_of_names() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let ontology = htm.ontology(None).unwrap();
    for tag in ["db:index", "pet:cat", "work", "food:meal", "home"] {
        add(&htm, tag, "").await;
    }
    remember(&htm, 1, "text", &["sport"]).await;
    merge(&htm, &["db"], "home").await;
    ontology.split("work", &[term("task", ""), term("meeting", "")], Leftover::Keep).await.unwrap();
    for tag in ["pet", "food", "sport"] {
        remove(&htm, tag).await;
    }
    let removed_then_reverted = remove(&htm, "meeting").await.change.unwrap();
    ontology.revert(removed_then_reverted).await.unwrap();
    // Somebody has used it since.
    remember(&htm, 1, "later", &["food"]).await;
    let laid = ontology.define(ChangeKind::Template, &[term("template", "Words")]).await.unwrap();
    ontology.revert(laid.change.unwrap()).await.unwrap();
    let former = htm_core::worker::tags::former(&db.pool, "default").await.unwrap();
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(former.synonyms, [("db".to_owned(), "home".to_owned())].into());
    let split: Vec<&str> = former.split.keys().map(String::as_str).collect();
    assert_eq!(split, ["work"]);
    assert_eq!(former.removed, names(&["food:meal", "pet", "pet:cat", "sport"]));
    let elsewhere = htm_core::worker::tags::former(&db.pool, "other").await.unwrap();
    assert_eq!(elsewhere, htm_core::tag::FormerNames::default());
    // And again, when the removal is done once more.
    let undone = ontology.log(None, 50).await.unwrap();
    let change = undone.iter().find(|it| it.details["tag"] == "sport").unwrap().change;
    let reverted = ontology.revert(change).await.unwrap().change.unwrap();
    let removed = async || htm_core::worker::tags::former(&db.pool, "default").await.unwrap().removed;
    assert!(!removed().await.contains("sport"));
    ontology.revert(reverted).await.unwrap();
    assert!(removed().await.contains("sport"));
}

#[tokio::test]
async fn tags_are_added_described_given_other_names_and_removed() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let ontology = htm.ontology(None).unwrap();
    let terms = [
        Term {
            tag: "Databases: PostgreSQL".into(),
            description: Some("d".into()),
            synonyms: vec!["pg".into()],
        },
        Term { tag: "database:sqlite".into(), ..Term::default() },
    ];
    let added = ontology.define(ChangeKind::Import, &terms).await.unwrap();
    assert_eq!(added.added, ["database", "database:postgresql", "database:sqlite"]);
    assert_eq!(ontology.define(ChangeKind::Import, &terms).await.unwrap().change, None, "nothing is new");
    assert_eq!(add(&htm, "database", "Where it is kept").await.described, ["database"]);
    ontology.add_synonym("lite", "database:sqlite").await.unwrap();
    let node = remember(&htm, 1, "text", &["lite:wal"]).await[0];
    assert_eq!(tags_of(&db, node).await, ["database:sqlite:wal manual"]);
    assert_eq!(ontology.remove_synonym("Lites").await.unwrap().freed, ["lite"]);
    // What nodes have stays, unless it is said.
    let refused = ontology.remove("database:sqlite", Removal::Unused).await.unwrap_err();
    assert_eq!(refused.code(), "tag_in_use");
    let removed = ontology.remove("database:sqlite", Removal::Assigned).await.unwrap();
    assert_eq!((removed.nodes, removed.removed.len()), (1, 2));
    assert_eq!(ontology.remove("pg", Removal::Unused).await.unwrap().freed, ["pg"]);
    assert_eq!(names(&db).await, ["database"]);
    let log = ontology.log(None, 10).await.unwrap();
    let kinds: Vec<&str> = log.iter().map(|it| it.kind.as_ref()).collect();
    assert_eq!(kinds, ["remove", "remove", "remove_synonym", "add_synonym", "add", "import"]);
    assert_eq!((log[1].nodes, log[1].made_by.as_deref()), (1, Some("htm")));
}

#[tokio::test]
async fn what_cannot_be_done_has_a_code_and_changes_nothing() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    remember(&htm, 1, "text", &["a:b", "x", "p:q:r:s:t", "database:postgresql"]).await;
    let ontology = htm.ontology(None).unwrap();
    ontology.add_synonym("other", "x").await.unwrap();
    let before = (names(&db).await, assignments(&db).await);
    let long = "x".repeat(10_000);
    let two = |a: &str, b: &str| [term(a, ""), term(b, "")];
    let define = |tag: &str| [Term { tag: tag.into(), ..Term::default() }];
    for (code, result) in [
        ("tag_unknown", ontology.rename("databse:postgres", "y").await),
        ("tag_unknown", ontology.merge(&["a", "nothing"], "x").await),
        ("tag_unknown", ontology.merge(&["a"], "nothing").await),
        ("tag_unknown", ontology.remove("nothing", Removal::Assigned).await),
        ("tag_unknown", ontology.add_synonym("n", "nothing").await),
        ("tag_unknown", ontology.split("nothing", &two("v", "w"), Leftover::Keep).await),
        ("tag_into_itself", ontology.merge(&["x", "a"], "a").await),
        ("tag_into_itself", ontology.merge(&["other"], "x").await),
        ("tag_into_own_child", ontology.merge(&["a"], "a:b").await),
        ("tag_into_own_child", ontology.rename("a", "a:c").await),
        ("nothing_to_merge", ontology.merge(&[], "a").await),
        ("tag_taken", ontology.rename("a", "x").await),
        ("tag_is_synonym", ontology.rename("a", "other").await),
        ("tag_is_synonym", ontology.define(ChangeKind::Add, &define("other")).await),
        ("tag_unmovable", ontology.rename("p", "n:p").await),
        ("tag_unmovable", ontology.merge(&["p"], "a:b").await),
        ("synonym_is_tag", ontology.add_synonym("a", "x").await),
        ("tag_is_synonym", ontology.add_synonym("other", "a").await),
        ("synonym_unknown", ontology.remove_synonym("nothing").await),
        ("nothing_to_split", ontology.split("a", &two("v", "v"), Leftover::Keep).await),
        ("tag_into_itself", ontology.split("a", &two("v", "a"), Leftover::Keep).await),
        ("tag_invalid", ontology.define(ChangeKind::Add, &define("a:b:c:d:e:f")).await),
        ("tag_invalid", ontology.define(ChangeKind::Add, &define("a::b")).await),
        ("tag_invalid", ontology.define(ChangeKind::Add, &define("🦀")).await),
        ("tag_invalid", ontology.rename("a", &long).await),
        ("tag_invalid", ontology.rename(&long, "y").await),
        ("description_too_long", ontology.define(ChangeKind::Add, &[term("y", &long)]).await),
        ("nul_byte", ontology.define(ChangeKind::Add, &[term("y", "a\0b")]).await),
        // The first of them would go.
        ("tag_invalid", ontology.define(ChangeKind::Import, &two("fine", "a::b")).await),
    ] {
        let error = result.map(|it| panic!("{code}: {it:?}")).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(!error.hint().is_empty() && error.fault().exit_code() == 2, "{code}");
    }
    assert_eq!((names(&db).await, assignments(&db).await), before);
    assert_eq!(db.count("select count(*) from htm.tag_changes").await, 1);
    let nearest = ontology.rename("databse:postgres", "y").await.unwrap_err();
    assert!(nearest.hint().contains("database:postgresql"), "{}", nearest.hint());
    assert_eq!(htm.ontology(Some("")).unwrap_err().code(), "namespace_invalid");
}

#[tokio::test]
async fn a_change_that_fails_half_way_leaves_nothing() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    remember(&htm, 50, "text", &["a:x", "b"]).await;
    let before = (names(&db).await, assignments(&db).await);
    sqlx::raw_sql(
        "create function htm.boom() returns trigger language plpgsql as $$ begin raise 'boom'; end $$;
         create trigger boom before insert on htm.tag_change_names execute function htm.boom()",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    let ontology = htm.ontology(None).unwrap();
    let into = [term("c", ""), term("d", "")];
    assert!(ontology.merge(&["a"], "b").await.is_err());
    assert!(ontology.rename("a", "c").await.is_err());
    assert!(ontology.remove("a", Removal::Assigned).await.is_err());
    assert!(ontology.split("b", &into, Leftover::Keep).await.is_err());
    assert_eq!((names(&db).await, assignments(&db).await), before);
    assert_eq!(db.count("select count(*) from htm.tag_changes").await, 0);
    assert_eq!(db.count("select count(*) from htm.tag_change_nodes").await, 0);
    assert_eq!(db.count("select count(*) from apalis.jobs where priority < 0").await, 0);
}

#[tokio::test]
async fn a_name_leads_to_the_tag_by_whatever_it_was_called_since_in_its_own_namespace() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    remember(&htm, 1, "text", &["a:x"]).await;
    htm.remember(Memory::new("elsewhere").namespace("other").tag("a:x".parse().unwrap())).await.unwrap();
    let ontology = htm.ontology(None).unwrap();
    ontology.rename("a", "b").await.unwrap();
    ontology.rename("a:x", "b:y").await.unwrap();
    ontology.rename("b", "c:d").await.unwrap();
    let node = remember(&htm, 1, "later", &["a:x:new", "b:y:k:l:m"]).await[0];
    // What has too many levels by its new name loses the deepest.
    assert_eq!(tags_of(&db, node).await, ["c:d:y:k:l manual", "c:d:y:new manual"]);
    assert_eq!(ontology.resolve("A: x").await.unwrap().as_str(), "c:d:y");
    let long = "l".repeat(240);
    ontology.rename("c", &long).await.unwrap();
    let node = remember(&htm, 1, "long", &["a:abcdefghijklmnop"]).await[0];
    assert_eq!(tags_of(&db, node).await, [format!("{long}:d manual")]);
    let other = htm.ontology(Some("other")).unwrap();
    assert_eq!(other.list(None).await.unwrap().len(), 2, "another namespace has its own names");
    assert!(other.log(None, 10).await.unwrap().is_empty());
    // Who asks by a name that would have too many levels asks for nothing else.
    let asked = ontology.resolve("a:x:k:l:m").await.unwrap_err();
    assert_eq!(asked.code(), "tag_unknown", "{asked}");
    assert_eq!(ontology.resolve("a:b:c:d:e:f").await.unwrap_err().code(), "tag_invalid");
    let filter = TagFilter::Exact("a:x:k:l:m".parse().unwrap());
    let query = RecallQuery::new("later").tag(filter.clone());
    assert!(htm.recall(&query).await.unwrap().hits.is_empty());
    let everything = htm_core::TimelineQuery::everything().tag(filter);
    assert!(htm.conversation_timeline(&everything).await.unwrap().entries.is_empty());
    htm.edit(node, &Edit::new().untag("a:x:k:l:m".parse().unwrap())).await.unwrap();
    assert_eq!(tags_of(&db, node).await.len(), 1);
    // A handle may allow fewer levels.
    let rules = htm_core::TagRules { max_depth: 2, ..htm_core::TagRules::default() };
    let settings = htm_core::Settings { tag_rules: rules, ..htm.settings().clone() };
    let shallow = Htm::with_pool(db.pool.clone(), settings, None);
    let refused = shallow.ontology(Some("other")).unwrap().rename("a", "up:a").await.unwrap_err();
    assert_eq!(refused.code(), "tag_unmovable");
    other_rename(&htm, "a", "z").await;
    let memory = Memory::new("shallow").namespace("other").tag("a:x".parse().unwrap());
    let node = shallow.remember(memory).await.unwrap().node;
    assert_eq!(tags_of(&db, node).await, ["z:x manual"]);
    other_rename(&htm, "z", "up:z").await;
    let memory = Memory::new("deep").namespace("other").tag("a:new".parse().unwrap());
    let node = shallow.remember(memory).await.unwrap().node;
    assert_eq!(tags_of(&db, node).await, ["up:z manual"], "a new tag has no more levels than may be");
    let memory = Memory::new("deep again").namespace("other").tag("a:x".parse().unwrap());
    let node = shallow.remember(memory).await.unwrap().node;
    assert_eq!(tags_of(&db, node).await, ["up:z:x manual"], "one that is there is one");
}

async fn other_rename(htm: &Htm, from: &str, to: &str) {
    htm.ontology(Some("other")).unwrap().rename(from, to).await.unwrap();
}

#[tokio::test]
async fn a_name_that_a_synonym_makes_keeps_the_rules() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    remember(&htm, 1, "text", &["db", "database", "sql:data"]).await;
    merge(&htm, &["db"], "database").await;
    htm.ontology(None).unwrap().add_synonym("rows", "sql:data").await.unwrap();
    for (written, stored) in [
        ("db:database", "database"),
        ("db:database:index", "database:index"),
        ("rows:data:sql:x", "sql:data"),
        ("rows:data:x", "sql:data:x"),
    ] {
        let node = remember(&htm, 1, written, &[written]).await[0];
        assert_eq!(tags_of(&db, node).await, [format!("{stored} manual")], "{written}");
        if stored != "sql:data" {
            assert_eq!(htm.ontology(None).unwrap().resolve(written).await.unwrap().as_str(), stored);
        }
    }
    assert!(htm.ontology(None).unwrap().resolve("rows:sql").await.is_err());
    assert!(names(&db).await.iter().all(|name| !name.contains("database:database")));
}
