//! Existing and unknown namespaces. A namespace is created by its first memory.

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
            Some(after) if self.is_listed(query, after).await? => after.clone(),
            Some(after) => last_below(after),
        };
        let from = query.fixed_prefix().unwrap_or_default();
        let until = query.fixed_prefix().map(last_below);
        let mut listed: Vec<String> = Vec::new();
        loop {
            let page = self.namespace_page(from, &cursor, until.as_deref()).await?;
            for namespace in page.iter().filter(|it| query.matches(it)) {
                let cut = query.cut(namespace);
                let is_new = cut == namespace
                    || listed.last().is_none_or(|last| last != cut) && !self.is_listed(query, cut).await?;
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

    /// Whether a namespace exists by itself and matches.
    async fn is_listed(&self, query: &NamespaceQuery, namespace: &str) -> Result<bool> {
        let of_handle = self.namespaces().is_none_or(|seen| is_within(namespace, seen));
        Ok(of_handle
            && query.matches(namespace)
            && !namespaces::living(self.pool(), &[namespace.to_owned()]).await?.is_empty())
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
