//! A filter as conditions of a statement.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use sqlx::types::Json;

use super::connections::Connections;
use super::named::Named;
use super::tags_in_use;
use super::then::Then;
use crate::model::error::Result;
use crate::model::filter::{Filter, TagFilter};
use crate::model::id::NodeId;
use crate::model::tags::TagRules;
use crate::model::timeframe::Timeframe;

/// A filter with the ids of its names, and the requirements of a query's text.
#[derive(Debug)]
pub(crate) struct Conditions {
    filter: Filter,
    namespaces: Vec<String>,
    since: Option<DateTime<Utc>>,
    until: Option<DateTime<Utc>>,
    /// The starts and the ends of the time ranges; none if there is at most one range.
    ranges: Option<(Times, Times)>,
    /// The ids of each tag filter; a node needs one id of each.
    tags: Vec<Vec<i64>>,
    robots: Vec<i64>,
    required: Required,
    /// The time as of which the nodes and their tags are read.
    then: Then,
}

/// The bounds of ranges; null is an open side.
type Times = Vec<Option<DateTime<Utc>>>;

/// The conditions that a query states by signs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Required {
    /// The phrases, as one `tsquery`; none if full text has none to search for.
    pub(crate) phrases: Option<String>,
    /// The regular expressions that a text has to match.
    pub(crate) patterns: Vec<String>,
    /// The excluded terms, each as a `tsquery`.
    pub(crate) barred: Vec<String>,
    /// The regular expressions that a text must not match.
    pub(crate) barred_patterns: Vec<String>,
}

impl Required {
    pub(crate) fn has_phrase(&self) -> bool {
        self.phrases.is_some() || !self.patterns.is_empty()
    }

    /// Whether it excludes words.
    fn bars(&self) -> bool {
        !self.barred.is_empty() || !self.barred_patterns.is_empty()
    }
}

/// A filter, and where its names are looked up.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) filter: &'a Filter,
    /// Without duplicates.
    pub(crate) namespaces: &'a [&'a str],
    /// The filter's, resolved.
    pub(crate) timeframe: &'a Timeframe,
    pub(crate) rules: &'a TagRules,
}

impl Conditions {
    /// The filter's conditions. Looks up the names of the filter.
    ///
    /// # Errors
    /// A database error.
    pub(crate) async fn of(
        connection: &mut PgConnection,
        scope: Scope<'_>,
        required: Required,
    ) -> Result<Self> {
        let Scope { filter, namespaces, timeframe, rules } = scope;
        let ranges = timeframe.ranges();
        let robots = match filter.robots.is_empty() {
            true => Vec::new(),
            false => robots(connection, namespaces, &filter.robots).await?,
        };
        let mut tags = tags(connection, rules, namespaces, &filter.tags).await?;
        if filter.any_tag && !tags.is_empty() {
            tags = vec![tags.concat()];
        }
        Ok(Self {
            filter: filter.clone(),
            namespaces: namespaces.iter().map(|&namespace| namespace.to_owned()).collect(),
            since: timeframe.from(),
            until: timeframe.until(),
            ranges: (ranges.len() > 1)
                .then(|| ranges.iter().map(|range| (range.from(), range.until())).unzip()),
            tags,
            robots,
            required,
            then: Then::NOW,
        })
    }

    /// The same conditions as of a time.
    pub(crate) fn at(self, then: Then) -> Self {
        Self { then, ..self }
    }

    /// The time as of which it reads.
    pub(crate) fn then(&self) -> Then {
        self.then
    }

    /// Whether few nodes may pass: it asks for more than namespace and time, the columns of a vector's own row. Excluded
    /// words leave most nodes.
    pub(crate) fn is_narrow(&self) -> bool {
        self.filter.is_narrow() || self.required.has_phrase()
    }

    /// Whether nearly all live nodes of the namespaces pass: all, but for excluded words.
    pub(crate) fn is_wide(&self) -> bool {
        !self.is_narrow() && !self.is_of_a_time() && !self.then.is_past()
    }

    /// Whether it leaves out live nodes of the namespaces.
    pub(crate) fn is_filtered(&self) -> bool {
        !self.is_wide() || self.required.bars()
    }

    /// Whether it is bounded in time.
    pub(crate) fn is_of_a_time(&self) -> bool {
        self.since.is_some() || self.until.is_some() || self.ranges.is_some()
    }

    pub(crate) fn required(&self) -> &Required {
        &self.required
    }

    /// The ids of each tag filter.
    pub(crate) fn tags(&self) -> &[Vec<i64>] {
        &self.tags
    }

    /// The condition on the namespace, for a row of the nodes or of a store of vectors. PostgreSQL tells the partition by
    /// one value, not by a list.
    pub(crate) fn of_namespaces(&self, row: &str) -> String {
        match self.only_namespace() {
            Some(_) => format!("{row}.namespace = :only_namespace"),
            None => format!("{row}.namespace = any (:namespaces)"),
        }
    }

