//! A context on standard output, what was left out on standard error.

use htm_tests::{Sandbox, TestDatabase};

async fn filled(sandbox: &Sandbox) {
    for (importance, text) in [
        ("8", "We chose PostgreSQL for the ledger."),
        ("3", "The ledger is migrated on Friday."),
        ("5", &"The ledger has balances. ".repeat(20)),
    ] {
        sandbox.remember(&["--importance", importance, "--source", "meeting", text]).await;
    }
}

#[tokio::test]
async fn it_is_ready_to_paste_and_the_report_stands_beside_it() {
    let db = TestDatabase::new().await;
    let sandbox =
        Sandbox::new(&db).set("HTM_RECALL__STRATEGY", "fulltext").set("HTM_TOKENS__ENCODING", "o200k_base");
    filled(&sandbox).await;
    let arguments = ["context", "--order", "important", "--budget", "40", "PostgreSQL ledger"];
    let answer = sandbox.htm(&arguments).await;
    assert_eq!(
        answer.succeeds(),
        "We chose PostgreSQL for the ledger.\n\nThe ledger is migrated on Friday.\n"
    );
    insta::assert_snapshot!(answer.stderr);

    let json = sandbox.htm(&[&["--json"], &arguments[..]].concat()).await.json();
    assert_eq!(json["included"].as_array().unwrap().len(), 2);
    assert_eq!(json["left_out"][0]["reason"], "oversized");
    assert_eq!(json["max_tokens"], 40);
    assert!(json["tokens"].as_u64().unwrap() <= 40);
    assert_eq!(json["recalled"]["hits"].as_array().unwrap().len(), 3);
    assert_eq!(json["working_memory"]["nodes"], 3);
    assert_eq!(json["unverified"], serde_json::Value::Null);

    // Without a query: the working memory of the calls before.
    let arguments = ["context", "--order", "important", "--header", "--separator", r"\n--\n"];
    let answer = sandbox.htm(&arguments).await;
    assert!(
        answer.succeeds().starts_with(
            "<memory age=\"just now\" source=\"meeting\">\nWe chose PostgreSQL for the ledger.\n</memory>\n--\n<memory "
        ),
        "{answer:?}"
    );

    let arguments = ["context", "--type", "decision"];
    let answer = sandbox.htm(&arguments).await;
    assert_eq!(answer.succeeds(), "");
    assert_eq!(answer.stderr.matches(": the filter leaves it out").count(), 3, "{answer:?}");
    let json = sandbox.htm(&[&["--json"], &arguments[..]].concat()).await.json();
    assert_eq!(json["left_out"].as_array().map(Vec::len), Some(3), "{json}");
    assert_eq!(json["left_out"][0]["reason"], "filtered");
}

#[tokio::test]
async fn a_working_memory_is_shown_and_cleared() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db).set("HTM_TOKENS__ENCODING", "o200k_base");
    filled(&sandbox).await;
    let small = ["--set", "working_memory.max_tokens=50", "context", "--as", "architect", "ledger"];
    let answer = sandbox.htm(&small).await;
    assert!(answer.stderr.contains("larger than the working memory"), "{answer:?}");
    let shown = sandbox.htm(&["memory", "show", "--robot", "architect"]).await;
    insta::with_settings!({ filters => vec![(r"\d{4}-\d\d-\d\d \d\d:\d\d", "[a time        ]")] }, {
        insta::assert_snapshot!(shown.succeeds());
    });
    let json = sandbox.htm(&["memory", "show", "--robot", "architect", "--json"]).await.json();
    assert_eq!(json["stats"]["nodes"], 2);
    assert_eq!(json["nodes"][0]["importance"], 3.0);
    let node = json["nodes"][0]["node"].to_string();
    for (command, said) in [
        ("touch", format!("node {node}: used\nnode 99: was not in the working memory\n")),
        (
            "remove",
            format!("node {node}: removed from the working memory\nnode 99: was not in the working memory\n"),
        ),
    ] {
        let answer = sandbox.htm(&["memory", command, &node, "99", "--robot", "architect"]).await;
        assert_eq!(answer.succeeds(), said);
    }
    for command in ["touch", "remove"] {
        sandbox
            .htm(&["memory", command, &node, "--robot", "architect"])
            .await
            .fails(2, "not_in_working_memory");
    }
    let added = sandbox.htm(&["memory", "add", &node, "--robot", "architect"]).await;
    assert_eq!(added.succeeds(), format!("node {node}: in the working memory\n"));
    let got = sandbox.htm(&["get", &node]).await;
    assert!(got.succeeds().contains("working memory of  architect"), "{got:?}");
    let narrow = ["--set", "working_memory.max_tokens=10", "context", "--as", "architect"];
    let answer = sandbox.htm(&narrow).await;
    assert!(
        answer.stderr.contains("no more room for 1 memory: working memory now holds 10 tokens"),
        "{answer:?}"
    );
    sandbox.htm(&["memory", "add", &node, "1", "--robot", "architect"]).await.succeeds();
    let cleared = sandbox.htm(&["memory", "clear", "--robot", "architect"]).await;
    assert_eq!(
        cleared.succeeds(),
        "2 memories removed from the working memory; long-term memory is unchanged\n"
    );
    let shown = sandbox.htm(&["memory", "show", "--robot", "architect"]).await;
    assert_eq!(
        shown.succeeds(),
        "architect has 0 memories in its working memory: 0 of 128000 tokens (0.0 %)\n"
    );
    assert_eq!(db.count("select count(*) from htm.nodes where deleted_at is null").await, 3);
}

#[tokio::test]
async fn bad_arguments_have_a_code_each() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    for (arguments, code) in [
        (&["context", "--as", "marra"][..], "robot_unknown"),
        (&["memory", "touch", "1", "--robot", "marra"], "robot_unknown"),
        (&["memory", "remove", "1", "--robot", "marra"], "robot_unknown"),
        (&["memory", "add", "99", "--robot", "marra"], "robot_unknown"),
        (&["context", "--budget", "0", "q"], "budget_out_of_range"),
        (&["context", "--budget", "-5", "q"], "budget_out_of_range"),
        (&["context", "--budget", "many", "q"], "budget_out_of_range"),
        (&["context", "--limit", "0", "q"], "limit_out_of_range"),
        (&["context", "--limit", "10001", "q"], "limit_out_of_range"),
        (&["context", "--order", "best", "q"], "context_order_unknown"),
        (&["context", "--as", " ", "q"], "robot_invalid"),
        (&["context", "--namespace", "", "q"], "namespace_invalid"),
        (&["memory", "show", "--robot", "a\u{1b}b"], "robot_invalid"),
        (&["memory", "show", "--robot", "nobody"], "robot_unknown"),
        (&["memory", "clear", "--robot", "nobody"], "robot_unknown"),
        (&["--set", "working_memory.max_tokens=0", "memory", "show"], "config_bad_value"),
    ] {
        sandbox.htm(arguments).await.fails(2, code);
    }
    // A name that was mistyped is not made a robot; one that asks is, and is told.
    assert_eq!(db.count("select count(*) from htm.robots").await, 0);
    let answer = sandbox.htm(&["context", "--as", "mara", "what do I know?"]).await;
    assert!(answer.stderr.contains("the robot is new"), "{answer:?}");
    sandbox.htm(&["memory", "add", "99", "--robot", "mara"]).await.fails(2, "node_not_found");
}
