//! The workers of the demo: processes of their own, as in production.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use htm_runtime::config::Config;
use htm_runtime::telemetry::to_stderr;
use indicatif::ProgressBar;
use tokio::process::{Child, Command};

use crate::codes;
use crate::error::CliError;
use crate::output::Output;

/// The time limit of a worker's stop.
const STOP: Duration = Duration::from_secs(30);

/// The worker processes. The demo gives no feedback, so nothing is learnt.
pub(super) struct Workers {
    config: Config,
    overrides: BTreeMap<String, String>,
    running: Vec<(&'static str, Child)>,
}

impl Workers {
    /// Starts one for embeddings and one for tags on the database of `config`.
    pub(super) fn start(
        config: &Config,
        overrides: &BTreeMap<String, String>,
        output: &Output,
    ) -> Result<Self, CliError> {
        let mut workers = Self { config: config.clone(), overrides: overrides.clone(), running: Vec::new() };
        for program in ["embed-worker", "tag-worker"] {
            let child = spawn(program, config, overrides)?;
            output.say(format!("{program} runs as process {}", child.id().unwrap_or_default()));
            workers.running.push((program, child));
        }
        Ok(workers)
    }

    /// Replaces each worker that was killed by a signal. Its jobs return by themselves. An error if a worker ended by
    /// itself.
    pub(super) fn replace_dead(&mut self, bar: &ProgressBar) -> Result<(), CliError> {
        for (program, child) in &mut self.running {
            if let Ok(Some(status)) = child.try_wait() {
                if status.code().is_some() {
                    return Err(CliError::new(
                        codes::PROCESS_FAILED,
                        format!("{program} ended unexpectedly ({status})"),
                    )
                    .with_hint(format!("run it by hand to see why: `{program} --drain`")));
                }
                *child = spawn(program, &self.config, &self.overrides)?;
                let id = child.id().unwrap_or_default();
                let said = format!("{program} was killed ({status}); its replacement runs as process {id}\n");
                bar.suspend(|| to_stderr(&said));
            }
        }
        Ok(())
    }

    /// Asks each worker to stop, and waits for it.
    pub(super) async fn stop(self, output: &Output) {
        for (_, child) in &self.running {
            if let Some(id) = child.id() {
                terminate(id);
            }
        }
        for (program, mut child) in self.running {
            match tokio::time::timeout(STOP, child.wait()).await {
                Ok(Ok(status)) if status.success() => {}
                Ok(Ok(status)) => output.say(format!("{program} ended with {status}")),
                _ => {
                    // Nothing is lost, because its lease expires. `kill_on_drop` ends it.
                    output.say(format!("{program} did not stop in time and was killed"));
                }
            }
        }
    }
}

/// Starts a worker. Its binary is beside this one.
fn spawn(
    program: &'static str,
    config: &Config,
    overrides: &BTreeMap<String, String>,
) -> Result<Child, CliError> {
    let path = sibling(program)?;
    Command::new(&path)
        // Not as arguments, because every user of the machine can read those, and one may be a key.
        .envs(overrides.iter().flat_map(|(key, value)| variables(key, value)))
        .env("HTM_DATABASE__URL", config.database.url.expose())
        .env("HTM_JOBS__LEASE_MS", config.jobs.lease_ms.to_string())
        .env("HTM_LOG__LEVEL", "warn")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        // Ctrl-C is for the demo, which then stops its workers in order.
        .process_group(0)
        .spawn()
        .map_err(CliError::io(format!("{} cannot be started", path.display())))
}

/// The environment variables for `--set key=value`.
fn variables(key: &str, value: &str) -> Vec<(String, String)> {
    let variable = |key: &str| format!("HTM_{}", key.replacen('.', "__", 1).to_uppercase());
    let mut variables = vec![(variable(key), value.to_owned())];
    // A file from the command line wins over a value in the environment.
    variables.extend(key.strip_suffix("_file").map(|key| (variable(key), String::new())));
    variables
}

fn sibling(program: &str) -> Result<PathBuf, CliError> {
    let own = std::env::current_exe().map_err(CliError::io("the path of this program cannot be found"))?;
    let path = own.with_file_name(program);
    if path.is_file() {
        return Ok(path);
    }
    Err(CliError::new(codes::PROCESS_FAILED, format!("{program} is not beside {}", own.display()))
        .with_hint("build all programs: `cargo build --bins`, or use `./justw demo`"))
}

fn terminate(id: u32) {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    if let Ok(id) = i32::try_from(id) {
        // A process that has ended needs no signal.
        kill(Pid::from_raw(id), Signal::SIGTERM).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_command_line_sets_becomes_variables() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(variables("jobs.lease_ms", "5"), [pair("HTM_JOBS__LEASE_MS", "5")]);
        let key = [pair("HTM_OPENAI__API_KEY_FILE", "/k"), pair("HTM_OPENAI__API_KEY", "")];
        assert_eq!(variables("openai.api_key_file", "/k"), key);
    }
}
