//! The messages of clients, looked at before the protocol's library has them: it answers some mistakes as a method that it
//! does not know, some without the id of the request, and some not at all.

use std::io::{BufReader, Read};

use rmcp::model::{
    CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, CustomRequest, ErrorData,
    GetPromptRequestParams, InitializeRequestParams, JsonRpcError, ReadResourceRequestParams, RequestId,
};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value};

/// Reads a message of a client.
///
/// # Errors
/// The answer to what is no message, with the id of the request if it has one. None for what nobody waits for: an invalid
/// notification, or an invalid answer.
pub fn message(value: &Value) -> Result<ClientJsonRpcMessage, Option<Box<JsonRpcError>>> {
    let error = match ClientJsonRpcMessage::deserialize(value) {
        Ok(message) => match unfit(&message) {
            None => return Ok(message),
            Some(error) => error,
        },
        Err(_) if is_awaited(value) => flaw(value),
        Err(_) => return Err(None),
    };
    Err(Some(Box::new(JsonRpcError::new(id(value), error))))
}

/// The id of a request that is no message, wherever it stands. None if it cannot be read.
pub fn id_of(request: impl Read) -> Option<RequestId> {
    #[derive(Deserialize)]
    struct Named {
        id: Option<RequestId>,
    }
    serde_json::from_reader::<_, Named>(BufReader::new(request)).ok()?.id
}

/// The ids of the requests of a batch that cannot be read. None if it is no batch, or has other than objects.
pub fn ids_of(batch: &[u8]) -> Vec<RequestId> {
    #[derive(Deserialize)]
    struct Named {
        id: Option<RequestId>,
        method: Option<IgnoredAny>,
    }
    let messages: Vec<Named> = serde_json::from_slice(batch).unwrap_or_default();
    // An answer, which has no method, is not answered.
    messages.into_iter().filter_map(|it| it.method.and(it.id)).collect()
}

fn id(value: &Value) -> Option<RequestId> {
    RequestId::deserialize(value.get("id")?).ok()
}

/// Whether somebody may wait for an answer. A notification has no id, and an answer is not answered.
fn is_awaited(value: &Value) -> bool {
    match value.get("method") {
        Some(method) => !method.is_string() || value.get("id").is_some(),
        None => value.get("result").or(value.get("error")).is_none(),
    }
}

/// The error of what is no message.
fn flaw(value: &Value) -> ErrorData {
    let what = if !value.is_object() {
        "a message is an object"
    } else if value["jsonrpc"] != "2.0" {
        "`jsonrpc` is not \"2.0\""
    } else if !value["method"].is_string() {
        "`method` is missing, or no text"
    } else if id(value).is_none() {
        "`id` is neither a text nor a whole number"
    } else if value.get("result").or(value.get("error")).is_some() {
        "a request has neither `result` nor `error`"
    } else {
        return ErrorData::invalid_params("`params` is no object, or its `_meta` is none", None);
    };
    ErrorData::invalid_request(what, None)
}

/// The error of a message that the library takes for another one.
fn unfit(message: &ClientJsonRpcMessage) -> Option<ErrorData> {
    match message {
        ClientJsonRpcMessage::Request(request) => match &request.request {
            ClientRequest::CustomRequest(request) => unfit_params(request),
            _ => None,
        },
        _ => None,
    }
}

/// The error of a request whose method is known, but not with such parameters.
pub(crate) fn unfit_params(request: &CustomRequest) -> Option<ErrorData> {
    let params = request.params.clone().unwrap_or_else(|| Value::Object(Map::new()));
    let why = match request.method.as_str() {
        "initialize" => why::<InitializeRequestParams>(params),
        "tools/call" => why::<CallToolRequestParams>(params),
        "prompts/get" => why::<GetPromptRequestParams>(params),
        "resources/read" => why::<ReadResourceRequestParams>(params),
        _ => return None,
    };
    Some(ErrorData::invalid_params(format!("the params of `{}`: {why}", request.method), None))
}

