//! The meanings of the names of a namespace, and the effect of a change on them. Pure, so that the same rules plan a
//! change, its dry run and its revert.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::errors::{into_itself, into_own_child, is_synonym, unknown};
use crate::model::error::{Error, Result, codes};
use crate::model::tags::former::{lineage, meant};
use crate::model::tags::{InvalidTag, Leftover, TagPath, TagRule, TagRules};

/// The attributes of a tag besides its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tag {
    pub(crate) description: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) split_into: Vec<String>,
    #[serde(default, skip_serializing_if = "Leftover::is_keep")]
    pub(crate) leftover: Leftover,
    /// Tags declared distinct from it. A pair is on one of its tags.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) distinct_from: BTreeSet<String>,
}

/// The meaning of a name, as stored in the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Meaning {
    Tag(Tag),
    Synonym(String),
}

/// The meanings of all names of a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    pub(crate) tags: BTreeMap<String, Tag>,
    /// The synonyms, each with its tag.
    pub(crate) synonyms: BTreeMap<String, String>,
}

impl Names {
    pub(crate) fn meaning(&self, path: &str) -> Option<Meaning> {
        let tag = self.tags.get(path).cloned().map(Meaning::Tag);
        tag.or_else(|| self.synonyms.get(path).cloned().map(Meaning::Synonym))
    }

    pub(crate) fn set(&mut self, path: &str, meaning: Option<Meaning>) {
        self.tags.remove(path);
        self.synonyms.remove(path);
        match meaning {
            Some(Meaning::Tag(tag)) => {
                self.tags.insert(path.to_owned(), tag);
            }
            Some(Meaning::Synonym(tag)) => {
                self.synonyms.insert(path.to_owned(), tag);
            }
            None => {}
        }
    }

    /// The canonical form of a path: its longest prefix that is a synonym is replaced by the tag, repeatedly.
    pub(crate) fn canonical(&self, path: &str) -> String {
        meant(path, |name| self.synonyms.get(name).map(String::as_str))
    }

    /// The tag that a text means: by its exact name, or by any spelling or synonym of it.
    pub(crate) fn find(&self, rules: &TagRules, text: &str) -> Result<Option<TagPath>, InvalidTag> {
        if self.tags.contains_key(text.trim()) {
            return Ok(Some(text.trim().parse()?));
        }
        let name = rules.normalise(text)?;
        let called = self.canonical(&rules.as_in_use(name.as_str(), |name| self.meaning(name).is_some()));
        let found = [name.as_str(), &called].into_iter().find(|it| self.tags.contains_key(*it));
        found.map(str::parse).transpose()
    }

    /// As [`find`](Self::find), but an unknown tag is an error. The error names no similar tags.
    pub(crate) fn known(&self, rules: &TagRules, namespace: &str, text: &str) -> Result<TagPath> {
        match self.find(rules, text)? {
            Some(tag) => Ok(tag),
            None => Err(unknown(namespace, rules.normalise(text)?.as_str())),
        }
    }

    /// The tags that are `top` or below it.
    pub(crate) fn subtree(&self, top: &str) -> Vec<String> {
        self.tags.keys().filter(|path| is_within(path, top)).cloned().collect()
    }

    /// Whether `from` leads to `tag` through its split and the splits of the resulting tags.
    pub(crate) fn leads_to(&self, from: &str, tag: &str) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![from];
        while let Some(path) = open.pop() {
            let into = self.tags.get(path).map_or(&[][..], |it| &it.split_into);
            if into.iter().any(|it| it == tag) {
                return true;
            }
            open.extend(into.iter().map(String::as_str).filter(|it| seen.insert(*it)));
        }
        false
    }

    /// Whether the two tags are declared distinct.
    pub(crate) fn are_distinct(&self, tag: &str, other: &str) -> bool {
        let names =
            |tag: &str, other: &str| self.tags.get(tag).is_some_and(|it| it.distinct_from.contains(other));
        names(tag, other) || names(other, tag)
    }

    pub(crate) fn add_ancestors(&mut self, path: &str) {
        for above in lineage(path).skip(1) {
            if self.meaning(above).is_none() {
                self.tags.insert(above.to_owned(), Tag::default());
            }
        }
    }
}

/// Whether a path is `top` or below it.
pub(crate) fn is_within(path: &str, top: &str) -> bool {
    path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

/// A change that is being planned.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) before: Names,
    pub(crate) after: Names,
    /// Renamed tags, each with its new name. Their rows keep everything that refers to them.
    pub(crate) renamed: BTreeMap<String, String>,
    /// Merged tags, each with the tag that gets its assignments.
    pub(crate) merged: BTreeMap<String, String>,
    /// Names that belong to the change although their meaning stays the same.
    pub(crate) touched: BTreeSet<String>,
}

