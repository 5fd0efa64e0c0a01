//! PostgreSQL's programs for backups, and how they connect.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::Stdio;

use htm_core::{Error, Result};
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

use crate::codes;
use crate::paths::Paths;
use crate::private_pg::PrivatePg;

/// The lines of a program's standard error that an error shows.
const SHOWN: usize = 5;

/// Where the programs are: in the private PostgreSQL's installation, which is the newest version that HTM knows, else on
/// the PATH. Programs serve servers of their own version and older ones.
pub(crate) struct Programs {
    directory: Option<PathBuf>,
    /// Variables for what the options of a connection do not tell.
    of_url: Vec<(&'static str, String)>,
}

impl Programs {
    /// The programs, for the database of a URL.
    pub(super) async fn find(paths: &Paths, url: &str) -> Self {
        let installed = match PrivatePg::locate(paths) {
            Ok(private) => private.status().await.ok().map(|status| status.bin_dir),
            Err(_) => None,
        };
        Self { of_url: variables_of(url), ..Self::at(installed) }
    }

    /// The programs of a directory, if it has them, for the private PostgreSQL.
    pub(crate) fn at(directory: Option<PathBuf>) -> Self {
        let directory = directory.filter(|directory| directory.join("pg_dump").is_file());
        Self { directory, of_url: Vec::new() }
    }

    /// Runs a program to its end, and gives each line that it writes to its standard error.
    pub(super) async fn run(
        &self,
        program: &str,
        arguments: &[&str],
        options: &PgConnectOptions,
        mut on_line: impl FnMut(&str),
    ) -> Result<()> {
        let mut command = self.command(program, arguments, options);
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| missing(program, error))?;
        let mut last: VecDeque<String> = VecDeque::new();
        if let Some(stderr) = child.stderr.take() {
            let mut lines = BufReader::new(stderr).split(b'\n');
            while let Ok(Some(line)) = lines.next_segment().await {
                let line = String::from_utf8_lossy(&line).into_owned();
                on_line(&line);
                last.push_back(line);
                if last.len() > SHOWN {
                    last.pop_front();
                }
            }
        }
        let status = child.wait().await.map_err(|error| missing(program, error))?;
        match status.success() {
            true => Ok(()),
            false => {
                let said = Vec::from(last).join("; ");
                Err(Error::new(codes::BACKUP_FAILED, format!("{program} failed ({status}): {said}")))
            }
        }
    }

    /// Returns what a program writes to its standard output.
    pub(super) async fn output(
        &self,
        program: &str,
        arguments: &[&str],
        options: &PgConnectOptions,
    ) -> Result<String> {
        let output = self.command(program, arguments, options).output().await;
        let output = output.map_err(|error| missing(program, error))?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => {
                let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                Err(Error::new(codes::BACKUP_FAILED, format!("{program} failed ({}): {said}", output.status)))
            }
        }
    }

    /// A program with the connection in its environment: others may see its arguments.
    fn command(&self, program: &str, arguments: &[&str], options: &PgConnectOptions) -> Command {
        let path = self.directory.as_ref().map_or_else(|| PathBuf::from(program), |it| it.join(program));
        let mut command = Command::new(path);
        command.args(arguments).stdin(Stdio::null()).kill_on_drop(true).env("LC_MESSAGES", "C");
        let host = options.get_socket().map_or_else(
            || options.get_host().trim_matches(['[', ']']).to_owned(),
            |socket| socket.display().to_string(),
        );
        // These would lead elsewhere.
        for other in ["PGSERVICE", "PGSERVICEFILE", "PGHOSTADDR", "PGOPTIONS", "PGTARGETSESSIONATTRS"] {
            command.env_remove(other);
        }
        if matches!(options.get_ssl_mode(), PgSslMode::VerifyFull) {
            // As sqlx does, unless the URL names a file.
            command.env("PGSSLROOTCERT", "system");
        }
        command
            .env("PGHOST", host)
            .env("PGPORT", options.get_port().to_string())
            .env("PGUSER", options.get_username())
            .env("PGDATABASE", options.get_database().unwrap_or(options.get_username()))
            .env("PGAPPNAME", "htm")
            .env("PGSSLMODE", ssl_mode(options.get_ssl_mode()));
        command.envs(self.of_url.iter().map(|(name, value)| (name, value)));
        command
    }
}

fn missing(program: &str, error: std::io::Error) -> Error {
    Error::new(codes::BACKUP_PROGRAMS_MISSING, format!("{program} cannot be run: {error}")).with_source(error)
}

fn ssl_mode(mode: PgSslMode) -> &'static str {
    match mode {
        PgSslMode::Disable => "disable",
        PgSslMode::Allow => "allow",
        PgSslMode::Prefer => "prefer",
        PgSslMode::Require => "require",
        PgSslMode::VerifyCa => "verify-ca",
        PgSslMode::VerifyFull => "verify-full",
    }
}

/// The password and the files of TLS that a URL names.
fn variables_of(url: &str) -> Vec<(&'static str, String)> {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (_, query) = path.split_once('?').unwrap_or_default();
    let of_user = authority.rsplit_once('@').and_then(|(user, _)| user.split_once(':'));
    let mut variables: Vec<_> =
        of_user.into_iter().map(|(_, password)| ("PGPASSWORD", percent_decoded(password))).collect();
    for (name, value) in query.split('&').filter_map(|parameter| parameter.split_once('=')) {
        let variable = match name.replace('-', "").as_str() {
            "password" => "PGPASSWORD",
            "sslrootcert" => "PGSSLROOTCERT",
            "sslcert" => "PGSSLCERT",
            "sslkey" => "PGSSLKEY",
            _ => continue,
        };
        variables.push((variable, percent_decoded(value)));
    }
    variables
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let hex = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.filter(|_| first == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_connection_is_in_the_environment_and_not_among_the_arguments() {
        let url =
            "postgres://ada:p%40s%25%20w@db.example.com:6432/atlas?sslmode=verify-ca&sslrootcert=/ca.pem";
        let options = htm_core::connect_options(url).unwrap();
        let command = Programs { directory: None, of_url: variables_of(url) }.command(
            "pg_dump",
            &["--verbose"],
            &options,
        );
        let command = command.as_std();
        let of = |name: &str| {
            let found = command.get_envs().find(|(key, _)| *key == name).and_then(|(_, value)| value);
            found.unwrap_or_default().to_string_lossy().into_owned()
        };
        assert_eq!(of("PGPASSWORD"), "p@s% w");
        assert_eq!((of("PGHOST"), of("PGPORT")), ("db.example.com".into(), "6432".into()));
        assert_eq!((of("PGUSER"), of("PGDATABASE")), ("ada".into(), "atlas".into()));
        assert_eq!((of("PGSSLMODE"), of("PGSSLROOTCERT")), ("verify-ca".into(), "/ca.pem".into()));
        let of_query = variables_of("postgres://ada@db/atlas?a=b&password=%2541");
        assert_eq!(of_query, [("PGPASSWORD", "%41".into())]);
        assert!(variables_of("postgres://ada@db/atlas").is_empty());
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["--verbose"]);
    }
}
