//! The format of the notes is that of src/basic_memory/markdown/plugins.py in the repository
//! basicmachines-co/basic-memory.

use proptest::prelude::*;
use serde_json::json;

use super::note::Relation;
use super::*;
use crate::testing::{left, memories, read_all};

const COFFEE: &str = "---
title: Coffee Brewing
type: guide
permalink: drinks/coffee
tags: [coffee, '#Brewing Methods']
created: 2025-06-01T10:00:00Z
author: Mara
---

# Coffee Brewing

## Observations
- [method] Pour over is clearer than French press
- [technique] Water at 96°C extracts best #brewing#water (personal experience)
- [ ] a task #not-a-tag

```
- [code] no observation #code
```

## Relations
- requires [[Grinder]]
- \"is better than\" [[Tea]] (in the morning)
- This is about [[Tea]] too
";

fn relation(kind: &str, target: &str, context: Option<&str>) -> Relation {
    Relation { kind: kind.into(), target: target.into(), context: context.map(Into::into) }
}

#[test]
fn the_parts_of_a_note_are_read() {
    let note = Note::parse(COFFEE).unwrap();
    assert!(note.body.starts_with("# Coffee Brewing") && note.body.ends_with("too"));
    assert_eq!(note.tags, ["coffee", "Brewing Methods", "brewing", "water"]);
    let expected =
        [relation("requires", "Grinder", None), relation("is better than", "Tea", Some("in the morning"))];
    assert_eq!(note.relations, expected);
    assert_eq!(Value::Object(note.further()), json!({"author": "Mara"}));
    for (text, body) in [
        ("no front matter", "no front matter"),
        ("---\n---\nempty", "empty"),
        ("---\nno end", "---\nno end"),
        ("\u{feff}---\r\ntitle: x\r\n---\r\nof Windows", "of Windows"),
    ] {
        assert_eq!(Note::parse(text).unwrap().body, body, "{text}");
    }
    assert_eq!(Note::parse("---\ntags: 'a, #b,'\n---\n").unwrap().tags, ["a", "b"]);
    let nested = "---\ntags: [db/postgres]\n---\n- [decision] One server #db/replicas.";
    assert_eq!(Note::parse(nested).unwrap().tags, ["db:postgres", "db:replicas"]);
    assert!(Note::parse("---\n- a\n---\n").unwrap_err().contains("has no fields"));
    assert!(Note::parse("---\na: [\n---\n").unwrap_err().contains("is no YAML"));
}

#[tokio::test]
async fn a_folder_is_read_and_what_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    };
    write("drinks/coffee.md", COFFEE.as_bytes());
    write("drinks/copy of coffee.md", COFFEE.as_bytes());
    write("plain.md", b"Only text.");
    write("plan.md", b"---\npermalink: plain\n---\nThe permalink is the other note's path.");
    write("latin.md", b"caf\xe9");
    write("broken.md", b"---\na: [\n---\nx");
    write("empty.md", b"---\ntitle: Empty\n---\n");
    write("drinks/cup.png", b"png");
    write(".obsidian/hidden.md", b"hidden");
    std::os::unix::fs::symlink(folder.path(), folder.path().join("circle")).unwrap();
    let (items, counts) = read_all(&mut open(folder.path().to_str().unwrap()).unwrap()).await;
    let found = memories(&items);
    let ids: Vec<&str> = found.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["drinks/coffee", "drinks/copy of coffee.md", "plain.md", "plain"]);
    let coffee = found[0];
    assert_eq!(coffee.at, Some("2025-06-01T10:00:00Z".parse().unwrap()));
    assert_eq!((coffee.kind.as_deref(), coffee.source.as_deref()), (Some("guide"), Some("drinks/coffee.md")));
    assert_eq!(coffee.metadata["relations"][0], json!({"type": "requires", "target": "Grinder"}));
    assert_eq!(
        (&coffee.metadata["title"], &coffee.metadata["author"]),
        (&json!("Coffee Brewing"), &json!("Mara"))
    );
    // The time of a note without one is that of its file.
    assert!(found[2].at.is_some() && found[2].metadata["title"] == "plain");
    let expected = [
        ("file", "drinks/cup.png", Why::NotText),
        ("link", "circle", Why::Link),
        ("note", "broken.md", Why::Unreadable),
        ("note", "empty.md", Why::Empty),
        ("note", "latin.md", Why::Unreadable),
    ];
    assert_eq!(left(&items), expected);
    let counts = counts.unwrap();
    assert_eq!((counts["file"], counts["note"], counts["link"]), (8, 4, 1));
}

#[tokio::test]
async fn a_permalink_is_that_of_the_original_wherever_its_copies_stand() {
    let folder = tempfile::tempdir().unwrap();
    let note = "---\npermalink: drinks/coffee-brewing\n---\nText";
    for name in ["a.md", "backup/Coffee Brewing.md", "drinks/Coffee Brewing.md", "drinks/coffee.md"] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, note).unwrap();
    }
    let (items, _) = read_all(&mut open(folder.path().to_str().unwrap()).unwrap()).await;
    let ids: Vec<&str> = memories(&items).iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["a.md", "backup/Coffee Brewing.md", "drinks/coffee-brewing", "drinks/coffee.md"]);
}

#[tokio::test]
async fn a_date_is_the_time_of_a_note_or_stays_in_its_metadata() {
    let folder = tempfile::tempdir().unwrap();
    let dates =
        ["2024-05-01 10:00 +0100", "2024-05-01T10:00+01:00", "2024-05-01 09:00", "1714554000000", "in May"];
    for (place, date) in dates.iter().enumerate() {
        let note = format!("---\ncreated: {date}\nupdated: {date}\n---\nText");
        fs::write(folder.path().join(format!("{place}.md")), note).unwrap();
    }
    let (items, _) = read_all(&mut open(folder.path().to_str().unwrap()).unwrap()).await;
    let found = memories(&items);
    let at = Some("2024-05-01T09:00:00Z".parse().unwrap());
    for note in &found[..4] {
        assert_eq!((note.at, note.updated_at, note.metadata.get("created")), (at, at, None), "{note:?}");
    }
    let other = found[4];
    assert!(other.at > at && other.updated_at.is_none() && other.unread_times == 2, "{other:?}");
    let date = json!("in May");
    assert_eq!((&other.metadata["created"], &other.metadata["updated"]), (&date, &date));
}

#[test]
fn a_place_without_notes_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(open(folder.path().to_str().unwrap()).err().unwrap().code(), "source_unrecognised");
    let missing = folder.path().join("missing");
    assert_eq!(open(missing.to_str().unwrap()).err().unwrap().code(), "source_unreadable");
}

proptest! {
    #[test]
    fn any_text_is_a_note_or_says_why_not(text in "(---\n)?([a-z]: |- \\[|\\]|\\[\\[|#|\\(|\\)|\"|\n|---\n|é|\t|&a|\\*a){0,30}") {
        let _ = Note::parse(&text);
    }

    #[test]
    fn a_cut_note_is_a_note_or_says_why_not(cut in 0usize..COFFEE.len()) {
        let text = String::from_utf8_lossy(&COFFEE.as_bytes()[..cut]).into_owned();
        let _ = Note::parse(&text);
    }
}
