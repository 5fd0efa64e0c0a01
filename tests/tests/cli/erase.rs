//! `htm erase` at the shell.

use htm_tests::{Sandbox, TestDatabase, wait_until};
use nix::sys::signal::Signal;

use super::filtered;

#[tokio::test]
async fn memories_are_erased_with_a_receipt_that_can_be_verified() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let node = sandbox.remember(&["--robot", "ada", "--tag", "secret", "The password is hunter2."]).await;
    let kept = sandbox.remember(&["Mara prefers tabs."]).await;
    sandbox.htm(&["erase", &node]).await.fails(2, "not_confirmed");
    let plan = sandbox.htm(&["erase", "--matching", "HUNTER2", "--dry-run"]).await;
    insta::assert_snapshot!("plan", filtered(plan.succeeds()));
    sandbox.htm(&["erase", "--matching", "hunter2", "--yes"]).await.fails(2, "plan_missing");
    let unconfirmed = sandbox.htm(&["erase", "--matching", "hunter2"]).await;
    let said = "erasing memories by a text was not confirmed";
    assert!(unconfirmed.fails(2, "not_confirmed").contains(said), "{unconfirmed:?}");
    let wrong = ["erase", "--matching", "hunter2", "--plan", "0123456789abcdef", "--yes"];
    sandbox.htm(&wrong).await.fails(2, "erase_plan_changed");
    let planned = sandbox.htm(&["--json", "erase", "--matching", "hunter2", "--dry-run"]).await.json();
    let number = planned["plan"].as_str().unwrap();
    let erased = sandbox.htm(&["erase", "--matching", "hunter2", "--plan", number, "--yes"]).await;
    insta::assert_snapshot!("receipt", filtered(erased.succeeds()));
    sandbox.htm(&["get", &node]).await.fails(2, "node_not_found");
    sandbox.htm(&["get", &kept]).await.succeeds();
    let listed = sandbox.htm(&["--json", "erase", "list"]).await.json();
    let receipt = listed[0]["id"].to_string();
    let verified = sandbox.htm(&["erase", "verify", &receipt, "--text", "hunter2"]).await;
    let text = verified.succeeds();
    assert!(text.contains("no trace: 1 memory erased") && text.contains("backups"), "{text}");
    sandbox.htm(&["erase", "resume", &receipt]).await.succeeds();
    // A copy of the text is no trace of the erased memory, and is found as a text.
    let copy = sandbox.remember(&["Somebody said hunter2."]).await;
    assert_eq!(sandbox.htm(&["--json", "erase", "verify", &receipt]).await.json()["is_clean"], true);
    let found = sandbox.htm(&["erase", "verify", &receipt, "--text", "hunter2"]).await;
    let said = &found.exits(1).stdout;
    assert!(said.contains("the text is in memories that the erasure was not about"), "{said}");
    let advice = format!("`htm erase {copy}`, first with `--dry-run`");
    assert!(said.contains(&advice) && !said.contains("resume"), "{said}");
    sandbox.htm(&["erase", "verify", "99"]).await.fails(2, "erasure_unknown");
    for verb in ["resume", "verify"] {
        let unnamed = sandbox.htm(&["erase", verb]).await;
        assert!(unnamed.fails(2, "usage").contains("htm erase list"), "{unnamed:?}");
    }
    let mistyped = sandbox.htm(&["erase", "--namespace", "defualt", "--yes"]).await;
    let said = mistyped.fails(2, "nothing_to_erase");
    assert!(said.contains("namespace `defualt`; the nearest: default"), "{said}");
    // One without memories may have a policy.
    sandbox.htm(&["namespaces", "retention", "empty", "--forget-after", "90d"]).await.succeeds();
    let dry = sandbox.htm(&["erase", "--namespace", "empty", "--dry-run"]).await;
    assert!(dry.succeeds().starts_with("no memory to erase") && !dry.stdout.contains("plan"), "{dry:?}");
    let policy = sandbox.htm(&["erase", "--namespace", "empty", "--yes"]).await;
    assert!(!policy.succeeds().contains("no memory is stored"), "{policy:?}");
    sandbox.htm(&["erase", "--yes"]).await.fails(2, "nothing_to_erase");
    let none = sandbox.htm(&["erase", "--matching", "nowhere", "--dry-run"]).await;
    assert_eq!(none.succeeds(), "nothing to erase\n");
    let none = sandbox.htm(&["erase", "--namespace", "defualt", "--dry-run"]).await;
    assert!(none.fails(2, "nothing_to_erase").contains("the nearest: default"), "{none:?}");
    let both = sandbox.htm(&["erase", &kept, "--namespace", "default", "--yes"]).await;
    both.exits(2);
    let shown = sandbox.htm(&["audit"]).await;
    assert!(shown.succeeds().contains("erase"), "{shown:?}");
}

