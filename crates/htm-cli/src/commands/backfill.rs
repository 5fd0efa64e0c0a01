//! `htm backfill`: enqueues the missing jobs, then follows the workers until the jobs are done.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use chrono::Utc;
use htm_core::{
    Backfill, BackfillProgress, BackfillRequest, BackfillStep, Stage, TimeSettings, read_instant,
};
use htm_runtime::Runtime;
use htm_runtime::config::Config;
use htm_runtime::shutdown::INTERRUPTED;
use htm_worker::Kind;
use indicatif::ProgressBar;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::args::{BackfillArgs, BackfillOptions};
use crate::error::CliError;
use crate::output::{Output, count};
use crate::quantity::rate;

/// The interval between looks at a full queue or at the workers' progress.
const LOOK: Duration = Duration::from_millis(500);

/// The time for which a queue may have no worker before a note says so.
const LONELY: Duration = Duration::from_secs(2);

pub(crate) async fn run(config: &Config, args: BackfillArgs, output: &Output) -> Result<ExitCode, CliError> {
    let stop = output.stop();
    let runtime = Runtime::open(config).await?;
    let request = match request(&args, &runtime) {
        Ok(request) => request,
        Err(error) => {
            runtime.close().await;
            return Err(error);
        }
    };
    let result = match args.options.dry_run {
        true => preview(&runtime, &request, output).await,
        false => match backfill(&runtime, &request, &args.options, output, &stop).await {
            Ok(report) => {
                output.value(&report, || report.describe());
                Ok(report.exit_code())
            }
            Err(error) => Err(error),
        },
    };
    runtime.close().await;
    result
}

/// The result of a backfill.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// Whether a signal ended it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stopped: bool,
    run: i64,
    queue: String,
    model: String,
    /// Whether it continued an interrupted run.
    resumed: bool,
    /// The jobs that the run has enqueued, including those before an interruption.
    enqueued: u64,
    /// The jobs that were done while this command ran.
    done: i64,
    #[serde(flatten)]
    left: BackfillProgress,
    seconds: f64,
    /// The duration of the build of the model's vector index after that.
    #[serde(skip_serializing_if = "Option::is_none")]
    index_s: Option<f64>,
    /// Whether it ended by itself, and not by a signal, a full queue or because it was cancelled.
    finished: bool,
    /// Whether it returned because the queue is full. The next run enqueues more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    queue_full: bool,
    /// Whether somebody has cancelled the run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cancelled: bool,
    /// Whether it waited for the workers.
    #[serde(skip)]
    waited: bool,
}

impl Report {
    pub(crate) fn exit_code(&self) -> ExitCode {
        if self.finished || self.queue_full { ExitCode::SUCCESS } else { ExitCode::from(INTERRUPTED) }
    }

    /// The model's vector index was built in this time.
    pub(crate) fn has_built(&mut self, took: Duration) {
        self.index_s = Some(took.as_secs_f64());
    }

    /// The build of the model's vector index was stopped.
    pub(crate) fn was_stopped(&mut self) {
        self.finished = false;
        self.stopped = true;
    }

    pub(crate) fn is_done(&self) -> bool {
        self.finished && self.left.open == 0
    }

    pub(crate) fn describe(&self) -> String {
        let BackfillProgress { open, parked, dead } = self.left;
        let enqueued = match self.enqueued {
            // Open jobs of others are not counted: what they do may be missing.
            0 if self.finished => "no job enqueued".into(),
            enqueued => format!("{} enqueued", count(enqueued, "job")),
        };
        let resumed = if self.resumed { " (an interrupted run was continued)" } else { "" };
        let mut text = format!("{}: {enqueued}{resumed}", self.model);
        let worked = self.waited && (self.enqueued > 0 || self.done > 0);
        if worked {
            let rate = rate(self.done as f64 / self.seconds.max(1e-9));
            text.push_str(&format!(", {} done in {:.1} s ({rate}/s)", self.done, self.seconds));
        }
        // Without a wait, the enqueued jobs are open as a rule.
        if worked || open != self.enqueued as i64 {
            text.push_str(&format!(", {open} open"));
        }
        if parked > 0 {
            text.push_str(&format!(", {parked} parked"));
        }
        if dead > 0 {
            text.push_str(&format!(
                "\n{}: `htm jobs list --queue {}`",
                count(dead, "dead letter"),
                self.queue
            ));
        }
        if let Some(seconds) = self.index_s {
            text.push_str(&format!("\nthe vector index is built, in {seconds:.1} s"));
        }
        if self.cancelled {
            text.push_str("\nthe run was cancelled; enqueued jobs stay");
        } else if self.queue_full {
            let queue = &self.queue;
            text.push_str(&format!(
                "\n{queue} is full; the next run enqueues more when a worker has made room"
            ));
        } else if !self.finished {
            text.push_str("\nstopped; enqueued jobs stay, and the next run continues from here");
        }
        text
    }
}

