//! Said again, edited, forgotten, restored, purged.

use htm_tests::{Sandbox, TestDatabase};
use serde_json::{Value, json};

use crate::filtered;

#[tokio::test]
async fn a_text_that_is_said_again_is_counted() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let node = sandbox.remember(&["Mara prefers tabs."]).await;
    let again = sandbox.htm(&["remember", "--robot", "ada", "--tag", "editor", "Mara prefers tabs."]).await;
    let said = format!(
        "node {node} already has this text; counted as remembered again\nada's working memory has it\n"
    );
    assert_eq!(again.succeeds(), said);
    let again = sandbox.htm(&["--json", "remember", "Mara prefers tabs."]).await.json();
    assert_eq!((again["node"].to_string(), again["outcome"].as_str()), (node.clone(), Some("repeated")));
    let got = sandbox.htm(&["get", "--json", &node]).await.json();
    assert_eq!((&got["remember_count"], &got["tags"]), (&json!(3), &json!(["editor"])));
    assert!(got["last_remembered"].as_str() > got["first_remembered"].as_str(), "{got}");
    let said = sandbox.htm(&["get", &node]).await;
    assert!(said.succeeds().contains("remembered         3 times (ada 1, htm 2), from 20"), "{said:?}");
    // A key, a time and the configuration make it another one.
    for arguments in [
        &["--key", "k"][..],
        &["--at", "2026-03-01"],
        &["--set", "memory.deduplicate=off"],
        &["--set", "memory.deduplicate=robot", "--robot", "bob"],
    ] {
        let arguments = [&["--json", "remember"], arguments, &["Mara prefers tabs."]].concat();
        assert_eq!(sandbox.htm(&arguments).await.json()["outcome"], "written", "{arguments:?}");
    }
    let wrong = ["remember", "--set", "memory.deduplicate=always", "x"];
    sandbox.htm(&wrong).await.fails(2, "config_bad_value");
}

#[tokio::test]
async fn a_node_is_edited_by_its_id_or_its_key() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let node = sandbox.remember(&["--key", "adr-7", "--tag", "draft", "We chose PostgreSQL 17."]).await;
    let said = sandbox.htm(&["edit", &node, "--importance", "9", "We chose PostgreSQL 18."]).await;
    let expected =
        format!("node {node}, revision 2: changed content, importance; 2 jobs enqueued, 2 superseded\n");
    assert_eq!(said.succeeds(), expected);
    let metadata = r#"{"ticket": 7}"#;
    let edit = [
        "edit",
        "--key",
        "adr-7",
        "--tag",
        "decision",
        "--untag",
        "draft",
        "--type",
        "decision",
        "--source",
        "meeting",
        "--metadata",
        metadata,
        "--new-key",
        "adr-8",
        "--expect",
        "2",
        "--json",
    ];
    let edited = sandbox.htm(&edit).await.json();
    assert_eq!(edited["changed"], json!(["key", "source", "type", "metadata", "tags"]));
    let got = sandbox.htm(&["get", "--key", "adr-8", "--json"]).await.json();
    let expected = json!({
        "content": "We chose PostgreSQL 18.", "revision": 2, "importance": 9.0, "tags": ["decision"],
        "type": "decision", "source": "meeting", "metadata": {"ticket": 7},
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&got[name], value, "{name}");
    }
    let text = "From a file\nof two lines.";
    let file = format!("{text}\n");
    sandbox.htm_reading(&["edit", "--key", "adr-8", "-"], file.as_bytes()).await.succeeds();
    let again = sandbox.htm_reading(&["edit", &node, "-"], file.as_bytes()).await;
    assert_eq!(again.succeeds(), format!("node {node} is unchanged\n"));
    let got = sandbox.htm(&["edit", &node, "--new-key", "", "--source", "", "--json"]).await.json();
    assert_eq!(got["changed"], json!(["key", "source"]));
    assert_eq!(sandbox.htm(&["get", &node, "--json"]).await.json()["content"], text);
}

