//! Both tiers from the shell: what a robot remembers and recalls enters its working memory.

use htm_tests::{Sandbox, TestDatabase};
use serde_json::json;

async fn working_memory(sandbox: &Sandbox, robot: &str) -> serde_json::Value {
    sandbox.htm(&["memory", "show", "--robot", robot, "--json"]).await.json()
}

#[tokio::test]
async fn what_a_robot_remembers_is_in_its_working_memory() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let answer = sandbox.htm(&["remember", "--robot", "ada", "The ledger is in PostgreSQL."]).await;
    assert!(answer.succeeds().ends_with("\nada's working memory has it\n"), "{answer:?}");
    let said = sandbox.htm(&["remember", "--robot", "ada", "--json", "Backups run at two."]).await.json();
    assert_eq!(
        (&said["working_memory"]["robot"], &said["working_memory"]["evicted"]),
        (&json!("ada"), &json!([]))
    );
    assert_eq!(working_memory(&sandbox, "ada").await["stats"]["nodes"], 2);
    // The same again, too: it counts as used.
    sandbox.htm(&["remember", "--robot", "bob", "Backups run at two."]).await.succeeds();
    assert_eq!(working_memory(&sandbox, "bob").await["nodes"][0]["node"], said["node"]);
    // One that the configuration names is named as well; the default robot's working memory stays empty.
    let configured = Sandbox::new(&db).set("HTM_MEMORY__ROBOT", "cyd");
    configured.htm(&["remember", "Mara prefers tabs."]).await.succeeds();
    assert_eq!(working_memory(&sandbox, "cyd").await["stats"]["nodes"], 1);
    let nobody = sandbox.htm(&["remember", "--json", "Friday is off."]).await.json();
    assert_eq!(nobody["working_memory"], json!(null));
    assert_eq!(working_memory(&sandbox, "htm").await["stats"]["nodes"], 0);
    assert_eq!(db.count("select count(*) from htm.nodes").await, 4);
}

#[tokio::test]
async fn hits_enter_the_working_memory_of_the_robot_that_asks() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db).set("HTM_RECALL__STRATEGY", "fulltext");
    for text in ["The ledger is in PostgreSQL.", "The ledger moves on Friday.", "Mara prefers tabs."] {
        sandbox.remember(&["--robot", "bob", text]).await;
    }
    let answer = sandbox.htm(&["recall", "--as", "ada", "ledger"]).await;
    let said = answer.succeeds();
    assert!(said.contains("ada's working memory has these 2; the robot is new and was registered"), "{said}");
    assert_eq!(working_memory(&sandbox, "ada").await["stats"]["nodes"], 2);
    // --robot filters, and fills no working memory.
    let filtered = ["recall", "--json", "--robot", "bob", "--as", "ada", "--limit", "1", "tabs"];
    let found = sandbox.htm(&filtered).await.json();
    assert_eq!(
        (found["hits"].as_array().unwrap().len(), &found["working_memory"]["is_new"]),
        (1, &json!(false))
    );
    assert_eq!(working_memory(&sandbox, "ada").await["stats"]["nodes"], 3);
    let plain = sandbox.htm(&["recall", "--json", "--robot", "ada", "tabs"]).await.json();
    assert_eq!((&plain["working_memory"], &plain["hits"]), (&json!(null), &json!([])));
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
    assert_eq!(set.succeeds(), "ada's working memory holds 30 tokens\n");
    let stats = &working_memory(&sandbox, "ada").await["stats"];
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
    assert!(answer.succeeds().contains("evicted for it"), "{answer:?}");
    let large = sandbox.htm(&["remember", "--robot", "ada", &"ledger ".repeat(40)]).await;
    assert!(large.succeeds().contains("is larger than its working memory of 30"), "{large:?}");
    let node = sandbox.remember(&[&"ledger ".repeat(41)]).await;
    let refused = sandbox.htm(&["memory", "add", &node, "--robot", "ada"]).await;
    let said = refused.fails(2, "node_oversized");
    assert!(said.contains(&format!("node {node} has ")) && said.contains("htm robots set ada"), "{said}");
    let add = ["memory", "add", &node, "--robot", "ada", "--namespace", "default"];
    let refused = sandbox.htm(&add).await;
    let said = refused.fails(2, "node_oversized");
    assert!(said.contains("htm robots set ada --max-tokens N --namespace default"), "{said}");
    sandbox.remember(&["--robot", "bob", "Mara prefers tabs."]).await;
    assert_eq!(working_memory(&sandbox, "bob").await["stats"]["max_tokens"], 1000);
    let shown = sandbox.htm(&["robots", "show", "ada"]).await;
    assert!(shown.succeeds().contains("budget          30 tokens"), "{shown:?}");
    let used = sandbox.htm(&["stats", "--json"]).await.json()["working_memory"].clone();
    let of = |robot: &str| used.as_array().unwrap().iter().find(|it| it["robot"] == robot).unwrap().clone();
    assert_eq!((&of("ada")["max_tokens"], &of("bob")["max_tokens"]), (&json!(30), &json!(1000)));
    assert!(of("ada")["utilisation"].as_f64().unwrap() > 0.3);

    let back = sandbox.htm(&["robots", "set", "ada", "--max-tokens", "default"]).await;
    assert!(back.succeeds().ends_with("the default (working_memory.max_tokens): 1000\n"), "{back:?}");
    assert_eq!(working_memory(&sandbox, "ada").await["stats"]["max_tokens"], 1000);
    for (tokens, code) in
        [("0", "budget_out_of_range"), ("-5", "budget_out_of_range"), ("many", "budget_out_of_range")]
    {
        sandbox.htm(&["robots", "set", "ada", "--max-tokens", tokens]).await.fails(2, code);
    }
    sandbox.htm(&["robots", "set", "nobody", "--max-tokens", "9"]).await.fails(2, "robot_unknown");
}
