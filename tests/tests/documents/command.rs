//! `htm load`, `htm unload` and `htm documents`, as a person or a script meets them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, SystemTime};

use htm_core::Quota;
use htm_tests::{Sandbox, TestDatabase, inflating_pdf, torn_pdf, wait_until};
use serde_json::{Value, json};

use super::GUIDE;

/// A directory with documents and what is none.
fn tree(sandbox: &Sandbox) -> std::path::PathBuf {
    let root = std::path::PathBuf::from(sandbox.write("outside.md", "# Outside\n\nNot below docs.\n"));
    let docs = root.parent().unwrap().join("docs");
    fs::create_dir_all(docs.join("deep/.git")).unwrap();
    fs::create_dir_all(docs.join("drafts")).unwrap();
    for (name, content) in [
        ("guide.md", GUIDE.as_bytes()),
        ("deep/page.html", b"<title>Page</title><h1>Page</h1><p>Ballast is sand."),
        ("deep/main.rs", b"/// Starts.\nfn main() {\n    run();\n}\n"),
        ("picture.png", b"\x89PNG\0\0"),
        ("latin.txt", b"caf\xe9"),
        ("empty.md", b""),
        (".hidden.md", b"# Hidden\n"),
        ("drafts/draft.md", b"# Draft\n"),
        (".gitignore", b"drafts/\n"),
        ("deep/.git/config.md", b"# No\n"),
    ] {
        fs::write(docs.join(name), content).unwrap();
    }
    symlink("../outside.md", docs.join("link.md")).unwrap();
    docs
}

#[tokio::test]
async fn a_directory_is_loaded_and_what_cannot_be_read_is_named() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let docs = tree(&sandbox);
    let report = sandbox.htm(&["load", "docs", "--json", "--dry-run"]).await.json();
    assert_eq!((&report["dry_run"], &report["loaded"]), (&json!(true), &json!(3)));
    let said = sandbox.htm(&["load", "docs", "--dry-run"]).await.succeeds().to_owned();
    assert!(said.contains("3 documents would be loaded, 0 changed"), "{said}");
    assert!(
        said.contains("passages would be written, 0 kept") && said.ends_with("; nothing was done\n"),
        "{said}"
    );
    assert_eq!(db.count("select count(*) from htm.nodes").await, 0);

    let report = sandbox.htm(&["load", "docs", "--json"]).await.json();
    assert_eq!((&report["loaded"], &report["unchanged"]), (&json!(3), &json!(0)));
    let left_out: Vec<(&str, &str)> = report["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["path"].as_str().unwrap(), it["reason"].as_str().unwrap()))
        .collect();
    let expected =
        [("docs/empty.md", "empty"), ("docs/latin.txt", "not_utf8"), ("docs/picture.png", "binary")];
    assert_eq!(left_out, expected);

    fs::write(docs.join("guide.md"), GUIDE.replace("A mast", "One mast")).unwrap();
    let said = sandbox.htm(&["load", "docs"]).await.succeeds().to_owned();
    assert!(said.contains("changed  docs/guide.md: 1 passage written, "), "{said}");
    assert!(said.contains("0 documents loaded, 1 changed, 2 unchanged, 3 files left out"), "{said}");
    assert!(said.contains("left out docs/latin.txt: its text is not UTF-8 [not_utf8]"), "{said}");

    let listed = sandbox.htm(&["documents", "--json"]).await.json();
    let paths: Vec<&str> = listed.as_array().unwrap().iter().map(|it| it["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["docs/deep/main.rs", "docs/deep/page.html", "docs/guide.md"]);
    let said = sandbox.htm(&["documents", "docs/deep"]).await.succeeds().to_owned();
    assert!(said.contains("docs/deep/page.html  html") && !said.contains("guide.md"), "{said}");
}

#[tokio::test]
async fn a_file_that_is_named_has_to_be_there() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    sandbox.write("a.md", GUIDE);
    sandbox.write(".note.md", "# Hidden, and named\n\nText.\n");
    let answer = sandbox.htm(&["load", "a.md", "missing.md", "./.note.md", "--json"]).await;
    let report: Value = serde_json::from_str(&answer.exits(2).stdout).unwrap();
    assert_eq!((&report["loaded"], &report["left_out"][0]["reason"]), (&json!(2), &json!("not_found")));
    let again = sandbox.htm(&["load", "a.md", "--glob", "["]).await;
    assert!(again.exits(2).stderr.contains("error[usage]"), "{again:?}");
}

#[tokio::test]
async fn an_overlap_of_more_than_half_of_the_size_is_refused() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    sandbox.write("a.md", GUIDE);
    let said = sandbox.htm(&["load", "a.md", "--size", "201", "--overlap", "101"]).await;
    assert!(said.fails(2, "usage").contains("at most 100"), "{said:?}");
    sandbox.htm(&["load", "a.md", "--overlap", "501"]).await.fails(2, "usage");
    sandbox.htm(&["load", "a.md", "--size", "201"]).await.succeeds();
}

