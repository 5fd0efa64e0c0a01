//! What is told so that nobody wonders: names that are not there, keys, subcommands, ids, and numbers of one.

use htm_runtime::paths::Paths;
use htm_tests::{Sandbox, TestDatabase, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};

#[tokio::test]
async fn a_namespace_that_is_not_there_is_named_with_the_nearest() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    // A memory that is new is empty, and nothing is wrong.
    let new = sandbox.htm(&["recall", "--json", "ledger"]).await.json();
    assert_eq!((&new["hits"], &new["notes"]), (&json!([]), &json!([])));
    let named = sandbox.htm(&["recall", "--json", "--namespace", "atlas", "ledger"]).await.json();
    assert_eq!(named["notes"], json!(["no memory is stored in namespace `atlas`; there are no others"]));
    for namespace in ["atlas", "home", "zeppelin", "notes"] {
        sandbox.remember(&["--namespace", namespace, "The ledger moves on Friday."]).await;
    }
    let said = "no memory is stored in namespace `altas`; the nearest: atlas";
    for arguments in [
        &["recall", "--namespace", "altas", "ledger"][..],
        &["timeline", "--namespace", "altas"],
        &["timeline", "--namespace", "altas", "ledger"],
        &["stats", "--namespace", "altas"],
    ] {
        let answer = sandbox.htm(arguments).await;
        assert!(answer.succeeds().contains(&format!("note: {said}")), "{answer:?}");
        let answer = sandbox.htm(&[&["--json"], arguments].concat()).await.json();
        assert!(answer["notes"][0].as_str().unwrap().starts_with(said), "{answer}");
    }
    for arguments in [
        &["context", "--namespace", "altas", "--as", "ada", "ledger"][..],
        &["tags", "list", "--namespace", "altas"],
        &["tags", "tree", "--namespace", "altas"],
        &["tags", "popular", "--namespace", "altas"],
        &["tags", "synonyms", "list", "--namespace", "altas"],
    ] {
        let answer = sandbox.htm(arguments).await;
        answer.succeeds();
        assert!(answer.stderr.contains(&format!("note: {said}")), "{answer:?}");
    }
    let context = ["--json", "context", "--namespace", "altas", "--as", "ada", "ledger"];
    let context = sandbox.htm(&context).await.json();
    assert!(context["notes"][0].as_str().unwrap().starts_with(said), "{context}");
    for command in [&["context"][..], &["memory", "show"]] {
        let answer = sandbox.htm(&[command, &["--namespace", "altas", "--robot", "bob"]].concat()).await;
        assert!(answer.fails(2, "robot_unknown").contains(said), "{answer:?}");
    }
    // Tags that a namespace begins with are there before its memories.
    sandbox.htm(&["tags", "add", "ledger", "--namespace", "new"]).await.succeeds();
    assert_eq!(sandbox.htm(&["tags", "list", "--namespace", "new"]).await.stderr, "");
    // Nobody named it, and there are others: what was written went elsewhere.
    let own = sandbox.htm(&["recall", "ledger"]).await;
    assert!(own.succeeds().contains("no memory is stored in namespace `default`"), "{own:?}");
    for arguments in [
        &["recall", "--namespace", "atlas", "x"][..],
        &["stats", "--all"],
        &["timeline", "--namespace", "home"],
    ] {
        let answer = sandbox.htm(&[&["--json"], arguments].concat()).await.json();
        assert_eq!(answer["notes"], json!([]), "{arguments:?}");
    }
    // One that is forgotten was there.
    sandbox.htm(&["forget", "1", "--any-robot", "--namespace", "atlas", "--yes"]).await.succeeds();
    assert_eq!(sandbox.htm(&["--json", "stats", "--namespace", "atlas"]).await.json()["notes"], json!([]));
}

