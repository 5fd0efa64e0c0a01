//! `htm load --watch`: loads what changes.
//!
//! The files are looked at again and again. Notifications of the operating system would come at once, but not from network
//! drives and not into every container, and they end at a limit of the system on large trees.

use std::time::{Duration, Instant};

use super::report::Report;
use super::{Files, Loader};
use crate::error::CliError;
use crate::output::{Output, one_line};

/// The shortest time between two looks.
const PAUSE: Duration = Duration::from_secs(1);
/// The time between two looks, in times of one look: so a large tree takes a twentieth of a processor.
const SHARE: u32 = 20;

/// Loads until a signal. The first pass is reported as a whole, later ones by what they changed, and by what they left out
/// and the one before them did not.
pub(super) async fn run(
    loader: &mut Loader,
    files: &Files,
    output: &Output,
) -> Result<Option<Report>, CliError> {
    let stop = output.stop();
    let Some(first) = stop.run_until_cancelled(loader.pass(files, output)).await.transpose()? else {
        return Ok(None);
    };
    output.value(&first, || format!("{}\nwatching; Ctrl-C ends it", first.describe()));
    let mut told = first.told();
    loop {
        let started = Instant::now();
        let paths = files.roots().map(|root| one_line(root, 60)).collect::<Vec<_>>().join(" ");
        tracing::debug!(paths, "looking for changed files");
        match stop.run_until_cancelled(loader.pass(files, output)).await {
            None => return Ok(None),
            Some(Ok(mut report)) => {
                let now = report.told();
                report.drop_told(&told);
                told = now;
                if !report.is_quiet() {
                    output.value(&report, || report.describe_news().trim_end().to_owned());
                }
            }
            // The database may be back at the next look.
            Some(Err(error)) if error.fault == htm_core::fault::Fault::Transient => output.error(&error),
            Some(Err(error)) => return Err(error),
        }
        let pause = PAUSE.max(started.elapsed() * SHARE);
        tokio::select! {
            () = stop.cancelled() => return Ok(None),
            () = tokio::time::sleep(pause) => {}
        }
    }
}
