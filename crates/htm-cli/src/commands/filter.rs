//! The filter of a command's options.

use htm_core::error::codes::TIMEFRAME_INVALID;
use htm_core::{Filter, TagFilter};
use htm_runtime::config::Config;

use super::edit::parse_object;
use crate::args::{FilterArgs, WhichArgs, parse_tags};
use crate::error::CliError;

pub(crate) fn filter(config: &Config, args: FilterArgs) -> Result<Filter, CliError> {
    Ok(Filter { namespaces: args.namespaces, ..within_namespace(config, args.which)? })
}

/// The filter of a command that names its namespace elsewhere.
pub(crate) fn within_namespace(config: &Config, args: WhichArgs) -> Result<Filter, CliError> {
    // As an expression, it is all times: hardly what the shell's unset variable was to say.
    if args.timeframe.as_deref().is_some_and(|text| text.trim().is_empty()) {
        return Err(CliError::new(TIMEFRAME_INVALID, "the timeframe is empty"));
    }
    let mut tags = tag_prefixes(config, &args.tags)?;
    tags.extend(parse_tags(&config.tag.rules(), &args.exact_tags)?.into_iter().map(TagFilter::Exact));
    Ok(Filter {
        namespaces: Vec::new(),
        timeframe: args.timeframe.as_deref().map(str::parse).transpose()?.unwrap_or_default(),
        tags,
        any_tag: args.any_tag,
        robots: args.robots,
        session: args.session,
        sources: args.sources,
        kinds: args.kinds,
        min_importance: args.min_importance,
        metadata: args.metadata.as_deref().map(parse_object).transpose()?.unwrap_or_default(),
    })
}

/// Tags of the command line, each with those below it.
pub(crate) fn tag_prefixes(config: &Config, tags: &[String]) -> Result<Vec<TagFilter>, CliError> {
    Ok(parse_tags(&config.tag.rules(), tags)?.into_iter().map(TagFilter::Prefix).collect())
}
