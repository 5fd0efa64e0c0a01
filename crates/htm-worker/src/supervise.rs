//! Supervision of a worker's tasks.

use std::time::Duration;

use tokio::task::JoinSet;

use crate::vitals::Vitals;
use crate::worker::WorkerError;

/// The interval between checks that the worker's tasks are not stuck.
const LOOK: Duration = Duration::from_secs(1);

/// Waits until a task of the worker has panicked or is stuck. Only a restart of the process helps then. A task that
/// ends is no failure: when the claimer ends, the worker does.
pub(crate) async fn failure(tasks: &mut JoinSet<()>, vitals: &Vitals) -> WorkerError {
    loop {
        tokio::select! {
            Some(Err(error)) = tasks.join_next() => {
                if error.is_panic() {
                    return error.into();
                }
            }
            () = tokio::time::sleep(LOOK) => {
                if let Err(what) = vitals.live() {
                    return WorkerError::Stuck { what };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio_util::sync::CancellationToken;

    use super::*;

    #[tokio::test]
    async fn a_panic_of_any_task_is_noticed_while_the_others_go_on() {
        let mut tasks = JoinSet::new();
        tasks.spawn(std::future::pending());
        tasks.spawn(async {});
        tasks.spawn(async { panic!("scripted") });
        let error = failure(&mut tasks, &Vitals::default()).await;
        assert!(matches!(&error, WorkerError::Task(error) if error.is_panic()), "{error}");
    }

    #[tokio::test]
    async fn a_claimer_without_a_turn_is_noticed() {
        let vitals = Vitals::default();
        vitals.registered(Duration::from_secs(1), CancellationToken::new());
        vitals.backdate(Duration::from_secs(61));
        let error = failure(&mut JoinSet::new(), &vitals).await;
        assert!(error.to_string().contains("the claimer has been stuck for 6"), "{error}");
    }
}
