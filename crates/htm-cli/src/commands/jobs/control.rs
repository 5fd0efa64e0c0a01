//! `htm jobs retry` and `cancel`.

use htm_core::Confirmation;
use htm_core::jobs::{Jobs, Selection};

use super::count;
use crate::args::{CancelArgs, FilterArgs, RetryArgs};
use crate::error::CliError;
use crate::output::Output;

pub(super) async fn retry(jobs: Jobs<'_>, args: RetryArgs, output: &Output) -> Result<(), CliError> {
    // --all-dead is what a filter without a state means.
    let retried = jobs.retry(&selection(args.ids, args.filter)).await?;
    output.value(&retried, || {
        let mut said = format!("{} due again", count(retried.retried));
        if retried.outdated > 0 {
            said += &format!("; {} left: the node was forgotten or edited since", count(retried.outdated));
        }
        said
    });
    Ok(())
}

pub(super) async fn cancel(jobs: Jobs<'_>, args: CancelArgs, output: &Output) -> Result<(), CliError> {
    let confirmation = if args.yes { Confirmation::Confirmed } else { Confirmation::Missing };
    let cancelled = jobs.cancel(&selection(args.ids, args.filter), confirmation).await?;
    output.value(&serde_json::json!({ "cancelled": cancelled }), || {
        format!("{} cancelled", count(i64::try_from(cancelled).unwrap_or(i64::MAX)))
    });
    Ok(())
}

fn selection(ids: Vec<String>, filter: FilterArgs) -> Selection {
    if ids.is_empty() { Selection::Filter(filter.into()) } else { Selection::Ids(ids) }
}
