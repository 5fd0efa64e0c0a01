//! The cluster: created by `initdb`, started and stopped by `pg_ctl`. Callers hold the server's lock.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use htm_core::{Error, Result};
use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;
use sha2::{Digest as _, Sha256};

use super::error::{IoContext as _, not_stopped, other_major, program, socket_dir_taken, still_in_use};
use super::install::Installation;
use super::orphans;
use super::owned_dir::OwnedDir;
use super::server_user::ServerUser;
use super::settings::Settings;
use crate::codes;
use crate::paths::{Paths, sync_names};

/// The database in the cluster.
const DATABASE: &str = "htm";
/// The superuser. [`Settings`] has the users that may connect as it.
pub(super) const SUPERUSER: &str = "postgres";
/// Only a part of the socket's name. No port is opened.
pub(super) const PORT: u16 = 5432;
/// The socket's name.
const SOCKET: &str = ".s.PGSQL.5432";
/// `sockaddr_un.sun_path` holds 108 bytes on Linux, 104 on macOS, with the final NUL.
const SOCKET_PATH_MAX: usize = if cfg!(target_os = "macos") { 103 } else { 107 };
/// The time limit of a start, including crash recovery.
const START_DEADLINE: Duration = Duration::from_secs(120);
/// The time for the processes of a killed postmaster to exit by themselves.
const ORPHANS_PATIENCE: Duration = Duration::from_secs(1);
/// The time limit for them to exit.
const ORPHANS_DEADLINE: Duration = Duration::from_secs(20);
/// The longest time for which a killed process's programs write into a directory that is removed.
const WRITERS_DEADLINE: Duration = Duration::from_secs(5);
/// The server's log, in the cluster's directory.
const LOG: &str = "server.log";
/// A log larger than this, in bytes, is renamed at the next start.
const LOG_MAX: u64 = 10 * 1024 * 1024;

#[derive(Clone, Debug)]
pub(super) struct Cluster {
    pub(super) installation: Installation,
    pub(super) user: ServerUser,
    pub(super) data: PathBuf,
    pub(super) socket_dir: PathBuf,
    pub(super) conf_dir: PathBuf,
    pub(super) upgrade_dir: PathBuf,
}

/// The state of the cluster's server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServerState {
    Stopped,
    /// Starting, recovering or stopping.
    Busy,
    /// Ready for connections, with its process id.
    Ready(i32),
}

impl Cluster {
    pub(super) fn new(installation: Installation, user: ServerUser, paths: &Paths) -> Self {
        let socket_dir = short_enough(paths.run_dir(), user.uid());
        let (data, conf_dir, upgrade_dir) = (paths.data_dir(), paths.conf_dir(), paths.upgrade_dir());
        Self { installation, user, data, socket_dir, conf_dir, upgrade_dir }
    }

    /// A cluster of another directory, or this one by another installation, on a socket below the directory of the
    /// upgrade: programs that know only the usual one do not reach it.
    pub(super) fn aside(&self, installation: Installation, data: PathBuf) -> Self {
        let socket_dir = short_enough(self.upgrade_dir.join("run"), self.user.uid());
        let conf_dir = self.upgrade_dir.join("conf");
        Self { installation, data, socket_dir, conf_dir, ..self.clone() }
    }

