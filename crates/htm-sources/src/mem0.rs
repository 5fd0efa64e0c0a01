//! The fields that mem0's table and its REST API have in common.

use chrono::{DateTime, NaiveDate, Utc};
use serde_json::Value;

use crate::json;
use crate::postgres::name_of;

/// Whose a memory is: its user, its agent and its run.
#[derive(Debug, Default)]
pub(crate) struct Whose {
    pub(crate) user: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) run: Option<String>,
}

impl Whose {
    /// Reads the ids. The error names one that is neither a text nor a number: without it, memories of several users would
    /// be put together.
    pub(crate) fn of(memory: &Value) -> Result<Self, String> {
        let id = |field: &str| match memory.get(field) {
            Some(value @ (Value::Bool(_) | Value::Array(_) | Value::Object(_))) => {
                Err(format!("its `{field}` is {value}, neither a text nor a number"))
            }
            value => Ok(value.and_then(name_of)),
        };
        Ok(Self { user: id("user_id")?, agent: id("agent_id")?, run: id("run_id")? })
    }
}

/// The times of a memory.
pub(crate) const TIMES: &[&str] = &["created_at", "updated_at", "expiration_date"];

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

/// The categories of a memory, which become tags. Nulls in the list are skipped; anything but a list of texts gives
/// none.
pub(crate) fn categories(fields: &Value) -> Vec<String> {
    let named = json::list(fields, "categories").iter().filter(|it| !it.is_null());
    named.map(|it| it.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_user_is_a_text_or_a_number() {
        let whose = Whose::of(&json!({"user_id": 42, "agent_id": "ada", "run_id": null})).unwrap();
        assert_eq!(
            (whose.user.as_deref(), whose.agent.as_deref(), whose.run),
            (Some("42"), Some("ada"), None)
        );
        for other in [json!(true), json!(["mara"]), json!({"id": 42})] {
            let what = Whose::of(&json!({ "user_id": other })).unwrap_err();
            assert!(what.contains("`user_id`"), "{what}");
        }
    }

    #[test]
    fn a_null_among_categories_leaves_the_others() {
        assert_eq!(categories(&json!({"categories": ["Editors", null]})), ["Editors"]);
        assert!(categories(&json!({"categories": ["Editors", 7]})).is_empty());
    }
}
