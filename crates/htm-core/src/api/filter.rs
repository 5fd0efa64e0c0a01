//! The resolution of filters.

use crate::api::htm::Htm;
use crate::model::error::Result;
use crate::model::filter::{Filter, NameKind, TagFilter, UnknownName};
use crate::model::timeframe::Timeframe;
use crate::store::filter::{Conditions, Required, Scope};
use crate::store::robots;

/// The most namespaces of a filter whose names are looked up, and the most robots and tags: each costs statements. A
/// program that gives more has read them from a list.
const MOST_LOOKED_UP: usize = 5;

impl Htm {
    /// The conditions of a filter, as of now.
    ///
    /// # Errors
    /// The errors of [`Filter::validate`], `namespace_forbidden`, the errors of
    /// [`TimeExpression::resolve`](crate::TimeExpression::resolve), or a database error.
    pub(crate) async fn conditions(&self, filter: &Filter) -> Result<Conditions> {
        filter.validate()?;
        let namespaces = self.namespaces_or_own(&filter.namespaces)?;
        let timeframe = self.apply_time(&filter.timeframe, "").await?.timeframe;
        let mut connection = self.pool().acquire().await?;
        Conditions::of(&mut connection, self.scope(filter, &namespaces, &timeframe), Required::default())
            .await
    }

    /// The names in a filter, and among preferred tags, that nothing has: without a word of them, a mistyped name finds
    /// nothing for no visible reason. One namespace that knows a robot or a tag is enough. The handle's own namespace, if
    /// the filter names none, is told only if there are others, because a new database is empty. Of a filter with more
    /// than 5 namespaces nothing is looked up, and no more than 5 robots and 5 tags.
    ///
    /// # Errors
    /// Those of the filter ([`Filter`]), `namespace_forbidden`, or a database error.
    pub async fn unknown_names(&self, filter: &Filter, preferred: &[TagFilter]) -> Result<Vec<UnknownName>> {
        self.reading(|htm| async move { Box::pin(htm.unknown_names_here(filter, preferred)).await }).await
    }

    async fn unknown_names_here(&self, filter: &Filter, preferred: &[TagFilter]) -> Result<Vec<UnknownName>> {
        filter.validate()?;
        let namespaces = self.namespaces_or_own(&filter.namespaces)?;
        let mut unknown = Vec::new();
        if namespaces.len() > MOST_LOOKED_UP {
            return Ok(unknown);
        }
        for it in self.unknown_namespaces(&namespaces).await? {
            if !filter.namespaces.is_empty() || !it.nearest.is_empty() {
                let kind = NameKind::Namespace;
                unknown.push(UnknownName { kind, name: it.namespace, nearest: it.nearest });
            }
        }
        for name in filter.robots.iter().take(MOST_LOOKED_UP) {
            if let Some(nearest) = self.nearest_if_unknown(&namespaces, name).await? {
                unknown.push(UnknownName { kind: NameKind::Robot, name: name.clone(), nearest });
            }
        }
        let mut tags = [&filter.tags[..], preferred].concat();
        tags.truncate(MOST_LOOKED_UP);
        let mut unmatched = Vec::new();
        for (place, &namespace) in namespaces.iter().enumerate() {
            let here = self.ontology(Some(namespace))?.unmatched(&tags).await?;
            match place {
                0 => unmatched = here,
                _ => unmatched.retain_mut(|tag| match here.iter().find(|it| it.tag == tag.tag) {
                    Some(same) => {
                        add_new(&mut tag.nearest, &same.nearest);
                        true
                    }
                    None => false,
                }),
            }
        }
        unknown.extend(unmatched.into_iter().map(|it| {
            let name = it.tag.as_str().to_owned();
            UnknownName { kind: NameKind::Tag, name, nearest: it.nearest }
        }));
        Ok(unknown)
    }

    /// The robots with similar names, if none of the namespaces has this one.
    async fn nearest_if_unknown(&self, namespaces: &[&str], name: &str) -> Result<Option<Vec<String>>> {
        let mut nearest: Vec<String> = Vec::new();
        for namespace in namespaces {
            if robots::get(self.pool(), namespace, name).await?.is_some() {
                return Ok(None);
            }
            add_new(&mut nearest, &robots::nearest(self.pool(), namespace, name).await?);
        }
        Ok(Some(nearest))
    }

    /// A filter with its resolved parts.
    pub(crate) fn scope<'a>(
        &'a self,
        filter: &'a Filter,
        namespaces: &'a [&'a str],
        timeframe: &'a Timeframe,
    ) -> Scope<'a> {
        Scope { filter, namespaces, timeframe, rules: self.tag_rules() }
    }
}

/// Adds the names that are not there yet.
fn add_new(names: &mut Vec<String>, others: &[String]) {
    for other in others {
        if !names.contains(other) {
            names.push(other.clone());
        }
    }
}
