//! The files that a package installs beside the programs: completions and man pages.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use htm_tests::Sandbox;

const PROGRAMS: [&str; 4] = ["htm", "embed-worker", "tag-worker", "learn-worker"];

/// Completes a line of bash with the script of its first argument.
const COMPLETE: &str = r#"
source "$1"
COMP_WORDS=("${@:2}") COMP_CWORD=$(($# - 2))
_htm htm "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"#;

#[tokio::test]
async fn completions_are_scripts_that_the_shells_accept() {
    let sandbox = Sandbox::on("");
    // Elvish compiles completions in a terminal only.
    let checks =
        [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute"), ("elvish", ""), ("powershell", "")];
    for (shell, check) in checks {
        let is_here = !check.is_empty() && Command::new(shell).args(["-c", ":"]).output().is_ok();
        for program in PROGRAMS {
            let answer = sandbox.htm(&["completions", shell, program]).await;
            let script = answer.succeeds();
            assert!(script.contains(program) && script.contains("--set"), "{shell}, {program}: {script}");
            if is_here {
                let file = sandbox.write(&format!("{program}.{shell}"), script);
                let checked = Command::new(shell).args([check, &file]).output().expect("the shell runs");
                let said = String::from_utf8_lossy(&checked.stderr);
                assert!(checked.status.success(), "{shell} refuses the completions of {program}: {said}");
            }
        }
    }
}

#[tokio::test]
async fn bash_completes_commands_and_options() {
    let sandbox = Sandbox::on("");
    let script = sandbox.write("htm.bash", sandbox.htm(&["completions", "bash"]).await.succeeds());
    let completed = |line: &[&str]| {
        let arguments = [&["-c", COMPLETE, "bash", &*script], line].concat();
        let output = Command::new("bash").args(arguments).output().expect("bash runs");
        String::from_utf8(output.stdout).expect("UTF-8").lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(completed(&["htm", "remem"]), ["remember"]);
    assert_eq!(completed(&["htm", "db", "ba"]), ["backup"]);
    assert_eq!(completed(&["htm", "recall", "--strat"]), ["--strategy"]);
    assert_eq!(completed(&["htm", "context", "--order", "f"]), ["frequent"]);
    assert_eq!(completed(&["htm", "timeline", "--by", "s"]), ["session"]);
    assert_eq!(completed(&["htm", "import", "--from", "let"]), ["letta"]);
    assert_eq!(completed(&["htm", "keys", "create", "--role", "w"]), ["writer"]);
    assert_eq!(completed(&["htm", "learning", "on", "--signal", "ci"]), ["cited"]);
    assert_eq!(completed(&["htm", "models", "index", "--kind", "disk"]), ["diskann"]);
    assert_eq!(completed(&["htm", "related", "--kind", "shared"]), ["shared_tags"]);
    assert_eq!(completed(&["htm", "status", "--wait", "t"]), ["tag"]);
    assert_eq!(completed(&["htm", "backfill", ""]), ["embed", "tag"]);
    assert_eq!(completed(&["htm", "load", "--gl"]), ["--glob"]);
    // None of its own: bash offers files.
    for line in [&["htm", "load", ""][..], &["htm", "db", "restore", ""], &["htm", "tags", "import", ""]] {
        assert_eq!(completed(line), [""], "{line:?}");
    }
}

#[tokio::test]
async fn every_command_has_a_man_page() {
    let sandbox = Sandbox::on("");
    let dir = sandbox.home().join("share/man1");
    let said = sandbox.htm(&["man", "--json", "--to", &dir.display().to_string()]).await.json();
    let written: BTreeSet<String> = fs::read_dir(&dir)
        .expect("the directory")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    assert_eq!(said["pages"].as_array().map(Vec::len), Some(written.len()));

    // The pages are those that the pages of the programs lead to: `htm-db(1)`, and from there `htm-db-backup(1)`.
    let mut reached = BTreeSet::new();
    let mut next: Vec<String> = PROGRAMS.iter().map(|program| format!("{program}.1")).collect();
    while let Some(file) = next.pop() {
        let page = fs::read_to_string(dir.join(&file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let page = page.replace('\\', "");
        let below = format!("{}-", file.trim_end_matches(".1"));
        let names =
            page.lines().filter_map(|line| line.strip_suffix("(1)").filter(|it| it.starts_with(&below)));
        next.extend(names.map(|name| format!("{name}.1")));
        assert!(page.contains("--set"), "{file} lacks an option of every command");
        reached.insert(file);
    }
    assert_eq!(reached, written);
    let help = sandbox.htm(&["--help"]).await;
    let listed = help.succeeds().lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
    for command in listed.filter(|name| *name != "help") {
        assert!(written.contains(&format!("htm-{command}.1")), "`{command}` has no page");
    }

    // One page alone, for `htm man | man -l -`; as it is with a broken configuration too.
    let sandbox = sandbox.set("HTM_RECALL__LIMIT", "many");
    let page = sandbox.htm(&["man"]).await;
    assert_eq!(page.succeeds(), fs::read_to_string(dir.join("htm.1")).expect("the page"));
}
