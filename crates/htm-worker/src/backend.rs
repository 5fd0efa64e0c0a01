//! The apalis backend of the worker. It yields batches.

use std::convert::Infallible;
use std::task::{Context, Poll};

use apalis_core::backend::finalize::Ephemeral;
use apalis_core::backend::{Backend, BackendConfig};
use apalis_core::task::Task;
use apalis_core::worker::context::WorkerContext;
use tokio::sync::mpsc;
use tower_layer::Identity;

use crate::batch::LeasedBatch;

/// Yields the claimer's batches, and ends with the claimer. It never yields an error, because an error would end the
/// worker with handlers in flight. The claimer handles the database's errors itself.
pub(crate) struct BatchBackend {
    batches: mpsc::Receiver<LeasedBatch>,
}

impl BatchBackend {
    pub(crate) fn new(batches: mpsc::Receiver<LeasedBatch>) -> Self {
        Self { batches }
    }
}

impl Backend for BatchBackend {
    type Task = Task<LeasedBatch>;
    type Error = Infallible;

    fn poll_ready(&mut self, _: &mut Context<'_>, _: &WorkerContext) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn poll_next(
        &mut self,
        context: &mut Context<'_>,
        worker: &WorkerContext,
    ) -> Poll<Option<Result<Self::Task, Infallible>>> {
        self.batches.poll_recv(context).map(|batch| {
            if batch.is_none() {
                // An error means that the worker is stopping already.
                worker.stop().ok();
            }
            batch.map(|batch| Ok(Task::new(batch)))
        })
    }

    fn poll_close(&mut self, _: &mut Context<'_>, _: &WorkerContext) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
}

impl BackendConfig for BatchBackend {
    type Args = LeasedBatch;
    type Id = String;
    type Kind = Ephemeral;
    type Config = ();
    type Layer = Identity;

    fn config(&self) -> &() {
        &()
    }

    fn middleware(&mut self, _: &mut WorkerContext) -> Identity {
        Identity::new()
    }
}
