//! Stopping when asked.

use std::io::{self, IsTerminal as _};

use tokio_util::sync::CancellationToken;

/// Cancelled at the first SIGINT or SIGTERM; a second one ends the process at once, with exit code 130.
///
/// SIGHUP is a stop as well for a process on a terminal, which has just gone away. To any other it is the custom to
/// ask for its configuration to be read again: that is not done, and the log says so.
///
/// # Errors
/// When the handlers cannot be installed.
pub fn on_signal() -> io::Result<CancellationToken> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let terminal = io::stdin().is_terminal() || io::stderr().is_terminal();
    let token = CancellationToken::new();
    let stop = token.clone();
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
                    // Never the second time of asking: the shell and the kernel both send it.
                    continue;
                }
            }
            if asked {
                std::process::exit(130);
            }
            asked = true;
            tracing::info!("stopping; ask again to stop at once");
            stop.cancel();
        }
    });
    Ok(token)
}
