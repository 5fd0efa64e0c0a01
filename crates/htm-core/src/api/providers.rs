//! Providers of models, as an operator sees them: limits, failures, budgets, usage.

use serde_json::{Map, Value, json};

use crate::api::htm::Htm;
use crate::model::error::Result;
use crate::model::filter::within;
use crate::store::again::{again, met_another};
use crate::store::providers;
pub use crate::store::providers::{Budget, LimitChanges, Provider, TokenUsage};

/// Limits, failures and budgets of providers. See [`Htm::providers`].
#[derive(Clone, Copy, Debug)]
pub struct Providers<'a> {
    htm: &'a Htm,
}

impl Htm {
    /// The providers' limits and failures, and the namespaces' budgets, for operators.
    ///
    /// # Errors
    /// `namespace_forbidden` for a handle [within a wall](Htm::within): limits are of all namespaces.
    pub fn providers(&self) -> Result<Providers<'_>> {
        self.admit_all().map(|()| Providers { htm: self })
    }
}

impl Providers<'_> {
    /// Models with limits or failures.
    ///
    /// # Errors
    /// A database error.
    pub async fn list(&self) -> Result<Vec<Provider>> {
        providers::list(self.htm.pool()).await
    }

    /// Changes the limits of a model, used or not. Its token buckets are full afterwards.
    ///
    /// # Errors
    /// `limit_out_of_range` for a limit below 1, or a database error.
    pub async fn set_limits(&self, model: &str, changes: LimitChanges) -> Result<()> {
        let mut details = Map::new();
        for (name, change) in [
            ("requests_per_minute", changes.requests_per_minute),
            ("tokens_per_minute", changes.tokens_per_minute),
            ("concurrent_calls", changes.concurrent_calls),
        ] {
            let (is_changed, limit) = change.parts();
            details.extend(is_changed.then(|| (name.to_owned(), json!(limit))));
        }
        let done = self.htm.done("provider.set", None, Some(model), Value::Object(details));
        providers::set_limits(self.htm.pool(), model, changes, done).await
    }

    /// Closes a model's breaker and clears its Retry-After: the next call is made at once. Deferred jobs are due again;
    /// returns their number.
    ///
    /// # Errors
    /// `provider_unknown` when nothing is recorded of the model, or a database error.
    pub async fn reset(&self, model: &str) -> Result<u64> {
        again(met_another, || providers::reset(self.htm.pool(), model)).await
    }

    /// The namespaces that have a budget.
    ///
    /// # Errors
    /// A database error.
    pub async fn budgets(&self) -> Result<Vec<Budget>> {
        providers::budgets(self.htm.pool()).await
    }

    /// Sets a namespace's daily token budget; none: no limit. Jobs parked for the budget are due at once if it was
    /// removed, or raised beyond what is spent today; returns their number.
    ///
    /// # Errors
    /// `namespace_invalid`, `budget_out_of_range` for a budget below 0, or a database error.
    pub async fn set_budget(&self, namespace: &str, tokens_per_day: Option<i64>) -> Result<u64> {
        let details = json!({"tokens_per_day": tokens_per_day});
        let done = &self.htm.done("budget.set", Some(namespace), None, details);
        // It meets jobs that are refused at this moment.
        again(met_another, || providers::set_budget(self.htm.pool(), namespace, tokens_per_day, done)).await
    }

    /// The tokens of the memories of each namespace that each model has processed in the last days, today included. Each
    /// memory that is there now counts once for a stage and a model, on the day of its last result, with its text as it is
    /// now. Not counted are memories that were purged or erased, earlier results, failed calls, prompts, answers and
    /// queries. The latest day first, and in each day the most tokens first; at most 10,000 rows.
    ///
    /// # Errors
    /// `limit_out_of_range` for no day or more than 366, or a database error.
    pub async fn usage(&self, days: u32) -> Result<Vec<TokenUsage>> {
        within("days", days as usize, 1..=366)?;
        providers::usage(self.htm.pool(), days).await
    }
}
