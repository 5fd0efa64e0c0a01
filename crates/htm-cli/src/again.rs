//! The command line of this process, for hints: the same command once more, and other commands about its namespace. A hint
//! that left out an option would change other memories than the command was about.

use clap::CommandFactory;
use htm_runtime::commands::{self, quoted};
use htm_runtime::config::is_secret;

use crate::args::Arguments;

/// How this command is confirmed, and rehearsed before that if it can be.
pub(crate) fn confirm() -> String {
    let arguments = arguments();
    match can_be_rehearsed(&arguments) {
        true => format!("check it with `{}`, then confirm with `--yes`", typed(&arguments, "--dry-run")),
        false => format!("confirm: `{}`", typed(&arguments, "--yes")),
    }
}

/// The namespace that this command names.
pub(crate) fn namespace() -> Option<String> {
    named(&arguments(), "--namespace")
}

/// The option for another command to name the namespace of this one, with a space before it. Empty if this one names none.
pub(crate) fn in_namespace() -> String {
    commands::in_namespace(namespace().as_deref())
}

/// The arguments of this process. A name of a file, or this program's own, may be no UTF-8.
pub(crate) fn arguments() -> Vec<String> {
    std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect()
}

/// The place behind the options: behind `--` all words are texts.
fn end_of_options(arguments: &[String]) -> usize {
    arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len())
}

/// The command with one more option, as it is typed. Secrets are hidden.
fn typed(arguments: &[String], option: &str) -> String {
    let (options, texts) = arguments.split_at(end_of_options(arguments));
    let mut words = vec!["htm".to_owned()];
    for (place, word) in options.iter().enumerate() {
        let is_setting = place > 0 && options[place - 1] == "--set";
        words.push(match word.strip_prefix("--set=") {
            Some(setting) => format!("--set={}", without_secret(setting)),
            None if is_setting => without_secret(word),
            None => word.clone(),
        });
    }
    words.push(option.to_owned());
    words.extend_from_slice(texts);
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

fn without_secret(setting: &str) -> String {
    match setting.split_once('=') {
        Some((key, _)) if is_secret(key.trim()) => format!("{key}=***"),
        _ => setting.to_owned(),
    }
}

/// The value of an option.
fn named(arguments: &[String], option: &str) -> Option<String> {
    let options = &arguments[..end_of_options(arguments)];
    options.iter().enumerate().find_map(|(place, word)| match word.strip_prefix(option)? {
        "" => options.get(place + 1).cloned(),
        value => value.strip_prefix('=').map(str::to_owned),
    })
}

/// Whether the command has `--dry-run`.
fn can_be_rehearsed(arguments: &[String]) -> bool {
    let mut command = Arguments::command();
    for argument in arguments {
        if let Some(inner) = command.find_subcommand(argument).cloned() {
            command = inner;
        }
    }
    command.get_arguments().any(|argument| argument.get_long() == Some("dry-run"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &[&str]) -> Vec<String> {
        line.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_command_is_repeated_with_all_that_was_typed_and_no_secret() {
        for (line, again) in [
            (
                &["tags", "remove", "shared", "--namespace", "my notes", "--assigned"][..],
                "htm tags remove shared --namespace 'my notes' --assigned --dry-run",
            ),
            (
                &["--set", "database.url=postgres://u:pw@h", "--set=openai.api_key=pw", "--json", "purge"],
                "htm --set 'database.url=***' '--set=openai.api_key=***' --json purge --dry-run",
            ),
            (
                &["--set", "memory.namespace=hb", "--set", "secret.thing=pw", "purge"],
                "htm --set memory.namespace=hb --set 'secret.thing=***' purge --dry-run",
            ),
            (&["tags", "remove", "--", "-x", "it's", ""], "htm tags remove --dry-run -- -x 'it'\\''s' ''"),
        ] {
            assert_eq!(typed(&words(line), "--dry-run"), again);
        }
    }

    #[test]
    fn the_namespace_is_that_which_was_named() {
        for (line, name) in [
            (&["tags", "log", "--namespace", "hb"][..], Some("hb")),
            (&["tags", "log", "--namespace=a/b"], Some("a/b")),
            (&["namespaces", "list"], None),
            (&["recall", "--", "--namespace", "x"], None),
            (&["tags", "log", "--namespaces", "x"], None),
        ] {
            assert_eq!(named(&words(line), "--namespace").as_deref(), name, "{line:?}");
        }
    }

    #[test]
    fn what_cannot_be_rehearsed_is_only_confirmed() {
        for (line, can) in [
            (&["tags", "remove", "list"][..], true),
            (&["--json", "robots", "merge", "a", "b"], true),
            (&["forget", "7"], true),
            (&["groups", "shutdown", "crew"], false),
            (&["db", "reset"], false),
        ] {
            assert_eq!(can_be_rehearsed(&words(line)), can, "{line:?}");
        }
    }
}