#[tokio::test]
async fn no_permission_stops_nothing() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let docs = tree(&sandbox);
    fs::set_permissions(docs.join("guide.md"), fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(docs.join("guide.md")).is_ok() {
        return; // As root, every file can be read.
    }
    let report = sandbox.htm(&["load", "docs", "--json"]).await.json();
    assert_eq!(report["loaded"], 2);
    let reasons = report["left_out"].as_array().unwrap();
    assert!(reasons.iter().any(|it| it["reason"] == "no_permission"), "{report}");
}

#[tokio::test]
async fn removed_files_are_forgotten_when_asked() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let docs = tree(&sandbox);
    sandbox.htm(&["load", ".", "--glob", "*.md"]).await.succeeds();
    fs::remove_file(docs.join("guide.md")).unwrap();
    let report = sandbox.htm(&["load", "docs", "--json"]).await.json();
    assert_eq!(report["removed"], json!([]));
    let report = sandbox.htm(&["load", "docs", "--json", "--dry-run", "--forget-removed"]).await.json();
    assert_eq!((&report["removed"], &report["forgotten"]), (&json!(["docs/guide.md"]), &json!(1)));
    let report = sandbox.htm(&["load", "docs", "--json", "--forget-removed"]).await.json();
    assert_eq!(report["removed"], json!(["docs/guide.md"]));
    let listed = sandbox.htm(&["documents", "--json"]).await.json();
    let paths: Vec<&str> = listed.as_array().unwrap().iter().map(|it| it["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["docs/deep/main.rs", "docs/deep/page.html", "outside.md"]);
    // A directory that is gone may be a drive that is not mounted: what was below it is unloaded by its name.
    fs::remove_dir_all(&docs).unwrap();
    let answer = sandbox.htm(&["load", "docs", "--forget-removed"]).await;
    assert!(answer.exits(2).stdout.contains("0 forgotten"), "{answer:?}");
    let said = sandbox.htm(&["unload", "docs"]).await.succeeds().to_owned();
    assert!(said.contains("2 documents unloaded"), "{said}");
    let said = sandbox.htm(&["unload", "outside.md"]).await.succeeds().to_owned();
    assert!(said.contains("1 document unloaded, 1 passage forgotten:\noutside.md"), "{said}");
    let answer = sandbox.htm(&["unload", "outside.md"]).await;
    assert!(answer.exits(2).stderr.contains("error[document_not_found]"), "{answer:?}");
}

#[tokio::test]
async fn every_command_means_the_same_by_a_path() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let elsewhere = tempfile::tempdir().unwrap();
    let absolute = elsewhere.path().join("c.md").display().to_string();
    fs::write(&absolute, GUIDE).unwrap();
    for name in ["a.md", "b.md", "f.md"] {
        sandbox.write(name, GUIDE);
    }
    sandbox.htm(&["load", "./a.md", "b.md", ".//f.md", &absolute]).await.succeeds();
    let listed = async |path: &str| {
        let listed = sandbox.htm(&["documents", path, "--json"]).await.json();
        listed
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["path"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(listed("./a.md").await, ["a.md"]);
    assert_eq!(listed(".").await, ["a.md", "b.md", "f.md"]);
    let said = sandbox.htm(&["unload", "./f.md"]).await.succeeds().to_owned();
    assert!(said.contains("1 document unloaded"), "{said}");
    // An empty path, as of an unset variable, names nothing.
    sandbox.htm(&["unload", ""]).await.fails(2, "document_path_invalid");
    let said = sandbox.htm(&["unload", "./"]).await.succeeds().to_owned();
    assert!(said.contains("2 documents unloaded"), "{said}");
    let refused = sandbox.htm(&["unload", "."]).await;
    assert!(refused.fails(2, "document_not_found").contains("`htm documents`"), "{refused:?}");
    assert_eq!(listed(elsewhere.path().to_str().unwrap()).await, [absolute]);
}

#[tokio::test]
async fn the_files_of_a_directory_are_gone_when_a_file_takes_its_place() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let docs = tree(&sandbox);
    sandbox.htm(&["load", "docs"]).await.succeeds();
    fs::remove_dir_all(docs.join("deep")).unwrap();
    fs::write(docs.join("deep"), "It was a directory.\n").unwrap();
    let report = sandbox.htm(&["load", "docs", "--json", "--forget-removed"]).await.json();
    assert_eq!(report["removed"], json!(["docs/deep/main.rs", "docs/deep/page.html"]));
    assert_eq!((&report["loaded"], &report["unchanged"]), (&json!(1), &json!(1)));
}

#[tokio::test]
async fn a_file_without_a_text_has_no_passages_any_more() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let docs = tree(&sandbox);
    sandbox.htm(&["load", "docs"]).await.succeeds();
    fs::write(docs.join("guide.md"), "---\ntags: [manual]\n---\n").unwrap();
    fs::write(docs.join("deep/page.html"), b"\0").unwrap();
    let live = "select count(*) from htm.nodes where session = 'docs/guide.md' and deleted_at is null";
    let report = sandbox.htm(&["load", "docs", "--json", "--dry-run"]).await.json();
    assert_eq!((&report["removed"], db.count(live).await), (&json!(["docs/guide.md"]), 1));
    let other = sandbox.htm(&["load", "docs/guide.md", "--robot", "other"]).await;
    assert!(other.exits(2).stdout.contains("[not_owner]"), "{other:?}");
    let report = sandbox.htm(&["load", "docs", "--json"]).await.json();
    assert_eq!((&report["removed"], &report["forgotten"]), (&json!(["docs/guide.md"]), &json!(1)));
    assert_eq!(db.count(live).await, 0);
    // Nothing is known of the text of the other one.
    let left_out = report["left_out"].as_array().unwrap();
    let page = left_out.iter().find(|it| it["path"] == "docs/deep/page.html").unwrap();
    assert_eq!((&page["reason"], &page["passages"]), (&json!("binary"), &json!(1)));
    let said = sandbox.htm(&["load", "docs"]).await.succeeds().to_owned();
    assert!(said.contains("it is binary; the memory keeps 1 passage of its former text [binary]"), "{said}");
    assert!(said.contains("left out docs/guide.md: it has no text [empty]"), "{said}");
    assert_eq!(db.count("select count(*) from htm.documents").await, 2);
}