    /// The URL for sqlx and libpq, with the socket's directory, percent-encoded, as the host.
    pub(super) fn url(&self) -> String {
        let host: String =
            self.socket_dir.as_os_str().as_bytes().iter().fold(String::new(), |host, byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => host + char::from(*byte).encode_utf8(&mut [0; 4]),
                other => host + &format!("%{other:02X}"),
            });
        format!("postgres://{SUPERUSER}@{host}:{PORT}/{DATABASE}?sslmode=disable")
    }

    /// Starts the server unless it runs. Creates the cluster if there is none.
    pub(super) fn ensure_running(&self) -> Result<()> {
        let since = Instant::now();
        let (mut orphans_since, mut told) = (None, Vec::new());
        loop {
            match self.state()? {
                ServerState::Ready(_) => return Ok(()),
                // An interrupted `pg_upgrade` leaves a server that takes no other connections. Nobody else starts or
                // stops one, because the caller holds the server's lock.
                ServerState::Busy if self.upgrade_dir.exists() && self.is_elsewhere()? => {
                    self.stop()?;
                    continue;
                }
                ServerState::Busy if since.elapsed() < START_DEADLINE => {
                    thread::sleep(Duration::from_millis(50));
                    continue;
                }
                ServerState::Busy => {
                    let (waited_s, log) = (START_DEADLINE.as_secs(), self.log_since(0));
                    return Err(program(
                        "postgres",
                        &self.data,
                        &format!("not ready after {waited_s} s"),
                        &log,
                    ));
                }
                ServerState::Stopped => {}
            }
            self.ensure_initialised()?;
            self.prepare_start()?;
            let log_start = self.data()?.map_or(0, |data| data.length_of(LOG));
            match self.pg_ctl_start() {
                Ok(()) => return Ok(()),
                Err(output) => {
                    let log = self.log_since(log_start);
                    let is_in_use = log.contains("is still in use");
                    let error = program("pg_ctl start", &self.data, &output, &log);
                    if !is_in_use && !log.contains("already exists") {
                        return Err(error);
                    }
                    // Most processes of a killed postmaster exit by themselves a moment later.
                    let waited = orphans_since.get_or_insert_with(Instant::now).elapsed();
                    self.end_orphans(is_in_use, waited, &mut told, error)?;
                    thread::sleep(Duration::from_millis(100));
                }
            }
        }
    }

    /// Tells the processes of a killed postmaster that are left after a while to end, each once. Fails with `error` if they
    /// have not ended in time.
    fn end_orphans(
        &self,
        is_in_use: bool,
        waited: Duration,
        told: &mut Vec<i32>,
        error: Error,
    ) -> Result<()> {
        if waited < ORPHANS_PATIENCE {
            return Ok(());
        }
        let orphans = match is_in_use && self.state()? == ServerState::Stopped {
            true => orphans::of(&self.data, self.user.uid()),
            false => Vec::new(),
        };
        if waited > ORPHANS_DEADLINE {
            return Err(if is_in_use { still_in_use(error, &orphans) } else { error });
        }
        for pid in orphans {
            if !told.contains(&pid) {
                tracing::info!(pid, "ending a process of a killed PostgreSQL");
                orphans::quit(pid);
                told.push(pid);
            }
        }
        Ok(())
    }

    /// Stops the server if it runs, ending its connections.
    pub(super) fn stop(&self) -> Result<()> {
        self.stop_by("fast")
    }

    /// As [`stop`](Self::stop). A server that does not end in time, because it hangs, is ended without a checkpoint: it
    /// recovers at its next start.
    pub(super) fn stop_anyway(&self) -> Result<()> {
        self.stop().or_else(|error| {
            tracing::warn!(code = error.code(), %error, "the private PostgreSQL is ended at once");
            self.stop_by("immediate")
        })
    }

    fn stop_by(&self, mode: &str) -> Result<()> {
        if self.state()? == ServerState::Stopped {
            return Ok(());
        }
        let mut command = self.command("pg_ctl");
        command
            .args(["stop", "--wait", "--timeout=60", "--silent", "--mode", mode, "--pgdata"])
            .arg(&self.data);
        let Err(output) = output_of(&mut command) else { return Ok(()) };
        // `pg_ctl` of a killed process may have stopped it meanwhile.
        if self.state()? == ServerState::Stopped {
            return Ok(());
        }
        let error = program(&format!("pg_ctl stop --mode {mode}"), &self.data, &output, &self.log_since(0));
        Err(if mode == "fast" { not_stopped(error) } else { error })
    }

    /// The server's state, by its pid file, process and socket.
    pub(super) fn state(&self) -> Result<ServerState> {
        let Some((pid, status)) = self.pid_file()? else { return Ok(ServerState::Stopped) };
        // A server that answers is alive, even if its process is in another container and not visible here. A socket in
        // another user's directory is not trusted.
        let answers =
            self.own_socket_dir()?.is_some() && UnixStream::connect(self.socket_dir.join(SOCKET)).is_ok();
        Ok(match (answers, status.as_str()) {
            (true, "ready") => ServerState::Ready(pid),
            (true, _) => ServerState::Busy,
            (false, _) if self.is_our_process(pid) => ServerState::Busy,
            (false, _) => ServerState::Stopped,
        })
    }

    /// Whether the server has ended. Its socket, which would cost it a process, is asked only if its own is not to be seen.
    pub(super) fn has_ended(&self) -> Result<bool> {
        match self.pid_file()? {
            None => Ok(true),
            Some((pid, _)) if self.is_our_process(pid) => Ok(false),
            Some(_) => Ok(self.state()? == ServerState::Stopped),
        }
    }

    /// The path of the server's log.
    pub(super) fn log(&self) -> PathBuf {
        self.data.join(LOG)
    }

    /// The cluster's directory, if it exists.
    fn data(&self) -> Result<Option<OwnedDir>> {
        OwnedDir::open(&self.data, &self.user)
    }

    /// The socket's directory, if it exists. An error if it is not the server's own.
    fn own_socket_dir(&self) -> Result<Option<OwnedDir>> {
        OwnedDir::open_private(&self.socket_dir, &self.user).map_err(|error| {
            match error.is(codes::PRIVATE_PG_UNSAFE_PATH) {
                true => socket_dir_taken(&self.socket_dir),
                false => error,
            }
        })
    }

    /// Whether the server's socket is in another directory, as that of a server which `pg_upgrade` has started.
    fn is_elsewhere(&self) -> Result<bool> {
        let Some(data) = self.data()? else { return Ok(false) };
        let text = data.read("postmaster.pid")?.unwrap_or_default();
        // Line 5: see PostgreSQL's src/include/utils/pidfile.h.
        let socket = text.lines().nth(4).map(str::trim).filter(|socket| !socket.is_empty());
        Ok(socket.is_some_and(|socket| Path::new(socket) != self.socket_dir))
    }

    /// The process id and the status word of `postmaster.pid`.
    fn pid_file(&self) -> Result<Option<(i32, String)>> {
        let Some(data) = self.data()? else { return Ok(None) };
        let Some(text) = data.read("postmaster.pid")? else { return Ok(None) };
        let mut lines = text.lines();
        // Line 1 is the process id, line 8 the status: see PostgreSQL's src/include/utils/pidfile.h.
        let pid = lines.next().and_then(|line| line.trim().parse().ok()).filter(|pid| *pid > 0);
        let status = lines.nth(6).unwrap_or_default().trim().to_owned();
        Ok(pid.map(|pid| (pid, status)))
    }

    /// Whether the process of a pid file is this cluster's server. After a kill -9 or a reboot the process id may be
    /// that of a zombie or of another program.
    fn is_our_process(&self, pid: i32) -> bool {
        // EPERM: it is a process of another user.
        if let Err(Errno::ESRCH | Errno::EPERM) = kill(Pid::from_raw(pid), None) {
            return false;
        }
        if !cfg!(target_os = "linux") {
            return true;
        }
        match fs::read_link(format!("/proc/{pid}/cwd")) {
            Ok(cwd) => self.data.canonicalize().is_ok_and(|data| data == cwd),
            Err(error) => error.kind() != ErrorKind::NotFound,
        }
    }

    pub(super) fn ensure_initialised(&self) -> Result<()> {
        self.finish_switch()?;
        if let Some(cluster) = self.cluster_version()? {
            let installed = self.installation.major();
            if cluster != installed {
                return Err(other_major(&self.data, &cluster, installed));
            }
            return Ok(());
        }
        if fs::read_dir(&self.data).is_ok_and(|mut entries| entries.next().is_some()) {
            let message = format!("{} is not empty and holds no PostgreSQL cluster", self.data.display());
            return Err(Error::new(codes::PRIVATE_PG_NOT_A_CLUSTER, message));
        }
        // Created beside it and renamed, so that a cluster is complete or absent.
        let new = self.data.with_extension("new");
        remove_dir(&new)?;
        create_private_dir(&new, &self.user)?;
        self.initdb(&new, &[])?;
        self.create_database(&new)?;
        let _ = fs::remove_dir(&self.data); // an empty one
        // Before the server writes to it: what is still `new` after a crash would be removed.
        rename(&new, &self.data)
    }

    /// Puts an upgraded cluster in its place, if an upgrade was interrupted after it had moved the old one away.
    pub(super) fn finish_switch(&self) -> Result<()> {
        let upgraded = self.upgraded();
        if self.data.exists() || !upgraded.exists() {
            return Ok(());
        }
        tracing::info!(data_dir = %self.data.display(), "an interrupted upgrade of PostgreSQL is finished");
        rename(&upgraded, &self.data)
    }

    /// The name of an upgraded and verified cluster, until it takes the place of the old one.
    pub(super) fn upgraded(&self) -> PathBuf {
        self.data.with_extension("upgraded")
    }

    pub(super) fn cluster_version(&self) -> Result<Option<String>> {
        let Some(data) = self.data()? else { return Ok(None) };
        Ok(data.read("PG_VERSION")?.map(|version| version.trim().to_owned()))
    }

    /// Makes a cluster without a database of HTM.
    pub(super) fn initdb(&self, new: &Path, options: &[&str]) -> Result<()> {
        tracing::info!(data_dir = %self.data.display(), "making a PostgreSQL cluster");
        let mut command = self.command("initdb");
        command.arg("--encoding=UTF8").args(self.locale()).args(options);
        // In effect if the server is started by hand, without htm's settings.
        command.args(["--auth-local=peer", "--auth-host=reject"]);
        command.arg(format!("--username={SUPERUSER}")).arg("--pgdata").arg(new);
        output_of(&mut command).map_err(|output| program("initdb", &self.data, &output, ""))
    }

    /// A locale with letters beyond ASCII in two cases, so that `Ä` and `ä` differ only in case everywhere: PostgreSQL's
    /// built-in one instead of the machine's. It is there from PostgreSQL 17 on.
    fn locale(&self) -> &'static [&'static str] {
        match self.installation.major() {
            "15" | "16" => &["--locale=C.UTF-8"],
            _ => &["--no-locale", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"],
        }
    }

    fn create_database(&self, new: &Path) -> Result<()> {
        let failed = |output: &str| program("postgres --single", &self.data, output, "");
        let mut command = self.command("postgres");
        command.args(["--single", "-D"]).arg(new).arg("postgres").stdin(Stdio::piped());
        let said =
            say(&mut command, &format!("create database {DATABASE}\n")).map_err(|output| failed(&output))?;
        // It exits with success even if the statement failed.
        if said.contains("ERROR:") || said.contains("FATAL:") {
            return Err(failed(&said));
        }
        Ok(())
    }

    /// Prepares the socket's directory, the settings and the log, and removes the leftovers of a killed server.
    fn prepare_start(&self) -> Result<()> {
        create_private_dir(&self.socket_dir, &self.user)?;
        let socket_dir = self.own_socket_dir()?;
        self.user.check_reaches(&self.socket_dir)?;
        self.settings().write(&self.user)?;
        let (Some(data), Some(socket_dir)) = (self.data()?, socket_dir) else { return Ok(()) };
        if data.length_of(LOG) > LOG_MAX {
            data.rename(LOG, "server.log.1")?;
        }
        // A zombie, or another process with the killed server's id, would keep PostgreSQL from starting. PostgreSQL
        // detects remaining processes of the killed server by shared memory, without these files. One of them may be
        // left without the other.
        if let Some((pid, _)) = self.pid_file()?
            && kill(Pid::from_raw(pid), None) != Err(Errno::ESRCH)
        {
            data.remove("postmaster.pid")?;
        }
        let asked = UnixStream::connect(self.socket_dir.join(SOCKET)).map_err(|error| error.kind());
        if let Err(ErrorKind::NotFound | ErrorKind::ConnectionRefused) = asked {
            socket_dir.remove(&format!("{SOCKET}.lock"))?;
        }
        Ok(())
    }

    fn settings(&self) -> Settings<'_> {
        Settings { conf_dir: &self.conf_dir, data: &self.data, socket_dir: &self.socket_dir }
    }

    fn pg_ctl_start(&self) -> Result<(), String> {
        let mut command = self.command("pg_ctl");
        command.args(["start", "--wait", "--silent"]);
        command.arg(format!("--timeout={}", START_DEADLINE.as_secs()));
        command.arg("--options").arg(self.settings().options());
        command.arg("--log").arg(self.log()).arg("--pgdata").arg(&self.data);
        output_of(&mut command)
    }

    /// A command for a program of the installation. It runs as the server's user, ignores the terminal's Ctrl-C (pg_ctl
    /// gives the server a session of its own), and writes English. It does not get this process's environment, which
    /// may contain keys and settings for other PostgreSQL servers.
    pub(super) fn command(&self, program: &'static str) -> Command {
        let mut command = Command::new(self.installation.bin.join(program));
        let kept = std::env::vars_os().filter(|(name, _)| is_for_programs(name)).collect::<Vec<_>>();
        command.env_clear().envs(kept).env("LC_ALL", "C");
        command.current_dir("/").process_group(0).stdin(Stdio::null());
        self.user.run_as(&mut command);
        command
    }

    /// The log's end, from `offset` on, as one line.
    fn log_since(&self, offset: u64) -> String {
        const MOST: u64 = 1500;
        let data = self.data().ok().flatten();
        one_line(&data.map(|data| data.end_of(LOG, offset, MOST)).unwrap_or_default())
    }
}

