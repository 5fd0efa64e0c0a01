//! The lists of tools: short, stable, exact.

use std::collections::BTreeSet;

use htm_core::TokenEncoding;
use serde_json::Value;

use super::recall::RECALL;
use super::*;

fn listed(set: ToolSet) -> Vec<Tool> {
    of(&McpOptions { tools: set, has_one_client: true, ..McpOptions::default() }, true)
        .iter()
        .map(|tool| tool.described(Role::Admin))
        .collect()
}

fn names(set: ToolSet) -> Vec<String> {
    listed(set).iter().map(|tool| tool.name.to_string()).collect()
}

fn tokens(set: ToolSet) -> usize {
    TokenEncoding::O200kBase.count(&serde_json::to_string(&listed(set)).unwrap())
}

#[test]
fn the_default_list_costs_at_most_1500_tokens() {
    for set in [ToolSet::Default, ToolSet::Ops, ToolSet::All, ToolSet::Chatgpt] {
        println!("--tools {set}: {} tools, {} tokens", listed(set).len(), tokens(set));
    }
    assert!(tokens(ToolSet::Default) <= 1_500, "{} tokens", tokens(ToolSet::Default));
}

#[test]
fn what_changes_the_session_is_offered() {
    let tools = names(ToolSet::All);
    let changing: Vec<_> = tools.iter().filter(|tool| changes_session(tool)).collect();
    assert_eq!(changing, ["set_robot", "create_group", "join_group", "leave_group", "shutdown_group"]);
}

#[test]
fn each_set_offers_its_tools_in_a_stable_order() {
    let default =
        ["remember", "recall", "context", "forget", "restore", "timeline", "tags", "stats", "feedback"];
    assert_eq!(names(ToolSet::Default), default);
    assert_eq!(names(ToolSet::Chatgpt), ["search", "fetch"]);
    for set in [ToolSet::Ops, ToolSet::All] {
        assert_eq!(names(set)[..9], default);
    }
    let all = names(ToolSet::All);
    for name in names(ToolSet::Ops).iter().map(String::as_str).chain([
        "set_robot",
        "get_robot",
        "get_working_memory",
        "list_tags",
        "search_tags",
        "find_by_topic",
        "list_groups",
        "create_group",
        "join_group",
        "leave_group",
    ]) {
        assert!(all.iter().any(|it| it == name), "{name}");
    }
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "a name is there twice");
}

#[test]
fn only_a_server_of_one_client_sets_its_robot() {
    let shared = McpOptions { tools: ToolSet::All, ..McpOptions::default() };
    let shared: Vec<&str> = of(&shared, true).iter().map(|tool| tool.name).collect();
    assert!(!shared.contains(&"set_robot") && shared.contains(&"get_working_memory"));
}

#[test]
fn a_role_is_offered_what_it_may_do() {
    let offered = |role, sees_all| {
        let options = McpOptions { tools: ToolSet::Ops, role, ..McpOptions::default() };
        of(&options, sees_all).iter().map(|tool| tool.name).collect::<Vec<_>>()
    };
    assert_eq!(offered(Role::Reader, true), ["recall", "context", "timeline", "tags", "stats"]);
    let writer = offered(Role::Writer, true);
    assert!(writer.contains(&"forget") && !writer.contains(&"list_jobs"), "{writer:?}");
    assert!(offered(Role::Admin, true).contains(&"retry_jobs"));
    // What is of all namespaces would fail.
    let of_tenant = offered(Role::Admin, false);
    assert_eq!(of_tenant[9..], ["node_status"]);
}

#[test]
fn a_recall_that_changes_a_working_memory_does_not_say_that_it_only_reads() {
    let hint = |role| RECALL.described(role).annotations.unwrap().read_only_hint;
    assert_eq!((hint(Role::Reader), hint(Role::Writer), hint(Role::Admin)), (Some(true), None, None));
}

#[test]
fn every_schema_is_closed_and_every_tool_says_what_it_does() {
    for tool in listed(ToolSet::All).into_iter().chain(listed(ToolSet::Chatgpt)) {
        let schema = Value::Object((*tool.input_schema).clone());
        assert_eq!((&schema["type"], &schema["additionalProperties"]), (&"object".into(), &false.into()));
        assert!(tool.description.is_some_and(|it| it.len() > 20 && it.ends_with('.')), "{}", tool.name);
        let hints = tool.annotations.unwrap();
        assert_eq!(hints.open_world_hint, Some(false));
        assert!(hints.read_only_hint.is_some() || hints.destructive_hint.is_some(), "{}", tool.name);
        assert!(!tool.name.is_empty() && tool.name.len() <= 64);
    }
    let forget = listed(ToolSet::Default).into_iter().find(|tool| tool.name == "forget").unwrap();
    assert!(forget.annotations.unwrap().is_destructive());
}
