//! `htm import --from`: the memories of other systems, by the real program, in a real database.

#[path = "import_from/basic_memory.rs"]
mod basic_memory;
#[path = "import_from/chatgpt.rs"]
mod chatgpt;
#[path = "import_from/claude.rs"]
mod claude;
#[path = "import_from/mem0_export.rs"]
mod mem0_export;
#[path = "import_from/of_postgres.rs"]
mod of_postgres;
#[path = "import_from/openmemory.rs"]
mod openmemory;

use std::path::Path;

use htm_tests::{Answer, Sandbox, TestDatabase, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

/// A database, programs, and the system whose memories they import.
struct Import {
    db: TestDatabase,
    sandbox: Sandbox,
    system: &'static str,
    location: String,
}

impl Import {
    async fn of(system: &'static str, location: &Path) -> Self {
        let db = TestDatabase::new().await;
        let sandbox = Sandbox::new(&db);
        Self { db, sandbox, system, location: location.display().to_string() }
    }

    /// Runs `htm import --from`.
    async fn run(&self, options: &[&str]) -> Answer {
        let arguments = [&["import", "--from", self.system], options, &[&self.location]].concat();
        self.sandbox.htm(&arguments).await
    }

    /// The report of an import for programs. The exit code is 2 if something cannot be read.
    async fn report(&self, options: &[&str]) -> Value {
        let answer = self.run(&[options, &["--json"]].concat()).await;
        let report: Value =
            serde_json::from_str(&answer.stdout).unwrap_or_else(|error| panic!("{error}: {answer:?}"));
        let mut left = report["left"].as_array().into_iter().flatten();
        answer.exits(if left.any(|it| it["why"] == "unreadable") { 2 } else { 0 });
        report
    }

    /// The report of an import for people, without the duration.
    async fn said(&self, options: &[&str]) -> String {
        let answer = self.run(options).await;
        let said = answer.exits(if answer.stdout.contains("cannot be read") { 2 } else { 0 }).stdout.clone();
        match said.rsplit_once(" in ") {
            Some((before, _)) if !options.contains(&"--dry-run") => format!("{before} in [time]\n"),
            _ => said,
        }
    }

    async fn memories(&self) -> i64 {
        self.db.count("select count(*) from htm.nodes").await
    }

    /// The memory with a key.
    async fn memory(&self, namespace: &str, key: &str) -> Value {
        let arguments = ["get", "--key", key, "--namespace", namespace, "--revisions", "--json"];
        self.sandbox.htm(&arguments).await.json()
    }

    /// Asserts that a dry run writes nothing, that an import writes what the dry run has said, and that a repeat adds
    /// nothing. Returns the report of the import.
    async fn twice(&self, memories: u64) -> Value {
        let dry = self.report(&["--dry-run"]).await;
        assert_eq!((&dry["memories"], &dry["written"]), (&json!(memories), &json!(0)), "{dry}");
        assert_eq!(self.memories().await, 0);
        let report = self.report(&[]).await;
        assert_eq!((&report["written"], &report["existing"]), (&json!(memories), &json!(0)), "{report}");
        for same in ["read", "memories", "namespaces", "left", "refused"] {
            assert_eq!(report[same], dry[same], "{same}");
        }
        let jobs = self.db.count("select count(*) from apalis.jobs").await;
        let again = self.report(&[]).await;
        assert_eq!((&again["written"], &again["existing"]), (&json!(0), &json!(memories)), "{again}");
        assert_eq!(self.memories().await, i64::try_from(memories).unwrap());
        assert_eq!(self.db.count("select count(*) from apalis.jobs").await, jobs);
        assert_eq!(self.db.count("select count(*) from htm.repeats").await, 0);
        report
    }

    /// Asserts that an import that was killed is resumed.
    async fn resumes(&self, memories: u64) {
        let arguments = ["import", "--from", self.system, "--chunk", "10", &self.location];
        let mut import = self.sandbox.start("htm", &arguments);
        wait_until(|| async { self.memories().await >= 10 }).await;
        import.signal(Signal::SIGKILL);
        import.end().await;
        let before = u64::try_from(self.memories().await).unwrap();
        assert!(before < memories, "the import ended before it was killed");
        let report = self.report(&[]).await;
        let count = |field: &str| report[field].as_u64().unwrap();
        assert_eq!(count("written") + count("existing"), memories, "{report}");
        // What the server had received before the kill, it may have written since.
        assert!(count("existing") >= before, "{report}");
        assert_eq!(self.memories().await, i64::try_from(memories).unwrap());
    }
}

#[tokio::test]
async fn a_system_that_is_unknown_is_refused_with_those_that_are_known() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let answer = sandbox.htm(&["import", "--from", "elephant", "export.json"]).await;
    let said = answer.fails(2, "source_unknown");
    assert!(said.contains("`elephant`") && said.contains("chatgpt"), "{said}");
    let answer = sandbox.htm(&["import", "--dry-run", "memories.jsonl"]).await;
    assert!(answer.exits(2).stderr.contains("--from"), "{answer:?}");
}

#[tokio::test]
async fn a_namespace_that_is_none_is_refused_before_anything_is_read() {
    let sandbox = Sandbox::on("");
    let arguments = ["import", "--from", "mem0", "--namespace", "a//b", "--dry-run", "nowhere"];
    sandbox.htm(&arguments).await.fails(2, "namespace_invalid");
}

#[tokio::test]
async fn a_location_that_is_not_there_is_named_and_a_url_is_not_shown() {
    let sandbox = Sandbox::on("");
    for system in ["basic-memory", "chatgpt", "claude", "mem0", "openmemory"] {
        let answer = sandbox.htm(&["import", "--from", system, "--dry-run", "nowhere"]).await;
        let said = answer.fails(2, "source_unreadable");
        assert!(said.contains("nowhere"), "{said}");
        let url = "mysql://htm:secret@127.0.0.1/memories";
        let answer = sandbox.htm(&["import", "--from", system, "--dry-run", url]).await;
        let said = answer.fails(2, "source_unrecognised");
        assert!(said.contains("is a URL") && !said.contains("secret"), "{said}");
    }
}