#[tokio::test]
async fn a_model_that_answers_for_the_active_one_is_told() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    sandbox.remember(&["The ledger moves on Friday."]).await;
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    let quiet = sandbox.htm(&["recall", "ledger"]).await;
    assert!(!quiet.succeeds().contains("note:"), "{quiet:?}");
    // Of a provider that nobody here knows.
    sqlx::query("select htm.register_embedding_model('elsewhere', 'm', 8)").execute(&db.pool).await.unwrap();
    sandbox.htm(&["models", "activate", "elsewhere/m", "--force"]).await.succeeds();
    let said =
        "the standby model `fake/fake-64` answered: the active model `elsewhere/m` has no embedder here";
    for arguments in
        [&["recall", "ledger"][..], &["timeline", "ledger"], &["context", "--as", "ada", "ledger"]]
    {
        let answer = sandbox.htm(arguments).await;
        assert!(format!("{}{}", answer.succeeds(), answer.stderr).contains(said), "{answer:?}");
    }
    let recalled = sandbox.htm(&["recall", "--json", "ledger"]).await.json();
    assert_eq!(
        (&recalled["models"], &recalled["instead_of"]),
        (&json!(["fake/fake-64"]), &json!("elsewhere/m"))
    );
    // Who names a model has asked for it.
    let named = sandbox.htm(&["recall", "--json", "--model", "fake/fake-64", "ledger"]).await.json();
    assert_eq!(named["instead_of"], json!(null));
    // The doctor names both, and what mends it.
    let answer = sandbox.htm(&["doctor"]).await;
    let said = &answer.exits(1).stdout;
    for part in [
        "recall uses elsewhere/m, the active model; the configured one, fake/fake-64, is in state standby",
        "embedding.provider = \"elsewhere\" and embedding.model = \"m\"",
        "`htm models activate fake/fake-64`",
    ] {
        assert!(said.contains(part), "{said}");
    }
    // Where both can be asked it is only odd.
    sandbox.htm(&["models", "activate", "fake/fake-64", "--force"]).await.succeeds();
    let other = Sandbox::new(&db).set("HTM_EMBEDDING__MODEL", "wide");
    let said = other.htm(&["doctor"]).await;
    assert!(said.stdout.contains("warning  recall uses fake/fake-64, the active model; the configured one, fake/wide, is not registered"), "{said:?}");
    assert!(said.stdout.contains("`htm models add fake/wide`"), "{said:?}");
}

#[tokio::test]
async fn a_key_is_explained_whatever_is_wrong_with_the_configuration() {
    let sandbox = Sandbox::on("").set("HTM_RECALL__LIMIT", "7");
    let answer = sandbox.htm(&["config", "explain", "recall.limit"]).await;
    assert_eq!(
        answer.succeeds(),
        "recall.limit\nThe default number of hits; 1 to 10000.\ndefault: 20\nhere: 7, from HTM_RECALL__LIMIT\n"
    );
    let section = sandbox.htm(&["config", "explain", "recall", "--json"]).await.json();
    assert!(
        section.as_array().unwrap().iter().any(|it| it["key"] == "recall.ef_search" && it["value"] == "200")
    );
    let answer = sandbox.htm(&["config", "explain", "recall.limt"]).await;
    assert!(answer.fails(2, "config_unknown_key").contains("did you mean `recall.limit`?"), "{answer:?}");
    let file = sandbox.htm(&["config", "default"]).await;
    assert_eq!(file.succeeds().trim_end(), htm_runtime::config::DEFAULT_TOML.trim_end());
    let broken = Sandbox::on("").set("HTM_RECALL__LIMIT", "lots");
    let said = broken.htm(&["recall", "x"]).await.fails(2, "config_bad_value").to_owned();
    assert!(said.contains("`htm config explain recall.limit`"), "{said}");
    broken.htm(&["config", "explain", "recall.limit"]).await.succeeds();
    broken.htm(&["config", "default"]).await.succeeds();
}

#[tokio::test]
async fn what_cannot_be_read_says_what_could_be() {
    let sandbox = Sandbox::on("");
    for (arguments, message, hint) in [
        (
            &["--json", "config"][..],
            "`htm config` needs a subcommand: show, explain, default",
            "htm config --help",
        ),
        (
            &["tags", "synonyms", "--json"],
            "`htm tags synonyms` needs a subcommand: list",
            "htm tags synonyms --help",
        ),
        (
            &["--json", "get", "abc"],
            "an id is a whole number, as 42; for a key: `htm get --key abc`",
            "htm --help",
        ),
        (&["--json", "neighbours", "abc"], "an id is a whole number, as 42", "htm --help"),
    ] {
        let error = sandbox.htm(arguments).await.json_error(2);
        let said = |field: &str| error[field].as_str().unwrap().to_owned();
        assert!(error["code"] == "usage" && said("message").contains(message), "{error}");
        assert!(said("hint").contains(hint), "{error}");
    }
    let said = sandbox.htm(&["get", "abc"]).await;
    assert!(said.exits(2).stderr.contains("for a key: `htm get --key abc`"), "{said:?}");
}

#[tokio::test]
async fn a_program_whose_name_is_not_utf8_says_what_is_missing_too() {
    let sandbox = Sandbox::on("");
    let error = sandbox.shell(r"exec -a $'htm\xff' htm --json config").await.json_error(2);
    assert!(error["code"] == "usage" && error["message"].as_str().unwrap().contains("show"), "{error}");
}