#[tokio::test]
async fn parts_that_cannot_be_read_are_named() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    sandbox.write("a.pdf", torn_pdf());
    sandbox.write("a.md", "---\ndate: soon\n---\nA mast holds the zeppelin.\n");
    let report = sandbox.htm(&["load", "a.pdf", "a.md", "--json", "--dry-run"]).await.json();
    assert_eq!(report["pages_left_out"], json!({"a.pdf": [2]}));
    assert_eq!(report["dates_left_out"], json!({"a.md": "soon"}));
    let said = sandbox.htm(&["load", "a.pdf", "a.md"]).await.succeeds().to_owned();
    assert!(said.contains("a.pdf: pages left out, as they cannot be read: 2\n"), "{said}");
    assert!(said.contains("a.md: date left out, as it cannot be read: soon\n"), "{said}");
}

#[tokio::test]
async fn a_pdf_that_takes_too_much_memory_is_left_out() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    sandbox.write("a.pdf", inflating_pdf());
    sandbox.write("b.pdf", torn_pdf());
    let said = sandbox.htm(&["load", "a.pdf", "b.pdf"]).await.exits(2).stdout.clone();
    assert!(said.contains("a.pdf: the PDF takes too much memory [too_much_memory]"), "{said}");
    assert_eq!(db.count("select count(*) from htm.documents").await, 1);
}

