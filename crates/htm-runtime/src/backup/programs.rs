//! PostgreSQL's programs for backups, and how they connect.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use htm_core::{Error, Result};
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::messages::Messages;
use crate::codes;
use crate::packages::parse_version;
use crate::paths::Paths;
use crate::private_pg::PrivatePg;

/// The time in which a program that is told to end does so. It asks the server to cancel its statements first.
const GRACE: Duration = Duration::from_secs(10);

/// The time in which the processes that a program has started end after it.
const MOMENT: Duration = Duration::from_secs(1);

/// The variable with the file of the authorities whose certificates are trusted.
const AUTHORITIES: &str = "PGSSLROOTCERT";

/// Where the programs are: in the private PostgreSQL's installation, which is the newest version that HTM knows, else on
/// the PATH. Programs serve servers of their own version and older ones.
pub(crate) struct Programs {
    directory: Option<PathBuf>,
    /// Variables for what the options of a connection do not tell.
    of_url: Vec<(&'static str, String)>,
}

impl Programs {
    /// The programs, for the database of a URL.
    pub(super) fn find(paths: &Paths, url: &str) -> Result<Self> {
        let programs = match PrivatePg::locate(paths) {
            Ok(private) => private.programs()?,
            Err(_) => Self::at(None),
        };
        Ok(Self { of_url: variables_of(url), ..programs })
    }

    /// The programs of a directory, else those on the PATH, for the private PostgreSQL.
    pub(crate) fn at(directory: Option<PathBuf>) -> Self {
        Self { directory, of_url: Vec::new() }
    }

    /// Runs a program to its end, and gives each line that it writes to its standard error. If this is dropped before, the
    /// program and its workers are ended. A pg_restore that goes on after errors succeeds if an older server refused no more
    /// than what only newer ones know.
    pub(super) async fn run(
        &self,
        program: &str,
        arguments: &[impl AsRef<OsStr>],
        options: &PgConnectOptions,
        mut on_line: impl FnMut(&str),
    ) -> Result<()> {
        let mut command = self.command(program, arguments, options).await?;
        // Ended by this process alone: an interrupt of the terminal would end it before the reason is known.
        command.stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
        let mut running = Running(command.spawn().map_err(|error| missing(program, error))?);
        let mut messages = Messages::default();
        // Lent: a program that ends may still say why.
        if let Some(stderr) = running.0.stderr.as_mut() {
            let mut lines = BufReader::new(stderr).split(b'\n');
            while let Ok(Some(line)) = lines.next_segment().await {
                let line = String::from_utf8_lossy(&line).into_owned();
                on_line(&line);
                messages.add(line);
            }
        }
        let status = running.0.wait().await.map_err(|error| missing(program, error))?;
        match status.success() || messages.are_of_an_older_server() {
            true => Ok(()),
            false => {
                let reason = messages.reason();
                let failed =
                    Error::new(codes::BACKUP_FAILED, format!("{program} failed ({status}): {reason}"));
                Err(match program {
                    "pg_restore" => failed.with_hint(
                        "read what it says and correct that; if it does not say what is wrong, a file of the backup may be \
                         damaged: restore another backup",
                    ),
                    _ => failed,
                })
            }
        }
    }