/// Creates `dir`. Only `user` may enter it.
pub(super) fn create_private_dir(dir: &Path, user: &ServerUser) -> Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(dir) {
        Ok(()) => {
            fs::set_permissions(dir, fs::Permissions::from_mode(0o700)).or_io("create", dir)?;
            user.own(dir)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error).or_io("create", dir),
    }
}

/// Renames `from`. The disk has the new name when this returns, so what follows never outlives it in a crash.
pub(super) fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).or_io("rename", from)?;
    let dir = to.parent().unwrap_or(Path::new("/"));
    sync_names(dir).or_io("sync", dir)
}

/// Removes `dir` and its content, if it exists. Children of a killed process may still write there for a moment.
pub(super) fn remove_dir(dir: &Path) -> Result<()> {
    let until = Instant::now() + WRITERS_DEADLINE;
    loop {
        match fs::remove_dir_all(dir) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty && Instant::now() < until => {
                thread::sleep(Duration::from_millis(50));
            }
            removed => return removed.or_io("remove", dir),
        }
    }
}

/// `run`, or a directory under `/tmp` if the socket's path would be too long for the kernel.
fn short_enough(run: PathBuf, uid: u32) -> PathBuf {
    // The limit holds for the socket's path, not for PostgreSQL's lock file beside it.
    if run.join(SOCKET).as_os_str().len() <= SOCKET_PATH_MAX {
        return run;
    }
    let digest = Sha256::digest(run.as_os_str().as_bytes());
    let key = hex::encode(&digest[..8]);
    PathBuf::from(format!("/tmp/htm-{uid}-{key}"))
}

