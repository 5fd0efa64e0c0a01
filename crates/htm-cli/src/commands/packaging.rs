//! `htm completions` and `htm man`: completions for shells and man pages, made from the definition of the command line.

use std::collections::BTreeSet;
use std::fs;
use std::iter;
use std::process::ExitCode;

use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::args::{Arguments, CompletionsArgs, ManArgs, Program};
use crate::error::CliError;
use crate::output::{Output, count};

/// The source of a man page, at its foot.
const SOURCE: &str = concat!("htm ", env!("CARGO_PKG_VERSION"));

pub(crate) fn completions(args: &CompletionsArgs, output: &Output) -> ExitCode {
    let mut command = definition(args.program);
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    if args.shell == Shell::Bash {
        let completed = of_bash(&String::from_utf8_lossy(&script), &command);
        script = completed.into_bytes();
    }
    text("script", &script, output);
    ExitCode::SUCCESS
}

/// A script for bash, without options for the empty word of a command that takes words. They would be all there is: bash
/// would type their `-` and offer no files.
fn of_bash(script: &str, command: &Command) -> String {
    let places = places_of_words(command, command.get_name());
    let (mut completed, mut is_place) = (String::new(), false);
    for line in script.lines() {
        completed.push_str(line);
        completed.push('\n');
        let line = line.trim();
        let words = line.strip_prefix("opts=\"").and_then(|words| words.strip_suffix('"'));
        if let Some(words) = words.filter(|_| is_place) {
            let words: Vec<&str> = words.split(' ').filter(|word| !word.starts_with('-')).collect();
            completed.push_str(&format!("            [[ -n ${{cur}} ]] || opts=\"{}\"\n", words.join(" ")));
        }
        is_place = line.strip_suffix(')').is_some_and(|place| places.contains(place));
    }
    completed
}

/// The places of a script for bash that are of a command that takes words: of this one, and of those below.
fn places_of_words(command: &Command, place: &str) -> BTreeSet<String> {
    let below = command.get_subcommands().flat_map(|it| {
        let place = format!("{place} {}", it.get_name()).replace([' ', '-'], "__subcmd__");
        places_of_words(it, &place)
    });
    let itself = command.get_positionals().next().map(|_| place.to_owned());
    below.chain(itself).collect()
}

pub(crate) fn man(args: &ManArgs, output: &Output) -> Result<ExitCode, CliError> {
    let Some(dir) = &args.to else {
        let mut page = Vec::new();
        let rendered = page_of(&definition(Program::Htm)).render(&mut page);
        rendered.map_err(CliError::io("the man page cannot be made"))?;
        text("page", &page, output);
        return Ok(ExitCode::SUCCESS);
    };
    let failed = || CliError::io(format!("cannot write man pages into {}", dir.display()));
    fs::create_dir_all(dir).map_err(failed())?;
    let programs = [Program::Htm, Program::EmbedWorker, Program::TagWorker, Program::LearnWorker];
    let pages = programs.iter().flat_map(|program| pages(&definition(*program)));
    let written = |page: Man| page.generate_to(dir).map(|file| file.display().to_string());
    let files: Vec<String> = pages.map(written).collect::<Result<_, _>>().map_err(failed())?;
    let said = || format!("{} in {}", count(files.len(), "man page"), dir.display());
    output.value(&serde_json::json!({ "pages": files }), said);
    Ok(ExitCode::SUCCESS)
}

/// Prints what was made as it is: a shell or `man` reads it.
fn text(what: &str, made: &[u8], output: &Output) {
    let made = String::from_utf8_lossy(made);
    if output.is_json() {
        output.value(&serde_json::json!({ what: made }), String::new);
    } else {
        output.print(&made);
    }
}

/// The definition of a program's command line. The command `help` has no page: it shows the others.
fn definition(program: Program) -> Command {
    let command = match program {
        Program::Htm => Arguments::command(),
        Program::EmbedWorker => embed_worker::Arguments::command(),
        Program::TagWorker => tag_worker::Arguments::command(),
        Program::LearnWorker => learn_worker::Arguments::command(),
    };
    let mut command = command.disable_help_subcommand(true);
    // Names such as `htm-db-backup`, and the options of every command, are only in a built definition.
    command.build();
    command
}

/// The man pages of a command and of all below it.
fn pages(command: &Command) -> Vec<Man> {
    iter::once(page_of(command)).chain(command.get_subcommands().flat_map(pages)).collect()
}

fn page_of(command: &Command) -> Man {
    // Without a date: a page is the same whenever it is made. An empty one would be left out, and the source take its place.
    Man::new(command.clone()).date(" ").source(SOURCE).manual("HTM")
}
