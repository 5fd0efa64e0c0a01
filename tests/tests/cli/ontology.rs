//! `htm tags tree`, `export`, `import`, `templates` and `apply-template`.

use htm_tests::{Sandbox, TestDatabase};
use serde_json::{Value, json};

/// Four memories, one of them forgotten; two tags stand on one node.
async fn filled(db: &TestDatabase) -> Sandbox {
    let sandbox = Sandbox::new(db);
    for (text, tags) in [
        ("The ledger is in PostgreSQL.", &["database:postgresql"][..]),
        ("Sessions are in Redis, orders in PostgreSQL.", &["database:postgresql", "database:redis"]),
        ("An index on orders.", &["database:postgresql:index", "decision"]),
    ] {
        let tags: Vec<&str> = tags.iter().flat_map(|tag| ["--tag", tag]).collect();
        sandbox.remember(&[&tags[..], &[text]].concat()).await;
    }
    let gone = sandbox.remember(&["--tag", "database:redis", "Redis was slow."]).await;
    sandbox.htm(&["forget", &gone, "--yes"]).await.succeeds();
    let described =
        ["tags", "add", "database", "--description", "Where \"data\" is: <kept> & found", "--synonym", "db"];
    sandbox.htm(&described).await.succeeds();
    sandbox
}

/// The counts that an import could have changed.
async fn state(db: &TestDatabase) -> (i64, i64, i64, i64) {
    (
        db.count("select count(*) from htm.tags").await,
        db.count("select count(description) from htm.tags").await,
        db.count("select count(*) from htm.tag_synonyms").await,
        db.count("select count(*) from htm.tag_changes").await,
    )
}

#[tokio::test]
async fn a_tree_is_drawn_with_each_node_counted_once() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    insta::assert_snapshot!("tree", sandbox.htm(&["tags", "tree"]).await.succeeds());
    let mermaid = sandbox.htm(&["tags", "tree", "--format", "mermaid"]).await;
    insta::assert_snapshot!("tree_mermaid", mermaid.succeeds());
    insta::assert_json_snapshot!("tree_json", sandbox.htm(&["tags", "tree", "--json"]).await.json());
    let svg = sandbox.htm(&["tags", "tree", "--format", "svg"]).await;
    let svg = svg.succeeds();
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"), "{svg}");
    assert!(svg.contains("Where \"data\" is: &lt;kept&gt; &amp; found"), "{svg}");
    for tag in ["database", "postgresql", "index", "redis", "decision"] {
        assert!(svg.contains(tag), "{tag}");
    }
}

#[tokio::test]
async fn a_part_of_a_tree_is_drawn_into_a_file() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    let tree = async |arguments: &[&str]| {
        let said = sandbox.htm(&[&["tags", "tree"], arguments].concat()).await;
        said.succeeds().lines().skip(1).map(|line| line.trim().to_owned()).collect::<Vec<_>>()
    };
    // By another name of it.
    assert_eq!(tree(&["--root", "db", "--depth", "1"]).await, ["database      0      3"]);
    assert_eq!(
        tree(&["--min-count", "2"]).await,
        ["database           0      3", "└─ postgresql      2      3"]
    );
    let none = sandbox.htm(&["tags", "tree", "--min-count", "9"]).await;
    assert_eq!(none.succeeds(), "no such tags\n");
    let empty = sandbox.htm(&["tags", "tree", "--namespace", "nowhere", "--format", "svg"]).await;
    assert!(empty.succeeds().contains("0 tags"));
    let said = sandbox.htm(&["tags", "tree", "--output", "tags.svg"]).await;
    assert_eq!(said.succeeds(), "5 tags written to tags.svg\n");
    let written = sandbox.shell("head -c 5 tags.svg").await;
    assert_eq!(written.succeeds(), "<svg ");
    for (arguments, code) in [
        (&["--root", "databse"][..], "tag_unknown"),
        (&["--root", "no tag!"], "tag_invalid"),
        (&["--namespace", ""], "namespace_invalid"),
        (&["--output", "no/such/directory.svg"], "io_error"),
        (&["--depth", "0"], "usage"),
        (&["--depth", "6"], "usage"),
        (&["--min-count", "-1"], "usage"),
        (&["--format", "png"], "usage"),
    ] {
        let arguments = [&["--json", "tags", "tree"], arguments].concat();
        assert_eq!(sandbox.htm(&arguments).await.json_error(2)["code"], code);
    }
}

