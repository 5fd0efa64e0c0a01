//! Both tiers from the shell: what a robot says and asks comes to its mind.

use htm_tests::{Sandbox, TestDatabase};
use serde_json::json;

async fn in_mind(sandbox: &Sandbox, robot: &str) -> serde_json::Value {
    sandbox.htm(&["memory", "show", "--robot", robot, "--json"]).await.json()
}

#[tokio::test]
async fn what_a_robot_remembers_is_in_its_mind() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let answer = sandbox.htm(&["remember", "--robot", "ada", "The ledger is in PostgreSQL."]).await;
    assert!(answer.succeeds().ends_with("\nada has it in mind\n"), "{answer:?}");
    let said = sandbox.htm(&["remember", "--robot", "ada", "--json", "Backups run at two."]).await.json();
    assert_eq!((&said["in_mind"]["robot"], &said["in_mind"]["evicted"]), (&json!("ada"), &json!([])));
    assert_eq!(in_mind(&sandbox, "ada").await["stats"]["nodes"], 2);
    // The same again, too: it counts as used.
    sandbox.htm(&["remember", "--robot", "bob", "Backups run at two."]).await.succeeds();
    assert_eq!(in_mind(&sandbox, "bob").await["nodes"][0]["node"], said["node"]);
    // One that the configuration names is named as well; one that nobody names has no mind to fill.
    let configured = Sandbox::new(&db).set("HTM_MEMORY__ROBOT", "cyd");
    configured.htm(&["remember", "Mara prefers tabs."]).await.succeeds();
    assert_eq!(in_mind(&sandbox, "cyd").await["stats"]["nodes"], 1);
    let nobody = sandbox.htm(&["remember", "--json", "Friday is off."]).await.json();
    assert_eq!(nobody["in_mind"], json!(null));
    assert_eq!(in_mind(&sandbox, "htm").await["stats"]["nodes"], 0);
    assert_eq!(db.count("select count(*) from htm.nodes").await, 4);
}

#[tokio::test]
async fn who_asks_has_what_is_found_in_mind() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db).set("HTM_RECALL__STRATEGY", "fulltext");
    for text in ["The ledger is in PostgreSQL.", "The ledger moves on Friday.", "Mara prefers tabs."] {
        sandbox.remember(&["--robot", "bob", text]).await;
    }
    let answer = sandbox.htm(&["recall", "--as", "ada", "ledger"]).await;
    let said = answer.succeeds();
    assert!(said.contains("ada has these 2 in mind; the robot is new: it is registered now"), "{said}");
    assert_eq!(in_mind(&sandbox, "ada").await["stats"]["nodes"], 2);
    // --robot filters, and fills no mind.
    let filtered = ["recall", "--json", "--robot", "bob", "--as", "ada", "--limit", "1", "tabs"];
    let found = sandbox.htm(&filtered).await.json();
    assert_eq!((found["hits"].as_array().unwrap().len(), &found["in_mind"]["is_new"]), (1, &json!(false)));
    assert_eq!(in_mind(&sandbox, "ada").await["stats"]["nodes"], 3);
    let plain = sandbox.htm(&["recall", "--json", "--robot", "ada", "tabs"]).await.json();
    assert_eq!((&plain["in_mind"], &plain["hits"]), (&json!(null), &json!([])));
    // What it asks counts for what it is found by, also of another namespace.
    sandbox.remember(&["--namespace", "atlas", "The ledger of atlas."]).await;
    sandbox.htm(&["recall", "--namespace", "atlas", "--as", "eve", "ledger"]).await.succeeds();
    let eve = ["memory", "show", "--namespace", "atlas", "--robot", "eve", "--json"];
    assert_eq!(sandbox.htm(&eve).await.json()["stats"]["nodes"], 1);
    sandbox.htm(&["recall", "--as", " ", "ledger"]).await.fails(2, "robot_invalid");
    sandbox.htm(&["recall", "--as", "ada", "--batch", "q.jsonl"]).await.exits(2);
}

#[tokio::test]
async fn a_robot_has_a_budget_of_its_own() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db).set("HTM_WORKING_MEMORY__MAX_TOKENS", "1000");
    for n in 0..5 {
        sandbox.remember(&["--robot", "ada", &format!("Note {n}: the ledger is migrated on Friday.")]).await;
    }
    let set = sandbox.htm(&["robots", "set", "ada", "--max-tokens", "30"]).await;
    assert_eq!(set.succeeds(), "ada holds 30 tokens in mind\n");
    let stats = &in_mind(&sandbox, "ada").await["stats"];
    assert_eq!(stats["max_tokens"], 30);
    assert!(stats["tokens"].as_u64().unwrap() <= 30 && stats["nodes"].as_u64().unwrap() >= 1, "{stats}");
    // What comes, goes by it; another robot has what the configuration says.
    let answer = sandbox
        .htm(&[
            "remember",
            "--robot",
            "ada",
            "The ledger is migrated, after all, and the tables of the old one are dropped on Monday.",
        ])
        .await;
    assert!(answer.succeeds().contains("left it for that"), "{answer:?}");
    let large = sandbox.htm(&["remember", "--robot", "ada", &"ledger ".repeat(40)]).await;
    assert!(large.succeeds().contains("is larger than its working memory of 30"), "{large:?}");
    sandbox.remember(&["--robot", "bob", "Mara prefers tabs."]).await;
    assert_eq!(in_mind(&sandbox, "bob").await["stats"]["max_tokens"], 1000);
    let shown = sandbox.htm(&["robots", "show", "ada"]).await;
    assert!(shown.succeeds().contains("budget        30 tokens"), "{shown:?}");
    let used = sandbox.htm(&["stats", "--json"]).await.json()["working_memory"].clone();
    let of = |robot: &str| used.as_array().unwrap().iter().find(|it| it["robot"] == robot).unwrap().clone();
    assert_eq!((&of("ada")["max_tokens"], &of("bob")["max_tokens"]), (&json!(30), &json!(1000)));
    assert!(of("ada")["utilisation"].as_f64().unwrap() > 0.3);

    let back = sandbox.htm(&["robots", "set", "ada", "--max-tokens", "default"]).await;
    assert!(back.succeeds().ends_with("working_memory.max_tokens says: 1000\n"), "{back:?}");
    assert_eq!(in_mind(&sandbox, "ada").await["stats"]["max_tokens"], 1000);
    for (tokens, code) in
        [("0", "budget_out_of_range"), ("-5", "budget_out_of_range"), ("many", "budget_out_of_range")]
    {
        sandbox.htm(&["robots", "set", "ada", "--max-tokens", tokens]).await.fails(2, code);
    }
    sandbox.htm(&["robots", "set", "nobody", "--max-tokens", "9"]).await.fails(2, "robot_unknown");
}
