//! What of the nodes a query is about, as conditions of a statement.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use sqlx::PgConnection;
use sqlx::types::Json;

use super::named::Named;
use crate::model::error::Result;
use crate::model::recall::{RecallQuery, TagFilter};
use crate::model::timeframe::Timeframe;

/// Namespaces, a timeframe, and what else nodes must have.
#[derive(Debug)]
pub(crate) struct Filter {
    namespaces: Vec<String>,
    since: Option<DateTime<Utc>>,
    until: Option<DateTime<Utc>>,
    /// The starts and the ends of several ranges; none: there is one.
    ranges: Option<(Times, Times)>,
    /// The ids that each tag means; a node needs one of each.
    tags: Vec<Vec<i64>>,
    robots: Option<Vec<i64>>,
    session: Option<String>,
    metadata: Option<Map<String, Value>>,
    required: Required,
}

/// Null is an open side.
type Times = Vec<Option<DateTime<Utc>>>;

/// What a query asks for by signs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Required {
    /// The phrases, as one `tsquery`; none that full text can look for.
    pub(crate) phrases: Option<String>,
    /// What has to be there as written.
    pub(crate) patterns: Vec<String>,
    /// What may not be there, each as a `tsquery`.
    pub(crate) barred: Vec<String>,
    /// What may not be there as written.
    pub(crate) barred_patterns: Vec<String>,
}

impl Required {
    pub(crate) fn has_phrase(&self) -> bool {
        self.phrases.is_some() || !self.patterns.is_empty()
    }
}

impl Filter {
    /// The query's filter; what its names mean is looked up.
    ///
    /// # Errors
    /// A database error.
    pub(crate) async fn of(
        connection: &mut PgConnection,
        query: &RecallQuery,
        namespaces: &[&str],
        timeframe: &Timeframe,
        required: Required,
    ) -> Result<Self> {
        let ranges = timeframe.ranges();
        let robots = match query.robots.is_empty() {
            true => None,
            false => Some(robots(connection, namespaces, &query.robots).await?),
        };
        let mut tags = tags(connection, namespaces, &query.tags).await?;
        if query.any_tag && !tags.is_empty() {
            tags = vec![tags.concat()];
        }
        Ok(Self {
            namespaces: namespaces.iter().map(|&namespace| namespace.to_owned()).collect(),
            since: timeframe.from(),
            until: timeframe.until(),
            ranges: (ranges.len() > 1)
                .then(|| ranges.iter().map(|range| (range.from(), range.until())).unzip()),
            tags,
            robots,
            session: query.session.clone(),
            metadata: (!query.metadata.is_empty()).then(|| query.metadata.clone()),
            required,
        })
    }

    /// Whether it leaves out more than what a vector's own row tells: namespace and time.
    pub(crate) fn is_narrow(&self) -> bool {
        self.robots.is_some()
            || !self.tags.is_empty()
            || self.session.is_some()
            || self.metadata.is_some()
            || self.required.has_phrase()
    }

    /// Whether it is bounded in time.
    pub(crate) fn is_of_a_time(&self) -> bool {
        self.since.is_some() || self.until.is_some()
    }

    pub(crate) fn required(&self) -> &Required {
        &self.required
    }

    /// Conditions on a row with a namespace and a time, of the nodes or of a store of vectors.
    pub(crate) fn scope(&self, row: &str) -> String {
        let mut conditions = vec![format!("{row}.namespace = any (:namespaces)")];
        if self.since.is_some() {
            conditions.push(format!("{row}.created_at >= :since"));
        }
        if self.until.is_some() {
            conditions.push(format!("{row}.created_at < :until"));
        }
        if self.ranges.is_some() {
            conditions.push(format!(
                "(select range_agg(tstzrange(r.since, r.until))
                    from unnest(:sinces::timestamptz[], :untils::timestamptz[]) r(since, until)) @> {row}.created_at"
            ));
        }
        conditions.join(" and ")
    }

    /// All conditions on the node `m`.
    pub(crate) fn nodes(&self) -> String {
        format!("{} and {}", self.scope("m"), self.nodes_in_scope())
    }

    /// The conditions on the node `m` that are not about its namespace and its time.
    pub(crate) fn nodes_in_scope(&self) -> String {
        let Required { phrases, patterns, barred, barred_patterns } = &self.required;
        let tags = (0..self.tags.len()).map(|at| {
            format!("m.id in (select nt.node_id from htm.node_tags nt where nt.tag_id = any (:tags_{at}))")
        });
        let mut conditions = vec!["m.deleted_at is null".to_owned()];
        conditions.extend(tags);
        let others = [
            (self.robots.is_some(), "m.robot_id = any (:robots)"),
            (self.session.is_some(), "md5(m.session) = md5(:session) and m.session = :session"),
            (self.metadata.is_some(), "m.metadata @> :metadata and m.metadata <> '{}'"),
            (phrases.is_some(), "m.tsv @@ :phrases::tsquery"),
            (
                !patterns.is_empty(),
                "not exists (select from unnest(:patterns::text[]) p where m.content !~* p)",
            ),
            (!barred.is_empty(), "not m.tsv @@ any (:barred::tsquery[])"),
            (!barred_patterns.is_empty(), "not m.content ~* any (:barred_patterns::text[])"),
        ];
        conditions
            .extend(others.into_iter().filter(|(is_asked, _)| *is_asked).map(|(_, text)| text.to_owned()));
        conditions.join(" and ")
    }

    /// Binds what the conditions mention.
    pub(crate) fn bind(&self, statement: Named) -> Result<Named> {
        let Required { phrases, patterns, barred, barred_patterns } = &self.required;
        let (sinces, untils) = self.ranges.clone().unwrap_or_default();
        let mut statement = statement
            .bind("namespaces", &self.namespaces)?
            .bind("since", self.since)?
            .bind("until", self.until)?
            .bind("sinces", sinces)?
            .bind("untils", untils)?
            .bind("robots", &self.robots)?
            .bind("session", &self.session)?
            .bind("metadata", self.metadata.as_ref().map(Json))?
            .bind("phrases", phrases)?
            .bind("patterns", patterns)?
            .bind("barred", barred)?
            .bind("barred_patterns", barred_patterns)?;
        for (at, tags) in self.tags.iter().enumerate() {
            statement = statement.bind(&format!("tags_{at}"), tags)?;
        }
        Ok(statement)
    }
}

/// The ids of the tags that each filter means; those of an unknown one are none.
pub(crate) async fn tags(
    connection: &mut PgConnection,
    namespaces: &[&str],
    filters: &[TagFilter],
) -> Result<Vec<Vec<i64>>> {
    let (Some(paths), prefixes) = paths_and_prefixes(filters) else { return Ok(Vec::new()) };
    let rows: Vec<(i64, i64)> = Named::new(&tags_named(":namespaces", ":paths", ":prefixes"))
        .bind("namespaces", namespaces)?
        .bind("paths", paths)?
        .bind("prefixes", prefixes)?
        .fetch_all(connection)
        .await?;
    let mut tags = vec![Vec::new(); filters.len()];
    for (ord, id) in rows {
        tags[ord as usize - 1].push(id);
    }
    Ok(tags)
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
    include_str!("sql/tags_named.sql")
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