#[tokio::test]
async fn while_an_edit_waits_for_its_workers_it_is_said_what_stands() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let node = sandbox.remember(&["the old words"]).await;
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    sandbox.htm(&["edit", &node, "the new words"]).await.succeeds();
    let said = sandbox.htm(&["status", &node]).await;
    let stands = "waits in its queue; until then the result of revision 1 stays";
    assert!(said.succeeds().contains(stands), "{said:?}");
    let status = sandbox.htm(&["status", "--json", &node]).await.json();
    assert_eq!((&status["stages"][0]["stale"], &status["stages"][1]["stale"]), (&json!(1), &Value::Null));
    let recalled = sandbox.htm(&["recall", "--json", "--strategy", "vector", "old words"]).await.json();
    assert_eq!(recalled["hits"][0]["scores"]["stale"], true);
    let said = sandbox.htm(&["recall", "--strategy", "vector", "old words"]).await;
    let said = said.succeeds();
    assert!(said.contains("by vector, the vector of its former text\n"), "{said}");
    assert!(
        said.contains(
            "; 1 memory of the namespace is not embedded (why: `htm doctor`): vectors find it by a former text or not at all"
        ),
        "{said}"
    );
}

#[tokio::test]
async fn a_bad_edit_is_refused_whole() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let node = sandbox.remember(&["--key", "k", "mine"]).await;
    let theirs = sandbox.remember(&["--robot", "ada", "hers"]).await;
    let plain = sandbox.remember(&["plain"]).await;
    for (arguments, code) in [
        (&[&node[..]][..], "usage"),
        (&["x", "text"], "usage"),
        (&["--key", "k", &node, "text"], "usage"),
        (&[&node, "--metadata", "{"], "usage"),
        (&[&node, "--metadata", "[1]"], "metadata_not_object"),
        (&["999", "text"], "node_not_found"),
        (&["--key", "unknown", "text"], "key_not_found"),
        (&[&theirs, "text"], "not_owner"),
        (&[&node, "--robot", "ada", "text"], "not_owner"),
        (&[&node, "--expect", "3", "text"], "revision_conflict"),
        (&[&plain, "--new-key", "k"], "key_taken"),
        (&[&plain, "hers"], "content_taken"),
        (&[&node, " "], "content_empty"),
        (&[&node, "--importance", "-1"], "importance_out_of_range"),
        (&[&node, "--tag", "c++"], "tag_invalid"),
        (&[&node, "--tag", "draft", "--untag", "draft"], "usage"),
        (&[&node, "--new-key", "a\u{1b}[2Jb"], "key_invalid"),
    ] {
        let arguments = [&["edit"], arguments].concat();
        sandbox.htm(&arguments).await.fails(2, code);
        assert_eq!(sandbox.htm(&[&["--json"], &arguments[..]].concat()).await.json_error(2)["code"], code);
    }
    assert_eq!(db.count("select sum(revision)::bigint from htm.nodes").await, 3);
    sandbox.htm(&["edit", &theirs, "--any-robot", "text"]).await.succeeds();
    sandbox.htm(&["edit", &theirs, "--robot", "ada", "another"]).await.succeeds();
}

#[tokio::test]
async fn a_robot_of_another_namespace_is_another_robot() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let node = sandbox.remember(&["--namespace", "alpha", "--key", "k", "theirs"]).await;
    for arguments in [&["edit", &node, "mine"][..], &["forget", &node, "--yes"]] {
        let error = sandbox.htm(&[&["--json"], arguments].concat()).await.json_error(2);
        assert_eq!(error["code"], "not_owner");
        assert!(error["message"].as_str().unwrap().contains("namespace `alpha`"), "{error}");
    }
    sandbox.htm(&["edit", "--key", "k", "--namespace", "alpha", "by its key"]).await.succeeds();
    sandbox.htm(&["edit", &node, "--namespace", "alpha", "by its id"]).await.succeeds();
    sandbox.htm(&["forget", &node, "--namespace", "alpha", "--yes"]).await.succeeds();
    sandbox.htm(&["restore", &node]).await.fails(2, "not_owner");
    sandbox.htm(&["restore", &node, "--namespace", "alpha"]).await.succeeds();
}

