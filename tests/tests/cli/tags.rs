//! `htm tags` and `htm backfill tag --prompt-version`.

use htm_tests::{Sandbox, TestDatabase};

use super::filtered;

async fn filled(db: &TestDatabase) -> Sandbox {
    let sandbox = Sandbox::new(db);
    for (tag, text) in [
        ("db:postgresql", "The ledger is in PostgreSQL."),
        ("db:postgresql", "Backups run at two."),
        ("database", "Which database is it?"),
        ("work:meeting", "Mara wants a meeting."),
    ] {
        sandbox.remember(&["--tag", tag, text]).await;
    }
    sandbox
}

#[tokio::test]
async fn tags_are_listed_shown_merged_and_the_merge_is_reverted() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    let mut said = String::new();
    for arguments in [
        &["add", "database:sqlite", "--description", "For tests", "--synonym", "lite"][..],
        &["list"],
        &["list", "db"],
        &["merge", "db", "database", "--dry-run"],
        &["merge", "db", "database", "--yes"],
        &["show", "db"],
        &["synonyms", "list"],
        &["synonyms", "add", "pg", "database:postgresql"],
        &["synonyms", "remove", "lite"],
        &["rename", "work", "office", "--yes"],
        &["popular", "--limit", "1"],
        &["orphans"],
        &["similar", "postgres"],
        &["cooccur"],
        &["suggest"],
        &["split", "database", "database:postgresql", "storage=Where it is kept", "--yes"],
        &["remove", "office", "--assigned", "--dry-run"],
        &["remove", "office", "--assigned", "--yes"],
        &["log"],
        &["revert", "7", "--yes"],
        &["revert", "5", "--yes"],
        &["list", "work"],
    ] {
        let answer = sandbox.htm(&[&["tags"], arguments].concat()).await;
        said.push_str(&format!("━━━ htm tags {}\n{}\n\n", arguments.join(" "), filtered(answer.succeeds())));
    }
    insta::assert_snapshot!("tags", said);
    // What takes nothing from anybody is done at once, and can be rehearsed.
    for (arguments, field) in [
        (&["add", "new:tag", "--dry-run"][..], "added"),
        (&["synonyms", "add", "sq", "database:sqlite", "--dry-run"], "synonyms"),
        (&["synonyms", "remove", "pg", "--dry-run"], "freed"),
    ] {
        let would = sandbox.htm(&[&["tags"], arguments, &["--json"]].concat()).await.json();
        assert_eq!((&would["change"], &would["dry_run"]), (&().into(), &true.into()), "{would}");
        assert!(!would[field].as_array().unwrap().is_empty(), "{would}");
    }
    let listed = sandbox.htm(&["tags", "synonyms", "list"]).await;
    assert!(listed.succeeds().contains("pg") && !listed.succeeds().contains("sq "), "{listed:?}");
    let json = sandbox.htm(&["tags", "list", "--json"]).await.json();
    assert!(!json.to_string().contains("new:tag"));
    assert_eq!(json[0]["tag"], "database");
    let json = sandbox.htm(&["tags", "merge", "work", "database", "--dry-run", "--json"]).await.json();
    assert_eq!((&json["change"], &json["dry_run"], &json["nodes"]), (&().into(), &true.into(), &1.into()));
}

