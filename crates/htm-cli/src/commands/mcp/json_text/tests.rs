use proptest::prelude::*;
use serde_json::json;

use super::*;

fn entry() -> Entry<'static> {
    let fields = vec![("command", json!("htm")), ("args", json!(["mcp"]))];
    Entry { section: "mcpServers", name: "htm", fields }
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_new_file_has_the_entry_alone() {
    let text = with("", &entry()).unwrap();
    let expected = r#"{
  "mcpServers": {
    "htm": {
      "command": "htm",
      "args": [
        "mcp"
      ]
    }
  }
}
"#;
    assert_eq!(text, expected);
    assert_eq!(with("{}", &entry()).unwrap(), expected.trim_end());
    assert_eq!(with(&text, &entry()).unwrap(), text);
}

#[test]
fn order_spaces_and_comments_stay() {
    let before = r#"{
    // first things first
    "zeta" : [1,2,   3],
    "mcpServers": {
        "other": { "command": "x", "env": {"KEY": "s3cret"} } // mine
        // the end
    },
    /* trailing commas too */
    "alpha": {"a":1,},
}
"#;
    let after = with(before, &entry()).unwrap();
    let expected = before.replace("} } // mine", "} }, // mine").replace(
        "// the end\n",
        concat!(
            "// the end\n        \"htm\": {\n            \"command\": \"htm\",\n            \"args\": [\n",
            "                \"mcp\"\n            ]\n        }\n"
        ),
    );
    assert_eq!(after, expected);
    assert_eq!(with(&after, &entry()).unwrap(), after);
    assert_eq!(without(&after, &entry()).unwrap(), before);
}

#[test]
fn one_line_stays_one_line() {
    let after = with(r#"{"a": 1, "mcpServers": {"x": {}}}"#, &entry()).unwrap();
    assert_eq!(after, r#"{"a": 1, "mcpServers": {"x": {}, "htm": {"command":"htm","args":["mcp"]}}}"#);
    assert_eq!(without(&after, &entry()).unwrap(), r#"{"a": 1, "mcpServers": {"x": {}}}"#);
}

#[test]
fn the_line_ends_and_the_tabs_of_the_file_are_used() {
    let before = "\u{feff}{\r\n\t\"a\": 1\r\n}\r\n";
    let after = with(before, &entry()).unwrap();
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
    assert!(after.contains("\r\n\t\"mcpServers\": {\r\n\t\t\"htm\": {\r\n"), "{after}");
}

#[test]
fn other_fields_of_the_entry_stay() {
    let before =
        r#"{"mcpServers": {"htm": {"env": {"HTM_HOME": "/srv"}, "command": "/old/htm", "args": ["mcp"]}}}"#;
    let after = with(before, &entry()).unwrap();
    assert_eq!(after, before.replace("/old/htm", "htm"));
    assert_eq!(env(before, &entry()), ["HTM_HOME"]);
    let others = r#"{"mcpServers": {"other": {"env": {"A": "1"}}, "htm": {"args": {"env": {"B": 2}}}}}"#;
    for text in ["", "oops", r#"{"mcpServers": {"htm": {"env": 3}}}"#, others] {
        assert!(env(text, &entry()).is_empty(), "{text}");
    }
    let after = with(r#"{"mcpServers": {"htm": {"disabled": true}}}"#, &entry()).unwrap();
    assert_eq!(
        read(&after)["mcpServers"]["htm"],
        json!({"disabled": true, "command": "htm", "args": ["mcp"]})
    );
}

#[test]
fn a_removal_takes_its_comma() {
    for (before, after) in [
        (r#"{"mcpServers": {"htm": {}}}"#, r#"{"mcpServers": {}}"#),
        (r#"{"mcpServers": {"htm": {}, "b": 1}}"#, r#"{"mcpServers": { "b": 1}}"#),
        (r#"{"mcpServers": {"a": 1, "htm": {}, "b": 1}}"#, r#"{"mcpServers": {"a": 1, "b": 1}}"#),
        (
            "{\"mcpServers\": {\n  \"a\": 1, // a\n  \"htm\": {}\n}}",
            "{\"mcpServers\": {\n  \"a\": 1 // a\n}}",
        ),
        ("{\"mcpServers\": {\n  \"htm\": {},\n  \"a\": 1\n}}", "{\"mcpServers\": {\n  \"a\": 1\n}}"),
        (r#"{"a": 1}"#, r#"{"a": 1}"#),
        ("", ""),
    ] {
        assert_eq!(without(before, &entry()).unwrap(), after);
    }
}

#[test]
fn what_is_no_json_is_refused_without_a_quotation() {
    for (text, line) in [
        ("{\"a\": 1\n\"key\": \"s3cret\"}", 2),
        ("{\"a\": s3cret}", 1),
        ("{\n\n\"a\": \"s3cret\n}", 3),
        ("{\"a\": /* s3cret ", 1),
        ("{} s3cret", 1),
        ("{'a': 1}", 1),
        ("{\"a\": \"\\", 1),
        ("{\"a\": \"\\é", 1),
        ("[1]", 1),
        ("{\"mcpServers\": []}", 1),
        ("{\"mcpServers\": {\"htm\": 1}}", 1),
    ] {
        let refused = with(text, &entry()).unwrap_err();
        assert_eq!(
            (refused.line, refused.reason.contains("s3cret")),
            (Some(line), false),
            "{text}: {refused:?}"
        );
    }
    assert!(with(&"[".repeat(10_000), &entry()).unwrap_err().reason.contains("nested"));
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    let name = prop_oneof!["[a-c]", "\\PC{0,4}", Just("mcpServers".to_owned()), Just("htm".to_owned())];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..4).prop_map(|all| all.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn only_the_entry_changes(mut before in values(), is_pretty: bool) {
        let wanted: Value = json!({ "command": "htm", "args": ["mcp"] });
        let text = match is_pretty {
            true => serde_json::to_string_pretty(&before).unwrap(),
            false => before.to_string(),
        };
        let after = with(&text, &entry());
        let is_usable = before.is_object()
            && before.get("mcpServers").is_none_or(Value::is_object)
            && before.pointer("/mcpServers/htm").is_none_or(Value::is_object);
        prop_assert_eq!(after.is_ok(), is_usable);
        if let Ok(after) = after {
            prop_assert_eq!(&with(&after, &entry()).unwrap(), &after);
            let gone = read(&without(&after, &entry()).unwrap());
            let mut expected = before.clone();
            for (name, value) in wanted.as_object().unwrap() {
                expected["mcpServers"]["htm"][name] = value.clone();
            }
            prop_assert_eq!(read(&after), expected);
            match before.get_mut("mcpServers").and_then(Value::as_object_mut) {
                Some(servers) => drop(servers.remove("htm")),
                None => before["mcpServers"] = json!({}),
            }
            prop_assert_eq!(gone, before);
        }
    }

    #[test]
    fn nothing_makes_it_panic(text in "[\\[\\]{}\",:/*\\\\ a1\n\u{e9}]{0,40}") {
        let _ = (with(&text, &entry()), without(&text, &entry()));
    }
}