/// Enqueues the jobs and waits for the workers. With `no_wait`, it returns when all are enqueued or the queue is full. A
/// stop leaves the enqueued jobs in place.
pub(crate) async fn backfill(
    runtime: &Runtime,
    request: &BackfillRequest,
    options: &BackfillOptions,
    output: &Output,
    stop: &CancellationToken,
) -> Result<Report, CliError> {
    let started = Instant::now();
    let htm = runtime.htm();
    let mut backfill = htm.start_backfill(request).await?;
    let before = backfill.enqueued();
    let mut held = Held::default();
    let ending = enqueue(runtime, &mut backfill, &mut held, options.no_wait, output, stop).await?;
    let mut finished = ending == Ending::All;
    let enqueued_now = (backfill.enqueued() - before) as i64;
    let mut left = backfill.progress().await?;
    let mut done = (enqueued_now - left.open).max(0);
    if let Some(paused) = held.pause(runtime, &backfill).await? {
        output.aside(&paused);
    }
    if finished && !options.no_wait && left.open > 0 {
        let open = left.open;
        (left, finished) = follow(runtime, &backfill, &mut held, output, stop, left).await?;
        done += open - left.open;
    }
    let report = Report {
        stopped: !finished && stop.is_cancelled(),
        run: backfill.run(),
        queue: backfill.queue().into(),
        model: backfill.model().into(),
        resumed: backfill.is_resumed(),
        enqueued: backfill.enqueued(),
        done,
        left,
        seconds: started.elapsed().as_secs_f64(),
        index_s: None,
        finished,
        queue_full: ending == Ending::Full,
        cancelled: backfill.is_cancelled(),
        waited: !options.no_wait,
    };
    Ok(report)
}

/// Prints the number of jobs that a run would enqueue.
pub(crate) async fn preview(
    runtime: &Runtime,
    request: &BackfillRequest,
    output: &Output,
) -> Result<ExitCode, CliError> {
    let would_enqueue = runtime.htm().count_backfill(request).await?;
    output.value(&serde_json::json!({ "would_enqueue": would_enqueue }), || {
        format!("{} would be enqueued", count(would_enqueue, "job"))
    });
    Ok(ExitCode::SUCCESS)
}

fn request(args: &BackfillArgs, runtime: &Runtime) -> Result<BackfillRequest, CliError> {
    let prompt_version = match &args.prompt_version {
        None => None,
        Some(Some(version)) => Some(version.clone()),
        // Embeddings have no prompt version. The library rejects it.
        Some(None) if args.stage == Stage::Embed => Some(String::new()),
        Some(None) => Some(runtime.tagger()?.version().to_owned()),
    };
    let request =
        BackfillRequest { model: args.model.clone(), prompt_version, ..BackfillRequest::new(args.stage) };
    with_options(request, &args.options, &runtime.config().time.settings())
}

/// Applies the options to a request.
pub(crate) fn with_options(
    request: BackfillRequest,
    options: &BackfillOptions,
    time: &TimeSettings,
) -> Result<BackfillRequest, CliError> {
    Ok(BackfillRequest {
        namespace: options.namespace.clone(),
        since: options.since.as_deref().map(|since| read_instant(since, Utc::now(), time)).transpose()?,
        forced: options.force,
        max_queued: options.max_queued,
        ..request
    })
}

/// The end of the enqueuing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// All jobs are enqueued.
    All,
    /// The queue is full, and nobody waits.
    Full,
    /// A stop, or somebody has cancelled the run.
    Early,
}

/// Enqueues the jobs. It waits while the queue is full, unless `no_wait` is set.
async fn enqueue(
    runtime: &Runtime,
    backfill: &mut Backfill,
    held: &mut Held,
    no_wait: bool,
    output: &Output,
    stop: &CancellationToken,
) -> Result<Ending, CliError> {
    let bar = output.progress(backfill.position().1, "nodes");
    bar.set_message("enqueue");
    let mut ending = Ending::Early;
    while !stop.is_cancelled() {
        let step = backfill.step().await?;
        bar.set_position(backfill.position().0);
        match step {
            BackfillStep::Finished if backfill.is_cancelled() => break,
            BackfillStep::Finished => {
                ending = Ending::All;
                break;
            }
            BackfillStep::Enqueued => {}
            BackfillStep::QueueFull if no_wait => {
                ending = Ending::Full;
                break;
            }
            BackfillStep::QueueFull => {
                held.look(runtime, backfill, &bar, output).await?;
                stop.run_until_cancelled(tokio::time::sleep(LOOK)).await;
            }
        }
    }
    bar.finish_and_clear();
    Ok(ending)
}