/// What an older transaction still reads is not freed, whatever the tables' last vacuum.
#[tokio::test]
async fn the_proof_says_that_an_older_transaction_kept_the_rows() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let node = sandbox.remember(&["The password is hunter2."]).await;
    let mut old = db.pool.begin_with("begin isolation level repeatable read, read only").await.unwrap();
    sqlx::query("select count(*) from htm.nodes").execute(&mut *old).await.unwrap();
    sandbox.htm(&["erase", &node, "--yes"]).await.succeeds();
    old.commit().await.unwrap();
    let verified = sandbox.htm(&["erase", "verify", "1"]).await;
    let said = verified.succeeds();
    assert!(said.contains("not freed yet: 1 transaction") && said.contains("htm erase resume 1"), "{said}");
    sandbox.htm(&["erase", "resume", "1"]).await.succeeds();
    let verified = sandbox.htm(&["erase", "verify", "1"]).await;
    assert!(!verified.succeeds().contains("not freed yet"), "{verified:?}");
}

#[tokio::test]
async fn an_erasure_that_is_stopped_while_it_is_recorded_may_have_begun() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let node = sandbox.remember(&["zeppelin"]).await;
    let mut held = db.pool.begin().await.unwrap();
    // Writers wait, and readers do not.
    sqlx::query("lock table htm.erasures in share mode").execute(&mut *held).await.unwrap();
    let waiting = "select count(*) from pg_stat_activity
                    where datname = current_database() and wait_event_type = 'Lock'";
    let mut erasing = sandbox.start("htm", &["erase", &node, "--yes"]);
    wait_until(async || db.count(waiting).await > 0).await;
    erasing.signal(Signal::SIGINT);
    assert_eq!(erasing.end().await.code(), Some(130), "{}", erasing.log());
    let left = "stopped; an erasure may have begun; look: `htm erase list`";
    assert!(erasing.log().contains(left), "{}", erasing.log());
    held.rollback().await.unwrap();
}

/// A process that is killed leaves an erasure that another one ends.
#[tokio::test]
async fn a_killed_erasure_is_resumed() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let lines: String = (0..4_000)
        .map(|n| format!("{{\"id\": \"{n}\", \"ns\": \"tenants/7\", \"text\": \"zeppelin {n}\"}}\n"))
        .collect();
    sandbox.write("many.jsonl", &lines);
    sandbox.htm(&["import", "many.jsonl"]).await.succeeds();
    // The plan is read before a long list.
    let plan = sandbox.htm(&["erase", "--namespace", "tenants/7", "--dry-run"]).await;
    let said = plan.succeeds();
    assert!(said.starts_with("plan ") && said.contains(": 4000 memories to erase"), "{said}");
    assert!(said.contains("\nand 3980 more;") && said.lines().count() < 50, "{said}");
    // It waits for a memory of the second thousand, and is killed there.
    let mut held = db.pool.begin().await.unwrap();
    sqlx::query("select from htm.nodes where id = (select id from htm.nodes order by id offset 1500 limit 1) for update")
        .execute(&mut *held)
        .await
        .unwrap();
    let mut erasing = sandbox.start("htm", &["erase", "--namespace", "tenants/7", "--yes"]);
    wait_until(async || db.count("select count(*) from htm.nodes").await == 3_000).await;
    erasing.signal(Signal::SIGKILL);
    erasing.end().await;
    held.rollback().await.unwrap();
    let listed = sandbox.htm(&["erase", "list"]).await;
    assert!(
        listed.succeeds().contains("interrupted") && listed.stdout.contains("1000 of 4000"),
        "{listed:?}"
    );
    let verified = sandbox.htm(&["erase", "verify", "1"]).await;
    assert!(verified.exits(1).stdout.contains("write-ahead log: the erasure has not ended"), "{verified:?}");
    let resumed = sandbox.htm(&["--json", "erase", "resume", "1"]).await.json();
    assert_eq!((&resumed["erased"], &resumed["removed"]["htm.nodes"]), (&4_000.into(), &4_000.into()));
    sandbox.htm(&["erase", "verify", "1", "--text", "zeppelin"]).await.succeeds();
}
