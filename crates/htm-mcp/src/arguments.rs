//! The arguments of a tool. Each is declared once: the JSON schema for the model and the check of a call come from the
//! same table.

use std::collections::HashSet;

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::codes;
use crate::error::ToolError;

/// The kind of an argument's value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Text,
    Texts,
    /// A whole number in a range, with a default.
    Whole(i64, i64, Option<i64>),
    /// A number in a range of whole numbers, with a default.
    Number(i32, i32, Option<i32>),
    Numbers,
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    Object,
}

/// An argument of a tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Argument {
    name: &'static str,
    kind: Kind,
    about: &'static str,
    is_required: bool,
}

/// Declares an argument.
pub(crate) const fn argument(name: &'static str, kind: Kind) -> Argument {
    Argument { name, kind, about: "", is_required: false }
}

/// A memory's id.
pub(crate) const ID: Argument = argument("id", Kind::Whole(1, i64::MAX, None));

/// The namespace of the call, otherwise that of the server.
pub(crate) const NAMESPACE: Argument = argument("namespace", Kind::Text);

/// The robot of the call, otherwise that of the server.
pub(crate) const ROBOT: Argument = argument("robot", Kind::Text);

/// The budget of the answer.
pub(crate) const MAX_TOKENS: Argument = argument("max_tokens", Kind::Whole(200, 100_000, Some(2_000)));

impl Argument {
    /// Adds a description for the model.
    pub(crate) const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    pub(crate) const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    fn default(&self) -> Option<i64> {
        match self.kind {
            Kind::Whole(_, _, default) => default,
            Kind::Number(_, _, default) => default.map(i64::from),
            _ => None,
        }
    }

    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Kind::Text => json!({ "type": "string" }),
            Kind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            Kind::Whole(from, i64::MAX, _) => json!({ "type": "integer", "minimum": from }),
            Kind::Whole(from, to, _) => json!({ "type": "integer", "minimum": from, "maximum": to }),
            Kind::Number(from, to, _) => json!({ "type": "number", "minimum": from, "maximum": to }),
            Kind::Numbers => json!({ "type": "array", "items": { "type": "integer" } }),
            Kind::Flag => json!({ "type": "boolean" }),
            Kind::Choice(words) => json!({ "type": "string", "enum": words }),
            Kind::Object => json!({ "type": "object" }),
        };
        if let Some(default) = self.default() {
            schema["default"] = default.into();
        }
        if !self.about.is_empty() {
            schema["description"] = self.about.into();
        }
        schema
    }

    /// The expected value, if it is another.
    fn refusal(&self, value: &Value) -> Option<String> {
        let all =
            |value: &Value, is: fn(&Value) -> bool| value.as_array().is_some_and(|all| all.iter().all(is));
        let (is_good, wanted) = match self.kind {
            Kind::Text => (value.is_string(), "a string".to_owned()),
            Kind::Texts => (all(value, Value::is_string), "a list of strings".into()),
            Kind::Numbers => (all(value, |it| whole(it).is_some()), "a list of whole numbers".into()),
            Kind::Whole(from, to, _) => {
                let wanted = match to {
                    i64::MAX => format!("a whole number of at least {from}"),
                    _ => format!("a whole number from {from} to {to}"),
                };
                (whole(value).is_some_and(|it| (from..=to).contains(&it)), wanted)
            }
            Kind::Number(from, to, _) => {
                let range = f64::from(from)..=f64::from(to);
                let is_good = value.as_f64().is_some_and(|it| range.contains(&it));
                (is_good, format!("a number from {from} to {to}"))
            }
            Kind::Flag => (value.is_boolean(), "true or false".into()),
            Kind::Choice(words) => (
                value.as_str().is_some_and(|it| words.contains(&it)),
                format!("one of: {}", words.join(", ")),
            ),
            Kind::Object => (value.is_object(), "an object, as {\"ticket\": 7}".into()),
        };
        (!is_good).then_some(wanted)
    }
}

/// A whole number. As JSON Schema has it, 10.0 is one.
fn whole(value: &Value) -> Option<i64> {
    /// Floating-point numbers up to this one are exact.
    const MOST: f64 = 9_007_199_254_740_992.0;
    let is_whole = |number: &f64| number.fract() == 0.0 && number.abs() <= MOST;
    value.as_i64().or_else(|| value.as_f64().filter(is_whole).map(|number| number as i64))
}

