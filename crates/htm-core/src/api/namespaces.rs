//! Existing and unknown namespaces. A namespace is created by its first memory.

use std::collections::HashSet;

use crate::api::htm::Htm;
use crate::model::error::Result;
use crate::model::namespaces::{NamespaceQuery, UnknownNamespace};
use crate::model::wall::{above, is_within};
use crate::store::namespaces;

impl Htm {
    /// The namespaces with live memories that the handle sees, in order of their names' bytes.
    ///
    /// # Errors
    /// `limit_out_of_range`, `namespace_invalid`, or a database error.
    pub async fn list_namespaces(&self, query: &NamespaceQuery) -> Result<Vec<String>> {
        query.validate()?;
        let mut cursor = match &query.after {
            None => String::new(),
            // Either itself a namespace, or those below it, which follow one another.
            Some(after) if self.listed(query, vec![after.clone()]).await?.contains(after) => after.clone(),
            Some(after) => last_below(after),
        };
        let from = query.fixed_prefix().unwrap_or_default();
        let until = query.fixed_prefix().map(last_below);
        let mut listed: Vec<String> = Vec::new();
        loop {
            let page = self.namespace_page(from, &cursor, until.as_deref()).await?;
            let matching = || page.iter().filter(|it| query.matches(it));
            let mut cuts: Vec<String> =
                matching().filter(|it| query.cut(it) != *it).map(|it| query.cut(it).to_owned()).collect();
            cuts.dedup();
            let by_themselves = self.listed(query, cuts).await?;
            for namespace in matching() {
                let cut = query.cut(namespace);
                let is_new = cut == namespace
                    || listed.last().is_none_or(|last| last != cut) && !by_themselves.contains(cut);
                if is_new {
                    listed.push(cut.to_owned());
                }
                if listed.len() == query.limit {
                    return Ok(listed);
                }
            }
            match page.last() {
                Some(last) if page.len() == namespaces::PAGE => cursor.clone_from(last),
                _ => return Ok(listed),
            }
        }
    }

    /// The namespaces with as many tags as they may have ([`TagLimits::namespace`](crate::TagLimits)). New tags of taggers
    /// are left out there.
    ///
    /// # Errors
    /// `namespace_forbidden` on a restricted handle, or a database error.
    pub async fn full_namespaces(&self) -> Result<Vec<String>> {
        self.admit_all()?;
        namespaces::with_tags(self.pool(), self.tag_rules().limits.namespace).await
    }

    /// The given namespaces that exist by themselves and match.
    async fn listed(&self, query: &NamespaceQuery, mut given: Vec<String>) -> Result<HashSet<String>> {
        given.retain(|it| self.namespaces().is_none_or(|seen| is_within(it, seen)) && query.matches(it));
        if given.is_empty() {
            return Ok(HashSet::new());
        }
        Ok(namespaces::living(self.pool(), &given).await?.into_iter().collect())
    }

    async fn namespace_page(&self, from: &str, after: &str, until: Option<&str>) -> Result<Vec<String>> {
        let Some(seen) = self.namespaces() else {
            return namespaces::page(self.pool(), from, after, until).await;
        };
        let (below, named): (Vec<&String>, Vec<&String>) = seen.iter().partition(|it| above(it).is_some());
        let named: Vec<String> = named.into_iter().cloned().collect();
        let mut found = namespaces::living(self.pool(), &named).await?;
        found.retain(|it| {
            it.as_str() >= from && it.as_str() > after && until.is_none_or(|until| it.as_str() < until)
        });
        for above in below.into_iter().filter_map(|it| above(it)) {
            let end = last_below(above.trim_end_matches('/'));
            let until = until.map_or(end.as_str(), |until| until.min(&end));
            let page = namespaces::page(self.pool(), from.max(above), after, Some(until)).await?;
            found.extend(page.into_iter().filter(|it| is_within(it, seen)));
        }
        found.sort_unstable();
        found.dedup();
        found.truncate(namespaces::PAGE);
        Ok(found)
    }

    /// The given namespaces without any memory, forgotten ones included: a misspelled namespace looks like an empty
    /// memory.
    ///
    /// # Errors
    /// `namespace_invalid`, `namespace_forbidden`, or a database error.
    pub async fn unknown_namespaces(&self, namespaces: &[&str]) -> Result<Vec<UnknownNamespace>> {
        for namespace in namespaces {
            self.admit(namespace)?;
        }
        namespaces::unknown(self.pool(), namespaces, self.namespaces()).await
    }
}

/// A text that sorts after all namespaces below a namespace.
fn last_below(namespace: &str) -> String {
    format!("{namespace}/{}", char::MAX)
}
