//! How a run of an upgrade takes its steps, and how it is stopped.

use std::io;
use std::pin::pin;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use htm_core::{Error, Result};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::super::cluster::outcome;
use crate::codes;

/// The time that a server of an ended program gets to write its pid file. It was started in a session of its own, so it
/// has not ended too, and without the file it would not be found and stopped.
const LATE_START: Duration = Duration::from_millis(500);

/// The surroundings of a run.
pub(super) struct Run<'a> {
    pub(super) runtime: &'a Handle,
    pub(super) stop: &'a CancellationToken,
    pub(super) on_step: &'a dyn Fn(&'static str),
}

impl Run<'_> {
    /// Names a step that begins. An error if the run is to stop.
    pub(super) fn step(&self, name: &'static str) -> Result<()> {
        if self.stop.is_cancelled() {
            return Err(stopped());
        }
        (self.on_step)(name);
        Ok(())
    }

    /// Waits for work of which nothing is left if it is dropped half done.
    pub(super) fn wait<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        self.runtime.block_on(self.stop.run_until_cancelled(work)).unwrap_or_else(|| Err(stopped()))
    }

    /// Runs a program with a process group of its own to its end. If the run is to stop, the group is told to end, and its
    /// end is awaited, because it writes to the clusters. The error is its output.
    pub(super) fn program(&self, command: Command) -> Result<(), String> {
        let mut command = tokio::process::Command::from(command);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let done: io::Result<Output> = self.runtime.block_on(async {
            let child = command.spawn()?;
            let group = child.id().and_then(|id| i32::try_from(id).ok());
            let mut done = pin!(child.wait_with_output());
            tokio::select! {
                done = &mut done => return done,
                () = self.stop.cancelled() => {}
            }
            if let Some(group) = group {
                // It fails if the group has ended meanwhile.
                let _ = killpg(Pid::from_raw(group), Signal::SIGTERM);
            }
            let done = done.await;
            tokio::time::sleep(LATE_START).await;
            done
        });
        outcome(done)
    }
}

/// The error within a run that is to stop. It is not shown.
fn stopped() -> Error {
    Error::new(codes::PRIVATE_PG_UPGRADE_FAILED, "the upgrade was stopped")
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt as _;
    use std::time::Instant;

    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).process_group(0).stdin(Stdio::null());
        command
    }

    #[test]
    fn a_stop_ends_the_group_of_a_program() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let stop = CancellationToken::new();
        let run = Run { runtime: runtime.handle(), stop: &stop, on_step: &|_| {} };
        assert_eq!(run.program(shell("true")), Ok(()));
        assert_eq!(run.program(shell("echo the reason; exit 1")), Err("the reason".into()));
        run.step("one").unwrap();
        let (asked, since) = (stop.clone(), Instant::now());
        runtime.spawn(async move {
            tokio::time::sleep(Duration::from_millis(200)).await;
            asked.cancel();
        });
        // The inner one holds the pipe: its end is awaited too.
        assert!(run.program(shell("sleep 60 & sleep 60; echo went on")).is_err());
        assert!(since.elapsed() < Duration::from_secs(30), "{:?}", since.elapsed());
        run.step("another").unwrap_err();
        run.wait(std::future::pending::<Result<()>>()).unwrap_err();
    }
}
