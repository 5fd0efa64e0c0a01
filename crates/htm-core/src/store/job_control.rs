//! Operators' control of jobs: retry and cancel.

use sqlx::PgConnection;

use super::connections::Connections;
use super::job_list::{Selection, chosen};
use super::jobs;
use super::named::sql;
use crate::model::caller::Confirmation;
use crate::model::error::{Error, Result, codes};
use crate::model::jobs::{JobState, not_found};

/// The result of a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, sqlx::FromRow)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Retried {
    /// Jobs that are due again.
    pub retried: i64,
    /// Jobs left as they are, because their node was forgotten or edited since.
    pub outdated: i64,
    /// Of the jobs that are due again, those whose namespace has spent its budget for today: they are parked again.
    pub over_budget: i64,
}

/// Makes waiting, parked or dead jobs due again, as if they had never been tried, and wakes the workers. A filter
/// without a state selects the dead letters.
///
/// # Errors
/// `job_not_found`, `job_state_unfit` (one of the ids is running or done: then none is retried), or a database error.
pub(crate) async fn retry(pool: &dyn Connections, selection: &Selection) -> Result<Retried> {
    let mut selection = selection.clone();
    if let Selection::Filter(filter) = &mut selection {
        let state = *filter.state.get_or_insert(JobState::Dead);
        if matches!(state, JobState::Running | JobState::Done) {
            return Err(state_unfit(state, "retried"));
        }
    }
    let retried = in_transaction(pool, async |tx| {
        refuse(tx, &selection, "retried", &[("Running", JobState::Running), ("Done", JobState::Done)])
            .await?;
        chosen(include_str!("sql/retry_jobs.sql"), &selection)?.fetch_one::<Retried>(tx).await
    })
    .await?;
    if retried.retried > 0 {
        jobs::ping(pool).await;
    }
    Ok(retried)
}

/// Turns pending or running jobs into dead letters; returns their number. Later writes of a job's holder match no row.
///
/// # Errors
/// `job_not_found`, `job_state_unfit` (one of the ids is done or dead), `not_confirmed` (more than one job without
/// [`Confirmation::Confirmed`]), or a database error; each leaves all jobs as they are.
pub(crate) async fn cancel(
    pool: &dyn Connections,
    selection: &Selection,
    confirmation: Confirmation,
) -> Result<u64> {
    if let Selection::Filter(filter) = selection
        && let Some(state @ (JobState::Done | JobState::Dead)) = filter.state
    {
        return Err(state_unfit(state, "cancelled"));
    }
    in_transaction(pool, async |tx| {
        refuse(tx, selection, "cancelled", &[("Done", JobState::Done), ("Killed", JobState::Dead)]).await?;
        let cancelled: Vec<String> =
            chosen(include_str!("sql/cancel_jobs.sql"), selection)?.fetch_scalars(tx).await?;
        let count = cancelled.len() as u64;
        if count > 1 && confirmation == Confirmation::Missing {
            let message = format!("cancelling {count} jobs was not confirmed");
            return Err(Error::new(codes::NOT_CONFIRMED, message).with_value("jobs", count));
        }
        Ok(count)
    })
    .await
}

/// Does all or nothing. A refusal is rolled back before it is returned: a dropped transaction keeps its locks for a
/// while, and a rescue at that time would skip the jobs.
async fn in_transaction<T>(
    pool: &dyn Connections,
    work: impl AsyncFnOnce(&mut PgConnection) -> Result<T>,
) -> Result<T> {
    // A million jobs may take longer than the application's statement timeout.
    let mut tx = pool.begin_with("begin; set local statement_timeout = 0").await?;
    let result = work(&mut tx).await;
    match result {
        Ok(_) => tx.commit().await?,
        Err(_) => tx.rollback().await?,
    }
    result
}

/// Locks the named jobs, and refuses all of them if one is missing or in an unfit state.
async fn refuse(
    connection: &mut PgConnection,
    selection: &Selection,
    verb: &'static str,
    unfit: &[(&str, JobState)],
) -> Result<()> {
    let Selection::Ids(ids) = selection else { return Ok(()) };
    let found: Vec<(String, String)> = sql!(
        "select id, status from apalis.jobs
          where id = any (:ids) and job_type like 'htm.%' order by id for update"
    )
    .bind("ids", ids)?
    .fetch_all(connection)
    .await?;
    if let Some(missing) = ids.iter().find(|id| !found.iter().any(|(found, _)| found == *id)) {
        return Err(not_found(missing));
    }
    for (id, status) in found {
        if let Some((_, state)) = unfit.iter().find(|(unfit, _)| *unfit == status) {
            return Err(job_unfit(&id, *state, verb));
        }
    }
    Ok(())
}

/// The error for a filter on a state whose jobs cannot be selected.
fn state_unfit(state: JobState, verb: &str) -> Error {
    let hint = match verb {
        "retried" => "use one of: dead, parked, waiting, due",
        _ => "use one of: due, waiting, parked, running",
    };
    Error::new(codes::JOB_STATE_UNFIT, format!("jobs that are {state} cannot be {verb}")).with_hint(hint)
}

/// The error for a named job in an unfit state.
fn job_unfit(job: &str, state: JobState, verb: &str) -> Error {
    let hint = match state {
        JobState::Running => "wait for its end, or cancel it first: `Jobs::cancel`",
        JobState::Dead => "to do it again: `Jobs::retry`",
        _ => "nothing is left to do",
    };
    Error::new(codes::JOB_STATE_UNFIT, format!("job {job} is {state}: it cannot be {verb}"))
        .with_hint(hint)
        .with_value("job", job)
        .with_value("state", state)
}
