//! The programs as processes, each in an environment of its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::signal::Signal;
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, Command};

use crate::{TestDatabase, logs};

/// The time limit of a program. A slower one is killed, and its test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// The end of the name of a log of a program that somebody else started.
const OTHERS_LOG: &str = ".others.log";

/// A home, a current directory and an environment for programs, isolated from the user's.
pub struct Sandbox {
    dir: TempDir,
    programs: PathBuf,
    variables: BTreeMap<String, String>,
}

impl Sandbox {
    /// Makes a sandbox for programs on this database, with the fake providers.
    pub fn new(db: &TestDatabase) -> Self {
        Self::on(&db.url())
    }

    /// As [`new`](Self::new), for a URL.
    pub fn on(url: &str) -> Self {
        Self::of_programs(programs(), url)
    }

    /// As [`on`](Self::on), with the programs of this directory.
    pub fn of_programs(programs: PathBuf, url: &str) -> Self {
        let dir = TempDir::new().expect("a temporary directory");
        let home = dir.path().join("home").display().to_string();
        std::fs::create_dir_all(dir.path().join("home")).expect("a home");
        std::fs::create_dir_all(dir.path().join("work")).expect("a current directory");
        let variables = [
            ("PATH", format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default())),
            ("HOME", home.clone()),
            ("XDG_CONFIG_HOME", format!("{home}/.config")),
            ("HTM_HOME", format!("{home}/htm")),
            // The width of help texts.
            ("COLUMNS", "100".into()),
            ("HTM_DATABASE__URL", url.into()),
            ("HTM_EMBEDDING__PROVIDER", "fake".into()),
            ("HTM_TAG__PROVIDER", "fake".into()),
            // A vocabulary takes longer to load than most commands to run.
            ("HTM_TOKENS__ENCODING", "estimate".into()),
            // Many run at the same time.
            ("HTM_SERVER__LISTEN", "127.0.0.1:0".into()),
        ];
        Self { dir, programs, variables: variables.map(|(name, value)| (name.into(), value)).into() }
    }

    /// Sets an environment variable for programs started later.
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// Writes a file in the programs' current directory, and returns its path.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.work().join(name);
        std::fs::write(&path, content).expect("a file is written");
        path.display().to_string()
    }

    /// Runs `htm` to its end.
    pub async fn htm(&self, arguments: &[&str]) -> Answer {
        self.run("htm", arguments, b"").await
    }

    /// Runs `htm` to its end, with `input` as its standard input.
    pub async fn htm_reading(&self, arguments: &[&str], input: &[u8]) -> Answer {
        self.run("htm", arguments, input).await
    }

    /// Runs `htm remember` with these arguments. Returns the node's id.
    pub async fn remember(&self, arguments: &[&str]) -> String {
        self.htm(&[&["--json", "remember"], arguments].concat()).await.json()["node"].to_string()
    }

    /// Runs a line of bash to its end. The programs are on its PATH, and a pipe fails if any of its parts does.
    pub async fn shell(&self, line: &str) -> Answer {
        self.end_of(self.in_bash(line), line.into(), b"", PATIENCE).await
    }

    /// As [`shell`](Self::shell), for the tests of another language, which take as long as many of ours.
    pub async fn suite(&self, line: &str) -> Answer {
        self.end_of(self.in_bash(line), line.into(), b"", 8 * PATIENCE).await
    }

    fn in_bash(&self, line: &str) -> Command {
        self.command(Path::new("bash"), &["-o", "pipefail", "-c", line])
    }

    /// As [`htm`](Self::htm), for a command that takes as long as many others.
    pub async fn htm_patiently(&self, arguments: &[&str]) -> Answer {
        let line = format!("htm {}", arguments.join(" "));
        self.end_of(self.command(&self.binary("htm"), arguments), line, b"", 8 * PATIENCE).await
    }

    /// Runs a program to its end.
    pub async fn run(&self, program: &str, arguments: &[&str], input: &[u8]) -> Answer {
        let line = format!("{program} {}", arguments.join(" "));
        self.end_of(self.command(&self.binary(program), arguments), line, input, PATIENCE).await
    }

    async fn end_of(&self, mut command: Command, line: String, input: &[u8], limit: Duration) -> Answer {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        let feed = async move {
            // A program that rejects its arguments does not read its input, so the pipe may break.
            let _ = stdin.write_all(input).await;
        };
        let ended = tokio::time::timeout(limit, async { tokio::join!(feed, child.wait_with_output()).1 });
        let output = ended.await.expect("it ends in time").expect("its output is read");
        let stderr = String::from_utf8(output.stderr).expect("standard error is UTF-8");
        logs::keep_log(line.split(' ').next().unwrap_or_default(), &stderr);
        Answer {
            command: line,
            status: output.status,
            stdout: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
            stderr,
        }
    }

    /// Starts a program and does not wait for its end. It is killed at the end of the test. Its output goes to a file.
    pub fn start(&self, program: &str, arguments: &[&str]) -> Running {
        self.start_command(program, self.command(&self.binary(program), arguments))
    }

    /// As [`start`](Self::start), inside a network namespace of `ip netns`. Needs root.
    pub fn start_in_netns(&self, netns: &str, program: &str, arguments: &[&str]) -> Running {
        let path = self.binary(program).display().to_string();
        // `ip` replaces itself by the program, so the process id is the program's.
        let arguments = [&["netns", "exec", netns, &path], arguments].concat();
        self.start_command(program, self.command(Path::new("ip"), &arguments))
    }

    /// A file for the log of a program that somebody else starts in this sandbox.
    pub fn log_of(&self, program: &str) -> std::fs::File {
        let log = tempfile::Builder::new().prefix(program).suffix(OTHERS_LOG).tempfile_in(self.dir.path());
        log.and_then(|file| Ok(file.keep()?.0)).expect("a file for its log")
    }

    /// A program to be started by somebody else, in this sandbox.
    pub fn command_of(&self, program: &str, arguments: &[&str]) -> Command {
        self.command(&self.binary(program), arguments)
    }

    fn start_command(&self, program: &str, mut command: Command) -> Running {
        let log = tempfile::Builder::new()
            .prefix(program)
            .suffix(".log")
            .tempfile_in(self.dir.path())
            .and_then(|file| Ok(file.keep()?))
            .expect("a file for its log");
        let copy = log.0.try_clone().expect("a second handle");
        let child = command.stdout(log.0).stderr(copy).spawn().expect("it starts");
        let pid = child.id().expect("it has not ended") as i32;
        Running { child, pid: Pid::from_raw(pid), program: program.into(), log: log.1 }
    }

    fn binary(&self, program: &str) -> PathBuf {
        executable(&self.programs, program)
    }

    fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .envs(&self.variables)
            .current_dir(self.work())
            .stdin(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    /// The home of the programs.
    pub fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }
}

