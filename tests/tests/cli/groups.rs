//! `htm groups`.

use htm_core::{GroupRole, JoinOptions, Memory};
use htm_tests::{Sandbox, TestDatabase, wait_until};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::filtered;

#[tokio::test]
async fn a_member_reads_lines_and_tells_what_happens() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db).set("HTM_RECALL__STRATEGY", "fulltext");
    let input = "Mara prefers tabs.\n\n/touch 1\n/touch 7\n/memory\n/context 100\n/remove 1\n/add 1\n/add x\n/add 99\n/add\n/contxt 500\n/context abc\n/context 0\n/memory 7\n/members\n/sync\n/recall tabs\n/recall\n";
    let answer =
        sandbox.htm_reading(&["--json", "groups", "join", "crew", "--robot", "ada"], input.as_bytes()).await;
    let events: Vec<Value> =
        answer.exits(2).stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let find = |name: &str| {
        events.iter().find(|event| event["event"] == name).unwrap_or_else(|| panic!("{name}: {events:?}"))
    };
    assert_eq!(find("joined"), &json!({"event": "joined", "robot": "ada", "role": "active", "nodes": 0}));
    assert_eq!(find("remembered")["node"], 1);
    assert_eq!(find("memory")["nodes"], json!([1]));
    assert_eq!(find("context")["text"], "Mara prefers tabs.");
    assert_eq!(find("removed")["was_there"], true);
    assert_eq!(find("added")["evicted"], json!([]));
    let refused = |line: &str| {
        let is_it = |event: &&Value| event["message"].as_str().is_some_and(|it| it.contains(line));
        let event = events.iter().find(is_it).unwrap_or_else(|| panic!("{line}: {events:?}"));
        assert_eq!((&event["event"], &event["code"]), (&json!("error"), &json!("usage")));
        assert!(event["hint"].as_str().unwrap().contains("/context TOKENS"), "{event}");
    };
    for line in [
        "`/contxt`",
        "tokens, not `0`",
        "/context takes a number of tokens, not `abc`",
        "not `x`",
        "not ``",
        "/memory takes",
        "/recall takes",
    ] {
        refused(line);
    }
    let remembered = events.iter().filter(|event| event["event"] == "remembered").count();
    assert_eq!(remembered, 1, "what is no command is not remembered");
    assert!(events.iter().any(|event| event["code"] == "node_not_found"));
    assert_eq!(find("in_step")["nodes"], 1);
    assert_eq!(find("recalled")["hits"], json!([{"node": 1, "content": "Mara prefers tabs."}]));
    assert_eq!(find("members")["members"][0]["robot"], "ada");
    let touched: Vec<_> =
        events.iter().filter(|it| it["event"] == "touched").map(|it| it["was_there"].clone()).collect();
    assert_eq!(touched, [true, false]);
    assert_eq!(events.last().unwrap()["event"], "left");
    // A group keeps its budget, and says so.
    let join = |tokens: &'static str| {
        ["--json", "groups", "join", "small", "--robot", "ada", "--max-tokens", tokens]
    };
    let joined = async |tokens: &'static str| -> Value {
        let answer = sandbox.htm_reading(&join(tokens), b"").await;
        serde_json::from_str(answer.succeeds().lines().next().unwrap()).unwrap()
    };
    let first = joined("500").await;
    assert_eq!((&first["max_tokens"], &first["note"]), (&json!(500), &Value::Null));
    assert_eq!(joined("100").await["note"], "the group keeps its budget of 500 tokens");
    // For people.
    let input = b"/context 1\n/remove 999999\n";
    let answer = sandbox.htm_reading(&["groups", "join", "crew", "--robot", "ada"], input).await;
    let said = answer.succeeds();
    assert!(said.contains("\nnothing fits into 1 token; left out: 1 memory\n"), "{said}");
    assert!(said.contains("\nnode 999999 was not there\n"), "{said}");
    let answer = sandbox.htm_reading(&["groups", "join", "crew", "--robot", "ada"], b"/context\n").await;
    let said = answer.succeeds();
    assert!(said.contains("joined") && said.contains("Mara prefers tabs."), "{said}");
    let input = "/members\n/memory\n/recall tabs\n/contxt\n/touch 1\n";
    let answer = sandbox.htm_reading(&["groups", "join", "crew", "--robot", "ada"], input.as_bytes()).await;
    let said = &answer.exits(2).stdout;
    assert!(answer.stderr.starts_with("error[usage]: `/contxt` is not a command\n  help: "), "{answer:?}");
    for part in
        ["ada    active  alive", "memory  nodes 1\n", "\n  node 1: Mara prefers tabs.\n", "was there true\n"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains(['[', '{', '"']) && said.ends_with("left\n"), "{said}");
}

#[tokio::test]
async fn a_member_that_reads_what_is_no_text_leaves_its_group() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let answer = sandbox.htm_reading(&["groups", "join", "crew", "--robot", "ada"], b"\xff\n").await;
    assert!(answer.exits(2).stdout.ends_with("left\n"), "{answer:?}");
    assert!(answer.stderr.contains("error[io_error]: standard input cannot be read as UTF-8"), "{answer:?}");
    let shown = sandbox.htm(&["groups", "show", "crew"]).await;
    assert!(shown.succeeds().ends_with("no members\n"), "{shown:?}");
}

