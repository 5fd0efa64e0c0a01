//! The database of a command, for people: its name and its server. User and password are not in it.

use htm_core::{Hosts, Result};
use sqlx::postgres::PgConnectOptions;

use crate::config::Config;
use crate::paths::Paths;

/// The configured database.
///
/// # Errors
/// `database_url_invalid`, or `paths_no_home`.
pub fn place(config: &Config) -> Result<String> {
    if config.database.url.is_empty() {
        let data = Paths::from_env()?.data_dir();
        return Ok(format!("private PostgreSQL in {}", data.display()));
    }
    Ok(named(Hosts::of(config.database.url.expose())?.each()))
}

/// The database of a connection.
pub(crate) fn place_of(options: &PgConnectOptions) -> String {
    named(std::slice::from_ref(options))
}

fn named(hosts: &[PgConnectOptions]) -> String {
    let host = |options: &PgConnectOptions| match options.get_socket() {
        Some(socket) => socket.display().to_string(),
        None => format!("{}:{}", options.get_host(), options.get_port()),
    };
    let database = hosts.first().map_or("", |it| it.get_database().unwrap_or(it.get_username()));
    format!("database `{database}` on {}", hosts.iter().map(host).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_no_password() {
        for (url, expected) in [
            ("postgres://ada:hunter2@one:5433,two/memories", "database `memories` on one:5433, two:5432"),
            ("postgres://ada:hunter2@db.example.com", "database `ada` on db.example.com:5432"),
            ("postgres://ada@%2Frun%2Fb:5432/htm?password=hunter2", "database `htm` on /run/b"),
        ] {
            assert_eq!(named(Hosts::of(url).unwrap().each()), expected);
        }
    }
}