/// The effect of a change on a name.
#[derive(Debug)]
pub(crate) struct NameChange {
    pub(crate) path: String,
    pub(crate) before: Option<Meaning>,
    pub(crate) after: Option<Meaning>,
    pub(crate) moved_from: Option<String>,
}

impl Draft {
    pub(crate) fn new(before: Names) -> Self {
        let (renamed, merged, touched) = Default::default();
        Self { after: before.clone(), before, renamed, merged, touched }
    }

    /// Adds a tag with its ancestors. An existing tag gets the description. Returns the name of the tag.
    pub(crate) fn define(
        &mut self,
        rules: &TagRules,
        path: &TagPath,
        description: Option<&str>,
    ) -> Result<TagPath> {
        if let Some(tag) = self.after.synonyms.get(path.as_str()) {
            return Err(is_synonym(path.as_str(), tag));
        }
        let called = self.place(rules, path.as_str(), path.as_str())?;
        self.after.add_ancestors(called.as_str());
        let tag = self.after.tags.entry(called.to_string()).or_default();
        if let Some(description) = description {
            tag.description = Some(description.to_owned()).filter(|it| !it.is_empty());
        }
        Ok(called)
    }

    pub(crate) fn add_synonym(&mut self, name: &TagPath, tag: &TagPath) -> Result<()> {
        if self.after.synonyms.get(name.as_str()).is_some_and(|it| it == tag.as_str()) {
            return Ok(());
        }
        if name == tag {
            return Err(into_itself(tag));
        }
        if let Some(other) = self.after.synonyms.get(name.as_str()) {
            return Err(is_synonym(name.as_str(), other));
        }
        if !self.after.subtree(name.as_str()).is_empty() {
            let message = format!(
                "`{name}` cannot be another name of `{tag}`: it is a tag itself, or stands above tags"
            );
            return Err(Error::new(codes::SYNONYM_IS_TAG, message)
                .with_value("name", name)
                .with_value("tag", tag));
        }
        self.after.synonyms.insert(name.to_string(), tag.to_string());
        Ok(())
    }

    /// Removes a tag, the tags below it, and all their synonyms. Returns the removed tags.
    pub(crate) fn remove(&mut self, tag: &TagPath) -> Vec<String> {
        let gone = self.after.subtree(tag.as_str());
        self.after.tags.retain(|path, _| !is_within(path, tag.as_str()));
        self.after.synonyms.retain(|_, means| !is_within(means, tag.as_str()));
        for left in self.after.tags.values_mut() {
            let was_split = !left.split_into.is_empty();
            left.split_into.retain(|into| !is_within(into, tag.as_str()));
            if was_split && left.split_into.is_empty() {
                left.leftover = Leftover::default();
            }
            left.distinct_from.retain(|other| !is_within(other, tag.as_str()));
        }
        gone
    }

    /// Tells two tags apart: no merge of them is suggested.
    pub(crate) fn mark_distinct(&mut self, tag: &TagPath, other: &TagPath) -> Result<()> {
        if tag == other {
            return Err(into_itself(tag));
        }
        if !self.after.are_distinct(tag.as_str(), other.as_str()) {
            // On the later name: an export lists the earlier one before it.
            let (first, last) = if tag < other { (tag, other) } else { (other, tag) };
            let last = self.after.tags.entry(last.to_string()).or_default();
            last.distinct_from.insert(first.to_string());
        }
        Ok(())
    }

    /// Takes back [`mark_distinct`](Self::mark_distinct).
    pub(crate) fn unmark_distinct(&mut self, tag: &TagPath, other: &TagPath) {
        for (tag, other) in [(tag, other), (other, tag)] {
            if let Some(it) = self.after.tags.get_mut(tag.as_str()) {
                it.distinct_from.remove(other.as_str());
            }
        }
    }

