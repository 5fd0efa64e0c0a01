//! The resolution of filters.

use crate::api::htm::Htm;
use crate::model::error::Result;
use crate::model::filter::Filter;
use crate::model::timeframe::Timeframe;
use crate::store::filter::{Conditions, Required, Scope};

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
