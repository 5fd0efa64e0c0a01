//! Standard output and standard error that nobody reads or that are full, and paths that are no text.

use std::io::PipeWriter;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use htm_runtime::paths::Paths;
use htm_tests::{Sandbox, TestDatabase};
use serde_json::json;

/// A standard output that nobody reads.
fn unread() -> PipeWriter {
    std::io::pipe().expect("a pipe").1
}

#[tokio::test]
async fn a_member_that_nobody_reads_leaves_its_group() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let mut command = sandbox.command_of("htm", &["groups", "join", "crew", "--robot", "ada"]);
    let mut member = command.stdout(unread()).stderr(Stdio::null()).spawn().unwrap();
    // Its end would be another reason to leave.
    let _stdin = member.stdin.take();
    let ended = tokio::time::timeout(Duration::from_secs(60), member.wait()).await;
    assert_eq!(ended.expect("it ends within a minute").unwrap().code(), Some(0));
    let shown = sandbox.htm(&["groups", "show", "crew"]).await;
    assert!(shown.succeeds().ends_with("no members\n"), "{shown:?}");
}

#[tokio::test]
async fn a_command_that_nobody_reads_keeps_its_exit_code() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    sandbox.remember(&["Its jobs are lost."]).await;
    sqlx::raw_sql("delete from apalis.jobs").execute(&db.pool).await.unwrap();
    let mut command = sandbox.command_of("htm", &["jobs", "audit"]);
    let ended = command.stdout(unread()).stderr(Stdio::null()).status().await.unwrap();
    assert_eq!(ended.code(), Some(1));
}

#[tokio::test]
async fn a_demo_that_nobody_reads_on_leaves_nothing_running() {
    let dir = htm_tests::cluster_dir();
    let home = Paths::from_env().unwrap().home().display().to_string();
    let data = dir.path().display().to_string();
    let sandbox = Sandbox::on("").set("HTM_HOME", &home).set("HTM_DATA_DIR", &data);
    let ended = sandbox.shell("htm demo | head -6 > said; echo ${PIPESTATUS[0]}").await;
    assert_eq!(ended.succeeds(), "0\n", "{ended:?}");
    let said = sandbox.shell("cat said").await;
    let worker = said.succeeds().trim_end().rsplit_once("embed-worker runs as process ");
    let (_, worker) = worker.unwrap_or_else(|| panic!("{said:?}"));
    assert!(!Path::new("/proc").join(worker).exists(), "{worker}");
    assert_eq!(sandbox.htm(&["db", "status", "--json"]).await.json()["running"], json!(false));
}

#[tokio::test]
async fn a_start_of_postgresql_is_told_on_a_terminal_alone() {
    let dir = htm_tests::cluster_dir();
    let home = Paths::from_env().unwrap().home().display().to_string();
    let data = dir.path().display().to_string();
    let sandbox = Sandbox::on("").set("HTM_HOME", &home).set("HTM_DATA_DIR", &data);
    // The first start takes seconds.
    let told = sandbox.shell("TERM=xterm script -qec 'htm db up' /dev/null < /dev/null").await;
    assert!(told.succeeds().contains("starting PostgreSQL"), "{told:?}");
    sandbox.htm(&["db", "down"]).await.succeeds();
    let up = sandbox.htm(&["db", "up"]).await;
    assert_eq!((up.succeeds().lines().count(), &*up.stderr), (1, ""));
    sandbox.htm(&["db", "down"]).await.succeeds();
}

#[tokio::test]
async fn work_of_nothing_has_no_bar() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let on_terminal = async |line: &str| {
        let told = sandbox.shell(&format!("TERM=xterm script -qec '{line}' /dev/null < /dev/null")).await;
        told.succeeds().to_owned()
    };
    let told = on_terminal("htm export > exported; : > empty; htm import empty > imported").await;
    assert!(!told.contains("0/0"), "{told:?}");
    sandbox.remember(&["Mara prefers tabs."]).await;
    let told = on_terminal("htm export > exported").await;
    assert!(told.contains("/1 memories"), "{told:?}");
    // The size of a pipe is unknown.
    let told = on_terminal("cat exported | htm import - > imported").await;
    assert!(told.contains("import  ") && !told.contains("0/0"), "{told:?}");
}

#[tokio::test]
async fn a_full_standard_output_is_an_error() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let said = sandbox.shell("htm config default > /dev/full").await;
    assert!(said.fails(1, "io_error").contains("standard output cannot be written"), "{said:?}");
    for program in ["htm", "embed-worker", "tag-worker", "learn-worker"] {
        sandbox.shell(&format!("{program} --help > /dev/full")).await.fails(1, "io_error");
    }
    let error = sandbox.shell("htm --json config default > /dev/full").await.json_error(1);
    assert_eq!(error["code"], "io_error");
    // The input is right, and the memory is stored.
    let said = sandbox.shell("htm remember 'Mara prefers tabs.' > /dev/full").await;
    assert!(said.fails(1, "io_error").contains("what the command has stored or changed stays"), "{said:?}");
    assert_eq!(db.count("select count(*) from htm.nodes").await, 1);
    sandbox.shell("htm export > /dev/full").await.fails(1, "io_error");
}

#[tokio::test]
async fn a_full_standard_error_changes_no_exit_code() {
    let sandbox = Sandbox::on("");
    for command in [
        "htm config explain recall.limt",
        "htm --json config explain recall.limt",
        "htm --json get abc",
        "htm --json config",
        "tag-worker --drain --set recall.limt=1",
    ] {
        sandbox.shell(&format!("{command} 2> /dev/full")).await.exits(2);
    }
}

#[tokio::test]
async fn a_path_in_an_answer_need_not_be_utf8() {
    let sandbox = Sandbox::on("");
    let man = sandbox.shell(r"htm --json man --to $'man\xff'").await.json();
    assert_eq!(man["pages"][0], "man\u{fffd}/htm.1");
    let trust = r"mkdir $'p\xff' && cd $'p\xff' && echo '[recall]' > htm.toml && htm --json config trust";
    let trusted = sandbox.shell(trust).await.json();
    assert!(trusted[0]["path"].as_str().unwrap().ends_with("/p\u{fffd}/htm.toml"), "{trusted}");
    let install = r#"export HOME="$PWD"/$'h\xff'; mkdir "$HOME"; echo '{}' > "$HOME/.claude.json"
                     htm --json mcp install claude-code --yes"#;
    let installed = sandbox.shell(install).await.json();
    let backup = installed["backup"].as_str().unwrap();
    assert!(backup.ends_with("/h\u{fffd}/.claude.json.htm-backup"), "{installed}");
}
