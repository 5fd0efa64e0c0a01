//! Parsing of every program's command line, with `--set SECTION.KEY=VALUE`.

use std::ffi::OsString;
use std::io::{self, Write};
use std::{env, process};

use clap::error::ErrorKind;
use clap::{Error, Parser};
use htm_runtime::config::is_key;
use htm_runtime::telemetry::to_stderr;

/// Parses this process's arguments. Each `--set` is checked before clap sees any argument. Clap's errors quote what
/// they reject, and after a `--set` without `=` that could be a secret.
///
/// # Errors
/// Clap's error, for the caller to print.
pub fn parse<T: Parser>() -> Result<T, Error> {
    let arguments: Vec<OsString> = env::args_os().collect();
    for text in overrides(&arguments) {
        parse_override(&text).map_err(|what| T::command().error(ErrorKind::ValueValidation, what))?;
    }
    T::try_parse_from(arguments)
}

/// As [`parse`]. Help that was asked for, or an error, is printed and ends the process, with 1 if standard output is full.
pub fn parse_or_exit<T: Parser>() -> T {
    let error = match parse() {
        Ok(arguments) => return arguments,
        Err(error) => error,
    };
    if error.use_stderr() {
        error.exit();
    }
    let printed = error.print().and_then(|()| io::stdout().flush());
    // A reader that has gone away (`| head`) is no error.
    if let Err(failed) = printed
        && failed.kind() != io::ErrorKind::BrokenPipe
    {
        let hint = "make room where the output goes";
        to_stderr(&format!("error[io_error]: standard output cannot be written: {failed}\n  help: {hint}\n"));
        process::exit(1);
    }
    process::exit(0)
}

/// The value of each `--set`.
fn overrides(arguments: &[OsString]) -> impl Iterator<Item = String> {
    let end = arguments.iter().position(|it| it == "--").unwrap_or(arguments.len());
    arguments[..end].iter().enumerate().filter_map(move |(place, option)| match option.to_string_lossy() {
        option if option == "--set" => Some(arguments.get(place + 1)?.to_string_lossy().into_owned()),
        option => option.strip_prefix("--set=").map(str::to_owned),
    })
}

/// Reads `section.key=value`.
///
/// # Errors
/// The text has another form. The message contains at most the name of a known key. The rest may be a secret.
pub fn parse_override(text: &str) -> Result<(String, String), String> {
    let is_part = |part: &str| !part.is_empty() && part.chars().all(is_of_name);
    match text.split_once('=').map(|(name, value)| (name.trim(), value.trim())) {
        Some((name, value))
            if name.split_once('.').is_some_and(|(section, key)| is_part(section) && is_part(key)) =>
        {
            Ok((name.into(), value.into()))
        }
        _ => Err(wanted(text)),
    }
}

fn is_of_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || "_-".contains(character)
}

fn wanted(text: &str) -> String {
    let text = text.trim_start();
    let end = text.find(|it: char| !is_of_name(it) && it != '.').unwrap_or(text.len());
    match &text[..end] {
        key if is_key(key) => {
            format!("no value for `--set {key}`: write it as `--set {key}=VALUE`, without spaces")
        }
        _ => "not of the form `--set SECTION.KEY=VALUE`, as `--set recall.limit=5`".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_may_have_any_character() {
        let read = |text| parse_override(text).unwrap();
        assert_eq!(
            read(" database.url = postgres://u:p=w@h "),
            ("database.url".into(), "postgres://u:p=w@h".into())
        );
        assert_eq!(read("recall.limt="), ("recall.limt".into(), String::new()));
    }

    #[test]
    fn each_override_is_looked_at() {
        let arguments = "htm --set a.b=c --json --set=d remember --set -- --set e".split(' ');
        let arguments: Vec<OsString> = arguments.map(OsString::from).collect();
        assert_eq!(overrides(&arguments).collect::<Vec<_>>(), ["a.b=c", "d", "--"]);
        assert!(overrides(&["htm".into(), "--set".into()]).next().is_none());
    }

    #[test]
    fn an_error_shows_no_secret() {
        for text in [
            "database.url postgres://u:secret@h",
            "database.url:postgres://u:secret@h?sslmode=disable",
            "database.url",
        ] {
            let said = parse_override(text).unwrap_err();
            assert!(said.contains("`--set database.url=VALUE`") && !said.contains("secret"), "{said}");
        }
        for text in [
            "postgres://u:secret@h?sslmode=disable",
            "secret",
            "database.secret",
            "api_key=secret",
            "=secret",
            "",
        ] {
            let said = parse_override(text).unwrap_err();
            assert!(said.contains("SECTION.KEY=VALUE") && !said.contains("secret"), "{said}");
        }
    }
}
