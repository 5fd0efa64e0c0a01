//! Names of tags as namespaces use them: a plural means the singular where only that is a name.

use std::collections::{BTreeMap, HashSet};

use sqlx::PgConnection;

use crate::model::error::Result;
use crate::model::filter::TagFilter;
use crate::model::tags::TagRules;
use crate::store::connections::Db;
use crate::store::named::sql;

/// The names of tags, given by namespace and path, with the singular of a plural if that is the name in use. Runs a
/// statement only if one of them may be a plural.
pub(crate) async fn names(
    db: impl Into<Db<'_>>,
    rules: &TagRules,
    tags: &[(&str, &str)],
) -> Result<Vec<String>> {
    let names: Vec<(&str, String)> = tags
        .iter()
        .flat_map(|(namespace, path)| {
            rules.names_in_question(path).into_iter().map(move |name| (*namespace, name))
        })
        .collect();
    if names.is_empty() {
        return Ok(tags.iter().map(|(_, path)| (*path).to_owned()).collect());
    }
    let there: HashSet<(String, String)> = sql!(
        "select n.namespace, n.path from unnest(:namespaces::text[], :names::text[]) n(namespace, path)
          where exists (select from htm.tags t where t.namespace = n.namespace and t.path = n.path)
             or exists (select from htm.tag_synonyms s where s.namespace = n.namespace and s.path = n.path)"
    )
    .bind("namespaces", names.iter().map(|name| name.0).collect::<Vec<_>>())?
    .bind("names", names.iter().map(|name| name.1.as_str()).collect::<Vec<_>>())?
    .fetch_all(db)
    .await?
    .into_iter()
    .collect();
    let called = |(namespace, path): &(&str, &str)| {
        rules.as_in_use(path, |name| there.contains(&((*namespace).to_owned(), name.to_owned())))
    };
    Ok(tags.iter().map(called).collect())
}

/// The filters by the names that the namespaces use: a plural is replaced by its singular where only that is a name.
/// Namespaces that use the same names are together.
pub(crate) async fn filters<'a>(
    connection: &mut PgConnection,
    rules: &TagRules,
    namespaces: &[&'a str],
    filters: &[TagFilter],
) -> Result<Vec<(Vec<&'a str>, Vec<TagFilter>)>> {
    if filters.is_empty() {
        return Ok(Vec::new());
    }
    let asked: Vec<(&str, &str)> = namespaces
        .iter()
        .flat_map(|namespace| filters.iter().map(move |filter| (*namespace, filter.tag().as_str())))
        .collect();
    let called = names(connection, rules, &asked).await?;
    let mut alike: BTreeMap<&[String], Vec<&str>> = BTreeMap::new();
    for (namespace, called) in namespaces.iter().zip(called.chunks(filters.len())) {
        alike.entry(called).or_default().push(namespace);
    }
    let named = |(called, namespaces): (&[String], Vec<&'a str>)| {
        let filters = filters.iter().zip(called).map(|(filter, called)| {
            let path = called.parse()?;
            Ok(match filter {
                TagFilter::Exact(_) => TagFilter::Exact(path),
                TagFilter::Prefix(_) => TagFilter::Prefix(path),
            })
        });
        Ok((namespaces, filters.collect::<Result<_>>()?))
    };
    alike.into_iter().map(named).collect()
}