/// Waits until no job is open, or for a stop. Returns the last progress, and whether no job is open.
async fn follow(
    runtime: &Runtime,
    backfill: &Backfill,
    held: &mut Held,
    output: &Output,
    stop: &CancellationToken,
    mut left: BackfillProgress,
) -> Result<(BackfillProgress, bool), CliError> {
    let total = left.open;
    let bar = output.progress(total as u64, "jobs");
    bar.set_message(backfill.stage().to_string());
    while left.open > 0 && !stop.is_cancelled() {
        bar.set_position((total - left.open).max(0) as u64);
        held.look(runtime, backfill, &bar, output).await?;
        stop.run_until_cancelled(tokio::time::sleep(LOOK)).await;
        left = backfill.progress().await?;
    }
    bar.finish_and_clear();
    Ok((left, left.open == 0))
}

/// Reports once why no job of a queue is done: it is paused, or it has no worker.
#[derive(Default)]
struct Held {
    is_pause_said: bool,
    lonely_since: Option<Instant>,
    is_lonely_said: bool,
}

impl Held {
    /// A note if the queue is paused, once.
    async fn pause(&mut self, runtime: &Runtime, backfill: &Backfill) -> Result<Option<String>, CliError> {
        if self.is_pause_said {
            return Ok(None);
        }
        let queue = backfill.queue();
        let reason = runtime.htm().jobs()?.pause_of(queue).await?;
        self.is_pause_said = reason.is_some();
        Ok(reason.map(|reason| format!("{queue} is paused ({reason}): `htm jobs resume {queue}`")))
    }

    async fn look(
        &mut self,
        runtime: &Runtime,
        backfill: &Backfill,
        bar: &ProgressBar,
        output: &Output,
    ) -> Result<(), CliError> {
        if let Some(paused) = self.pause(runtime, backfill).await? {
            output.note(bar, paused);
        }
        if self.is_lonely_said {
            return Ok(());
        }
        let htm = runtime.htm();
        let (jobs, queue) = (htm.jobs()?, backfill.queue());
        if jobs.workers().await?.iter().any(|worker| worker.alive && worker.queue == queue) {
            self.lonely_since = None;
        } else if self.lonely_since.get_or_insert_with(Instant::now).elapsed() >= LONELY {
            self.is_lonely_said = true;
            let program = Kind::of_queue(queue).program();
            output.note(
                bar,
                format!("no worker serves {queue}; start one: `{program} --queue {queue}` or `htm up`"),
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        Report {
            stopped: false,
            run: 2,
            queue: "htm.tag".into(),
            model: "fake".into(),
            resumed: false,
            enqueued: 1,
            done: 0,
            left: BackfillProgress { open: 1, parked: 0, dead: 0 },
            seconds: 0.1,
            index_s: None,
            finished: true,
            queue_full: false,
            cancelled: false,
            waited: false,
        }
    }

    #[test]
    fn a_backfill_that_does_not_wait_says_what_it_enqueued() {
        assert_eq!(report().describe(), "fake: 1 job enqueued");
        let more = BackfillProgress { open: 3, ..report().left };
        assert_eq!(Report { left: more, ..report() }.describe(), "fake: 1 job enqueued, 3 open");
        let none = BackfillProgress { open: 0, ..report().left };
        assert_eq!(Report { enqueued: 0, left: none, ..report() }.describe(), "fake: no job enqueued");
        let idle = Report { enqueued: 0, left: none, waited: true, ..report() };
        assert_eq!(idle.describe(), "fake: no job enqueued");
        let waited = Report { waited: true, ..report() };
        assert_eq!(waited.describe(), "fake: 1 job enqueued, 0 done in 0.1 s (0.0/s), 1 open");
    }

    #[test]
    fn a_full_queue_is_no_failure() {
        let full = Report { finished: false, queue_full: true, ..report() };
        let said =
            "fake: 1 job enqueued\nhtm.tag is full; the next run enqueues more when a worker has made room";
        assert_eq!(full.describe(), said);
        assert!(!full.is_done());
    }

    #[test]
    fn programs_are_told_that_a_backfill_was_stopped() {
        let json = |report: &Report| serde_json::to_value(report).unwrap()["stopped"].clone();
        let mut stopped = report();
        assert_eq!(json(&stopped), serde_json::Value::Null);
        stopped.was_stopped();
        assert_eq!((json(&stopped), stopped.finished), (true.into(), false));
    }
}
