//! clap's errors: of a command line that cannot be read.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::CommandFactory;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use htm_runtime::telemetry::to_stderr;

use super::{Output, coloured, one_line, unwritable};
use crate::args::Arguments;
use crate::{again, codes};

/// Prints clap's error, as JSON if `--json` is among the arguments, which are not parsed yet.
pub(crate) fn usage(mut error: clap::Error) -> ExitCode {
    if is_unquoted(&error) {
        let tip = StyledStr::from("a text with spaces is quoted: \"two words\"");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    if error.use_stderr() && std::env::args_os().any(|argument| argument == "--json") {
        if matches!(
            error.kind(),
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand
        ) {
            to_stderr(&format!("{}\n", missing_subcommand()));
            return ExitCode::from(2);
        }
        let (message, hint) = message_and_hint(&in_plain_words(&error.to_string()));
        let error = serde_json::json!({ "code": codes::USAGE.name, "message": message, "hint": hint });
        to_stderr(&format!("{}\n", serde_json::json!({ "error": error })));
    } else if error.use_stderr() {
        let text = in_plain_words(&error.render().ansi().to_string());
        to_stderr(&coloured(&text, console::colors_enabled_stderr()));
    } else {
        // A reader that has gone away (`| head`) is no error.
        let printed = error.print().and_then(|()| io::stdout().flush());
        if let Err(failed) = printed
            && failed.kind() != io::ErrorKind::BrokenPipe
        {
            let failed = unwritable(&failed);
            Output::new(std::env::args_os().any(|argument| argument == "--json")).error(&failed);
            return ExitCode::from(failed.fault.exit_code());
        }
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// The message of clap's text, and the next step: its tips and the usage.
fn message_and_hint(text: &str) -> (String, String) {
    let (what, usage) = text.split_once("\n\nUsage: ").unwrap_or((text, ""));
    let what = what.split("\n\nFor more information").next().unwrap_or(what);
    let mut parts = what.strip_prefix("error: ").unwrap_or(what).split("\n  tip: ");
    let message = one_line(parts.next().unwrap_or_default(), usize::MAX);
    let usage = match usage.lines().next() {
        Some(usage) => format!("usage: {usage}"),
        None => "see `htm --help`".into(),
    };
    let steps: Vec<String> = parts.map(|tip| one_line(tip, usize::MAX)).chain([usage]).collect();
    (message, steps.join("; "))
}

/// Whether a word follows the text of a command: the text's second word, as a rule.
fn is_unquoted(error: &clap::Error) -> bool {
    let takes_text = error.get(ContextKind::Usage).is_some_and(|usage| usage.to_string().contains("TEXT"));
    let word = match error.kind() {
        ErrorKind::UnknownArgument => error.get(ContextKind::InvalidArg),
        ErrorKind::TooManyValues => error.get(ContextKind::InvalidValue),
        _ => None,
    };
    takes_text && matches!(word, Some(ContextValue::String(word)) if !word.starts_with('-'))
}

/// An error of clap, without the words of Rust's parsers.
fn in_plain_words(text: &str) -> String {
    let words = [
        ("invalid digit found in string", "not a whole number"),
        ("invalid float literal", "not a number"),
        ("cannot parse integer from empty string", "not a whole number"),
        ("cannot parse float from empty string", "not a number"),
        ("number too large to fit in target type", "too large"),
        ("invalid socket address syntax", "not an address such as 127.0.0.1:7480"),
    ];
    words.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// The error of a command without a required subcommand, such as `htm --json config`. It lists the subcommands.
fn missing_subcommand() -> serde_json::Value {
    let mut command = Arguments::command();
    let mut path = command.get_name().to_owned();
    for argument in again::arguments() {
        if let Some(inner) = command.find_subcommand(&argument).cloned() {
            path = format!("{path} {argument}");
            command = inner;
        }
    }
    let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    serde_json::json!({ "error": {
        "code": codes::USAGE.name,
        "message": format!("`{path}` needs a subcommand: {}", names.join(", ")),
        "hint": format!("see their descriptions: `{path} --help`"),
    } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tip_is_a_next_step_and_no_part_of_the_message() {
        for (line, message, hint) in [
            (
                &["recall", "--bogus"][..],
                "unexpected argument '--bogus' found",
                "to pass '--bogus' as a value, use '-- --bogus'; usage: htm recall ",
            ),
            (
                &["groupz"],
                "unrecognized subcommand 'groupz'",
                "a similar subcommand exists: 'groups'; usage: htm ",
            ),
        ] {
            let error = Arguments::command().try_get_matches_from([&["htm"], line].concat()).unwrap_err();
            let (said, step) = message_and_hint(&error.to_string());
            assert_eq!(said, message);
            assert!(step.starts_with(hint), "{step}");
        }
    }

    #[test]
    fn a_text_that_was_not_quoted_is_told_from_other_words_too_many() {
        for (line, expected) in [
            (&["remember", "two", "words"][..], true),
            (&["edit", "7", "two", "words"], true),
            (&["remember", "text", "--colour"], false),
            (&["robots", "list", "more"], false),
            (&["remembr", "text"], false),
        ] {
            let error = Arguments::command().try_get_matches_from([&["htm"], line].concat()).unwrap_err();
            assert_eq!(is_unquoted(&error), expected, "{line:?}");
        }
    }
}
