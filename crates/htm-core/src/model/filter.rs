//! The filter of a query.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::model::error::{Error, Result, codes};
use crate::model::memory::{
    MAX_KEY_BYTES, MAX_NAME_BYTES, MAX_SOURCE_BYTES, MAX_TAGS, refuse_blank, validate_importance,
    validate_metadata, validate_name, validate_namespace, validate_text,
};
use crate::model::tags::TagPath;
use crate::model::timeframe::TimeFilter;

/// The most hits of a recall.
pub const MAX_LIMIT: usize = 10_000;

/// The most namespaces, robots, sources or types of a filter.
const MAX_NAMES: usize = 10_000;

/// A required tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagFilter {
    /// Exactly this tag.
    Exact(TagPath),
    /// This tag or one below it: `data` includes `data:x`, never `database`.
    Prefix(TagPath),
}

impl TagFilter {
    /// Its tag.
    pub(crate) fn tag(&self) -> &TagPath {
        let (Self::Exact(tag) | Self::Prefix(tag)) = self;
        tag
    }
}

/// A name in a filter that nothing has.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UnknownName {
    /// The kind of thing that the name was expected to be of.
    pub kind: NameKind,
    /// The name.
    pub name: String,
    /// Similar names that there are, the nearest first; of several namespaces, those of one after those of another.
    pub nearest: Vec<String>,
}

/// The kinds of names in a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum NameKind {
    /// A namespace in which no memory is stored.
    Namespace,
    /// A robot that no namespace of the filter has.
    Robot,
    /// A tag that no namespace of the filter has.
    Tag,
}

/// The conditions on the memories of a query. A memory passes if it meets every condition; the default has none.
///
/// ```
/// use htm_core::Filter;
/// let decisions = Filter::default().namespace("atlas").kind("decision").min_importance(7.0);
/// ```
///
/// # Errors
/// A call with a filter that cannot be fails by `namespace_invalid`, `robot_invalid`, `limit_out_of_range` (a list with
/// too many values), `too_many_tags`, `field_too_long`, `content_empty`, `nul_byte`, `importance_out_of_range`,
/// `metadata_too_deep` or `metadata_number_out_of_range`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// The namespaces. Empty means that of the handle or robot that asks. An unknown namespace has no memories.
    pub namespaces: Vec<String>,
    /// The timeframe.
    pub timeframe: TimeFilter,
    /// Required tags.
    pub tags: Vec<TagFilter>,
    /// Whether any of the tags is enough. Otherwise all are required.
    pub any_tag: bool,
    /// Only memories that any of these robots remembered first. A robot that repeats a text does not count.
    pub robots: Vec<String>,
    /// Only memories of this conversation.
    pub session: Option<String>,
    /// Only memories from any of these sources.
    pub sources: Vec<String>,
    /// Only memories of any of these kinds: `fact`, `decision`, …
    pub kinds: Vec<String>,
    /// The least importance, 1.0 to 10.0.
    pub min_importance: Option<f32>,
    /// Required metadata: a memory's metadata contains these values under these names, at any depth.
    pub metadata: Map<String, Value>,
}

impl Filter {
    /// Adds a namespace.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespaces.push(namespace.into());
        self
    }

    /// Sets the timeframe: a [`Timeframe`](crate::Timeframe), a [`TimeExpression`](crate::TimeExpression), or
    /// [`TimeFilter::Auto`].
    pub fn timeframe(mut self, timeframe: impl Into<TimeFilter>) -> Self {
        self.timeframe = timeframe.into();
        self
    }

    /// Requires a tag.
    pub fn tag(mut self, tag: TagFilter) -> Self {
        self.tags.push(tag);
        self
    }

    /// Adds a robot.
    pub fn robot(mut self, robot: impl Into<String>) -> Self {
        self.robots.push(robot.into());
        self
    }

    /// Sets the conversation.
    pub fn session(mut self, session: impl Into<String>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Adds a source.
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.sources.push(source.into());
        self
    }

    /// Adds a kind.
    pub fn kind(mut self, kind: impl Into<String>) -> Self {
        self.kinds.push(kind.into());
        self
    }

    /// Sets the least importance, 1 to 10.
    pub fn min_importance(mut self, least: f32) -> Self {
        self.min_importance = Some(least);
        self
    }

    /// Requires a metadata entry.
    pub fn metadata(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(name.into(), value.into());
        self
    }

    /// Whether every memory of the namespace passes.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a single namespace, or none, is all that it says.
    pub(crate) fn selects_at_most_a_namespace(&self) -> bool {
        self.namespaces.len() < 2 && Self { namespaces: Vec::new(), ..self.clone() }.is_empty()
    }

    /// The filter, in this namespace if it names none.
    pub(crate) fn or_in(&self, namespace: &str) -> Self {
        match self.namespaces.is_empty() {
            true => self.clone().namespace(namespace),
            false => self.clone(),
        }
    }

    /// Whether it has a condition besides namespace and time.
    pub(crate) fn is_narrow(&self) -> bool {
        // Each field is named, so that a new one is decided on.
        let Self {
            namespaces: _,
            timeframe: _,
            tags,
            any_tag: _,
            robots,
            session,
            sources,
            kinds,
            min_importance,
            metadata,
        } = self;
        !tags.is_empty()
            || !robots.is_empty()
            || session.is_some()
            || !sources.is_empty()
            || !kinds.is_empty()
            || min_importance.is_some()
            || !metadata.is_empty()
    }

    /// Checks for values that the database would reject, with a better error.
    ///
    /// # Errors
    /// Those that [`Filter`] lists.
    pub(crate) fn validate(&self) -> Result<()> {
        let Self {
            namespaces,
            timeframe: _,
            tags,
            any_tag: _,
            robots,
            session,
            sources,
            kinds,
            min_importance,
            metadata,
        } = self;
        for (field, names) in
            [("namespaces", namespaces), ("robots", robots), ("sources", sources), ("types", kinds)]
        {
            at_most(field, names.len(), MAX_NAMES)?;
        }
        namespaces.iter().try_for_each(|namespace| validate_namespace(namespace))?;
        robots.iter().try_for_each(|robot| validate_name("robot", robot, MAX_NAME_BYTES))?;
        for (field, texts, limit) in [
            ("session", session.as_slice(), MAX_KEY_BYTES),
            ("source", sources, MAX_SOURCE_BYTES),
            ("type", kinds, MAX_NAME_BYTES),
        ] {
            for text in texts {
                validate_text(field, text, limit)?;
                // No memory has it, and what the shell's unset variable was to say is unknown.
                refuse_blank(field, text)?;
            }
        }
        if tags.len() > MAX_TAGS {
            let message = format!("{} tags are more than the {MAX_TAGS} that a filter may have", tags.len());
            return Err(Error::new(codes::TOO_MANY_TAGS, message).with_hint("name a tag above them instead"));
        }
        min_importance.map_or(Ok(()), validate_importance)?;
        validate_metadata(metadata)
    }
}

