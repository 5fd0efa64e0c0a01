//! Stopping when asked.

use tokio_util::sync::CancellationToken;

/// Cancelled at the first SIGINT or SIGTERM; a second one ends the process at once, with exit code 130.
///
/// # Errors
/// When the handlers cannot be installed.
pub fn on_signal() -> std::io::Result<CancellationToken> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let token = CancellationToken::new();
    let stop = token.clone();
    tokio::spawn(async move {
        for asked in 0.. {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if asked > 0 {
                std::process::exit(130);
            }
            tracing::info!("stopping; ask again to stop at once");
            stop.cancel();
        }
    });
    Ok(token)
}
