//! The lists of tools: short, stable, exact.

use std::collections::BTreeSet;

use htm_core::TokenEncoding;
use serde_json::Value;

use super::*;

fn listed(set: ToolSet) -> Vec<Tool> {
    of(&McpOptions { tools: set, has_one_client: true, ..McpOptions::default() })
        .iter()
        .map(|tool| tool.described())
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
    let shared: Vec<&str> = of(&shared).iter().map(|tool| tool.name).collect();
    assert!(!shared.contains(&"set_robot") && shared.contains(&"get_working_memory"));
}

#[test]
fn a_role_is_offered_what_it_may_do() {
    let offered = |role| {
        let options = McpOptions { tools: ToolSet::Ops, role, ..McpOptions::default() };
        of(&options).iter().map(|tool| tool.name).collect::<Vec<_>>()
    };
    assert_eq!(offered(Role::Reader), ["recall", "context", "timeline", "tags", "stats"]);
    let writer = offered(Role::Writer);
    assert!(writer.contains(&"forget") && !writer.contains(&"list_jobs"), "{writer:?}");
    assert!(offered(Role::Admin).contains(&"retry_jobs"));
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