    /// Returns what a program writes to its standard output.
    pub(super) async fn output(
        &self,
        program: &str,
        arguments: &[impl AsRef<OsStr>],
        options: &PgConnectOptions,
    ) -> Result<String> {
        let output = self.command(program, arguments, options).await?.output().await;
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
    async fn command(
        &self,
        program: &str,
        arguments: &[impl AsRef<OsStr>],
        options: &PgConnectOptions,
    ) -> Result<Command> {
        let path = self.directory.as_ref().map_or_else(|| PathBuf::from(program), |it| it.join(program));
        let mut command = Command::new(&path);
        // In English, because their messages are read. `LC_ALL` is the one that no other variable overrides.
        command.args(arguments).stdin(Stdio::null()).kill_on_drop(true).env("LC_ALL", "C");
        let host = options.get_socket().map_or_else(
            || options.get_host().trim_matches(['[', ']']).to_owned(),
            |socket| socket.display().to_string(),
        );
        // These would lead elsewhere.
        for other in ["PGSERVICE", "PGSERVICEFILE", "PGHOSTADDR", "PGOPTIONS", "PGTARGETSESSIONATTRS"] {
            command.env_remove(other);
        }
        let names_authorities =
            self.of_url.iter().any(|(name, _)| *name == AUTHORITIES) || env::var_os(AUTHORITIES).is_some();
        if matches!(options.get_ssl_mode(), PgSslMode::VerifyFull) && !names_authorities {
            // As sqlx does.
            expect_system_authorities(program, &path).await?;
            command.env(AUTHORITIES, "system");
        }
        command
            .env("PGHOST", host)
            .env("PGPORT", options.get_port().to_string())
            .env("PGUSER", options.get_username())
            .env("PGDATABASE", options.get_database().unwrap_or(options.get_username()))
            .env("PGAPPNAME", if program == "pg_restore" { htm_migration::RESTORING } else { "htm" })
            .env("PGSSLMODE", ssl_mode(options.get_ssl_mode()));
        command.envs(self.of_url.iter().map(|(name, value)| (name, value)));
        Ok(command)
    }
}

/// Makes sure that a program knows the authorities that the system trusts. Before version 16 it takes `system` for a file.
async fn expect_system_authorities(program: &str, path: &Path) -> Result<()> {
    let output = Command::new(path).arg("--version").stdin(Stdio::null()).output().await;
    let output = output.map_err(|error| missing(program, error))?;
    // `pg_dump (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)`
    let said = String::from_utf8_lossy(&output.stdout);
    let version = said.split_whitespace().nth(2).and_then(parse_version).unwrap_or_default();
    if version.first().is_none_or(|major| *major >= 16) {
        return Ok(());
    }
    let message = format!(
        "{program} is of version {}; before 16 it does not know the authorities that the system trusts",
        version.iter().map(u32::to_string).collect::<Vec<_>>().join(".")
    );
    Err(Error::new(codes::BACKUP_PROGRAMS_MISSING, message).with_hint(
        "name their file in database.url: `?sslrootcert=/etc/ssl/certs/ca-certificates.crt`; or install newer client \
         programs: `./justw setup`",
    ))
}

/// A program that runs, in a process group of its own.
struct Running(Child);

impl Drop for Running {
    /// Ends the program and the processes that it has started, unless its end was awaited. This blocks the thread until
    /// they have ended: they write files and rows.
    fn drop(&mut self) {
        let id = self.0.id().and_then(|id| i32::try_from(id).ok());
        let Some(leader) = id.map(Pid::from_raw) else { return };
        let no_signal = None::<Signal>;
        // The programs of PostgreSQL tell their workers. An error means that it has ended.
        let _ = kill(leader, Signal::SIGTERM);
        let has_ended = until(GRACE, || !matches!(self.0.try_wait(), Ok(None)));
        if has_ended && until(MOMENT, || killpg(leader, no_signal).is_err()) {
            return;
        }
        let _ = killpg(leader, Signal::SIGKILL);
        until(MOMENT, || !matches!(self.0.try_wait(), Ok(None)) && killpg(leader, no_signal).is_err());
    }
}

/// Waits until something is so. Returns false if it is not in time.
fn until(limit: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + limit;
    loop {
        if is_so() {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        thread::sleep(Duration::from_millis(10));
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
        // As sqlx reads a query: a plus is a space.
        let [name, value] = [name, value].map(|text| percent_decoded(&text.replace('+', " ")));
        let variable = match name.replace('-', "").as_str() {
            "password" => "PGPASSWORD",
            "sslrootcert" | "sslca" => AUTHORITIES,
            "sslcert" => "PGSSLCERT",
            "sslkey" => "PGSSLKEY",
            _ => continue,
        };
        variables.push((variable, value));
    }
    variables
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let hex = tail.get(..2).filter(|hex| first == b'%' && hex.iter().all(u8::is_ascii_hexdigit));
        let hex = hex.and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
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
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// The command of pg_dump in a directory, or on the PATH, for the database of a URL.
    async fn command(directory: Option<&Path>, url: &str) -> Result<Command> {
        let directory = directory.map(Path::to_path_buf);
        let options = htm_core::connect_options(url).unwrap();
        Programs { directory, of_url: variables_of(url) }.command("pg_dump", &["--verbose"], &options).await
    }

    fn variable(command: &Command, name: &str) -> String {
        let found = command.as_std().get_envs().find(|(key, _)| *key == name).and_then(|(_, value)| value);
        found.unwrap_or_default().to_string_lossy().into_owned()
    }

    #[tokio::test]
    async fn the_connection_is_in_the_environment_and_not_among_the_arguments() {
        let url =
            "postgres://ada:p%40s%25%20w@db.example.com:6432/atlas?sslmode=verify-ca&sslrootcert=/ca.pem";
        let command = command(None, url).await.unwrap();
        let of = |name: &str| variable(&command, name);
        assert_eq!(of("PGPASSWORD"), "p@s% w");
        assert_eq!((of("PGHOST"), of("PGPORT")), ("db.example.com".into(), "6432".into()));
        assert_eq!((of("PGUSER"), of("PGDATABASE")), ("ada".into(), "atlas".into()));
        assert_eq!((of("PGSSLMODE"), of("PGSSLROOTCERT")), ("verify-ca".into(), "/ca.pem".into()));
        assert_eq!(of("LC_ALL"), "C", "its messages are read, whatever the language of this process is");
        let of_query = variables_of("postgres://ada@db/atlas?a=b&password=%2541");
        assert_eq!(of_query, [("PGPASSWORD", "%41".into())]);
        let of_query = variables_of("postgres://ada@db/atlas?%70assword=a+b%2Bc");
        assert_eq!(of_query, [("PGPASSWORD", "a b+c".into())]);
        let of_user = variables_of("postgres://ada:a+b%+5@db/atlas");
        assert_eq!(of_user, [("PGPASSWORD", "a+b%+5".into())]);
        assert!(variables_of("postgres://ada@db/atlas").is_empty());
        assert_eq!(command.as_std().get_args().collect::<Vec<_>>(), ["--verbose"]);
    }

    #[tokio::test]
    async fn a_program_that_does_not_know_the_systems_authorities_is_not_told_to_use_them() {
        let url = "postgres://ada@db.example.com/atlas";
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("pg_dump");
        let of_version = |version: &str| {
            fs::write(&program, format!("#!/bin/sh\necho 'pg_dump (PostgreSQL) {version}'\n")).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        };
        of_version("15.18 (Debian 15.18-0+deb12u1)");
        let refused = command(Some(directory.path()), url).await.unwrap_err();
        assert_eq!(refused.code(), "backup_programs_missing");
        assert!(refused.to_string().contains("version 15.18"), "{refused}");
        assert!(refused.hint().contains("?sslrootcert="), "{}", refused.hint());
        let named = command(Some(directory.path()), &format!("{url}?sslrootcert=/ca.pem")).await.unwrap();
        assert_eq!(variable(&named, AUTHORITIES), "/ca.pem");
        for version in ["16.4", "18.6", "19beta1"] {
            of_version(version);
            let system = command(Some(directory.path()), url).await.unwrap();
            assert_eq!(variable(&system, AUTHORITIES), "system", "{version}");
        }
    }

    #[tokio::test]
    async fn a_program_that_is_stopped_ends_with_what_it_has_started() {
        let options = htm_core::connect_options("postgres://ada@db/atlas").unwrap();
        let (tell, told) = tokio::sync::oneshot::channel();
        let mut tell = Some(tell);
        let on_line = |line: &str| {
            if let Some(tell) = tell.take() {
                tell.send(line.trim().to_owned()).unwrap();
            }
        };
        // The shell ends by the signal, and leaves what it has started.
        let programs = Programs::at(None);
        let run = programs.run("sh", &["-c", "sleep 600 & echo $! >&2; wait"], &options, on_line);
        let started = tokio::select! {
            started = told => started.unwrap(),
            ended = run => panic!("{ended:?}"),
        };
        // Nobody may have waited for it yet.
        let stat = format!("/proc/{started}/stat");
        let has_ended = || std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z "));
        assert!(until(GRACE, has_ended));
    }
}