/// Rejects a list with more values than it may have.
pub(crate) fn at_most(field: &str, number: usize, most: usize) -> Result<()> {
    match number <= most {
        true => Ok(()),
        false => {
            let message = format!("{field} has {number} values, more than {most}");
            Err(Error::new(codes::LIMIT_OUT_OF_RANGE, message).with_hint(format!("give at most {most}")))
        }
    }
}

/// Rejects a number outside its range.
pub(crate) fn within(field: &str, number: usize, range: RangeInclusive<usize>) -> Result<()> {
    if range.contains(&number) {
        return Ok(());
    }
    let (least, most) = range.into_inner();
    let message = format!("{field} {number} is outside {least} to {most}");
    Err(Error::new(codes::LIMIT_OUT_OF_RANGE, message)
        .with_hint(format!("give a number from {least} to {most}")))
}

/// Rejects a limit outside 1 to [`MAX_LIMIT`].
pub(crate) fn validate_limit(limit: usize) -> Result<()> {
    within("limit", limit, 1..=MAX_LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::memory::MAX_METADATA_BYTES;

    #[test]
    fn each_condition_is_checked() {
        let none = Filter::default;
        let tag = || TagFilter::Exact("a".parse().unwrap());
        let many = (0..=MAX_TAGS).fold(none(), |filter, _| filter.tag(tag()));
        for (code, filter) in [
            ("namespace_invalid", none().namespace(" ")),
            ("robot_invalid", none().robot("a\nb")),
            ("field_too_long", none().session("s".repeat(513))),
            ("field_too_long", none().source("s".repeat(4_097))),
            ("field_too_long", none().kind("s".repeat(129))),
            ("content_empty", none().session("")),
            ("content_empty", none().source(" ")),
            ("content_empty", none().kind("")),
            ("nul_byte", none().kind("a\0")),
            ("nul_byte", none().metadata("a", "\0")),
            ("field_too_long", none().metadata("a", "x".repeat(MAX_METADATA_BYTES))),
            ("metadata_number_out_of_range", none().metadata("a", f64::MAX)),
            ("too_many_tags", many),
            ("limit_out_of_range", Filter { sources: vec!["s".into(); MAX_NAMES + 1], ..none() }),
            ("importance_out_of_range", none().min_importance(0.9)),
            ("importance_out_of_range", none().min_importance(10.1)),
            ("importance_out_of_range", none().min_importance(f32::NAN)),
        ] {
            assert_eq!(filter.validate().unwrap_err().code(), code, "{filter:?}");
            assert!(!filter.is_empty());
        }
        none().source("s".repeat(4_096)).kind("k".repeat(128)).min_importance(10.0).validate().unwrap();
        for limit in [0, 10_001] {
            let error = validate_limit(limit).unwrap_err();
            assert_eq!(error.code(), "limit_out_of_range");
            assert_eq!(error.hint(), "give a number from 1 to 10000");
        }
    }

    #[test]
    fn one_namespace_or_none_only_selects() {
        let one = Filter::default().namespace("atlas");
        for filter in [Filter::default(), one.clone()] {
            assert!(filter.selects_at_most_a_namespace(), "{filter:?}");
        }
        for filter in
            [one.clone().namespace("other"), one.clone().timeframe(TimeFilter::Auto), one.kind("fact")]
        {
            assert!(!filter.selects_at_most_a_namespace(), "{filter:?}");
        }
    }

    #[test]
    fn namespaces_and_times_are_not_narrow() {
        let wide = Filter::default().namespace("atlas").timeframe(TimeFilter::Auto);
        assert!(!wide.is_narrow() && !wide.is_empty() && Filter::default().is_empty());
        for narrow in [
            wide.clone().tag(TagFilter::Exact("a".parse().unwrap())),
            wide.clone().robot("owl"),
            wide.clone().session("standup"),
            wide.clone().source("chat"),
            wide.clone().kind("fact"),
            wide.clone().min_importance(1.0),
            wide.metadata("ticket", 7),
        ] {
            assert!(narrow.is_narrow(), "{narrow:?}");
        }
    }
}
