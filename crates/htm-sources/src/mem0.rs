//! The fields that mem0's table and its REST API have in common.

use chrono::{DateTime, NaiveDate, Utc};
use serde_json::Value;

use crate::json;

/// The time at which a memory expires. A date counts until the end of its day.
pub(crate) fn expiry(memory: &Value) -> Option<DateTime<Utc>> {
    let day = json::text(memory, "expiration_date").and_then(|it| NaiveDate::parse_from_str(it, "%F").ok());
    match day {
        Some(day) => Some(day.succ_opt()?.and_hms_opt(0, 0, 0)?.and_utc()),
        None => json::time(memory, "expiration_date"),
    }
}

/// Whether a memory has expired: mem0 does not find it either.
pub(crate) fn has_expired(expires_at: Option<DateTime<Utc>>) -> bool {
    expires_at.is_some_and(|end| end <= Utc::now())
}

/// The categories of a memory, which become tags; none if they are no list of texts.
pub(crate) fn categories(fields: &Value) -> Vec<String> {
    let texts = json::list(fields, "categories").iter().map(|it| it.as_str().map(str::to_owned));
    texts.collect::<Option<Vec<_>>>().unwrap_or_default()
}