#[tokio::test]
async fn each_format_is_json_where_json_is_asked_for() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    for (command, format) in [("tree", "text"), ("tree", "mermaid"), ("tree", "svg"), ("export", "yaml")] {
        let arguments = ["tags", command, "--format", format];
        let text = sandbox.htm(&arguments).await;
        let said = sandbox.htm(&[&["--json"], &arguments[..]].concat()).await.json();
        assert_eq!(said, json!({ "format": format, "text": text.succeeds().trim_end_matches('\n') }));
    }
}

#[tokio::test]
async fn what_is_printed_cannot_deceive_the_reader_of_a_terminal() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    sandbox.htm(&["tags", "add", "ledger", "--description", "a\u{202e}b"]).await.succeeds();
    for command in [&["tags", "export"][..], &["tags", "tree", "--json"]] {
        let said = sandbox.htm(command).await;
        assert!(said.succeeds().contains("a\\u202eb") && !said.stdout.contains('\u{202e}'), "{said:?}");
    }
}

#[tokio::test]
async fn what_was_in_a_file_stays_if_it_cannot_be_written() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    let file = sandbox.write("tags.out", "what was there");
    for command in ["tags export --format yaml", "tags tree", "export"] {
        // Standard output, and no file of this name.
        assert!(!sandbox.shell(&format!("htm {command} --output -")).await.succeeds().is_empty());
    }
    for command in ["tags export", "tags tree"] {
        // A file may have no bytes, as on a full disk.
        let line = format!("trap '' XFSZ; ulimit -f 0; htm {command} --output tags.out");
        sandbox.shell(&line).await.fails(2, "io_error");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "what was there");
    }
    assert_eq!(sandbox.shell("ls").await.succeeds(), "tags.out\n");
}

#[tokio::test]
async fn what_is_exported_is_imported_and_exported_the_same() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    let odd = "yes: 'no' # \"not a comment\"\n  – 𝛂β\ttab\\n ";
    sandbox
        .htm(&["tags", "add", "travel:japan", "--description", odd, "--synonym", "nippon"])
        .await
        .succeeds();
    sandbox.htm(&["tags", "split", "decision", "decision:made", "decision:open", "--yes"]).await.succeeds();
    insta::assert_snapshot!("export", sandbox.htm(&["tags", "export"]).await.succeeds());
    insta::assert_snapshot!(
        "export_yaml",
        sandbox.htm(&["tags", "export", "--format", "yaml"]).await.succeeds()
    );
    for name in ["tags.json", "tags.yaml"] {
        sandbox.htm(&["tags", "export", "--output", name]).await.succeeds();
        let import = ["tags", "import", name, "--namespace", name, "--yes", "--json"];
        let imported = sandbox.htm(&import).await.json();
        assert!(imported["change"].is_i64(), "{imported}");
        assert_eq!(imported["added"].as_array().unwrap().len(), 9);
        let again = format!("again.{name}");
        sandbox.htm(&["tags", "export", "--namespace", name, "--output", &again]).await.succeeds();
        sandbox.shell(&format!("cmp {name} {again}")).await.succeeds();
        // There is nothing more to import.
        assert_eq!(sandbox.htm(&import).await.json()["change"], Value::Null);
    }
    // From standard input; undone again.
    let piped =
        sandbox.shell("htm tags export | htm tags import - --namespace piped --yes --json").await.json();
    let undone =
        sandbox.htm(&["tags", "revert", &piped["change"].to_string(), "--namespace", "piped", "--yes"]).await;
    undone.succeeds();
    let left = sandbox.htm(&["tags", "export", "--namespace", "piped"]).await.json();
    assert_eq!(left, json!({ "version": 1, "tags": [] }));
}

