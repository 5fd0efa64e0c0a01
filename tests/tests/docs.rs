//! The documents, typed. Every command of README.md and docs/ runs as it stands, in order. Each document has a
//! directory and a database of its own. A comment before a block says how it differs:
//!
//! - `<!-- not run: REASON -->`: it cannot run here.
//! - `<!-- in the background -->`: its programs run until the end of the document.
//!
//! Lines that are not run are parsed by a test of htm-cli (`args/documented.rs`).

use std::fs;
use std::path::{Path, PathBuf};

use htm_tests::{Sandbox, TestDatabase, free_port, wait_until};
use tokio::net::TcpStream;

/// Each document has a test of its own, named after it.
macro_rules! documents {
    ($($name:ident: $path:literal),+ $(,)?) => {
        const DOCUMENTS: &[&str] = &[$($path),+];
        $(#[tokio::test]
        async fn $name() {
            run($path).await;
        })+
    };
}

documents! {
    readme: "README.md",
    capacity: "docs/capacity.md",
    coming_from: "docs/coming-from.md",
    commands: "docs/commands.md",
    configuration: "docs/configuration.md",
    console: "docs/console.md",
    documents: "docs/documents.md",
    erase: "docs/erase.md",
    files: "docs/files.md",
    http: "docs/http.md",
    learning: "docs/learning.md",
    tenants: "docs/tenants.md",
    mcp: "docs/mcp.md",
    memory: "docs/memory.md",
    ontology: "docs/ontology.md",
    operating: "docs/operating.md",
    partitions: "docs/partitions.md",
    providers: "docs/providers.md",
    recall: "docs/recall.md",
    time: "docs/time.md",
    working_memory: "docs/working-memory.md",
}

/// Documents without a command. The Rust of docs/library.md is compiled as documentation tests of htm-runtime.
const WITHOUT_COMMANDS: &[&str] = &[
    "docs/benchmarks.md",
    "docs/board.md",
    "docs/errors.md",
    "docs/library.md",
    "docs/releases.md",
    "docs/replicas.md",
];

/// Documents whose reader may have followed README.md on the same database: its first memory is of another robot, and stays.
const AFTER_README: &[&str] = &["docs/erase.md", "docs/http.md"];

/// The most lines of the documents that everybody reads.
const MOST_LINES: &[(&str, usize)] = &[("README.md", 150), ("ARCHITECTURE.md", 200)];

/// Where the documents' server listens.
const SERVED: &str = "127.0.0.1:7480";

/// How the commands of a block are run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Run {
    /// Each to its end.
    ToItsEnd,
    /// Until the end of the document.
    InTheBackground,
    /// Not at all.
    Not,
}

/// A block of commands.
struct Block {
    run: Run,
    /// Each with the number of its first line.
    commands: Vec<(usize, String)>,
}

/// Runs a document's commands.
async fn run(document: &str) {
    let text = read(document);
    let blocks = blocks(document, &text);
    let Some(model) = htm_tests::local_model() else { return };
    let db = TestDatabase::new().await;
    let port = free_port();
    let address = format!("127.0.0.1:{port}");
    let sandbox = Sandbox::new(&db)
        .set("HTM_SERVER__LISTEN", &address)
        .set("HTM_EMBEDDING__PROVIDER", "local")
        .set("HTM_TAG__PROVIDER", "local")
        .set("HTM_LOCAL__MODEL_DIR", &model.display().to_string());
    // The reader stands in a checkout.
    sandbox.shell(&format!("ln -s '{}' demo", root().join("demo").display())).await.succeeds();
    // The terms of the ontologies are embedded once, not for each document: that takes seconds.
    let cache = concat!(env!("CARGO_TARGET_TMPDIR"), "/cache-of-documents");
    let share = format!("mkdir -p '{cache}' \"$HTM_HOME\" && ln -s '{cache}' \"$HTM_HOME/cache\"");
    sandbox.shell(&share).await.succeeds();
    let of_readme = match AFTER_README.contains(&document) {
        true => Some(sandbox.remember(&["--robot", "architect", "We pin PostgreSQL 17.2."]).await),
        false => None,
    };
    let (mut ran, mut left) = (0, 0);
    let mut background = Vec::new();
    for Block { run, commands } in &blocks {
        for (line, command) in commands {
            match run {
                Run::Not => {
                    left += 1;
                    continue;
                }
                Run::InTheBackground => {
                    let words: Vec<&str> = command.split_whitespace().collect();
                    background.push(sandbox.start(words[0], &words[1..]));
                    if matches!(words[..], ["htm", "up" | "serve", ..]) {
                        wait_until(|| async { TcpStream::connect(&address).await.is_ok() }).await;
                    }
                }
                Run::ToItsEnd => {
                    eprintln!("{document}:{line}: {command}");
                    // Other documents have servers at the same time. A refused request fails the document.
                    let command =
                        command.replace(SERVED, &address).replace("curl -s ", "curl -sS --fail-with-body ");
                    sandbox.shell(&command).await.succeeds();
                }
            }
            ran += 1;
        }
    }
    if let Some(node) = of_readme {
        sandbox.htm(&["get", &node]).await.succeeds();
    }
    eprintln!("{document}: {ran} commands run, {left} not");
    assert!(ran > 0, "{document} has no command that runs: show one, or list it in WITHOUT_COMMANDS");
}

