//! Namespaces, expiry and retention at the shell.

use htm_tests::{Sandbox, TestDatabase};

#[tokio::test]
async fn namespaces_are_listed_by_their_labels() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    assert_eq!(sandbox.htm(&["namespaces", "list"]).await.succeeds(), "no namespaces\n");
    for namespace in ["users/1/notes", "users/2/notes", "default"] {
        sandbox.remember(&["--namespace", namespace, "text"]).await;
    }
    let listed = sandbox.htm(&["namespaces", "list", "--prefix", "users/*", "--suffix", "notes"]).await;
    assert_eq!(listed.succeeds(), "users/1/notes\nusers/2/notes\n");
    let cut = sandbox.htm(&["--json", "namespaces", "list", "--depth", "1"]).await.json();
    assert_eq!(cut, serde_json::json!(["default", "users"]));
    let first = sandbox.htm(&["namespaces", "list", "--limit", "2"]).await;
    assert_eq!(first.succeeds(), "default\nusers/1/notes\n");
    assert_eq!(first.stderr, "limited to 2; there may be more: `--limit`\n");
    assert_eq!(sandbox.htm(&["namespaces", "list"]).await.stderr, "");
    sandbox.htm(&["namespaces", "list", "--depth", "0"]).await.fails(2, "limit_out_of_range");
    sandbox.htm(&["namespaces", "list", "--prefix", "a/"]).await.fails(2, "namespace_invalid");
}

#[tokio::test]
async fn an_empty_list_of_a_mistyped_namespace_names_the_nearest() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    sandbox.remember(&["--namespace", "atlas", "text"]).await;
    for list in [&["robots", "list"][..], &["documents"], &["forgotten"], &["jobs", "list"]] {
        let of = |namespace| [list, &["--namespace", namespace]].concat();
        let mistyped = sandbox.htm(&of("atlos")).await;
        let said = "no memory is stored in namespace `atlos`; the nearest: atlas\n";
        assert_eq!(mistyped.exits(0).stderr, said, "{list:?}");
        assert_eq!(sandbox.htm(&of("atlas")).await.exits(0).stderr, "", "{list:?}");
    }
}

#[tokio::test]
async fn a_memory_expires_with_a_receipt() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let node = sandbox.remember(&["--expires", "12h", "The staging server is down."]).await;
    let shown = sandbox.htm(&["get", &node]).await;
    assert!(shown.succeeds().contains("(12h after a refresh)"), "{shown:?}");
    // A time that has passed would forget it at once.
    for passed in ["2020-01-01", "yesterday", "now"] {
        let refused = sandbox.htm(&["edit", &node, "--expires", passed]).await;
        assert!(refused.fails(2, "expiry_passed").contains("give a future time"), "{refused:?}");
    }
    sqlx::query("update htm.nodes set expires_at = now()").execute(&db.pool).await.unwrap();
    let later = sandbox.remember(&["--expires", "2100-01-01", "It stays."]).await;
    let swept = sandbox.htm(&["sweep"]).await;
    insta::assert_snapshot!("sweep", swept.succeeds());
    assert_eq!(sandbox.htm(&["sweep"]).await.succeeds(), "nothing has expired\n");
    let forgotten = sandbox.htm(&["--json", "forgotten"]).await.json();
    assert_eq!((&forgotten[0]["reason"], forgotten.as_array().unwrap().len()), (&"expired".into(), 1));
    let shown = sandbox.htm(&["forgotten"]).await;
    assert!(shown.succeeds().contains("expired"), "{shown:?}");
    sandbox.htm(&["get", &later]).await.succeeds();
    sandbox.htm(&["edit", &later, "--expires", ""]).await.succeeds();
    assert_eq!(sandbox.htm(&["--json", "get", &later]).await.json()["expires_at"], serde_json::Value::Null);
}