#[tokio::test]
async fn an_import_adds_and_takes_nothing_away() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    let file = r#"{"version": 1, "tags": [
        {"tag": "database", "description": "Theirs"},
        {"tag": "db:redis", "description": "Keys and values"},
        {"tag": "music:jazz", "synonyms": ["bebop"]}]}"#;
    sandbox.write("theirs.json", file);
    let before = state(&db).await;
    let import = ["tags", "import", "theirs.json"];
    let shown = sandbox.htm(&[&import[..], &["--dry-run"]].concat()).await;
    insta::assert_snapshot!("import_dry_run", shown.succeeds());
    assert_eq!(state(&db).await, before);
    sandbox.htm(&[&import[..], &["--yes"]].concat()).await.succeeds();
    assert_eq!(state(&db).await, (before.0 + 2, before.1 + 1, before.2 + 1, before.3 + 1));
    let overwritten = sandbox.htm(&[&import[..], &["--overwrite", "--yes", "--json"]].concat()).await.json();
    assert_eq!(overwritten["described"], json!(["database"]));
    let shown = sandbox.htm(&["tags", "show", "database", "--json"]).await.json();
    assert_eq!((&shown["description"], &shown["total"]), (&json!("Theirs"), &json!(3)));
}

#[tokio::test]
async fn a_bad_document_changes_nothing() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    let before = state(&db).await;
    let of = |tags: &str| format!("{{\"version\": 1, \"tags\": [\n{{\"tag\": \"new\"}},\n{tags}]}}");
    let long = of(&format!("{{\"tag\": \"a\", \"description\": \"{}\"}}", "x".repeat(1_001)));
    let big = of(&format!("{{\"tag\": \"{}\"}}", "x".repeat(10_000)));
    for (document, code, says) in [
        (of("{\"tag\": \"a:b:c:d:e:f\"}"), "ontology_invalid", "line 3, column"),
        (of("{\"tag\": \"a::b\"}"), "ontology_invalid", "a level is empty"),
        (of("{\"tag\": \"🦀\"}"), "ontology_invalid", "line 3"),
        (big, "ontology_invalid", "10000 bytes"),
        (of("{\"tag\": \"a\"},{\"tag\": \"new\"}"), "tag_twice", "tag `new` a second time, as number 3"),
        (
            of("{\"tag\": \"a\", \"synonyms\": [\"new\"]}"),
            "synonym_is_tag",
            "`new` cannot be another name of `a`",
        ),
        (of("{\"tag\": \"a\", \"synonyms\": [\"decision\"]}"), "synonym_is_tag", "`decision`"),
        (
            of("{\"tag\": \"a\", \"synonyms\": [\"db\"]}"),
            "tag_is_synonym",
            "`db` is another name of `database`",
        ),
        (of("{\"tag\": \"a\", \"split_into\": [\"b\", \"new\"]}"), "tag_unknown", "no tag `b`"),
        (of("{\"tag\": \"a\", \"description\": \"b\\u0000c\"}"), "nul_byte", "NUL"),
        (long, "description_too_long", "1001 bytes"),
        (of("{\"tag\": \"a\", \"colour\": \"red\"}"), "ontology_invalid", "unknown field `colour`"),
        ("{\"version\": 2, \"terms\": []}".into(), "ontology_version", "version 2"),
        (of("{\"tag\": "), "ontology_invalid", "line 3"),
        ("version: 1\ntags:\n  - tag: new\n - tag: a\n".into(), "ontology_invalid", "line 4"),
        ("tags: []\n".into(), "ontology_invalid", "missing field `version`"),
        (String::new(), "ontology_invalid", "is not an ontology"),
    ] {
        sandbox.write("bad", &document);
        let answer = sandbox.htm(&["tags", "import", "bad", "--overwrite", "--yes"]).await;
        let said = answer.fails(2, code);
        assert!(said.contains(says), "{document}: {said}");
        let error = sandbox.htm(&["--json", "tags", "import", "bad", "--yes"]).await.json_error(2);
        assert!(error["code"] == code && !error["hint"].as_str().unwrap().is_empty());
    }
    sandbox.write("bad", b"{\"version\": 1,\n\xff}");
    assert!(
        sandbox
            .htm(&["tags", "import", "bad", "--yes"])
            .await
            .fails(2, "ontology_invalid")
            .contains("line 2")
    );
    sandbox.htm(&["tags", "import", "nowhere.json", "--yes"]).await.fails(2, "io_error");
    sandbox.htm(&["tags", "import", ".", "--yes"]).await.fails(2, "io_error");
    sandbox.write("good.json", of("{\"tag\": \"a\"}"));
    sandbox.htm(&["tags", "import", "good.json"]).await.fails(2, "not_confirmed");
    let usage =
        sandbox.htm(&["--json", "tags", "import", "good.json", "--yes", "--dry-run"]).await.json_error(2);
    assert_eq!(usage["code"], "usage");
    assert_eq!(state(&db).await, before);
}