    /// The conditions on namespace and time, for a row of the nodes or of a store of vectors.
    pub(crate) fn scope(&self, row: &str) -> String {
        let mut conditions = vec![self.of_namespaces(row)];
        conditions.extend(self.times(row));
        conditions.join(" and ")
    }

    /// All conditions on the node `m`.
    pub(crate) fn nodes(&self) -> String {
        format!("{} and {}", self.scope("m"), self.nodes_in_scope())
    }

    /// As [`nodes`](Self::nodes), but no index serves the namespace and the time.
    pub(crate) fn nodes_without_scope_index(&self) -> String {
        format!("{} and {}", unindexed(&self.scope("m")), self.nodes_in_scope())
    }

    /// The conditions on the node `m`, except those on its namespace and its time.
    pub(crate) fn nodes_in_scope(&self) -> String {
        let tags = (0..self.tags.len()).map(|at| {
            format!("m.id in (select nt.node_id from htm.node_tags nt where nt.tag_id = any (:tags_{at}))")
        });
        self.columns().into_iter().chain(tags).collect::<Vec<_>>().join(" and ")
    }

    /// The conditions on the node `m`, except those on its namespace and its tags.
    pub(crate) fn untagged(&self) -> String {
        [self.times("m"), self.columns()].concat().join(" and ")
    }

    /// The namespace, if there is one only.
    fn only_namespace(&self) -> Option<&str> {
        only(&self.namespaces)
    }

    fn times(&self, row: &str) -> Vec<String> {
        let ranges = format!(
            "(select range_agg(tstzrange(r.since, r.until))
                from unnest(:sinces::timestamptz[], :untils::timestamptz[]) r(since, until)) @> {row}.created_at"
        );
        asked([
            (self.since.is_some(), &format!("{row}.created_at >= :since")),
            (self.until.is_some(), &format!("{row}.created_at < :until")),
            (self.ranges.is_some(), &ranges),
        ])
    }

    /// Conditions on columns of the node `m`. Indexes serve robots (`nodes_robot_idx`), sessions (`nodes_session_idx`),
    /// metadata (`nodes_metadata_idx`) and phrases (`nodes_tsv_idx`). No index serves source, type and importance: they
    /// are checked on the nodes that the other conditions leave.
    fn columns(&self) -> Vec<String> {
        let Required { phrases, patterns, barred, barred_patterns } = &self.required;
        // Each field is named, so that a new one is decided on.
        let Filter {
            namespaces: _,
            timeframe: _,
            tags: _,
            any_tag: _,
            robots,
            session,
            sources,
            kinds,
            min_importance,
            metadata,
        } = &self.filter;
        asked([
            (true, "m.deleted_at is null"),
            (!robots.is_empty(), "m.robot_id = any (:robots)"),
            (session.is_some(), "md5(m.session) = md5(:session) and m.session = :session"),
            (!sources.is_empty(), "m.source = any (:sources)"),
            (!kinds.is_empty(), "m.type = any (:kinds)"),
            (min_importance.is_some(), "m.importance >= :importance"),
            (!metadata.is_empty(), "m.metadata @> :metadata and m.metadata <> '{}'"),
            (phrases.is_some(), "m.tsv @@ :phrases::tsquery"),
            (
                !patterns.is_empty(),
                "not exists (select from unnest(:patterns::text[]) p where htm.folded(m.content) !~* p)",
            ),
            (!barred.is_empty(), "not m.tsv @@ any (:barred::tsquery[])"),
            (!barred_patterns.is_empty(), "not htm.folded(m.content) ~* any (:barred_patterns::text[])"),
        ])
    }

    /// Binds the parameters of the conditions.
    pub(crate) fn bind(&self, statement: Named) -> Result<Named> {
        let Required { phrases, patterns, barred, barred_patterns } = &self.required;
        let (sinces, untils) = self.ranges.clone().unwrap_or_default();
        let mut statement = statement
            .bind("namespaces", &self.namespaces)?
            .bind("only_namespace", self.only_namespace())?
            .bind("since", self.since)?
            .bind("until", self.until)?
            .bind("sinces", sinces)?
            .bind("untils", untils)?
            .bind("robots", &self.robots)?
            .bind("session", &self.filter.session)?
            .bind("sources", &self.filter.sources)?
            .bind("kinds", &self.filter.kinds)?
            .bind("importance", self.filter.min_importance)?
            .bind("metadata", Json(&self.filter.metadata))?
            .bind("phrases", phrases)?
            .bind("patterns", patterns)?
            .bind("barred", barred)?
            .bind("barred_patterns", barred_patterns)?;
        for (at, tags) in self.tags.iter().enumerate() {
            statement = statement.bind(&format!("tags_{at}"), tags)?;
        }
        self.then.bind(statement)
    }

    /// The given nodes that pass.
    ///
    /// # Errors
    /// A database error.
    pub(crate) async fn passing(&self, pool: &dyn Connections, nodes: &[NodeId]) -> Result<HashSet<NodeId>> {
        let conditions = self.nodes();
        let sql = format!("select m.id from htm.nodes m where m.id = any (:nodes) and {conditions}");
        let nodes: Vec<i64> = nodes.iter().map(|node| node.0).collect();
        let statement = self.bind(Named::new(&sql).bind("nodes", nodes)?)?;
        let rows: Vec<(NodeId,)> = statement.fetch_all(&mut *pool.acquire().await?).await?;
        Ok(rows.into_iter().map(|(node,)| node).collect())
    }
}