#[tokio::test]
async fn a_memory_is_forgotten_restored_and_purged() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let node = sandbox.remember(&["--key", "k", "--tag", "a:b", "the \u{1b}[31msecret"]).await;
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    assert_eq!(sandbox.htm(&["forgotten"]).await.succeeds(), "nothing is forgotten\n");
    sandbox.htm(&["restore", &node]).await.fails(2, "not_forgotten");
    sandbox.htm(&["forget", &node, "--robot", "ada", "--yes"]).await.fails(2, "not_owner");
    let said = sandbox.htm(&["forget", &node, "--yes"]).await;
    let expected = format!(
        "node {node} is forgotten, with 1 embedding and 1 tag; 1 job cancelled\n`htm restore {node}` brings it back\n"
    );
    assert_eq!(said.succeeds(), expected);
    let back =
        format!("node {node} is forgotten\n  help: bring it back: `htm restore {node} --namespace default`");
    for arguments in
        [&["get", &node][..], &["status", &node], &["edit", &node, "x"], &["forget", &node, "--yes"]]
    {
        let answer = sandbox.htm(arguments).await;
        assert!(answer.fails(2, "node_not_found").contains(&back), "{answer:?}");
    }
    let listed = sandbox.htm(&["forgotten"]).await;
    insta::assert_snapshot!(filtered(listed.succeeds()));
    assert_eq!(sandbox.htm(&["forgotten", "--json"]).await.json()[0]["key"], "k");
    assert_eq!(sandbox.htm(&["forgotten", "--namespace", "x", "--json"]).await.json(), json!([]));
    sandbox.htm(&["forgotten", "--limit", "0"]).await.fails(2, "limit_out_of_range");
    let cut = sandbox.htm(&["forgotten", "--limit", "1"]).await;
    assert!(cut.succeeds().ends_with("\nlimited to 1; there may be more: `--limit`\n"), "{cut:?}");

    let said = sandbox.htm(&["restore", &node]).await;
    assert_eq!(said.succeeds(), format!("node {node} is restored; 1 job enqueued\n"));
    sandbox.htm(&["get", "--key", "k"]).await.succeeds();
    sandbox.htm(&["forget", &node, "--yes"]).await.succeeds();
    let holder = sandbox.remember(&["--key", "k", "another"]).await;
    let refused = sandbox.htm(&["restore", &node]).await;
    let step = format!(
        "`htm edit {holder} --new-key KEY`), or forget it (`htm forget {holder}`); then `htm restore {node}`"
    );
    assert!(refused.fails(2, "key_taken").contains(&step), "{refused:?}");

    let later = chrono::Utc::now().to_rfc3339();
    let later = later.as_str();
    sandbox.htm(&["purge", "--before", "2099-01-01", "--yes"]).await.fails(2, "time_in_future");
    sandbox.htm(&["purge", "--before", "2099-01-01", "--dry-run"]).await.fails(2, "time_in_future");
    db.htm().register_robot(None, Some("ada"), Default::default()).await.unwrap();
    let others = ["purge", "--before", later, "--robot", "ada", "--yes", "--json"];
    assert_eq!(sandbox.htm(&others).await.json()["nodes"], 0);
    let elsewhere = ["purge", "--before", later, "--namespace", "x", "--any-robot", "--yes", "--json"];
    assert_eq!(sandbox.htm(&elsewhere).await.json()["nodes"], 0);
    let now = ["purge", "--before", "now", "--dry-run", "--json"];
    assert_eq!(sandbox.htm(&now).await.json()["nodes"], 1, "now, not the start of today");
    let everywhere = ["purge", "--before", later, "--all-namespaces", "--any-robot", "--dry-run", "--json"];
    assert_eq!(sandbox.htm(&everywhere).await.json()["nodes"], 1);
    let answer = sandbox.htm(&["purge", "--before", later]).await;
    assert!(answer.fails(2, "not_confirmed").contains("--dry-run"), "{answer:?}");
    for time in ["2020-01-01", "2020-01-01T00:00:00Z", "3 months ago", "last year", "since yesterday"] {
        let none = sandbox.htm(&["purge", "--before", time, "--dry-run", "--json"]).await.json();
        assert_eq!(none["nodes"], 0, "{time}");
    }
    let none = sandbox.htm(&["purge", "--before", "2020-01-01", "--yes", "--json"]).await.json();
    assert_eq!(none["nodes"], 0);
    let plan = sandbox.htm(&["purge", "--before", later, "--dry-run"]).await;
    insta::with_settings!({ filters => vec![(r"before \d{4}-\d\d-\d\d \d\d:\d\d", "before [time]")] }, {
        insta::assert_snapshot!(plan.succeeds());
    });
    let purged = sandbox.htm(&["purge", "--before", later, "--yes"]).await;
    assert_eq!(purged.succeeds(), plan.stdout.replace("would purge", "purged"));
    sandbox.htm(&["restore", &node]).await.fails(2, "node_not_found");
    assert_eq!(db.count("select count(*) from htm.nodes").await, 1);
    for arguments in [
        &["purge"][..],
        &["purge", "--before", "soon", "--yes"],
        &["purge", "--before", "before 2020", "--yes"],
        &["purge", "--before", "next week", "--yes"],
        &["purge", "--before", "2020-01-01", "--robot", "nobody", "--yes"],
        &["purge", "--before", later, "--all-namespaces", "--yes"],
        &["purge", "--before", later, "--yes", "--dry-run"],
        &["forget"],
        &["forget", "1", "--matching", "x"],
        &["forget", "--dry-run"],
        &["restore"],
    ] {
        sandbox.htm(arguments).await.exits(2);
    }
}

