//! `htm jobs retry` and `cancel`.

use htm_core::Confirmation;
use htm_core::jobs::{Jobs, Selection};

use crate::args::{CancelArgs, JobFilterArgs, RetryArgs};
use crate::codes;
use crate::error::CliError;
use crate::output::{Output, count};

pub(super) async fn retry(jobs: Jobs<'_>, args: RetryArgs, output: &Output) -> Result<(), CliError> {
    // A filter without a state means dead jobs, as --all-dead does.
    let retried = jobs.retry(&selection(args.ids, args.filter)).await?;
    output.value(&retried, || {
        let mut said = format!("{} due again", count(retried.retried, "job"));
        if retried.outdated > 0 {
            said += &format!(
                "; {} skipped: the node was forgotten or edited since",
                count(retried.outdated, "job")
            );
        }
        if retried.over_budget > 0 {
            said += &format!(
                "; {} over the budget of the namespace, to be parked again: see `htm providers budgets`, raise it with \
                 `htm providers budget`",
                count(retried.over_budget, "job")
            );
        }
        said
    });
    Ok(())
}

pub(super) async fn cancel(jobs: Jobs<'_>, args: CancelArgs, output: &Output) -> Result<(), CliError> {
    let confirmation = if args.yes { Confirmation::Confirmed } else { Confirmation::Missing };
    let look = match args.ids.is_empty() {
        true => "look at them with `htm jobs list` and the same filters",
        false => "look at them with `htm jobs show` and the same ids",
    };
    let cancelled = jobs.cancel(&selection(args.ids, args.filter), confirmation).await;
    let cancelled = cancelled.map_err(|error| match error.is(codes::NOT_CONFIRMED) {
        true => CliError::from(error).after(look),
        false => error.into(),
    })?;
    output.value(&serde_json::json!({ "cancelled": cancelled }), || {
        format!("{} cancelled", count(cancelled, "job"))
    });
    Ok(())
}

fn selection(ids: Vec<String>, filter: JobFilterArgs) -> Selection {
    if ids.is_empty() { Selection::Filter(filter.into()) } else { Selection::Ids(ids) }
}