/// The namespace, if there is one only.
pub(crate) fn only<T: AsRef<str>>(namespaces: &[T]) -> Option<&str> {
    match namespaces {
        [namespace] => Some(namespace.as_ref()),
        _ => None,
    }
}

/// A condition that no index serves.
pub(crate) fn unindexed(condition: &str) -> String {
    format!("({condition}) is true")
}

/// The conditions that apply.
fn asked<const N: usize>(conditions: [(bool, &str); N]) -> Vec<String> {
    conditions.into_iter().filter(|(is_asked, _)| *is_asked).map(|(_, text)| text.to_owned()).collect()
}

/// The ids of the tags that each filter matches; an unknown tag has none.
pub(crate) async fn tags(
    connection: &mut PgConnection,
    rules: &TagRules,
    namespaces: &[&str],
    filters: &[TagFilter],
) -> Result<Vec<Vec<i64>>> {
    let mut tags = vec![Vec::new(); filters.len()];
    for (namespaces, filters) in tags_in_use::filters(connection, rules, namespaces, filters).await? {
        for (ord, id) in tags_of(connection, &namespaces, &filters).await? {
            tags[ord as usize - 1].push(id);
        }
    }
    Ok(tags)
}

/// The ids of the tags of some names, each with the place of its filter, from 1.
async fn tags_of(
    connection: &mut PgConnection,
    namespaces: &[&str],
    filters: &[TagFilter],
) -> Result<Vec<(i64, i64)>> {
    let (paths, prefixes) = paths_and_prefixes(filters);
    Named::new(&tags_named(":namespaces", ":paths", ":prefixes"))
        .bind("namespaces", namespaces)?
        .bind("paths", paths)?
        .bind("prefixes", prefixes)?
        .fetch_all(connection)
        .await
}

async fn robots(connection: &mut PgConnection, namespaces: &[&str], names: &[String]) -> Result<Vec<i64>> {
    let rows: Vec<(i64,)> =
        Named::new("select id from htm.robots where namespace = any (:namespaces) and name = any (:names)")
            .bind("namespaces", namespaces)?
            .bind("names", names)?
            .fetch_all(connection)
            .await?;
    Ok(rows.into_iter().map(|(id,)| id).collect())
}

/// The paths of the tags, and whether each is a prefix; no paths if there are no tags.
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

/// The ids of several conditions in one list, each with the index of its condition, from 0.
pub(crate) fn placed(tags: &[Vec<i64>]) -> (Vec<i64>, Vec<i32>) {
    tags.iter().zip(0..).flat_map(|(ids, place)| ids.iter().map(move |id| (*id, place))).unzip()
}

/// The subquery of the tags that a list of names matches in some namespaces.
pub(crate) fn tags_named(namespaces: &str, paths: &str, prefixes: &str) -> String {
    include_str!("sql/tags_named.sql")
        .replace("{{namespaces}}", namespaces)
        .replace("{{paths}}", paths)
        .replace("{{prefixes}}", prefixes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The conditions of a filter without names to look up.
    fn conditions(filter: Filter) -> Conditions {
        Conditions {
            filter,
            namespaces: vec!["atlas".into()],
            since: None,
            until: None,
            ranges: None,
            tags: Vec::new(),
            robots: Vec::new(),
            required: Required::default(),
            then: Then::NOW,
        }
    }

    #[test]
    fn excluded_words_filter_a_wide_search() {
        let all = || conditions(Filter::default());
        let now = Utc::now();
        let required = |required| Conditions { required, ..all() };
        let word = || vec!["'tea'".to_owned()];
        for (conditions, expected) in [
            (all(), [false, true, false]),
            (required(Required { barred: word(), ..Required::default() }), [false, true, true]),
            (required(Required { barred_patterns: word(), ..Required::default() }), [false, true, true]),
            (required(Required { patterns: word(), ..Required::default() }), [true, false, true]),
            (
                required(Required { phrases: Some("'tea'".into()), ..Required::default() }),
                [true, false, true],
            ),
            (conditions(Filter::default().kind("fact")), [true, false, true]),
            (Conditions { since: Some(now), ..all() }, [false, false, true]),
            (Conditions { until: Some(now), ..all() }, [false, false, true]),
            (all().at(Then::of(Some(now))), [false, false, true]),
        ] {
            let found = [conditions.is_narrow(), conditions.is_wide(), conditions.is_filtered()];
            assert_eq!(found, expected, "{conditions:?}");
        }
    }
}