#[tokio::test]
async fn a_node_is_shown_before_it_is_forgotten() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let node = sandbox.remember(&["the staging password"]).await;
    let shown = sandbox.htm(&["forget", &node, "--dry-run"]).await;
    assert!(
        shown.succeeds().contains("the staging password")
            && shown.stdout.contains("nothing is forgotten yet"),
        "{shown:?}"
    );
    let plan = sandbox.htm(&["forget", &node, "--dry-run", "--json"]).await.json();
    let digest = plan["plan"].as_str().unwrap();
    sandbox.htm(&["forget", &node, "--plan", "wrong", "--yes"]).await.fails(2, "plan_changed");
    sandbox.htm(&["forget", &node, "--plan", digest]).await.fails(2, "not_confirmed");
    sandbox.htm(&["forget", &node, "--dry-run", "--robot", "ada"]).await.fails(2, "not_owner");
    assert_eq!(sandbox.htm(&["forgotten", "--json"]).await.json(), json!([]));
    sandbox.htm(&["forget", &node, "--plan", digest, "--yes"]).await.succeeds();
    sandbox.htm(&["forget", &node, "--dry-run"]).await.fails(2, "node_not_found");
}

#[tokio::test]
async fn what_matches_a_text_is_shown_before_it_is_forgotten() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    for (robot, text) in [
        ("htm", "the Staging password is 100%_x"),
        ("htm", "ask Mara for the staging PASSWORD is 100%_x"),
        ("ada", "my staging password is 100%_x"),
        ("htm", "the staging password is 100 or x"),
    ] {
        sandbox.remember(&["--robot", robot, text]).await;
    }
    let matching = ["forget", "--matching", "password is 100%_X"];
    let forget = async |arguments: &[&str]| sandbox.htm(&[&matching, arguments].concat()).await;
    let shown = forget(&["--dry-run"]).await;
    let plan = forget(&["--dry-run", "--json"]).await.json();
    let digest = plan["plan"].as_str().unwrap();
    assert_eq!((plan["matches"].as_array().unwrap().len(), &plan["of_others"]), (2, &json!(1)));
    insta::assert_snapshot!(filtered(shown.succeeds()).replace(digest, "[plan]"));
    let answer = forget(&[]).await;
    assert!(answer.fails(2, "not_confirmed").contains(&format!("--plan {digest} --yes")), "{answer:?}");
    // Another one comes in between: what is forgotten is not what was shown.
    let new = sandbox.remember(&["a new password is 100%_x"]).await;
    forget(&["--plan", digest, "--yes"]).await.fails(2, "plan_changed");
    assert_eq!(sandbox.htm(&["forgotten", "--json"]).await.json(), json!([]));
    sandbox.htm(&["forget", &new, "--yes"]).await.succeeds();
    let said = forget(&["--plan", digest, "--yes"]).await;
    assert!(
        said.succeeds().contains("\nforgotten, with 0 embeddings and 0 tags; 4 jobs cancelled\n"),
        "{said:?}"
    );
    let answer = forget(&["--any-robot", "--yes"]).await;
    assert!(answer.fails(2, "plan_missing").contains("--dry-run"), "{answer:?}");
    let plan = forget(&["--any-robot", "--dry-run", "--json"]).await.json();
    let said =
        forget(&["--any-robot", "--plan", plan["plan"].as_str().unwrap(), "--yes", "--json"]).await.json();
    assert_eq!((said["forgotten"].as_array().unwrap().len(), &said["nodes"]), (1, &json!(1)));
    assert_eq!(db.count("select count(*) from htm.nodes where deleted_at is null").await, 1);
    forget(&["--namespace", ""]).await.fails(2, "namespace_invalid");
    sandbox.htm(&["forget", "--matching", " ", "--dry-run"]).await.fails(2, "content_empty");
}