/// The reason why parameters are not of a type. The reader of JSON does not name the field whose value has another one.
fn why<T: DeserializeOwned>(params: Value) -> String {
    if params.get("arguments").is_some_and(|it| !it.is_object()) {
        return "`arguments` is no object".into();
    }
    match serde_json::from_value::<T>(params) {
        Ok(_) => "they are not those of the protocol".into(),
        Err(error) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use htm_core::unreadable;
    use rmcp::model::ErrorCode;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn refused(value: Value) -> JsonRpcError {
        *message(&value).expect_err("it is refused").expect("it is answered")
    }

    #[test]
    fn of_a_request_that_is_no_message_the_id_and_the_reason_are_known() {
        let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        for (text, said) in [
            (r#"{"id": 7, "params": "\ud83d"}"#.to_owned(), "half of a surrogate pair"),
            (r#"{"params": "\udc00\ud83d\u0041", "id": 7}"#.to_owned(), "half of a surrogate pair"),
            (format!(r#"{{"id": 7, "params": {deep}}}"#), "recursion limit"),
        ] {
            let error = serde_json::from_str::<Value>(&text).unwrap_err();
            assert!(unreadable(&error).contains(said), "{text}: {}", unreadable(&error));
            assert_eq!(id_of(text.as_bytes()), Some(RequestId::Number(7)), "{text}");
        }
        assert_eq!(id_of(&b"{\"id\": 7, oops"[..]), None);
    }

    #[test]
    fn of_a_batch_that_cannot_be_read_the_requests_are_known() {
        let ids = |text: &str| ids_of(text.as_bytes());
        let batch = r#"[{"id": 91, "method": "ping", "params": "\ud83d"}, {"method": "a"}, {"id": "b", "method": "ping"},
                        {"id": 3, "result": {}}]"#;
        assert_eq!(ids(batch), [RequestId::Number(91), RequestId::String("b".into())]);
        for text in [r#"{"id": 7, "method": "ping"}"#, r#"[{"id": 7, "method": "ping"}"#, "[5]"] {
            assert!(ids(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn parameters_that_are_not_a_methods_are_named() {
        for (method, params, said) in [
            ("tools/call", Value::Null, "missing field `name`"),
            ("tools/call", json!({ "arguments": {} }), "missing field `name`"),
            ("tools/call", json!({ "name": "stats", "arguments": [1] }), "`arguments` is no object"),
            ("tools/call", json!({ "name": 5 }), "expected a string"),
            ("resources/read", json!({}), "missing field `uri`"),
            ("prompts/get", json!({}), "missing field `name`"),
            ("initialize", json!({}), "missing field `protocolVersion`"),
            ("stats", json!([1]), "`params` is no object"),
        ] {
            let mut request = json!({ "jsonrpc": "2.0", "id": "a", "method": method });
            if !params.is_null() {
                request["params"] = params;
            }
            let error = refused(request.clone());
            assert_eq!(error.error.code, ErrorCode::INVALID_PARAMS, "{request}");
            assert_eq!(error.id, Some(RequestId::String("a".into())), "{request}");
            assert!(error.error.message.contains(said), "{request}: {}", error.error.message);
        }
        let other = json!({ "jsonrpc": "2.0", "id": 1, "method": "nothing/there", "params": { "a": 1 } });
        assert!(message(&other).is_ok(), "the server knows its methods");
    }

    #[test]
    fn an_answer_names_the_request_if_that_can_be_read() {
        for (request, id, said) in [
            (json!({ "jsonrpc": "1.0", "id": 34, "method": "ping" }), Some(34), "`jsonrpc`"),
            (json!({ "jsonrpc": "2.0", "id": 34, "method": 5 }), Some(34), "`method`"),
            (json!({ "jsonrpc": "2.0", "id": 34 }), Some(34), "`method`"),
            (json!({ "jsonrpc": "2.0", "id": 34, "method": "ping", "result": {} }), Some(34), "`result`"),
            (json!({ "jsonrpc": "2.0", "id": 1.5, "method": "ping" }), None, "`id`"),
            (json!({ "jsonrpc": "2.0", "id": null, "method": "ping" }), None, "`id`"),
            (json!({}), None, "`jsonrpc`"),
            (json!("text"), None, "an object"),
        ] {
            let error = refused(request.clone());
            assert_eq!(error.id, id.map(RequestId::Number), "{request}");
            assert_eq!(error.error.code, ErrorCode::INVALID_REQUEST, "{request}");
            assert!(error.error.message.contains(said), "{request}: {}", error.error.message);
        }
    }

    #[test]
    fn notifications_and_answers_are_not_answered() {
        for value in [
            json!({ "jsonrpc": "1.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": [1] }),
            json!({ "jsonrpc": "2.0", "id": 1.5, "result": {} }),
            json!({ "jsonrpc": "2.0", "error": "it broke" }),
        ] {
            assert!(matches!(message(&value), Err(None)), "{value}");
        }
    }
}