#[tokio::test]
async fn a_member_whose_group_is_shut_down_ends_with_its_first_error() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let mut member = sandbox.start("htm", &["groups", "join", "crew", "--robot", "ada"]);
    let mut stdin = member.stdin();
    stdin.write_all(b"/contxt\n").await.unwrap();
    wait_until(async || member.log().contains("`/contxt` is not a command")).await;
    sandbox.htm(&["groups", "shutdown", "crew", "--yes"]).await.succeeds();
    assert_eq!(member.end().await.code(), Some(2), "{}", member.log());
}

#[tokio::test]
async fn groups_are_listed_shown_and_changed() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    assert!(sandbox.htm(&["groups", "list"]).await.succeeds().starts_with("no groups"));
    let options =
        |role| JoinOptions { role: Some(role), lease: std::time::Duration::from_secs(60), max_tokens: 500 };
    let group = db.htm().group("crew");
    let ada = group.join("ada", options(GroupRole::Active)).await.unwrap();
    let _bob = group.join("bob", options(GroupRole::Passive)).await.unwrap();
    let node = ada.remember(Memory::new("Mara prefers tabs.")).await.unwrap().node.to_string();
    let _other = db.htm().group("night").join("ada", options(GroupRole::Active)).await.unwrap();
    insta::assert_snapshot!("list", filtered(sandbox.htm(&["groups", "list"]).await.succeeds()));
    let shown = sandbox.htm(&["groups", "show", "crew"]).await;
    let said = shown.succeeds();
    assert!(
        said.starts_with(
            "crew in namespace default, open: 1 node of 5 tokens in working memory, of 500 at most"
        ),
        "{said}"
    );
    assert!(said.contains("ada    active   alive"), "{said}");

    let said = sandbox.htm(&["groups", "promote", "crew", "bob"]).await;
    assert_eq!(said.succeeds(), "bob is now active in crew\n");
    let said = sandbox.htm(&["groups", "demote", "crew", "ada", "--json"]).await.json();
    assert_eq!(said["role"], "passive");
    let info = sandbox.htm(&["groups", "show", "crew", "--json"]).await.json();
    assert_eq!(
        (&info["members"][0]["robot"], &info["members"][1]["role"]),
        (&json!("bob"), &json!("passive"))
    );
    let said = sandbox.htm(&["groups", "transfer", "crew", "--node", &node, "--to-group", "night"]).await;
    assert_eq!(said.succeeds(), "1 node transferred; 0 evicted\n");
    let said =
        sandbox.htm(&["groups", "transfer", "night", "--all", "--to-robot", "bob", "--json"]).await.json();
    assert_eq!(said["transferred"].as_array().unwrap().len(), 1);
    let said = sandbox.htm(&["groups", "leave", "crew", "--robot", "ada"]).await;
    assert_eq!(said.succeeds(), "ada is no longer a member of crew\n");
    let said = sandbox.htm(&["groups", "shutdown", "crew", "--clear", "--yes"]).await;
    assert_eq!(said.succeeds(), "crew is shut down; it had 1 member\n");
    assert!(sandbox.htm(&["groups", "show", "crew"]).await.succeeds().ends_with("no members\n"));
}

#[tokio::test]
async fn what_cannot_be_done_in_a_group_is_refused() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let _ada = db.htm().group("crew").join("ada", JoinOptions::default()).await.unwrap();
    for (arguments, code) in [
        (&["show", "nowhere"][..], "group_unknown"),
        (&["list", "--namespace", ""], "namespace_invalid"),
        (&["join", "", "--robot", "ada"], "group_invalid"),
        (&["join", "crew", "--robot", " "], "robot_invalid"),
        (&["promote", "nowhere", "ada"], "group_unknown"),
        (&["promote", "crew", "bob"], "group_member_unknown"),
        (&["leave", "crew", "--robot", "bob"], "group_member_unknown"),
        (&["demote", "crew", "ada"], "group_last_active"),
        (&["transfer", "crew", "--all", "--to-group", "crew"], "group_transfer_to_itself"),
        (&["transfer", "crew", "--all", "--to-robot", "nobody"], "robot_unknown"),
        (&["transfer", "crew", "--node", "7", "--to-robot", "ada"], "node_not_found"),
        (&["shutdown", "crew"], "not_confirmed"),
        (&["shutdown", "nowhere", "--yes"], "group_unknown"),
    ] {
        let arguments = [&["groups"], arguments].concat();
        sandbox.htm(&arguments).await.fails(2, code);
        let error = sandbox.htm(&[&["--json"], &arguments[..]].concat()).await.json_error(2);
        assert_eq!(error["code"], code);
    }
    for arguments in [
        &["groups", "transfer", "crew", "--to-robot", "ada"][..],
        &["groups", "transfer", "crew", "--all"],
        &["groups", "join", "crew", "--active", "--passive"],
    ] {
        assert_eq!(sandbox.htm(&[&["--json"], arguments].concat()).await.json_error(2)["code"], "usage");
    }
}
