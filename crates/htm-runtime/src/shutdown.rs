//! Stopping by signals.

use std::io::{self, IsTerminal as _};

use tokio_util::sync::CancellationToken;

/// The exit code of a program that a signal has stopped before its work was done.
pub const INTERRUPTED: u8 = 130;

/// Cancels a token at the first SIGINT or SIGTERM. A second one ends the process at once, with exit code 130.
///
/// For a process on a terminal SIGHUP is a stop too, because the terminal has closed. For others SIGHUP customarily
/// reloads the configuration. That is not supported, and the log says so.
///
/// # Errors
/// The handlers cannot be installed.
pub fn on_signal(stop: CancellationToken) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let terminal = io::stdin().is_terminal() || io::stderr().is_terminal();
    tokio::spawn(async move {
        let mut asked = false;
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                _ = hangup.recv() => {
                    if terminal {
                        stop.cancel();
                    } else {
                        tracing::warn!("SIGHUP changes nothing: configuration is read at the start only; restart to apply it");
                    }
                    // It never counts as the second signal, because the shell and the kernel both send it.
                    continue;
                }
            }
            if asked {
                std::process::exit(INTERRUPTED.into());
            }
            asked = true;
            tracing::info!("stopping; a second signal stops at once");
            stop.cancel();
        }
    });
    Ok(())
}
