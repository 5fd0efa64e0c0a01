//! Jobs, as an operator sees them.

use std::time::Duration;

use crate::api::htm::Htm;
use crate::model::caller::Confirmation;
use crate::model::error::Result;
use crate::model::filter::validate_limit;
pub use crate::model::jobs::Loss;
use crate::model::jobs::Stage;
use crate::store::again::{again, met_another};
use crate::store::embeddings::RegisteredModel;
pub use crate::store::gauges::QueueGauges;
pub use crate::store::job_control::Retried;
pub use crate::store::job_list::{Job, JobCursor, JobFilter, Selection};
pub use crate::store::queues::{QueueDepth, QueueMinute, QueueStats};
pub use crate::store::stranded::{Audit, Stranded};
pub use crate::store::workers::Worker;
use crate::store::{embeddings, gauges, job_control, job_list, queues, stranded, workers};

/// The number of done jobs that one statement deletes: few enough not to block others.
const PRUNED_AT_ONCE: usize = 5_000;

/// The jobs, queues and workers of the whole database. See [`Htm::jobs`].
#[derive(Clone, Copy, Debug)]
pub struct Jobs<'a> {
    htm: &'a Htm,
}

impl Htm {
    /// The jobs of all namespaces, for operators.
    ///
    /// ```no_run
    /// # async fn example(htm: &htm_core::Htm) -> htm_core::Result<()> {
    /// for queue in htm.jobs()?.queues().await? {
    ///     println!("{}: {} due, {} dead", queue.queue, queue.due, queue.dead);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `namespace_forbidden` for a handle [within a wall](Htm::within).
    pub fn jobs(&self) -> Result<Jobs<'_>> {
        self.admit_all().map(|()| Jobs { htm: self })
    }
}

