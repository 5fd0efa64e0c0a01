//! A query's filters as parameters.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use sqlx::types::Json;

use crate::model::recall::TagFilter;
use crate::model::timeframe::Timeframe;

/// The names of tags and which are prefixes; no names when there are no tags.
pub(crate) fn paths_and_prefixes(tags: &[TagFilter]) -> (Option<Vec<&str>>, Vec<bool>) {
    let (paths, prefixes): (Vec<&str>, Vec<bool>) = tags
        .iter()
        .map(|tag| match tag {
            TagFilter::Exact(path) => (path.as_str(), false),
            TagFilter::Prefix(path) => (path.as_str(), true),
        })
        .unzip();
    ((!paths.is_empty()).then_some(paths), prefixes)
}

/// How many of the tags a node must have.
pub(crate) fn needed(tags: &[TagFilter], any: bool) -> i32 {
    if any { 1 } else { tags.len() as i32 }
}

/// The tags that a list of names means in some namespaces, to be put into a statement.
pub(crate) fn tags_named(namespaces: &str, paths: &str, prefixes: &str) -> String {
    include_str!("../sql/tags_named.sql")
        .replace("{{namespaces}}", namespaces)
        .replace("{{paths}}", paths)
        .replace("{{prefixes}}", prefixes)
}

/// What metadata must contain; none when nothing is asked for.
pub(crate) fn wanted_metadata(metadata: &Map<String, Value>) -> Option<Json<&Map<String, Value>>> {
    (!metadata.is_empty()).then_some(Json(metadata))
}

/// The starts and the ends of a timeframe's ranges, when it has more than the one that its own start and end tell.
pub(crate) fn several(timeframe: &Timeframe) -> (Option<Times>, Option<Times>) {
    match timeframe.ranges() {
        [] | [_] => (None, None),
        ranges => (
            Some(ranges.iter().map(|range| range.from()).collect()),
            Some(ranges.iter().map(|range| range.until()).collect()),
        ),
    }
}

/// Null is an open side.
type Times = Vec<Option<DateTime<Utc>>>;