#[tokio::test]
async fn reading_refreshes_where_that_is_asked() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    sandbox.write(
        "lines.jsonl",
        r#"{"id": "a", "ns": "default", "text": "A lighthouse.", "ttl_seconds": 7200}"#,
    );
    sandbox.htm(&["import", "lines.jsonl"]).await.succeeds();
    sqlx::query("update htm.nodes set expires_at = now() + interval '1 minute'")
        .execute(&db.pool)
        .await
        .unwrap();
    let left = "select (extract(epoch from expires_at - now()) / 60)::bigint from htm.nodes";
    sandbox.htm(&["recall", "--strategy", "fulltext", "lighthouse"]).await.succeeds();
    assert!(db.count(left).await <= 1);
    sandbox.htm(&["recall", "--strategy", "fulltext", "--refresh", "lighthouse"]).await.succeeds();
    assert!(db.count(left).await >= 119);
}

#[tokio::test]
async fn a_policy_is_confirmed_where_it_forgets_at_once() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let retention = ["namespaces", "retention", "atlas"];
    let said = |answer: htm_tests::Answer| answer.succeeds().to_owned();
    let shown = said(sandbox.htm(&retention).await);
    assert_eq!(shown, "atlas keeps everything\n");
    sandbox.remember(&["--namespace", "atlas", "text"]).await;
    sqlx::raw_sql("update htm.nodes set created_at = now() - interval '9 days', remembered_at = now() - interval '9 days'")
        .execute(&db.pool)
        .await
        .unwrap();
    let policy = [&retention[..], &["--forget-after", "7d", "--purge-after", "0s"]].concat();
    let refused = sandbox.htm(&policy).await;
    assert!(
        refused.fails(2, "not_confirmed").contains("forgets 1 and purges 0 memories of `atlas`"),
        "{refused:?}"
    );
    let plan = said(sandbox.htm(&[&policy[..], &["--dry-run"]].concat()).await);
    let expected = "atlas forgets memories of 7d, purges forgotten ones at once\nthe next sweep would forget 1 memory and purge 0\n";
    assert_eq!(plan, expected);
    let set = said(sandbox.htm(&[&policy[..], &["--yes"]].concat()).await);
    assert_eq!(set, expected.replace("would forget", "forgets").replace("purge 0", "purges 0"));
    let swept = sandbox.htm(&["--json", "sweep"]).await.json();
    assert_eq!(swept["namespaces"][0]["aged"], 1);
    let kept = said(sandbox.htm(&[&retention[..], &["--forget-after", "never"]].concat()).await);
    assert_eq!(kept.lines().next(), Some("atlas purges forgotten ones at once"));
    sandbox.htm(&[&retention[..], &["--purge-after", "soon"]].concat()).await.exits(2);
}

#[tokio::test]
async fn limits_are_set_raised_and_removed() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let quota = async |value: &str| sandbox.htm(&["namespaces", "quota", "load", "--memories", value]).await;
    let note = "note: no memory is stored in namespace `load`";
    assert!(quota("1").await.succeeds().contains(note));
    sandbox.remember(&["--namespace", "load", "one"]).await;
    let set = sandbox.htm(&["--json", "namespaces", "quota", "load", "--memories", "1"]).await.json();
    assert_eq!(set.get("notes"), None, "{set}");
    let full = sandbox.htm(&["remember", "--namespace", "load", "two"]).await;
    let said = full.fails(2, "quota_exceeded");
    assert!(said.contains("now 1: `htm namespaces quota load --memories N`"), "{said}");
    quota("-5").await.fails(2, "limit_out_of_range");
    for none in ["none", "never"] {
        assert!(quota(none).await.succeeds().contains("memories: 1, no limit"), "{none}");
        let kept = sandbox.htm(&["namespaces", "retention", "load", "--forget-after", none]).await;
        assert_eq!(kept.succeeds(), "load keeps everything\n");
        let budget = ["providers", "budget", "load", "--tokens-per-day", none];
        assert_eq!(sandbox.htm(&budget).await.succeeds(), "load may spend any number of tokens\n");
    }
    // A mistyped name is told, and a pattern is no name.
    for arguments in [
        &["namespaces", "retention", "laod", "--forget-after", "90d"][..],
        &["providers", "budget", "laod", "--tokens-per-day", "9"],
    ] {
        let said = sandbox.htm(arguments).await;
        assert!(said.succeeds().contains("namespace `laod`; the nearest: load"), "{said:?}");
    }
    let said = sandbox.htm(&["namespaces", "quota", "load/*", "--requests-per-minute", "9"]).await;
    assert_eq!(said.succeeds(), "load/*\nrequests a minute: 9\n");
}