#[tokio::test]
async fn where_no_file_is_found_nothing_is_forgotten() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let docs = tree(&sandbox);
    sandbox.htm(&["load", ".", "--glob", "*.md"]).await.succeeds();
    // The place of a drive that is not mounted.
    fs::remove_dir_all(&docs).unwrap();
    fs::create_dir(&docs).unwrap();
    // Also below a directory that has files.
    for paths in [&["docs"][..], &[".", "docs"]] {
        let load = [&["load", "--forget-removed", "--json"], paths].concat();
        let report: Value = serde_json::from_str(&sandbox.htm(&load).await.exits(2).stdout).unwrap();
        assert_eq!((&report["removed"], &report["forgotten"]), (&json!([]), &json!(0)));
        let left_out = report["left_out"].as_array().unwrap();
        let left_out: Vec<_> = left_out.iter().map(|it| (&it["path"], &it["reason"])).collect();
        assert_eq!(left_out, [(&json!("docs"), &json!("no_files"))]);
    }
    let answer = sandbox.htm(&["load", "docs", "--forget-removed"]).await;
    let said = &answer.exits(2).stdout;
    assert!(said.contains("left out docs: no file was found there") && said.contains("[no_files]"), "{said}");
    assert_eq!(db.count("select count(*) from htm.documents").await, 2);
    // Without documents there is nothing to spare.
    sandbox.htm(&["unload", "docs"]).await.succeeds();
    sandbox.htm(&["load", "docs", "--forget-removed"]).await.succeeds();
    // One file tells that the drive is there, also one that is not loaded.
    fs::write(docs.join("guide.md"), GUIDE).unwrap();
    sandbox.htm(&["load", "docs"]).await.succeeds();
    fs::rename(docs.join("guide.md"), docs.join("guide.bin")).unwrap();
    let report = sandbox.htm(&["load", "docs", "--glob", "*.md", "--forget-removed", "--json"]).await.json();
    assert_eq!(report["removed"], json!(["docs/guide.md"]));
}

#[tokio::test]
async fn nothing_is_forgotten_where_the_files_vanish_while_others_are_loaded() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let docs = tree(&sandbox);
    sandbox.htm(&["load", "docs"]).await.succeeds();
    fs::write(docs.join("guide.md"), "# Another\n").unwrap();
    let mut held = db.pool.begin().await.unwrap();
    sqlx::query("lock table htm.documents in exclusive mode").execute(&mut *held).await.unwrap();
    let mut load = sandbox.start("htm", &["load", "docs", "--forget-removed"]);
    let waits = "select count(*) from pg_locks where relation = 'htm.documents'::regclass and not granted";
    wait_until(async || db.count(waits).await == 1).await;
    // The drive is unmounted after its files were listed.
    fs::rename(&docs, docs.with_file_name("elsewhere")).unwrap();
    fs::create_dir(&docs).unwrap();
    held.rollback().await.unwrap();
    assert_eq!(load.end().await.code(), Some(2));
    assert!(load.log().contains("[no_files]"), "{}", load.log());
    assert_eq!(db.count("select count(*) from htm.documents").await, 3);
}

#[tokio::test]
async fn a_hit_is_shown_with_its_place_and_neighbours() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    sandbox.write("guide.md", GUIDE);
    sandbox.htm(&["load", "guide.md", "--size", "200"]).await.succeeds();
    let said = sandbox.htm(&["recall", "--neighbours", "1", "mast zeppelin"]).await.succeeds().to_owned();
    assert!(said.contains("guide.md:5 › The guide › Airships"), "{said}");
    assert!(!said.contains("passage:"), "the key says nothing: {said}");
}

