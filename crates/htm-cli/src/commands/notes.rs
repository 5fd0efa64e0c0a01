//! What a question names that is not there: a slip of the pen finds nothing, and nobody sees why.

use htm_core::{Htm, TagFilter, TimeFilter, TimePhrase};

use crate::error::CliError;
use crate::output::one_line;

/// What a question is filtered by.
pub(crate) struct Filters<'a> {
    pub(crate) namespace: Option<&'a str>,
    pub(crate) robot: Option<&'a str>,
    pub(crate) tags: &'a [TagFilter],
    pub(crate) timeframe: &'a TimeFilter,
    /// What was taken from the question's text.
    pub(crate) phrase: Option<&'a TimePhrase>,
}

/// A sentence for each filter that names what is not there.
pub(crate) async fn of(htm: &Htm, filters: &Filters<'_>) -> Result<Vec<String>, CliError> {
    let namespace = filters.namespace.unwrap_or(&htm.settings().namespace);
    let mut notes = Vec::new();
    if *filters.timeframe == TimeFilter::Auto && filters.phrase.is_none() {
        notes.push("the question names no time that has begun; all of time was looked through".into());
    }
    if let Some(robot) = filters.robot {
        match htm.find_robot(filters.namespace, robot).await {
            Err(error) if error.code() == "robot_unknown" => notes.push(error.to_string()),
            found => drop(found?),
        }
    }
    for unmatched in htm.ontology(filters.namespace)?.unmatched(filters.tags).await? {
        let nearest = match &unmatched.nearest[..] {
            [] => String::new(),
            nearest => format!("; the nearest: {}", nearest.join(", ")),
        };
        notes.push(format!(
            "no tag of namespace `{}` is `{}`{nearest}",
            one_line(namespace, 60),
            unmatched.tag
        ));
    }
    Ok(notes)
}

/// A line each, to stand below an answer.
pub(crate) fn describe(notes: &[String]) -> String {
    notes.iter().map(|note| format!("\nnote: {}", one_line(note, 300))).collect()
}
