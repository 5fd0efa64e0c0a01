//! The resolution of filters.

use crate::api::htm::Htm;
use crate::model::error::Result;
use crate::model::filter::{Filter, TagFilter};
use crate::store::filter::{Conditions, Required};
use crate::store::tags;

impl Htm {
    /// The conditions of a filter, as of now.
    ///
    /// # Errors
    /// The errors of [`Filter::validate`], `namespace_forbidden`, the errors of
    /// [`TimeExpression::resolve`](crate::TimeExpression::resolve), or a database error.
    pub(crate) async fn conditions(&self, filter: &Filter) -> Result<Conditions> {
        filter.validate()?;
        let namespaces = self.namespaces_or_own(&filter.namespaces)?;
        let filter = self.filter_in_use(&namespaces, filter).await?;
        let timeframe = self.apply_time(&filter.timeframe, "").await?.timeframe;
        let mut connection = self.pool().acquire().await?;
        Conditions::of(&mut connection, &filter, &namespaces, &timeframe, Required::default()).await
    }

    /// A filter with the names of its tags that the namespaces use.
    pub(crate) async fn filter_in_use(&self, namespaces: &[&str], filter: &Filter) -> Result<Filter> {
        let tags = self.tags_in_use(namespaces, &filter.tags).await?;
        Ok(Filter { tags, ..filter.clone() })
    }

    /// The tags by the names that the namespaces use: a plural is replaced by its singular if only that is a name.
    pub(crate) async fn tags_in_use(
        &self,
        namespaces: &[&str],
        tags: &[TagFilter],
    ) -> Result<Vec<TagFilter>> {
        let mut in_use = tags.to_vec();
        for tag in &mut in_use {
            let (TagFilter::Exact(path) | TagFilter::Prefix(path)) = tag;
            let asked: Vec<(&str, &str)> = namespaces.iter().map(|it| (*it, path.as_str())).collect();
            let called = tags::as_in_use(self.pool(), self.tag_rules(), &asked).await?;
            if let Some(one) = called.iter().find(|called| *called != path.as_str()) {
                *path = one.parse()?;
            }
        }
        Ok(in_use)
    }
}
