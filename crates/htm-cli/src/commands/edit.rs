//! `htm edit`.

use std::process::ExitCode;

use chrono::Utc;
use htm_core::{Edit, Edited, FieldChange, Htm, NodeId, TagRules, TimeSettings, read_expiry};
use htm_runtime::config::Config;
use serde_json::{Map, Value};

use crate::args::{EditArgs, parse_tags};
use crate::codes;
use crate::commands::node::key_not_found;
use crate::commands::remember::text_or_input;
use crate::commands::runtime::with_htm;
use crate::error::CliError;
use crate::output::{Output, count};

pub(crate) async fn run(config: &Config, mut args: EditArgs, output: &Output) -> Result<ExitCode, CliError> {
    let id = match &args.key {
        None => Some(parse_id(args.words.remove(0))?),
        Some(_) if args.words.len() > 1 => {
            return Err(usage("--key already names the node", "give either an id or --key"));
        }
        Some(_) => None,
    };
    let (key, namespace) = (args.key.take(), args.caller.namespace.clone());
    let edit = edit(args, &config.time.settings(), &config.tag.rules())?;
    if edit
        == (Edit { caller: edit.caller.clone(), expected_revision: edit.expected_revision, ..Edit::new() })
    {
        return Err(usage("no change was given", "give a new text or a field to change: `htm edit --help`"));
    }
    if let Some(tag) = edit.add_tags.iter().find(|tag| edit.remove_tags.contains(tag)) {
        return Err(usage(
            &format!("the tag `{tag}` is to be added and removed"),
            "give it once: `--tag` or `--untag`",
        ));
    }
    // Invalid input is rejected before a server is started for it.
    edit.validate()?;
    let edited = with_htm(config, async |htm| match id {
        Some(id) => htm.edit(id, &edit).await.map(Some),
        None => update_by_key(htm, namespace.as_deref(), key.as_deref().unwrap_or_default(), &edit).await,
    });
    let edited = edited.await?.ok_or_else(|| key_not_found(key))?;
    output.value(&edited, || describe(&edited));
    Ok(ExitCode::SUCCESS)
}

async fn update_by_key(
    htm: &Htm,
    namespace: Option<&str>,
    key: &str,
    edit: &Edit,
) -> htm_core::Result<Option<Edited>> {
    match htm.get_by_key(namespace, key).await? {
        Some(node) => htm.edit(node.id, edit).await.map(Some),
        None => Ok(None),
    }
}

fn edit(args: EditArgs, time: &TimeSettings, rules: &TagRules) -> Result<Edit, CliError> {
    let text = args.words.into_iter().next().map(text_or_input).transpose()?;
    // An empty value clears the field.
    let change = |value: Option<String>| match value {
        None => FieldChange::Keep,
        Some(value) if value.is_empty() => FieldChange::Clear,
        Some(value) => FieldChange::Set(value),
    };
    Ok(Edit {
        content: text,
        importance: args.importance,
        key: change(args.new_key),
        source: change(args.source),
        kind: change(args.kind),
        metadata: args.metadata.as_deref().map(parse_object).transpose()?.unwrap_or_default(),
        add_tags: parse_tags(rules, &args.tags)?,
        remove_tags: parse_tags(rules, &args.untags)?,
        expires: match change(args.expires) {
            FieldChange::Keep => FieldChange::Keep,
            FieldChange::Clear => FieldChange::Clear,
            FieldChange::Set(expires) => FieldChange::Set(read_expiry(&expires, Utc::now(), time)?),
        },
        expected_revision: args.expect,
        caller: args.caller.into(),
    })
}

fn parse_id(word: String) -> Result<NodeId, CliError> {
    word.parse()
        .map_err(|_| usage(&format!("`{word}` is not a node's id"), "give its number, or name it by --key"))
}

pub(crate) fn parse_object(text: &str) -> Result<Map<String, Value>, CliError> {
    let found = match serde_json::from_str(text) {
        Ok(Value::Object(object)) => return Ok(object),
        Err(error) => {
            return Err(usage(&format!("the metadata is not JSON: {error}"), "write it as {\"ticket\": 7}"));
        }
        Ok(Value::Array(_)) => "an array",
        Ok(Value::String(_)) => "a string",
        Ok(Value::Number(_)) => "a number",
        Ok(Value::Bool(_)) => "a boolean",
        Ok(Value::Null) => "null",
    };
    let message = format!("metadata must be a JSON object, not {found}");
    Err(CliError::new(codes::METADATA_NOT_OBJECT, message))
}

pub(crate) fn usage(what: &str, hint: &str) -> CliError {
    CliError::new(codes::USAGE, what).with_hint(hint)
}

fn describe(edited: &Edited) -> String {
    if edited.changed.is_empty() {
        return format!("node {} is unchanged", edited.node);
    }
    let mut text =
        format!("node {}, revision {}: changed {}", edited.node, edited.revision, edited.changed.join(", "));
    if edited.jobs > 0 || edited.superseded > 0 {
        text.push_str(&format!("; {} enqueued, {} superseded", count(edited.jobs, "job"), edited.superseded));
    }
    text
}