#[tokio::test]
async fn what_is_reverted_besides_names_is_told() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    for (tag, change) in [
        ("database", &["split", "database", "database:postgresql", "storage=Where it is kept", "--yes"][..]),
        ("work", &["distinct", "add", "database", "work"]),
        ("database", &["add", "database", "--description", "Where data is kept"]),
    ] {
        let changed = sandbox.htm(&[&["--json", "tags"], change].concat()).await.json();
        let reverted = sandbox.htm(&["tags", "revert", &changed["change"].to_string(), "--yes"]).await;
        assert!(reverted.succeeds().contains(&format!("{tag}: as it was before\n")), "{reverted:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_done_to_a_tag_is_refused() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    let long = "x".repeat(10_000);
    for (arguments, code) in [
        (&["show", "databse"][..], "tag_unknown"),
        (&["list", "nothing"], "tag_unknown"),
        (&["list", "--namespace", ""], "namespace_invalid"),
        (&["merge", "db", "database"], "not_confirmed"),
        (&["rename", "db", "x"], "not_confirmed"),
        (&["remove", "db"], "not_confirmed"),
        (&["split", "db", "a", "b"], "not_confirmed"),
        (&["revert", "1"], "not_confirmed"),
        (&["revert", "99", "--yes"], "change_unknown"),
        (&["merge", "db", "db", "--yes"], "tag_into_itself"),
        (&["merge", "db", "db:postgresql", "--yes"], "tag_into_own_child"),
        (&["rename", "db", "database", "--yes"], "tag_taken"),
        (&["rename", "db", "a:b:c:d:e", "--yes"], "tag_unmovable"),
        (&["remove", "db", "--yes"], "tag_in_use"),
        (&["add", "a:b:c:d:e:f"], "tag_invalid"),
        (&["add", "🦀"], "tag_invalid"),
        (&["add", &long], "tag_invalid"),
        (&["add", "x", "--description", &long], "description_too_long"),
        (&["synonyms", "add", "db", "database"], "synonym_is_tag"),
        (&["synonyms", "remove", "x"], "synonym_unknown"),
        (&["similar", "::"], "tag_invalid"),
    ] {
        let arguments = [&["tags"], arguments].concat();
        sandbox.htm(&arguments).await.fails(2, code);
        let error = sandbox.htm(&[&["--json"], &arguments[..]].concat()).await.json_error(2);
        assert_eq!(error["code"], code);
        assert!(error["message"].as_str().unwrap().len() < 500, "{error}");
    }
    let nearest = sandbox.htm(&["--json", "tags", "show", "databse"]).await.json_error(2);
    assert_eq!(nearest["hint"], "the nearest that there are: database");
    for arguments in [&["merge", "db"][..], &["split", "db", "one"], &["cooccur", "--min", "0"]] {
        let arguments = [&["--json", "tags"], arguments].concat();
        assert_eq!(sandbox.htm(&arguments).await.json_error(2)["code"], "usage");
    }
    assert_eq!(db.count("select count(*) from htm.tag_changes").await, 0);
}

#[tokio::test]
async fn what_another_prompt_tagged_is_tagged_again() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    sandbox.run("tag-worker", &["--drain"], b"").await.succeeds();
    let count = |arguments: &'static [&'static str]| {
        let arguments = [&["backfill", "tag", "--dry-run"], arguments].concat();
        let sandbox = &sandbox;
        async move { sandbox.htm(&arguments).await.succeeds().to_owned() }
    };
    assert_eq!(count(&["--prompt-version"]).await, "0 jobs would be enqueued\n");
    assert_eq!(count(&["--prompt-version=other"]).await, "4 jobs would be enqueued\n");
    assert_eq!(count(&[]).await, "0 jobs would be enqueued\n");
    sandbox.htm(&["backfill", "embed", "--prompt-version=x"]).await.fails(2, "version_unfit");
    let enqueued = sandbox.htm(&["backfill", "tag", "--prompt-version=other", "--no-wait"]).await;
    assert!(enqueued.succeeds().contains("4 jobs enqueued"), "{}", enqueued.succeeds());
    sandbox.run("tag-worker", &["--drain"], b"").await.succeeds();
    assert_eq!(
        db.count("select count(*) from apalis.jobs where job_type = 'htm.tag' and status = 'Done'").await,
        8
    );
}

/// The guide's own command on the demo's memories, with the local model: what the guide says of it is true.
#[tokio::test]
async fn the_split_of_the_guide_loses_no_memory_and_says_where_all_are() {
    let Some(model) = htm_tests::local_model() else { return };
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db)
        .set("HTM_TAG__PROVIDER", "local")
        .set("HTM_LOCAL__MODEL_DIR", &model.display().to_string());
    let memories = include_str!("../../../demo/memories.jsonl").lines();
    let lines: Vec<&str> = memories.filter(|line| line.contains("\"ns\": \"atlas\"")).collect();
    let file = sandbox.write("memories.jsonl", lines.join("\n"));
    sandbox.htm(&["import", &file]).await.succeeds();
    sandbox.run("tag-worker", &["--drain"], b"").await.succeeds();
    let had = "select count(*) from htm.node_tags a join htm.tags t on t.id = a.tag_id where t.path = 'performance'";
    assert_eq!(db.count(had).await, 6);
    let mut worker = sandbox.start("tag-worker", &[]);
    htm_tests::wait_until(async || {
        htm_core::worker::workers::list(&db.pool).await.unwrap().iter().any(|worker| worker.alive)
    })
    .await;
    let guide = include_str!("../../../docs/ontology.md").lines();
    let typed =
        guide.filter_map(|line| line.strip_prefix("$ htm tags split ")).next().expect("the guide has one");
    let typed = typed.split('#').next().unwrap_or_default().split_whitespace();
    let answer = sandbox.htm(&["tags", "split"].into_iter().chain(typed).collect::<Vec<_>>()).await;
    worker.signal(nix::sys::signal::Signal::SIGTERM);
    worker.end().await;
    let said = "performance:latency: 4 nodes\nperformance:retry: 3 nodes\n\
                performance: 1 node fits none of them and keeps it\n";
    assert!(answer.succeeds().ends_with(said), "{answer:?}");
    assert_eq!(db.count(had).await, 1);
}
