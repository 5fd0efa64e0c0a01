//! The binary `htm`, as a person or a script meets it.

#[path = "cli/bad_input.rs"]
mod bad_input;
#[path = "cli/configuration.rs"]
mod configuration;
#[path = "cli/database.rs"]
mod database;
#[path = "cli/doctor.rs"]
mod doctor;
#[path = "cli/help.rs"]
mod help;
#[path = "cli/import.rs"]
mod import;
#[path = "cli/memories.rs"]
mod memories;
#[path = "cli/models.rs"]
mod models;
