//! basic-memory: its folders of Markdown.

use std::fs;

use serde_json::json;
use tempfile::TempDir;

use crate::Import;

const COFFEE: &str = "---
title: Coffee Brewing
type: guide
permalink: drinks/coffee
tags: [coffee]
created: 2025-06-01T10:00:00Z
---

# Coffee Brewing

- [technique] Water at 96°C extracts best #brewing (personal experience)
- requires [[Grinder]]
";

fn write(dir: &TempDir, name: &str, content: impl AsRef<[u8]>) {
    let path = dir.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

#[tokio::test]
async fn the_notes_come_once_and_what_cannot_be_read_is_named() {
    let dir = TempDir::new().unwrap();
    write(&dir, "drinks/coffee.md", COFFEE);
    write(&dir, "plain.md", "---\ntitle: Plain\ncreated: 2025-06-02\n---\nMara prefers tabs.");
    write(&dir, "latin.md", b"caf\xe9");
    write(&dir, "drinks/cup.png", b"png");
    let import = Import::of("basic-memory", dir.path()).await;
    let report = import.twice(2).await;
    assert_eq!(report["left_count"], 2);
    let memory = import.memory("basic-memory", "basic-memory:drinks/coffee").await;
    let expected = json!({
        "type": "guide", "source": "drinks/coffee.md", "tags": ["brewing", "coffee"], "created_at": "2025-06-01T10:00:00Z",
        "metadata": {"title": "Coffee Brewing", "permalink": "drinks/coffee",
                     "relations": [{"type": "requires", "target": "Grinder"}]},
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&memory[name], value, "{name}");
    }
    assert!(memory["content"].as_str().unwrap().starts_with("# Coffee Brewing\n"));
    insta::assert_snapshot!("dry_run", import.said(&["--dry-run"]).await);
}

#[tokio::test]
async fn a_copy_is_one_new_memory_and_its_original_keeps_its_key() {
    let dir = TempDir::new().unwrap();
    write(&dir, "drinks/coffee.md", COFFEE);
    let import = Import::of("basic-memory", dir.path()).await;
    assert_eq!(import.report(&[]).await["written"], 1);
    write(&dir, "a.md", COFFEE);
    let report = import.report(&[]).await;
    assert_eq!((&report["written"], &report["existing"]), (&json!(1), &json!(1)), "{report}");
    assert_eq!(import.memory("basic-memory", "basic-memory:a.md").await["source"], "a.md");
    assert_eq!(
        import.memory("basic-memory", "basic-memory:drinks/coffee").await["source"],
        "drinks/coffee.md"
    );
}

#[tokio::test]
async fn a_folder_without_notes_is_refused() {
    let dir = TempDir::new().unwrap();
    write(&dir, "cup.png", b"png");
    let answer = Import::of("basic-memory", dir.path()).await.run(&["--dry-run"]).await;
    assert!(answer.fails(2, "source_unrecognised").contains("no Markdown files"));
}

#[tokio::test]
async fn an_import_that_was_killed_is_resumed() {
    let dir = TempDir::new().unwrap();
    for n in 0..3_000 {
        write(&dir, &format!("{}/note {n}.md", n % 10), format!("Number {n}"));
    }
    Import::of("basic-memory", dir.path()).await.resumes(3_000).await;
}