/// The JSON schema of a tool's arguments.
pub(crate) fn schema(declared: &[Argument]) -> JsonObject {
    let properties: JsonObject = declared.iter().map(|it| (it.name.to_owned(), it.schema())).collect();
    let required: Vec<&str> = declared.iter().filter(|it| it.is_required).map(|it| it.name).collect();
    let mut schema = JsonObject::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), properties.into());
    if !required.is_empty() {
        schema.insert("required".into(), required.into());
    }
    schema.insert("additionalProperties".into(), false.into());
    schema
}

/// The checked arguments of a call.
#[derive(Debug, Default)]
pub(crate) struct Arguments(JsonObject);

impl Arguments {
    /// Checks the arguments of a call and adds the defaults. A null counts as missing.
    pub(crate) fn checked(declared: &[Argument], given: Option<JsonObject>) -> Result<Self, ToolError> {
        let mut given = given.unwrap_or_default();
        given.retain(|_, value| !value.is_null());
        for (name, value) in &given {
            let Some(argument) = declared.iter().find(|it| it.name == name) else {
                let known: Vec<&str> = declared.iter().map(|it| it.name).collect();
                let hint = match known.is_empty() {
                    true => "this tool has no arguments".into(),
                    false => format!("its arguments are: {}", known.join(", ")),
                };
                let name: String = name.chars().take(60).collect();
                let message = format!("there is no argument `{name}`");
                return Err(ToolError::new(codes::ARGUMENT_UNKNOWN, message).with_hint(hint));
            };
            if let Some(wanted) = argument.refusal(value) {
                let shown: String = value.to_string().chars().take(80).collect();
                let message = format!("`{name}` is {shown}, not {wanted}");
                return Err(ToolError::new(codes::ARGUMENT_INVALID, message));
            }
        }
        for argument in declared {
            if given.contains_key(argument.name) {
                continue;
            }
            if argument.is_required {
                let message = format!("the argument `{}` is missing", argument.name);
                return Err(ToolError::new(codes::ARGUMENT_MISSING, message));
            }
            if let Some(default) = argument.default() {
                given.insert(argument.name.into(), default.into());
            }
        }
        Ok(Self(given))
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// A text as an owned value.
    pub(crate) fn owned(&self, name: &str) -> Option<String> {
        self.text(name).map(ToOwned::to_owned)
    }

    /// Whether an argument is given, be it an empty list, or has a default.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// A text that is not empty: some clients give every argument, and those without a value empty.
    pub(crate) fn filled(&self, name: &str) -> Option<&str> {
        self.text(name).filter(|text| !text.is_empty())
    }

    /// Whether an argument excludes others: an empty text or list does not.
    pub(crate) fn is_filled(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|it| it != "" && it.as_array().is_none_or(|all| !all.is_empty()))
    }

    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        let all = self.0.get(name).and_then(Value::as_array).into_iter().flatten();
        all.filter_map(|it| it.as_str().map(ToOwned::to_owned)).collect()
    }

    pub(crate) fn whole(&self, name: &str) -> Option<i64> {
        whole(self.0.get(name)?)
    }

    /// The whole numbers of a list, in their order: ids, each of them once.
    pub(crate) fn wholes(&self, name: &str) -> Vec<i64> {
        let all = self.0.get(name).and_then(Value::as_array).into_iter().flatten();
        let mut seen = HashSet::new();
        all.filter_map(whole).filter(|it| seen.insert(*it)).collect()
    }

    /// A whole number that is at least 0 by its declaration.
    pub(crate) fn size(&self, name: &str) -> usize {
        self.whole(name).and_then(|it| usize::try_from(it).ok()).unwrap_or_default()
    }

    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.0.get(name)?.as_f64()
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or_default()
    }

    pub(crate) fn object(&self, name: &str) -> Option<&JsonObject> {
        self.0.get(name)?.as_object()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECLARED: &[Argument] = &[
        argument("query", Kind::Text).required().about("What to look for"),
        argument("tags", Kind::Texts),
        argument("limit", Kind::Whole(1, 100, Some(10))),
        argument("importance", Kind::Number(1, 10, None)),
        argument("strategy", Kind::Choice(&["vector", "hybrid"])),
        argument("confirm", Kind::Flag),
        argument("metadata", Kind::Object),
        argument("ids", Kind::Numbers),
    ];

    fn checked(given: Value) -> Result<Arguments, ToolError> {
        Arguments::checked(DECLARED, given.as_object().cloned())
    }

    #[test]
    fn the_schema_is_exact() {
        assert_eq!(
            Value::Object(schema(&DECLARED[..3])),
            json!({
                "type": "object",
                "properties": {
                    "query": { "type": "string", "description": "What to look for" },
                    "tags": { "type": "array", "items": { "type": "string" } },
                    "limit": { "type": "integer", "minimum": 1, "maximum": 100, "default": 10 },
                },
                "required": ["query"],
                "additionalProperties": false,
            })
        );
    }

    #[test]
    fn good_arguments_are_read() {
        let given = json!({ "query": "q", "tags": ["a"], "importance": 3, "confirm": true, "strategy": null,
                            "metadata": { "a": 1 }, "ids": [1, 2] });
        let arguments = checked(given).unwrap();
        assert_eq!((arguments.text("query"), arguments.size("limit")), (Some("q"), 10));
        assert_eq!((arguments.texts("tags"), arguments.wholes("ids")), (vec!["a".to_owned()], vec![1, 2]));
        assert_eq!((arguments.number("importance"), arguments.flag("confirm")), (Some(3.0), true));
        assert_eq!((arguments.text("strategy"), arguments.object("metadata").unwrap().len()), (None, 1));
    }

    #[test]
    fn an_empty_text_or_list_is_given_and_fills_nothing() {
        let arguments = checked(json!({ "query": "", "tags": [], "ids": [1], "confirm": false })).unwrap();
        assert!(["query", "tags"].iter().all(|it| arguments.has(it) && !arguments.is_filled(it)));
        assert!(["ids", "confirm", "limit"].iter().all(|it| arguments.is_filled(it)));
        assert!(!arguments.is_filled("strategy"));
        assert_eq!((arguments.text("query"), arguments.filled("query")), (Some(""), None));
        assert_eq!(checked(json!({ "query": "q" })).unwrap().filled("query"), Some("q"));
    }

    #[test]
    fn a_whole_number_may_be_written_with_a_fraction_of_zero() {
        let arguments = checked(json!({ "query": "q", "limit": 10.0, "ids": [1.0, 2] })).unwrap();
        assert_eq!((arguments.size("limit"), arguments.wholes("ids")), (10, vec![1, 2]));
        for given in [json!({ "query": "q", "limit": 10.5 }), json!({ "query": "q", "ids": [1e300] })] {
            assert_eq!(checked(given.clone()).unwrap_err().code, "argument_invalid", "{given}");
        }
    }

    #[test]
    fn an_id_that_is_given_twice_is_one() {
        let arguments = checked(json!({ "query": "q", "ids": [36, 7, 36.0, 36] })).unwrap();
        assert_eq!(arguments.wholes("ids"), [36, 7]);
    }

    #[test]
    fn bad_arguments_are_named() {
        for (given, code, said) in [
            (
                json!({ "query": "q", "qurey": 1 }),
                "argument_unknown",
                "no argument `qurey`\nnext: its arguments are: query, tags",
            ),
            (json!({ "tags": [] }), "argument_missing", "`query` is missing"),
            (json!({ "query": 7 }), "argument_invalid", "`query` is 7, not a string"),
            (json!({ "query": "q", "tags": "a" }), "argument_invalid", "not a list of strings"),
            (
                json!({ "query": "q", "limit": 0 }),
                "argument_invalid",
                "`limit` is 0, not a whole number from 1 to 100",
            ),
            (json!({ "query": "q", "limit": "5" }), "argument_invalid", "`limit` is \"5\", not"),
            (json!({ "query": "q", "strategy": "x" }), "argument_invalid", "not one of: vector, hybrid"),
            (json!({ "query": "q", "metadata": [] }), "argument_invalid", "not an object"),
        ] {
            let error = checked(given.clone()).unwrap_err();
            assert_eq!(error.code, code, "{given}");
            assert!(error.text().contains(said), "{}", error.text());
        }
    }
}