    /// Renames a tag and the tags below it. The former name becomes a synonym.
    pub(crate) fn rename(&mut self, rules: &TagRules, from: &TagPath, to: &TagPath) -> Result<TagPath> {
        let mut to = to.clone();
        match self.after.synonyms.get(to.as_str()) {
            // A former name becomes the name again.
            Some(tag) if tag == from.as_str() => {
                self.after.synonyms.remove(to.as_str());
            }
            Some(tag) => return Err(is_synonym(to.as_str(), tag)),
            None => to = self.place(rules, from.as_str(), to.as_str())?,
        }
        if *from == to {
            return Err(into_itself(from));
        }
        if to.is_below(from) {
            return Err(into_own_child(from, &to));
        }
        if !self.after.subtree(to.as_str()).is_empty() {
            return Err(Error::new(codes::TAG_TAKEN, format!("there is a tag `{to}` already"))
                .with_value("tag", &to)
                .with_value("from", from));
        }
        self.go(rules, std::slice::from_ref(from), &to)?;
        Ok(to)
    }

    /// Merges tags into one. The tags below them move below it, and their names become its synonyms.
    pub(crate) fn merge(&mut self, rules: &TagRules, from: &[TagPath], into: &TagPath) -> Result<()> {
        if from.is_empty() {
            return Err(Error::new(codes::NOTHING_TO_MERGE, "no tag to merge was named"));
        }
        for tag in from {
            if tag == into {
                return Err(into_itself(tag));
            }
            if into.is_below(tag) {
                return Err(into_own_child(tag, into));
            }
        }
        self.go(rules, from, into)
    }

    /// The path of a tag that should be called `name`. An existing tag may be older than the rules.
    fn place(&self, rules: &TagRules, tag: &str, name: &str) -> Result<TagPath> {
        let called = self.after.canonical(name);
        match called.parse() {
            Ok(path) if self.after.tags.contains_key(&called) => Ok(path),
            _ => parse(rules, tag, &called),
        }
    }

    /// Makes the names `from` mean `to`. Every tag at or below one of them is renamed, or merged into the tag that has
    /// the new name.
    fn go(&mut self, rules: &TagRules, from: &[TagPath], to: &TagPath) -> Result<()> {
        let leaves = |path: &str| from.iter().any(|top| is_within(path, top.as_str()));
        for name in from {
            self.after.synonyms.insert(name.to_string(), to.to_string());
        }
        let moved: Vec<String> = self.after.tags.keys().filter(|path| leaves(path)).cloned().collect();
        for path in moved {
            let goes_to = self.place(rules, &path, &path)?.to_string();
            let Some(tag) = self.after.tags.remove(&path) else { continue };
            match self.after.tags.get_mut(&goes_to) {
                None => {
                    self.after.tags.insert(goes_to.clone(), tag);
                    self.renamed.insert(path, goes_to);
                }
                Some(there) => {
                    if there.description.is_none() {
                        there.description = tag.description;
                    }
                    there.distinct_from.extend(tag.distinct_from);
                    self.touched.insert(goes_to.clone());
                    self.merged.insert(path, goes_to);
                }
            }
        }
        for path in self.renamed.values() {
            self.after.add_ancestors(path);
        }
        let stale: Vec<String> =
            self.after.synonyms.iter().filter(|(_, tag)| leaves(tag)).map(|(name, _)| name.clone()).collect();
        for name in stale {
            let called = self.after.canonical(&name);
            if called == name {
                self.after.synonyms.remove(&name);
            } else {
                self.after.synonyms.insert(name, called);
            }
        }
        self.take_names_along(from, to);
        self.keep_splits(leaves);
        self.keep_distinct(leaves);
        Ok(())
    }

    /// Names the parts of splits that moved, for which `leaves` holds, by their new names. A tag whose part became the tag
    /// itself is split no more. A part that is split into the tag is left out.
    fn keep_splits(&mut self, leaves: impl Fn(&str) -> bool) {
        let split: Vec<(String, Vec<String>)> = (self.after.tags.iter())
            .filter(|(_, tag)| tag.split_into.iter().any(|into| leaves(into)))
            .map(|(path, tag)| {
                (path.clone(), tag.split_into.iter().map(|it| self.after.canonical(it)).collect())
            })
            .collect();
        for (path, into) in split {
            let mut parts: Vec<String> = Vec::new();
            if !into.contains(&path) {
                for part in into {
                    if !parts.contains(&part) && !self.after.leads_to(&part, &path) {
                        parts.push(part);
                    }
                }
            }
            let tag = self.after.tags.entry(path).or_default();
            if parts.is_empty() {
                tag.leftover = Leftover::default();
            }
            tag.split_into = parts;
        }
    }

