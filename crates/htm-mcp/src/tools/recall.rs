//! `recall`.

use chrono::{DateTime, Utc};
use htm_core::error::codes::CONTENT_EMPTY;
use htm_core::{Filter, RecallQuery, Role, Strategy, TagFilter, read_instant};

use super::{Answer, Effect, ToolSpec, Who, answer_hits};
use crate::McpServer;
use crate::arguments::{Argument, Arguments, Kind, MAX_TOKENS, NAMESPACE, ROBOT, argument};
use crate::error::ToolError;

/// The most hits of a call. More would not fit any budget.
pub(super) const LIMIT: Argument = argument("limit", Kind::Whole(1, 200, Some(10)));

pub(super) const TIMEFRAME: Argument = argument("timeframe", Kind::Text)
    .about("last week, 2026-03, 2026-03-01..2026-04-01; auto: the time named in the query");

pub(super) const AS_OF: Argument = argument("as_of", Kind::Text).about("As the memory stood at this time");

/// The time as of which a call reads.
pub(super) fn as_of(server: &McpServer, arguments: &Arguments) -> Result<Option<DateTime<Utc>>, ToolError> {
    let settings = &server.htm().settings().time;
    Ok(arguments.text("as_of").map(|time| read_instant(time, Utc::now(), settings)).transpose()?)
}

pub(super) const TAGS: Argument =
    argument("tags", Kind::Texts).about("All required; each includes those below it");

pub(super) const STRATEGY: Argument =
    argument("strategy", Kind::Choice(&["auto", "hybrid", "vector", "fulltext"]));

pub(super) const RECALL: ToolSpec = ToolSpec {
    name: "recall",
    about: "Search the memory by meaning and words. Call it before you answer or decide something that may have come up \
            before, and when the user refers to the past. Answers a line a memory: [id], time, who, why it was found, \
            text.",
    arguments: &[
        argument("query", Kind::Text)
            .required()
            .about("A question or words; \"phrase\", -without and prefix* work"),
        LIMIT,
        TIMEFRAME,
        TAGS,
        argument("by", Kind::Texts).about("Only of these robots"),
        argument("type", Kind::Text),
        argument("min_importance", Kind::Number(1, 10, None)),
        STRATEGY,
        AS_OF,
        MAX_TOKENS,
        NAMESPACE,
        ROBOT,
    ],
    effect: Effect::Recalls,
    call: |server, arguments| Box::pin(recall(server, arguments)),
};

async fn recall(server: McpServer, arguments: Arguments) -> Result<Answer, ToolError> {
    let who = Who::of(&server, &arguments);
    let query = query(&server, &arguments, &who.namespace)?;
    // Before the robot is opened, which registers a new one: a mistyped name is none.
    if query.is_blank() {
        return Err(ToolError::new(CONTENT_EMPTY, "the query is empty"));
    }
    if arguments.text("robot").is_some() {
        server.htm().find_robot(Some(&who.namespace), &who.robot).await?;
    }
    let recalled = match server.options().role < Role::Writer {
        true => server.htm().recall(&query).await?,
        false => {
            let robot = server.robot(&who).await?;
            let recalled = robot.recall(&query).await?.recalled;
            server.save(robot).await;
            recalled
        }
    };
    answer_hits(server.htm(), &recalled, &query, arguments.size("max_tokens")).await
}

/// The query of a call.
pub(super) fn query(
    server: &McpServer,
    arguments: &Arguments,
    namespace: &str,
) -> Result<RecallQuery, ToolError> {
    Ok(RecallQuery {
        filter: filter(server, arguments, namespace)?,
        strategy: strategy(server, arguments)?,
        as_of: as_of(server, arguments)?,
        ..RecallQuery::new(arguments.text("query").unwrap_or_default()).limit(arguments.size("limit"))
    })
}

/// The strategy of a call, otherwise that of the server.
pub(super) fn strategy(server: &McpServer, arguments: &Arguments) -> Result<Strategy, ToolError> {
    let named = arguments.text("strategy").map(str::parse).transpose()?;
    Ok(named.unwrap_or(server.options().strategy))
}

/// The filter of a call.
pub(super) fn filter(
    server: &McpServer,
    arguments: &Arguments,
    namespace: &str,
) -> Result<Filter, ToolError> {
    let tags = arguments.texts("tags");
    let tags = tags.iter().map(|tag| Ok(TagFilter::Prefix(server.htm().tag_rules().normalise(tag)?)));
    Ok(Filter {
        timeframe: arguments.text("timeframe").map(str::parse).transpose()?.unwrap_or_default(),
        tags: tags.collect::<Result<_, htm_core::Error>>()?,
        robots: arguments.texts("by"),
        kinds: arguments.owned("type").into_iter().collect(),
        min_importance: arguments.number("min_importance").map(|it| it as f32),
        ..Filter::default().namespace(namespace)
    })
}
