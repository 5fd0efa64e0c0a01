//! The binary `htm`, as a person or a script meets it.

#[path = "cli/audit.rs"]
mod audit;
#[path = "cli/bad_input.rs"]
mod bad_input;
#[path = "cli/capacity.rs"]
mod capacity;
#[path = "cli/changes.rs"]
mod changes;
#[path = "cli/configuration.rs"]
mod configuration;
#[path = "cli/context.rs"]
mod context;
#[path = "cli/database.rs"]
mod database;
#[path = "cli/doctor.rs"]
mod doctor;
#[path = "cli/erase.rs"]
mod erase;
#[path = "cli/filters.rs"]
mod filters;
#[path = "cli/groups.rs"]
mod groups;
#[path = "cli/help.rs"]
mod help;
#[path = "cli/hub.rs"]
mod hub;
#[path = "cli/import.rs"]
mod import;
#[path = "cli/jobs.rs"]
mod jobs;
#[path = "cli/memories.rs"]
mod memories;
#[path = "cli/mind.rs"]
mod mind;
#[path = "cli/namespaces.rs"]
mod namespaces;
#[path = "cli/ontology.rs"]
mod ontology;
#[path = "cli/packaging.rs"]
mod packaging;
#[path = "cli/providers.rs"]
mod providers;
#[path = "cli/queues.rs"]
mod queues;
#[path = "cli/recall.rs"]
mod recall;
#[path = "cli/refine.rs"]
mod refine;
#[path = "cli/relations.rs"]
mod relations;
#[path = "cli/robots.rs"]
mod robots;
#[path = "cli/streams.rs"]
mod streams;
#[path = "cli/tags.rs"]
mod tags;
#[path = "cli/time.rs"]
mod time;
#[path = "cli/told.rs"]
mod told;

/// The text that people read, without ids, times and ages, which differ from run to run; as wide as it was.
fn filtered(text: &str) -> String {
    let is_age = |word: &str| {
        word.strip_suffix(['s', 'm', 'h', 'd'])
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit()))
    };
    let word = |word: &str| match word.len() {
        26 if word.starts_with("01") => format!("{:26}", "[id]"),
        20.. if word.starts_with("20") && word.contains('T') => format!("{:20}", "[time]"),
        _ if is_age(word) => word.replace(|it: char| it.is_ascii_digit(), "#"),
        _ => word.to_owned(),
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ").trim_end().to_owned();
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}
#[path = "cli/models.rs"]
mod models;