/// Whether a variable is for finding programs or their libraries.
fn is_for_programs(name: &OsStr) -> bool {
    ["PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"].iter().any(|kept| name == *kept)
}

/// Runs `command` to its end. The error is its output.
pub(super) fn output_of(command: &mut Command) -> Result<(), String> {
    outcome(command.output())
}

/// The outcome of a program that has ended. The error is its output.
pub(super) fn outcome(done: io::Result<Output>) -> Result<(), String> {
    let done = done.map_err(|error| error.to_string())?;
    if done.status.success() { Ok(()) } else { Err(one_line(&[done.stdout, done.stderr].concat())) }
}

/// Runs `command` with `input` and returns its output. The error is its output too.
fn say(command: &mut Command, input: &str) -> Result<String, String> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    if let Some(mut stdin) = child.stdin.take() {
        // The write fails if the program has ended already. Its output tells why.
        let _ = stdin.write_all(input.as_bytes());
    }
    let done = child.wait_with_output().map_err(|error| error.to_string())?;
    let said = one_line(&[done.stdout, done.stderr].concat());
    if done.status.success() { Ok(said) } else { Err(said) }
}

fn one_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() { "it said nothing".into() } else { lines.join(" | ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_removed_that_is_written_meanwhile() {
        let dir = tempfile::tempdir().unwrap();
        let removed = dir.path().join("removed");
        fs::create_dir(&removed).unwrap();
        let until = Instant::now() + Duration::from_millis(300);
        let writer = thread::spawn({
            let removed = removed.clone();
            move || {
                for name in 0.. {
                    if Instant::now() > until {
                        break;
                    }
                    let _ = fs::write(removed.join(name.to_string()), "");
                }
            }
        });
        remove_dir(&removed).unwrap();
        writer.join().unwrap();
        assert!(!removed.exists());
    }

    #[test]
    fn a_server_that_hangs_is_ended_if_it_has_to_be_stopped_anyway() {
        let dir = tempfile::tempdir().unwrap();
        let [bin, data, socket_dir, conf_dir, upgrade_dir] =
            ["bin", "data", "run", "conf", "upgrade"].map(|name| dir.path().join(name));
        for made in [&bin, &data] {
            create_private_dir(made, &ServerUser::Same).unwrap();
        }
        let mut server = Command::new("sleep").arg("600").current_dir(&data).spawn().unwrap();
        let pid = server.id();
        fs::write(data.join("postmaster.pid"), pid.to_string()).unwrap();
        let script = format!("#!/bin/sh\ncase \"$*\" in *immediate*) kill {pid};; *) exit 1;; esac\n");
        fs::write(bin.join("pg_ctl"), script).unwrap();
        fs::set_permissions(bin.join("pg_ctl"), fs::Permissions::from_mode(0o700)).unwrap();
        let installation = Installation { bin, version: "18.6".into() };
        let cluster =
            Cluster { installation, user: ServerUser::Same, data, socket_dir, conf_dir, upgrade_dir };

        let error = cluster.stop().unwrap_err();
        assert!(error.hint().contains("`htm db down --force`"), "{error}: {}", error.hint());
        assert!(server.try_wait().unwrap().is_none());
        cluster.stop_anyway().unwrap();
        server.wait().unwrap();
        assert!(cluster.has_ended().unwrap());
    }

    #[test]
    fn a_long_socket_path_is_replaced_by_a_short_one() {
        let short = PathBuf::from("/var/lib/htm/run");
        assert_eq!(short_enough(short.clone(), 1), short);
        let long = PathBuf::from(format!("/{}", "x".repeat(SOCKET_PATH_MAX)));
        let replaced = short_enough(long.clone(), 7);
        assert!(replaced.starts_with("/tmp") && replaced.as_os_str().len() < 40, "{replaced:?}");
        assert_eq!(short_enough(long, 7), replaced);
    }

    #[test]
    fn the_url_quotes_the_socket_directory() {
        let cluster = Cluster {
            installation: Installation { bin: "/b".into(), version: "18.6".into() },
            user: ServerUser::Same,
            data: "/d".into(),
            socket_dir: "/a b,c'd".into(),
            conf_dir: "/c".into(),
            upgrade_dir: "/u".into(),
        };
        assert_eq!(cluster.url(), "postgres://postgres@%2Fa%20b%2Cc%27d:5432/htm?sslmode=disable");
    }
}
