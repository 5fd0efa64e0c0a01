//! The meanings of names that are no longer tags.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{TagPath, TagRules};

/// The most replacements of a name; more would be a cycle. As `htm.tag_meant`.
const MAX_STEPS: usize = 16;

/// The changed names of a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormerNames {
    /// Synonyms, each with its tag.
    pub synonyms: BTreeMap<String, String>,
    /// Split tags, each with its replacement.
    pub split: BTreeMap<String, SplitTag>,
    /// Removed tags, with those below them, that nobody has used since.
    pub removed: BTreeSet<String>,
}

/// The treatment of the nodes of a split tag whose text fits none of the tags in its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[derive(Serialize, Deserialize, strum::AsRefStr, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Leftover {
    /// They keep the tag.
    #[default]
    Keep,
    /// They get the first of the tags in its place.
    First,
}

impl Leftover {
    pub(crate) fn read(text: Option<&str>) -> Self {
        if text == Some("first") { Self::First } else { Self::Keep }
    }

    pub(crate) fn is_keep(&self) -> bool {
        *self == Self::Keep
    }
}

/// The replacement of a split tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitTag {
    /// The tags in its place.
    pub into: Vec<TagPath>,
    /// The treatment of a text that fits none of them.
    pub leftover: Leftover,
}

impl SplitTag {
    /// Whether a tag is one of those in its place, or below one.
    pub fn has(&self, tag: &TagPath) -> bool {
        self.into.iter().any(|target| tag == target || tag.is_below(target))
    }

    /// The tag of a text that fits none of them. `split` is the split tag itself.
    pub fn rest<'a>(&'a self, split: &'a TagPath) -> &'a TagPath {
        match self.leftover {
            Leftover::Keep => split,
            Leftover::First => self.into.first().unwrap_or(split),
        }
    }
}

impl FormerNames {
    /// The current name of a path: normalised, without the levels below the rules' limit, and with synonyms replaced.
    /// None for a removed tag and for an invalid path. A split tag keeps its name; see [`SplitTag::rest`].
    pub fn called_now(&self, rules: &TagRules, path: &str) -> Option<TagPath> {
        let within = |path: &str| {
            let levels: Vec<&str> = path.split(':').take(rules.max_depth).collect();
            rules.normalise(&levels.join(":")).ok()
        };
        let stored = within(path)?;
        let called = within(&meant(stored.as_str(), |name| self.synonyms.get(name).map(String::as_str)))?;
        let called = within(&rules.as_in_use(called.as_str(), |name| self.removed.contains(name)))?;
        let is_gone = self.removed.contains(called.as_str())
            || called.ancestors().iter().any(|above| self.removed.contains(above.as_str()));
        (!is_gone).then_some(called)
    }
}

/// The meaning of a path: its longest prefix that is a synonym is replaced by the tag, repeatedly. A level that then
/// only repeats the one above it is left out. As `htm.tag_meant`. The result may be too deep for a tag.
pub(crate) fn meant<'a>(path: &str, tag_of: impl Fn(&str) -> Option<&'a str>) -> String {
    let mut name = path.to_owned();
    for _ in 0..MAX_STEPS {
        let longest = lineage(&name).find_map(|part| Some((part.len(), tag_of(part)?)));
        let Some((length, tag)) = longest else { break };
        let called = joined(tag, &name[length..]);
        if called == name {
            break;
        }
        name = called;
    }
    name
}

/// Joins a tag and the levels below it, given as `:x:y`.
fn joined(tag: &str, below: &str) -> String {
    let mut name = tag.to_owned();
    for level in below.split(':').skip(1) {
        if name.rsplit(':').next() != Some(level) {
            name.push(':');
            name.push_str(level);
        }
    }
    name
}

/// A path and its ancestors, the longest first.
pub(crate) fn lineage(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| path.rsplit_once(':').map(|(above, _)| above))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn former() -> FormerNames {
        let synonyms = [("software", "code"), ("code:db", "database")];
        FormerNames {
            synonyms: synonyms.map(|(name, tag)| (name.to_owned(), tag.to_owned())).into(),
            split: BTreeMap::new(),
            removed: ["pet".to_owned(), "widget".to_owned()].into(),
        }
    }

    #[test]
    fn a_name_is_called_what_it_became() {
        let called = |path: &str| former().called_now(&TagRules::default(), path).map(String::from);
        assert_eq!(called("software:test").as_deref(), Some("code:test"));
        assert_eq!(called("software:db:index").as_deref(), Some("database:index"));
        assert_eq!(called("food:Meals").as_deref(), Some("food:meal"));
        assert_eq!((called("pet"), called("pet:cat"), called("pets")), (None, None, None));
        assert_eq!(
            (called("widgets"), called("widgets:new")),
            (None, None),
            "the plural of what was removed"
        );
        assert_eq!(called("petrol").as_deref(), Some("petrol"));
    }

    #[test]
    fn a_level_that_repeats_the_one_above_it_is_left_out() {
        let synonyms = [("db", "database"), ("x", "a:a")];
        let tag_of = |name: &str| synonyms.iter().find(|it| it.0 == name).map(|it| it.1);
        assert_eq!(meant("db:database", tag_of), "database");
        assert_eq!(meant("db:database:database:index:index", tag_of), "database:index");
        // The tag itself may be older than the rules.
        assert_eq!((meant("x", tag_of), meant("x:a:b", tag_of)), ("a:a".into(), "a:a:b".into()));
        assert_eq!(meant("a:a", tag_of), "a:a");
    }

    #[test]
    fn the_rules_of_today_hold_before_and_after() {
        let singular = [("data".to_owned(), "datum".to_owned())].into();
        let rules = TagRules { max_depth: 2, singular, ..TagRules::default() };
        let called = |path: &str| former().called_now(&rules, path).map(String::from);
        assert_eq!(called("a:b:c").as_deref(), Some("a:b"));
        assert_eq!(called("data").as_deref(), Some("datum"));
        assert_eq!(called("software:db:index").as_deref(), Some("database"));
    }
}