/// The output and the exit status of a program.
#[derive(Debug)]
pub struct Answer {
    /// The program and its arguments.
    pub command: String,
    status: ExitStatus,
    /// The standard output.
    pub stdout: String,
    /// The standard error.
    pub stderr: String,
}

impl Answer {
    /// Asserts exit code 0. Returns the standard output.
    #[track_caller]
    pub fn succeeds(&self) -> &str {
        self.exits(0);
        &self.stdout
    }

    /// Asserts exit code 0. Returns the standard output, parsed as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(self.succeeds()).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Asserts an exit code.
    #[track_caller]
    pub fn exits(&self, exit: i32) -> &Self {
        assert_eq!(self.status.code(), Some(exit), "{self:?}");
        self
    }

    /// Asserts an exit code, an error with this code and a hint, and an empty standard output. Returns the standard
    /// error.
    #[track_caller]
    pub fn fails(&self, exit: i32, code: &str) -> &str {
        self.exits(exit);
        let mut lines = self.stderr.lines().filter(|line| !line.starts_with("20"));
        let error = lines.next().unwrap_or_default();
        assert!(error.starts_with(&format!("error[{code}]: ")), "{self:?}");
        let help = lines.next().unwrap_or_default();
        assert!(help.strip_prefix("  help: ").is_some_and(|hint| !hint.trim().is_empty()), "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        &self.stderr
    }

    /// Asserts an exit code. Returns the error that `--json` writes.
    #[track_caller]
    pub fn json_error(&self, exit: i32) -> Value {
        self.exits(exit);
        let mut error: Value =
            serde_json::from_str(&self.stderr).unwrap_or_else(|error| panic!("{error}: {self:?}"));
        error["error"].take()
    }
}

/// A running program.
pub struct Running {
    child: Child,
    /// The process id.
    pub pid: Pid,
    program: String,
    log: PathBuf,
}

impl Running {
    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        nix::sys::signal::kill(self.pid, signal).expect("it is there to be told");
    }

    /// Waits for its end.
    pub async fn end(&mut self) -> ExitStatus {
        let ended = tokio::time::timeout(PATIENCE, self.child.wait());
        ended.await.expect("it ends within a minute").expect("its status")
    }

    /// Takes the standard input.
    pub fn stdin(&mut self) -> ChildStdin {
        self.child.stdin.take().expect("a pipe that nobody took")
    }

    /// The number of its open sockets.
    pub fn sockets(&self) -> usize {
        let files = std::fs::read_dir(format!("/proc/{}/fd", self.pid)).expect("it runs");
        let links = files.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
        links.filter(|link| link.to_string_lossy().starts_with("socket:")).count()
    }

    /// Its output so far, on standard output and standard error.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).expect("its log")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may be gone with its sandbox.
        logs::keep_log(&self.program, &std::fs::read_to_string(&self.log).unwrap_or_default());
        if std::thread::panicking() {
            eprintln!("── {} {} ──\n{}", self.program, self.pid, self.log());
        }
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let files = std::fs::read_dir(self.dir.path()).into_iter().flatten().flatten();
        for file in files.filter(|it| it.file_name().to_string_lossy().ends_with(OTHERS_LOG)) {
            let log = std::fs::read_to_string(file.path()).unwrap_or_default();
            logs::keep_log("child", &log);
            if std::thread::panicking() {
                eprintln!("── {} ──\n{log}", file.path().display());
            }
        }
    }
}

/// Where a program of the workspace is.
pub fn binary(program: &str) -> PathBuf {
    executable(&programs(), program)
}

fn executable(programs: &Path, program: &str) -> PathBuf {
    let path = programs.join(program);
    assert!(path.is_file(), "{} is missing: run `cargo build --bins`", path.display());
    path
}

/// The directory of the programs, found from the test's own executable: `target/debug/deps/cli-…` tests
/// `target/debug/htm`.
fn programs() -> PathBuf {
    let test = std::env::current_exe().expect("the test's own path");
    test.parent().and_then(Path::parent).expect("a target directory").to_owned()
}