#[tokio::test]
async fn a_next_step_is_about_what_the_command_was_about() {
    let sandbox = Sandbox::on("");
    for (arguments, step) in [
        (
            &["tags", "remove", "shared", "--namespace", "hb", "--assigned"][..],
            "check it with `htm tags remove shared --namespace hb --assigned --dry-run`, then confirm with `--yes`",
        ),
        (
            &["--json", "robots", "merge", "a b", "c", "--namespace=hb"],
            "check it with `htm --json robots merge 'a b' c --namespace=hb --dry-run`, then confirm with `--yes`",
        ),
        (
            &["groups", "shutdown", "crew", "--clear", "--namespace", "hb"],
            "confirm: `htm groups shutdown crew --clear --namespace hb --yes`",
        ),
        (
            &["--set", "openai.api_key=secret", "db", "reset"],
            "confirm: `htm --set 'openai.api_key=***' db reset --yes`",
        ),
    ] {
        let answer = sandbox.htm(arguments).await;
        assert!(answer.exits(2).stderr.contains(step) && !answer.stderr.contains("secret"), "{answer:?}");
    }
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let node = sandbox.remember(&["--namespace", "hb", "--robot", "ada", "text"]).await;
    for (arguments, step) in [
        (&["tags", "revert", "9", "--yes"][..], "`htm tags log --namespace hb`"),
        (&["tags", "show", "nothing"], "`htm tags list --namespace hb`"),
        (&["tags", "synonyms", "remove", "nothing"], "`htm tags synonyms list --namespace hb`"),
        (&["groups", "show", "crew"], "`htm groups join crew --namespace hb`"),
        (&["memory", "touch", "99", "--robot", "ada"], "`htm memory show --robot ada --namespace hb`"),
    ] {
        let answer = sandbox.htm(&[arguments, &["--namespace", "hb"]].concat()).await;
        assert!(answer.exits(2).stderr.contains(step), "{answer:?}");
    }
    let whose = ["--namespace", "hb", "--robot", "ada"];
    let forgotten = sandbox.htm(&[&["forget", &node, "--yes"], &whose[..]].concat()).await;
    let step = format!("`htm restore {node} --namespace hb --robot ada` brings it back");
    assert!(forgotten.succeeds().contains(&step), "{forgotten:?}");
    sandbox.shell(&step[1..step.len() - "` brings it back".len()]).await.succeeds();
}

#[tokio::test]
async fn one_is_one_and_none_is_said() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    sandbox.remember(&["--namespace", "at las", "--tag", "ledger", "The ledger moves on Friday."]).await;
    let one = sandbox.htm(&["recall", "--namespace", "at las", "--strategy", "fulltext", "ledger"]).await;
    assert!(one.succeeds().contains("\n1 hit by fulltext in "), "{one:?}");
    let one = sandbox.htm(&["timeline", "--namespace", "at las"]).await;
    assert!(one.succeeds().contains("\n1 memory"), "{one:?}");
    for (arguments, said) in [
        (&["--state", "dead"][..], "no dead letters\n"),
        (&["--state", "parked"], "no parked jobs\n"),
        (&["--state", "dead", "--queue", "htm.tag"], "no dead letters match the filters\n"),
    ] {
        assert_eq!(sandbox.htm(&[&["jobs", "list"], arguments].concat()).await.succeeds(), said);
    }
    // A suggestion is a command that does it, there.
    let orphans = sandbox.htm(&["tags", "orphans", "--namespace", "at las"]).await;
    assert!(orphans.succeeds().contains("htm tags remove ledger --namespace 'at las'"), "{orphans:?}");
    let answer: Value = sandbox.htm(&["jobs", "list", "--state", "dead", "--json"]).await.json();
    assert_eq!(answer, json!([]));
}

#[tokio::test]
async fn a_server_that_others_use_is_stopped_only_by_force() {
    let dir = htm_tests::cluster_dir();
    let home = Paths::from_env().unwrap().home().display().to_string();
    let sandbox =
        Sandbox::on("").set("HTM_HOME", &home).set("HTM_DATA_DIR", &dir.path().display().to_string());
    let url = sandbox.htm(&["db", "up", "--json"]).await.json()["url"].as_str().unwrap().to_owned();
    // A program that has its URL.
    let connection = PgConnection::connect(&url).await.unwrap();
    let refused = sandbox.htm(&["db", "down"]).await;
    let said = refused.fails(2, "database_in_use");
    assert!(said.contains("1 other connection is open") && said.contains("htm db down --force"), "{said}");
    connection.close().await.unwrap();
    // A process of HTM, whatever connections it has at the moment.
    let mut up = sandbox.start("htm", &["up"]);
    wait_until(|| async { up.log().contains("HTM is up") }).await;
    sandbox.htm(&["db", "down"]).await.fails(2, "database_in_use");
    up.signal(Signal::SIGTERM);
    assert_eq!(up.end().await.code(), Some(0), "{}", up.log());
    let status = async || sandbox.htm(&["db", "status", "--json"]).await.json()["running"].clone();
    assert_eq!(status().await, json!(true));
    // PostgreSQL takes a moment to see that a client has gone.
    wait_until(|| async { sandbox.htm(&["db", "down"]).await.stdout == "stopped\n" }).await;
    assert_eq!(status().await, json!(false));
    sandbox.htm(&["db", "down"]).await.succeeds();

    sandbox.htm(&["db", "up"]).await.succeeds();
    let _connection = PgConnection::connect(&url).await.unwrap();
    sandbox.htm(&["db", "down", "--force"]).await.succeeds();
    assert_eq!(status().await, json!(false));
}