#[tokio::test]
async fn two_imports_at_once_add_each_tag_once() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let import = ["--json", "tags", "apply-template", "software", "--yes"];
    let (a, b) = tokio::join!(sandbox.htm(&import), sandbox.htm(&import));
    let changes = [a.json(), b.json()].iter().filter(|it| it["change"].is_i64()).count();
    assert_eq!(changes, 1);
    assert_eq!(state(&db).await.3, 1);
}

#[tokio::test]
async fn a_template_is_applied_once_and_undone() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    insta::assert_snapshot!("templates", sandbox.htm(&["tags", "templates"]).await.succeeds());
    let listed = sandbox.htm(&["tags", "templates", "--json"]).await.json();
    let terms = |name: &str| {
        let found = listed.as_array().unwrap().iter().find(|it| it["name"] == name);
        found.unwrap()["terms"].as_i64().unwrap()
    };
    let before = state(&db).await;
    let exported = sandbox.htm(&["tags", "export"]).await;
    let apply = async |arguments: &[&str]| {
        sandbox.htm(&[&["--json", "tags", "apply-template"], arguments].concat()).await.json()
    };
    let shown = apply(&["software", "--dry-run"]).await;
    assert_eq!((&shown["change"], &shown["dry_run"]), (&Value::Null, &json!(true)));
    assert_eq!(shown["descriptions_kept"], json!(["database"]));
    assert_eq!(state(&db).await, before);
    let applied = apply(&["software", "--yes"]).await;
    assert_eq!(applied["kind"], "template");
    let described =
        applied["added"].as_array().unwrap().len() + applied["described"].as_array().unwrap().len();
    assert_eq!(described as i64, terms("software") - 1);
    assert_eq!(apply(&["software", "--yes"]).await["change"], Value::Null);
    let overwritten = apply(&["software", "--overwrite", "--yes"]).await;
    assert_eq!(overwritten["described"], json!(["database"]));
    for change in [&overwritten["change"], &applied["change"]] {
        sandbox.htm(&["tags", "revert", &change.to_string(), "--yes"]).await.succeeds();
    }
    assert_eq!(sandbox.htm(&["tags", "export"]).await.succeeds(), exported.succeeds());
    for name in ["research", "personal", "business"] {
        let applied = apply(&[name, "--namespace", name, "--yes"]).await;
        assert_eq!(applied["added"].as_array().unwrap().len() as i64, terms(name));
    }
}

#[tokio::test]
async fn a_bad_template_changes_nothing() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    let before = state(&db).await;
    for (template, says) in [
        ("[terms]\n\"food:meal:food\" = \"A cycle\"\n", "the level `food` comes twice"),
        ("[terms]\n\"pet:cat\" = \"Cats at home\"\n", "stands below `pet`, which is no term"),
        ("[terms]\nPets = \"Animals\"\n", "must be written `pet`"),
        ("[terms]\n\"a:b:c:d:e:f\" = \"Deep\"\n", "6 levels"),
        ("[terms]\n\"🦀\" = \"A crab\"\n", "🦀"),
        ("[terms]\npet = \"\"\n", "has no description"),
        ("[terms]\npet = \"Animals\"\npet = \"Again\"\n", "line 3"),
        ("[terms\n", "line 1"),
        ("[words]\n", "unknown field"),
    ] {
        sandbox.write("bad.toml", template);
        let said = sandbox.htm(&["tags", "apply-template", "bad.toml", "--yes"]).await;
        assert!(said.fails(2, "template_invalid").contains(says), "{template}");
    }
    let unknown = sandbox.htm(&["--json", "tags", "apply-template", "softwear", "--yes"]).await.json_error(2);
    assert_eq!(unknown["code"], "template_invalid");
    assert!(unknown["hint"].as_str().unwrap().contains("software, research, personal, business"));
    let long = format!("[terms]\npet = \"{}\"\n", "x".repeat(1_001));
    sandbox.write("long.toml", long);
    sandbox.htm(&["tags", "apply-template", "long.toml", "--yes"]).await.fails(2, "description_too_long");
    sandbox.htm(&["tags", "apply-template", "software"]).await.fails(2, "not_confirmed");
    assert_eq!(state(&db).await, before);
}
