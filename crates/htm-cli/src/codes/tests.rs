//! The codes of all crates: each documented, used, and in `docs/errors.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::*;

/// The lists, with the name of each in the document and the file that declares it.
const LISTS: [(&str, &str, &[&Code]); 7] = [
    ("The library", "crates/htm-core/src/model/error/codes.rs", htm_core::error::codes::ALL),
    ("Settings of providers", "crates/htm-providers/src/codes.rs", htm_providers::codes::ALL),
    (
        "Configuration, files, the database's schema, processes",
        "crates/htm-runtime/src/codes.rs",
        htm_runtime::codes::ALL,
    ),
    ("Tools over MCP", "crates/htm-mcp/src/codes.rs", htm_mcp::codes::ALL),
    ("The HTTP server", "crates/htm-server/src/codes.rs", htm_server::codes::ALL),
    ("Other systems' memories", "crates/htm-sources/src/codes.rs", htm_sources::codes::ALL),
    ("The command line", "crates/htm-cli/src/codes.rs", ALL),
];

fn codes() -> impl Iterator<Item = &'static Code> {
    LISTS.iter().flat_map(|(.., codes)| codes.iter().copied())
}

#[test]
fn every_code_is_documented_once() {
    let mut seen = BTreeSet::new();
    for code in codes() {
        assert!(seen.insert(code.name), "{} stands in two places", code.name);
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        assert!(code.name.chars().all(is_name), "{}", code.name);
        assert!(code.meaning.starts_with(char::is_uppercase) && code.meaning.ends_with('.'), "{code:?}");
        assert!(!code.hint.is_empty() && !code.hint.ends_with('.'), "{code:?}");
    }
    assert!(seen.len() > 100);
}

#[test]
fn the_document_lists_them_all() {
    let path = root().join("docs/errors.md");
    let written = document();
    if std::env::var_os("HTM_WRITE_DOCS").is_some() {
        fs::write(&path, &written).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap();
    assert!(found == written, "docs/errors.md is not current: run this test with HTM_WRITE_DOCS=1");
}

#[test]
fn every_code_is_made_somewhere() {
    let texts = sources();
    let made: BTreeSet<&str> = texts
        .values()
        .flat_map(|text| ["codes::", "new("].into_iter().flat_map(|by| constants(text, by)))
        .collect();
    for (_, declared, list) in LISTS {
        let rows = &texts[&root().join(declared)];
        for code in list {
            let row = rows.lines().find(|line| line.contains(&format!(" \"{}\" ", code.name))).unwrap();
            let constant = row.split_whitespace().next().unwrap();
            assert!(made.contains(constant), "nobody makes {}", code.name);
        }
    }
}

/// The constants that stand after `prefix`.
fn constants<'a>(text: &'a str, prefix: &str) -> impl Iterator<Item = &'a str> {
    let is_of_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    text.split(prefix).skip(1).map(move |rest| &rest[..rest.find(|c| !is_of_name(c)).unwrap_or(rest.len())])
}

#[test]
fn the_commands_are_of_codes_that_there_are() {
    let known: BTreeSet<&str> = codes().map(|code| code.name).collect();
    let table = fs::read_to_string(root().join("crates/htm-runtime/src/commands.rs")).unwrap();
    let arms: Vec<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("        \"")?.split_once("\" "))
        .map(|(code, _)| code)
        .collect();
    assert!(arms.len() > 40);
    for code in arms {
        assert!(known.contains(code), "the table of commands has `{code}`, which is no code");
    }
}

fn document() -> String {
    let mut text = String::from(
        "# Errors\n\n\
         Every error has a stable code, a message, a next step and a fault. The fault says who has to act. It decides the \
         exit code of a command, and whether a job is retried.\n\n\
         | fault | exit code | who acts | a job |\n|---|---|---|---|\n",
    );
    for (fault, who, job) in [
        (Fault::User, "the caller: the same call fails again", "becomes a dead letter"),
        (Fault::Transient, "nobody: it may work in a moment", "is retried with backoff"),
        (
            Fault::Permanent,
            "the operator: a key, a model, a schema",
            "is retried until `jobs.patience_ms` has passed, without counting attempts, then parked until \
             `htm jobs retry`",
        ),
        (Fault::Bug, "the developers", "becomes a dead letter after its attempts"),
    ] {
        text += &format!("| {} | {} | {who} | {job} |\n", name(fault), fault.exit_code());
    }
    text += "\nPrograms read the code: `Error::code` in Rust, `error.code` in the JSON of `htm --json` on standard error. \
             The library's next steps name functions; the command line names commands instead. The tables below are \
             generated from the code.\n";
    for (title, _, list) in LISTS {
        text +=
            &format!("\n## {title}\n\n| code | fault | what it means | what to do |\n|---|---|---|---|\n");
        for code in list {
            let cell = |text: &str| text.replace('|', "\\|");
            text += &format!(
                "| `{}` | {} | {} | {} |\n",
                code.name,
                name(code.fault),
                cell(code.meaning),
                cell(code.hint)
            );
        }
    }
    text
}

fn name(fault: Fault) -> &'static str {
    match fault {
        Fault::User => "user",
        Fault::Transient => "transient",
        Fault::Permanent => "permanent",
        Fault::Bug => "bug",
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The source files of all crates and workers, by path.
fn sources() -> BTreeMap<PathBuf, String> {
    fn collect(dir: &Path, texts: &mut BTreeMap<PathBuf, String>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, texts);
            } else if path.extension().is_some_and(|it| it == "rs") {
                texts.insert(path.clone(), fs::read_to_string(&path).unwrap());
            }
        }
    }
    let mut texts = BTreeMap::new();
    for part in ["crates", "workers"] {
        for entry in fs::read_dir(root().join(part)).unwrap() {
            collect(&entry.unwrap().path().join("src"), &mut texts);
        }
    }
    texts
}
