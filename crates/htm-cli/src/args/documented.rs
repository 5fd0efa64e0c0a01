//! Checks that the programs accept every command line of the documents and every example of the help texts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use super::Arguments;

/// Runs a line with functions in place of HTM's programs. They print their arguments: each argument ends with NUL, each
/// call with a line break. No other program is found.
const CALLS: &str = r#"
exec 3>&1 >/dev/null 2>&1
PATH=/nonexistent
call() { printf '%s\0' "$@" >&3; printf '\n\0' >&3; }
htm() { call htm "$@"; }
embed-worker() { call embed-worker "$@"; }
tag-worker() { call tag-worker "$@"; }
learn-worker() { call learn-worker "$@"; }
eval "$1"
"#;

/// The programs of HTM that a line calls, each with its arguments.
fn calls(line: &str) -> Vec<Vec<String>> {
    // Files that the line writes go here; files that it reads are empty.
    let dir = tempfile::tempdir().expect("a directory");
    let words: Vec<&str> = line.split_whitespace().collect();
    for read in words.windows(2).filter(|pair| pair[0] == "<") {
        fs::write(dir.path().join(read[1]), "").expect("a file is written");
    }
    let output = Command::new("bash")
        .args(["-c", CALLS, "bash", line])
        .current_dir(dir.path())
        .stdin(Stdio::null())
        .output()
        .expect("bash runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let words: Vec<&str> = text.split_terminator('\0').collect();
    let calls = words.split(|word| *word == "\n").filter(|call| !call.is_empty());
    calls.map(|call| call.iter().map(|word| (*word).to_owned()).collect()).collect()
}

/// The error of clap for a call.
fn refusal(call: &[String]) -> Option<String> {
    let refused = match call[0].as_str() {
        "htm" => Arguments::try_parse_from(call).err(),
        "embed-worker" => embed_worker::Arguments::try_parse_from(call).err(),
        "learn-worker" => learn_worker::Arguments::try_parse_from(call).err(),
        _ => tag_worker::Arguments::try_parse_from(call).err(),
    };
    let asks_for_help =
        |error: &clap::Error| matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    refused.filter(|error| !asks_for_help(error)).map(|error| error.to_string())
}

fn check(place: &str, line: &str) {
    let names_one = line
        .split_whitespace()
        .any(|word| ["htm", "embed-worker", "tag-worker", "learn-worker"].contains(&word));
    let calls = calls(line);
    assert!(!names_one || !calls.is_empty(), "{place}: bash calls no program of `{line}`");
    for call in calls {
        if let Some(refusal) = refusal(&call) {
            panic!("{place}: {line}\n{refusal}");
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_documents() {
    let guides =
        fs::read_dir(root().join("docs")).expect("docs/").map(|entry| entry.expect("an entry").path());
    let guides = guides.filter(|path| path.extension().is_some_and(|it| it == "md"));
    for path in guides.chain([root().join("README.md")]) {
        let text = fs::read_to_string(&path).expect("a document");
        // Continued lines are joined, as bash does.
        let text = text.replace("\\\n", " ");
        for line in text.lines().filter_map(|line| line.strip_prefix("$ ")) {
            check(&path.display().to_string(), line);
        }
    }
}

#[test]
fn every_command_is_in_the_list_of_commands() {
    let list = fs::read_to_string(root().join("docs/commands.md")).expect("the list");
    for command in Arguments::command().get_subcommands().filter(|command| !command.is_hide_set()) {
        let name = command.get_name();
        let is_listed = [format!("htm {name}"), format!("`{name}`")].iter().any(|it| list.contains(it));
        assert!(is_listed, "docs/commands.md does not name `htm {name}`");
    }
}

#[test]
fn the_examples_of_the_help_texts() {
    for command in [
        Arguments::command(),
        embed_worker::Arguments::command(),
        tag_worker::Arguments::command(),
        learn_worker::Arguments::command(),
    ] {
        check_examples(&command);
    }
}

fn check_examples(command: &clap::Command) {
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    for line in text.lines().skip_while(|line| !line.starts_with("Example")).skip(1) {
        // The example's purpose follows it, after two spaces.
        let line = line.trim_start();
        check(command.get_name(), line.split_once("  ").map_or(line, |(line, _)| line));
    }
    command.get_subcommands().for_each(check_examples);
}
