//! The filter of a request.

use htm_core::{Filter, TagFilter};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::app::App;
use crate::problem::Result;

/// The conditions on the memories of a request. A memory passes if it meets every condition.
#[derive(Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FilterBody {
    /// The namespaces. Default: the server's.
    pub(crate) namespaces: Vec<String>,
    /// The time: `last week`, `2026-03-01..2026-04-01`, `auto` (taken from the query). Default: any.
    pub(crate) timeframe: Option<String>,
    /// Required tags, each with the tags below it.
    pub(crate) tags: Vec<String>,
    /// Required tags, exactly these.
    pub(crate) exact_tags: Vec<String>,
    /// Whether any of the tags is enough.
    pub(crate) any_tag: bool,
    /// Only memories of any of these robots.
    pub(crate) robots: Vec<String>,
    /// Only memories of this conversation.
    pub(crate) session: Option<String>,
    /// Only memories from any of these sources.
    pub(crate) sources: Vec<String>,
    /// Only memories of any of these kinds: `fact`, `decision`, …
    pub(crate) types: Vec<String>,
    /// The least importance, 1 to 10.
    pub(crate) min_importance: Option<f32>,
    /// Required metadata: a memory's metadata contains these values under these names, at any depth.
    #[schema(value_type = Object)]
    pub(crate) metadata: Map<String, Value>,
}

impl FilterBody {
    /// The filter, with tags in their stored form.
    pub(crate) fn read(self, app: &App) -> Result<Filter> {
        let mut tags = prefixes(app, &self.tags)?;
        tags.extend(app.tags(&self.exact_tags)?.into_iter().map(TagFilter::Exact));
        Ok(Filter {
            namespaces: self.namespaces,
            timeframe: self.timeframe.as_deref().map(str::parse).transpose()?.unwrap_or_default(),
            tags,
            any_tag: self.any_tag,
            robots: self.robots,
            session: self.session,
            sources: self.sources,
            kinds: self.types,
            min_importance: self.min_importance,
            metadata: self.metadata,
        })
    }
}

/// Tags, each with those below it.
pub(crate) fn prefixes(app: &App, tags: &[String]) -> Result<Vec<TagFilter>> {
    Ok(app.tags(tags)?.into_iter().map(TagFilter::Prefix).collect())
}
