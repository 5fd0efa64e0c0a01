//! The properties of every file: the passages cover the text, none is too long, and no bytes are too strange.

use htm_documents::{Cutting, Read, read};
use proptest::prelude::*;

fn names() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a.md", "a.txt", "a.html", "a.xhtml", "a.rs", "a.py", "a"])
}

fn cuttings() -> impl Strategy<Value = Cutting> {
    (200_usize..600, 0_usize..200, 0_usize..400).prop_map(|(size, overlap, least)| Cutting {
        size,
        overlap,
        least,
    })
}

/// Texts with what the formats give a meaning to.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zA-Z]{1,12}",
        2 => prop::sample::select(vec![" ", "\n", "\n\n", "    ", "\t", ". ", "\r\n"]).prop_map(str::to_owned),
        2 => prop::sample::select(vec![
            "# ", "\n## ", "\n---\n", "\n===\n", "```\n", "- ", "| a | b |\n", "> ", "<h1>", "</h1>", "<p>", "<pre>",
            "</pre>", "<script>", "</script>", "<li>", "<table><tr><td>", "<main>", "</main>", "<nav>", "<!--", "&amp;",
            "fn f() {\n", "}\n", "def f():\n    ", "class A:\n", "---\ntags: [a]\n---\n", "[x]: y\n", "<title>",
            "<title/>", "<pre/>",
        ]).prop_map(str::to_owned),
        1 => "\\PC{1,20}",
        1 => prop::sample::select(vec!["漢字", "é́", "👩‍👩‍👧", "\u{202e}", "ก็", "\u{feff}"]).prop_map(str::to_owned),
        1 => "[a-z]{300,900}",
    ];
    prop::collection::vec(piece, 0..120).prop_map(|pieces| pieces.concat())
}

/// Paragraphs and blocks of code, each shorter than a passage.
fn blocks() -> impl Strategy<Value = String> {
    let block = prop_oneof!["([a-z]{1,8} ){1,10}[a-z]\\.\n\n", "```\n([a-z]{1,8}\n){1,8}```\n\n"];
    prop::collection::vec(block, 1..30).prop_map(|blocks| blocks.concat())
}

fn check(read: &Read, cutting: &Cutting) {
    let text = &read.text;
    let mut covered = vec![false; text.len()];
    let mut before: Option<std::ops::Range<usize>> = None;
    for passage in &read.passages {
        let range = passage.range.clone();
        // Slicing panics within a character.
        let of_passage = &text[range.clone()];
        assert!(!of_passage.trim().is_empty(), "a passage says nothing");
        assert!(
            of_passage.chars().count() <= cutting.size,
            "{} > {}",
            of_passage.chars().count(),
            cutting.size
        );
        assert!((range.start..=range.end).contains(&passage.body), "{passage:?}");
        let line = text[..range.start].matches('\n').count() as u32 + 1;
        assert_eq!(passage.line, line);
        if let Some(before) = before {
            assert!(range.start > before.start && range.end > before.end, "{before:?} {range:?}");
            let repeated = before.end.saturating_sub(range.start);
            if repeated > 0 {
                let repeated = text[range.start..before.end].chars().count();
                assert!(repeated <= cutting.overlap, "{repeated} > {}", cutting.overlap);
            }
        }
        covered[range.clone()].fill(true);
        before = Some(range);
    }
    // A front matter is no part of any passage; it stands before the first one.
    let first = read.passages[0].range.start;
    for (at, c) in text.char_indices().filter(|(at, c)| *at >= first && !c.is_whitespace()) {
        assert!(covered[at], "`{c}` at {at} is in no passage");
    }
}

proptest! {
    #[test]
    fn passages_cover_a_text_in_bounds(name in names(), text in texts(), cutting in cuttings()) {
        if let Ok(read) = read(name, text.as_bytes(), &cutting) {
            check(&read, &cutting);
        }
    }

    #[test]
    fn a_fence_is_in_a_passage_with_its_block(text in blocks(), cutting in cuttings()) {
        let read = read("a.md", text.as_bytes(), &cutting).unwrap();
        for passage in &read.passages {
            let of_passage = &read.text[passage.range.clone()];
            prop_assert!(of_passage.matches("```").count().is_multiple_of(2), "{of_passage}");
        }
    }

    #[test]
    fn no_bytes_are_too_strange(name in names(), bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(name, &bytes, &Cutting::default());
    }

    #[test]
    fn a_broken_pdf_is_named(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let pdf = [b"%PDF-1.7\n", &bytes[..]].concat();
        prop_assert!(read("a.pdf", &pdf, &Cutting::default()).is_err());
    }
}

#[test]
fn depth_is_no_danger() {
    let deep = 200_000;
    for (name, text) in [
        ("a.html", "<div>".repeat(deep) + "text"),
        ("a.md", "> ".repeat(deep) + "text"),
        ("a.md", "[".repeat(deep) + "text"),
        ("a.md", "- ".repeat(5_000) + "text"),
        ("a.rs", (0..2_000).map(|depth| " ".repeat(depth) + "if x {\n").collect()),
        ("a.txt", "x".repeat(1 << 20)),
    ] {
        let cutting = Cutting::default();
        check(&read(name, text.as_bytes(), &cutting).unwrap(), &cutting);
    }
}