    /// Names the tags that moved, for which `leaves` holds, by their new names in the pairs of distinct tags. A pair that
    /// was merged is none.
    fn keep_distinct(&mut self, leaves: impl Fn(&str) -> bool) {
        let moved: Vec<(String, BTreeSet<String>)> = (self.after.tags.iter())
            .filter(|(path, tag)| tag.distinct_from.iter().any(|other| leaves(other) || other == *path))
            .map(|(path, tag)| {
                let others = tag.distinct_from.iter().map(|it| self.after.canonical(it));
                (path.clone(), others.filter(|other| other != path).collect())
            })
            .collect();
        for (path, others) in moved {
            self.after.tags.entry(path).or_default().distinct_from = others;
        }
        // A merge may have brought a pair to its other tag too.
        let tags = &self.after.tags;
        let has =
            |path: &String, other: &String| tags.get(path).is_some_and(|it| it.distinct_from.contains(other));
        let twice: Vec<(String, String)> = (tags.iter())
            .flat_map(|(path, tag)| tag.distinct_from.iter().map(move |other| (path, other)))
            .filter(|(path, other)| path < other && has(other, path))
            .map(|(path, other)| (path.clone(), other.clone()))
            .collect();
        for (path, other) in twice {
            self.after.tags.entry(path).or_default().distinct_from.remove(&other);
        }
    }

    /// Repeats the synonyms below a moved name below its new name, so that paths through former names still lead to the
    /// same tags.
    fn take_names_along(&mut self, from: &[TagPath], to: &TagPath) {
        let below: Vec<(String, String)> = (self.after.synonyms.iter())
            .filter_map(|(name, tag)| {
                let top = from
                    .iter()
                    .filter(|top| name.starts_with(&format!("{top}:")))
                    .max_by_key(|it| it.depth())?;
                Some((format!("{to}{}", &name[top.as_str().len()..]), tag.clone()))
            })
            .collect();
        for (name, tag) in below {
            let is_free = name.parse::<TagPath>().is_ok()
                && self.after.subtree(&name).is_empty()
                && !self.after.synonyms.contains_key(&name);
            if is_free && name != tag {
                self.after.synonyms.insert(name, tag);
            }
        }
    }

    /// The names by which no tag may be registered during the change: all of its names, except those that are tags both
    /// before and after it.
    pub(crate) fn held(&self) -> BTreeSet<String> {
        let is_tag = |meaning: &Option<Meaning>| matches!(meaning, Some(Meaning::Tag(_)));
        let changes = self.changes().into_iter();
        changes.filter(|it| !(is_tag(&it.before) && is_tag(&it.after))).map(|it| it.path).collect()
    }

    /// The names whose meaning changes, and the other names that belong to the change.
    pub(crate) fn changes(&self) -> Vec<NameChange> {
        let moved_from: BTreeMap<&str, &str> =
            self.renamed.iter().map(|(from, to)| (to.as_str(), from.as_str())).collect();
        let (before, after) = (&self.before, &self.after);
        let names: BTreeSet<&String> = [&before.tags, &after.tags]
            .into_iter()
            .flat_map(BTreeMap::keys)
            .chain(before.synonyms.keys())
            .chain(after.synonyms.keys())
            .collect();
        names
            .into_iter()
            .filter_map(|path| {
                let (before, after) = (before.meaning(path), after.meaning(path));
                let counts = before != after || self.touched.contains(path);
                let moved_from = moved_from.get(path.as_str()).map(|it| (*it).to_owned());
                counts.then(|| NameChange { path: path.clone(), before, after, moved_from })
            })
            .collect()
    }
}

/// The names that are below no other one.
pub(crate) fn uppermost(names: BTreeSet<String>) -> BTreeSet<String> {
    let is_below = |name: &&String| lineage(name).skip(1).any(|above| names.contains(above));
    names.iter().filter(|name| !is_below(name)).cloned().collect()
}

/// Parses the new name `to` of `tag`.
pub(crate) fn parse(rules: &TagRules, tag: &str, to: &str) -> Result<TagPath> {
    let unmovable = |rule: TagRule| {
        let to: String = to.chars().take(260).collect();
        Error::new(codes::TAG_UNMOVABLE, format!("`{tag}` would become `{to}`: {rule}"))
    };
    let path: TagPath = to.parse().map_err(|error: InvalidTag| unmovable(error.rule))?;
    let levels: Vec<&str> = path.levels().collect();
    let twice = (1..levels.len()).find(|at| levels[..*at].contains(&levels[*at]));
    match twice {
        Some(at) => Err(unmovable(TagRule::Repeated { level: levels[at].to_owned() })),
        None if levels.len() > rules.max_depth => {
            Err(unmovable(TagRule::TooDeep { levels: levels.len(), most: rules.max_depth }))
        }
        None => Ok(path),
    }
}

#[cfg(test)]
mod tests;