impl Jobs<'_> {
    /// The jobs that pass a filter after a cursor, at most `limit`: dead letters, then parked, then failed ones; the newest
    /// first. Without a state, done jobs are left out.
    ///
    /// # Errors
    /// `limit_out_of_range` (1 to 10,000), `queue_unknown`, or a database error.
    pub async fn list(&self, filter: &JobFilter, after: Option<&JobCursor>, limit: u32) -> Result<Vec<Job>> {
        validate_limit(limit as usize)?;
        self.expect_queue(filter.queue.as_deref()).await?;
        job_list::list(self.htm.pool(), filter, after, limit).await
    }

    /// The jobs with these ids, in the given order.
    ///
    /// # Errors
    /// `job_not_found`, or a database error.
    pub async fn show(&self, ids: &[String]) -> Result<Vec<Job>> {
        job_list::show(self.htm.pool(), ids).await
    }

    /// Retries waiting, parked or dead jobs as if they were new. A filter without a state selects dead letters.
    ///
    /// # Errors
    /// `job_not_found`, `queue_unknown`, `job_state_unfit` (one of the ids is running or done: then none is retried), or a
    /// database error.
    pub async fn retry(&self, selection: &Selection) -> Result<Retried> {
        self.expect_queue(selection.queue()).await?;
        again(met_another, || job_control::retry(self.htm.pool(), selection)).await
    }

    /// Turns pending or running jobs into dead letters; returns their number.
    ///
    /// # Errors
    /// `job_not_found`, `queue_unknown`, `job_state_unfit` (one of the ids is done or dead), `not_confirmed` (more than one
    /// job without [`Confirmation::Confirmed`]), or a database error; each leaves all jobs as they are.
    pub async fn cancel(&self, selection: &Selection, confirmation: Confirmation) -> Result<u64> {
        self.expect_queue(selection.queue()).await?;
        again(met_another, || job_control::cancel(self.htm.pool(), selection, confirmation)).await
    }

    /// Refuses a queue that is not there: a mistyped one would select nothing for no visible reason.
    async fn expect_queue(&self, queue: Option<&str>) -> Result<()> {
        match queue {
            Some(queue) => queues::expect_known(self.htm.pool(), queue).await,
            None => Ok(()),
        }
    }

    /// Finds nodes without result, job and dead letter. Reads every live node.
    ///
    /// # Errors
    /// A database error.
    pub async fn audit(&self) -> Result<Audit> {
        stranded::run(self.htm.pool()).await
    }

    /// Enqueues the missing jobs of stranded nodes; returns their number.
    ///
    /// # Errors
    /// A database error; jobs enqueued before it stay.
    pub async fn repair(&self, stranded: &[Stranded]) -> Result<u64> {
        stranded::repair(self.htm.pool(), stranded, self.htm.settings()).await
    }

    /// The number of stranded stages of nodes. More than 0 is a bug.
    ///
    /// # Errors
    /// A database error.
    pub async fn count_stranded(&self) -> Result<i64> {
        queues::count_stranded(self.htm.pool()).await
    }

    /// Every queue that has jobs or whose model is registered. Reads every job.
    ///
    /// # Errors
    /// A database error.
    pub async fn queues(&self) -> Result<Vec<QueueStats>> {
        queues::stats(self.htm.pool(), &self.htm.settings().tag_model.to_string()).await
    }

    /// The jobs that ended in the last minutes, by queue and minute.
    ///
    /// # Errors
    /// A database error.
    pub async fn history(&self, minutes: u32) -> Result<Vec<QueueMinute>> {
        queues::history(self.htm.pool(), minutes).await
    }

    /// The gauges of the queues of tags and of each embedding model in use, at a cost that does not grow with them.
    ///
    /// # Errors
    /// A database error.
    pub async fn gauges(&self) -> Result<Vec<(String, QueueGauges)>> {
        let models = embeddings::models(self.htm.pool()).await?;
        let of_models = models.into_iter().filter(RegisteredModel::is_in_use).filter_map(|model| model.queue);
        let mut all = Vec::new();
        for queue in of_models.chain([Stage::Tag.queue().to_owned()]) {
            let gauges = gauges::gauges(self.htm.pool(), &queue).await?;
            all.push((queue, gauges));
        }
        Ok(all)
    }

    /// The number of jobs of a queue in each state.
    ///
    /// # Errors
    /// A database error.
    pub async fn depth(&self, queue: &str) -> Result<QueueDepth> {
        queues::depth(self.htm.pool(), queue).await
    }

    /// Pauses a queue: no claims until it is [resumed](Self::resume). Running jobs finish.
    ///
    /// # Errors
    /// `queue_unknown`, or a database error.
    pub async fn pause(&self, queue: &str, reason: &str) -> Result<()> {
        queues::pause(self.htm.pool(), queue, reason).await
    }

    /// The reason of a queue's pause; none if it is not paused.
    ///
    /// # Errors
    /// A database error.
    pub async fn pause_of(&self, queue: &str) -> Result<Option<String>> {
        queues::pause_of(self.htm.pool(), queue).await
    }

    /// Resumes a queue; false if it was not paused.
    ///
    /// # Errors
    /// `queue_unknown`, or a database error.
    pub async fn resume(&self, queue: &str) -> Result<bool> {
        queues::resume(self.htm.pool(), queue).await
    }

    /// Deletes the rows of jobs that ended at least this long ago; completions stay. Returns their number.
    ///
    /// # Errors
    /// A database error; rows deleted before it stay deleted.
    pub async fn prune_done(&self, older_than: Duration) -> Result<u64> {
        let mut pruned = 0;
        loop {
            let deleted = queues::prune(self.htm.pool(), older_than, PRUNED_AT_ONCE).await?;
            pruned += deleted as u64;
            if deleted < PRUNED_AT_ONCE {
                return Ok(pruned);
            }
        }
    }

    /// Deletes obsolete dead letters that ended at least this long ago. Returns their number.
    ///
    /// # Errors
    /// As [`prune_done`](Self::prune_done).
    pub async fn prune_dead(&self, older_than: Duration) -> Result<u64> {
        let mut pruned = 0;
        for queue in queues::names(self.htm.pool()).await? {
            pruned += queues::prune_dead(self.htm.pool(), &queue, older_than).await? as u64;
        }
        Ok(pruned)
    }

    /// The workers, those alive first.
    ///
    /// # Errors
    /// A database error.
    pub async fn workers(&self) -> Result<Vec<Worker>> {
        workers::list(self.htm.pool()).await
    }

    /// Deletes workers that are long gone; returns their number.
    ///
    /// # Errors
    /// A database error.
    pub async fn prune_workers(&self) -> Result<usize> {
        workers::prune(self.htm.pool()).await
    }
}