#[tokio::test]
async fn a_watch_loads_what_changes() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let docs = tree(&sandbox);
    let mut watch = sandbox.start("htm", &["load", "--watch", "--forget-removed", "docs"]);
    wait_until(async || db.count("select count(*) from htm.documents").await == 3).await;
    fs::write(docs.join("guide.md"), "# Another\n\nThe text is new.\n").unwrap();
    fs::remove_file(docs.join("deep/main.rs")).unwrap();
    wait_until(async || {
        let new = "select count(*) from htm.nodes where content like '%is new.' and deleted_at is null";
        db.count(new).await == 1 && db.count("select count(*) from htm.documents").await == 2
    })
    .await;
    fs::rename(&docs, docs.with_file_name("elsewhere")).unwrap();
    fs::create_dir(&docs).unwrap();
    wait_until(async || watch.log().contains("[no_files]")).await;
    assert_eq!(db.count("select count(*) from htm.documents").await, 2);
    watch.signal(nix::sys::signal::Signal::SIGINT);
    assert!(watch.end().await.success());
}

#[tokio::test]
async fn a_watch_keeps_the_document_of_a_file_that_is_being_written() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let guide = tree(&sandbox).join("guide.md");
    let watch = sandbox.start("htm", &["load", "--watch", "docs"]);
    let documents = "select count(*) from htm.documents";
    wait_until(async || db.count(documents).await == 3).await;
    let file = fs::File::create(&guide).unwrap();
    // However slow this test is, the file is new.
    file.set_modified(SystemTime::now() + Duration::from_secs(3_600)).unwrap();
    wait_until(async || watch.log().contains("left out docs/guide.md: it has no text; the memory keeps"))
        .await;
    assert_eq!(db.count(documents).await, 3);
    file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    wait_until(async || db.count(documents).await == 2).await;
}

#[tokio::test]
async fn a_watch_tries_again_what_it_could_not_read() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let guide = tree(&sandbox).join("guide.md");
    fs::set_permissions(&guide, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&guide).is_ok() {
        return; // As root, every file can be read.
    }
    let watch = sandbox.start("htm", &["load", "--watch", "docs"]);
    wait_until(async || watch.log().contains("[no_permission]")).await;
    // The file keeps its size and time.
    fs::set_permissions(&guide, fs::Permissions::from_mode(0o644)).unwrap();
    wait_until(async || db.count("select count(*) from htm.documents").await == 3).await;
}

#[tokio::test]
async fn a_watch_tells_once_what_it_leaves_out_and_tries_again_what_was_refused() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let docs = tree(&sandbox);
    sandbox.htm(&["load", "docs"]).await.succeeds();
    let full = Quota { max_memories: Some(1), ..Quota::default() };
    db.htm().set_quota(Some("default"), full).await.unwrap();
    let watch = sandbox.start("htm", &["load", "--watch", "docs", "--json"]);
    let reports = || -> Vec<Value> {
        let log = watch.log();
        // The last line may not be whole yet.
        let lines = log.lines().filter_map(|line| serde_json::from_str(line).ok());
        lines.filter(|it: &Value| it["left_out"].is_array()).collect()
    };
    let told = |reason: &str| -> Vec<String> {
        let reports = reports();
        let left_out = reports.iter().flat_map(|report| report["left_out"].as_array().unwrap());
        let of_reason = left_out.filter(|it| it["reason"] == reason);
        of_reason.map(|it| it["path"].as_str().unwrap().to_owned()).collect()
    };
    wait_until(async || reports().len() == 1).await;
    assert_eq!(told("not_utf8"), ["docs/latin.txt"]);
    fs::write(docs.join("old.txt"), b"caf\xe9").unwrap();
    wait_until(async || told("not_utf8") == ["docs/latin.txt", "docs/old.txt"]).await;
    fs::write(docs.join("new.md"), "# New\n\nA text.\n").unwrap();
    wait_until(async || told("quota_exceeded") == ["docs/new.md"]).await;
    // The file does not change.
    db.htm().set_quota(Some("default"), Quota::default()).await.unwrap();
    wait_until(async || db.count("select count(*) from htm.documents").await == 4).await;
    wait_until(async || reports().last().is_some_and(|it| it["loaded"] == 1)).await;
    assert_eq!(told("not_utf8"), ["docs/latin.txt", "docs/old.txt"]);
    assert_eq!(told("quota_exceeded"), ["docs/new.md"]);
}