#[test]
fn no_document_is_left_out() {
    let guides = fs::read_dir(root().join("docs")).expect("docs/");
    let names = guides.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"));
    let names = names.filter(|name| name.ends_with(".md")).map(|name| format!("docs/{name}"));
    let mut found: Vec<String> = names.chain(["README.md".into()]).collect();
    let mut known: Vec<&str> = [DOCUMENTS, WITHOUT_COMMANDS].concat();
    found.sort();
    known.sort();
    assert_eq!(found, known, "each document is in DOCUMENTS or in WITHOUT_COMMANDS, and is there");
    for document in WITHOUT_COMMANDS {
        assert!(blocks(document, &read(document)).is_empty(), "{document} has commands: test it");
    }
}

#[test]
fn links_lead_somewhere() {
    let others = &["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"];
    for document in [DOCUMENTS, WITHOUT_COMMANDS, others].concat() {
        let text = read(document);
        let here = root().join(document);
        for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(link, _)| link)) {
            if link.contains("://") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = here.parent().expect("a directory").join(path);
            let target = if path.is_empty() { here.clone() } else { target };
            assert!(target.exists(), "{document} links to {link}, which is not there");
            if !anchor.is_empty() {
                let text = fs::read_to_string(&target).expect("a document");
                let mut headings = text.lines().filter(|line| line.starts_with('#')).map(slug);
                assert!(headings.any(|it| it == anchor), "{document} links to {link}: no such heading");
            }
        }
    }
}

#[test]
fn places_of_passages_are_headings() {
    let mut places = 0;
    for document in [DOCUMENTS, WITHOUT_COMMANDS].concat() {
        for (path, names) in read(document).lines().filter_map(|line| line.trim().split_once(" › ")) {
            let Some((path, line)) = path.rsplit_once(':') else { continue };
            assert!(line.parse::<usize>().is_ok(), "{document}: {path}:{line}");
            let text = read(path);
            let headings: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
            for name in names.split(" › ") {
                let is_there = headings.iter().any(|it| it.trim_start_matches('#').trim() == name);
                assert!(is_there, "{document} shows a passage of {path} below {name}: no such heading");
            }
            places += 1;
        }
    }
    assert!(places > 0);
}

#[test]
fn what_everybody_reads_is_short() {
    for (document, most) in MOST_LINES {
        let lines = read(document).lines().count();
        assert!(lines <= *most, "{document} has {lines} lines, of at most {most}");
    }
}

/// The anchor of a heading, as GitHub makes it.
fn slug(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|it| it.is_alphanumeric() || " -_".contains(*it));
    kept.map(|it| if it == ' ' { '-' } else { it }).collect()
}

/// The ```console blocks, with the lines that begin with `$ ` and their continuations.
fn blocks(document: &str, text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut run, mut is_inside) = (Run::ToItsEnd, false);
    for (number, line) in (1..).zip(text.lines()) {
        match blocks.last_mut().filter(|_| is_inside) {
            None if line == "```console" => {
                is_inside = true;
                blocks.push(Block { run, commands: Vec::new() });
                run = Run::ToItsEnd;
            }
            None => {
                assert!(
                    run == Run::ToItsEnd,
                    "{document}:{number}: the comment above stands before no block"
                );
                run = match line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->")) {
                    None => Run::ToItsEnd,
                    Some("in the background") => Run::InTheBackground,
                    Some(comment) => {
                        let reason = comment.strip_prefix("not run: ").unwrap_or_default();
                        assert!(!reason.is_empty(), "{document}:{number}: `{comment}`: why is it not run?");
                        Run::Not
                    }
                };
            }
            Some(_) if line == "```" => is_inside = false,
            Some(block) => match (line.strip_prefix("$ "), block.commands.last_mut()) {
                (Some(command), _) => block.commands.push((number, command.to_owned())),
                (None, Some((_, command))) if command.ends_with('\\') => {
                    command.push('\n');
                    command.push_str(line);
                }
                // What a command says.
                (None, _) => {}
            },
        }
    }
    assert!(!is_inside, "{document}: a block does not end");
    blocks
}

fn read(document: &str) -> String {
    fs::read_to_string(root().join(document)).unwrap_or_else(|error| panic!("{document}: {error}"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}
