//! The failure of a tool, as a model reads it: what was wrong, which value, the next step.

use std::borrow::Cow;

use htm_core::error::{Code, chain};
use htm_core::fault::Fault;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::json;

use crate::text::{plain, plain_json};

/// The failure of a tool. It is a result, so that the model can correct its call.
#[derive(Debug)]
pub(crate) struct ToolError {
    pub(crate) code: &'static str,
    message: String,
    hint: Cow<'static, str>,
}

impl ToolError {
    /// A failure with the hint of its code.
    pub(crate) fn new(code: &'static Code, message: impl Into<String>) -> Self {
        Self { code: code.name, message: message.into(), hint: code.hint.into() }
    }

    pub(crate) fn with_hint(self, hint: impl Into<Cow<'static, str>>) -> Self {
        Self { hint: hint.into(), ..self }
    }

    /// The message and the hint, for an answer that is no tool result.
    pub(crate) fn text(&self) -> String {
        plain(&format!("error[{}]: {}\nnext: {}", self.code, self.message, self.hint))
    }

    pub(crate) fn into_result(self) -> CallToolResult {
        let mut result = CallToolResult::error(vec![ContentBlock::text(self.text())]);
        let error = json!({ "code": self.code, "message": self.message, "hint": self.hint });
        result.structured_content = Some(plain_json(json!({ "error": error })));
        result
    }
}

impl From<htm_core::Error> for ToolError {
    fn from(error: htm_core::Error) -> Self {
        // Its causes may name hosts and statements. They are for the operator.
        match error.fault() {
            Fault::User => tracing::debug!(code = error.code(), error = %chain(&error), "a call was refused"),
            _ => tracing::warn!(code = error.code(), error = %chain(&error), "a call failed"),
        }
        Self { code: error.code(), message: error.to_string(), hint: hint(&error) }
    }
}

/// The next step by the tools. The library's hints name its functions.
pub(crate) fn hint(error: &htm_core::Error) -> Cow<'static, str> {
    let own = match error.code() {
        "key_taken" if error.value("restored").is_some() => Some(
            "if the user wants the old one back, forget the memory that the message names, then restore again",
        ),
        code => for_tools(code),
    };
    match own {
        Some(hint) => hint.into(),
        None => error.hint().to_owned().into(),
    }
}

/// The hints of codes whose own hint names a function or a setting of the library.
fn for_tools(code: &str) -> Option<&'static str> {
    Some(match code {
        "key_taken" => {
            "leave key out, or use another one; to correct the memory that the message names, also give its id as supersedes"
        }
        "content_taken" => "nothing is left to do: the memory that the message names has this text",
        "namespace_forbidden" => "leave out namespace, or use one that the message names",
        "robot_forbidden" => "leave out robot and any_robot, or use the robot that the message names",
        "quota_exceeded" => "tell the user that the namespace is full; forget what is not needed",
        "api_key_invalid" | "api_key_expired" | "api_key_revoked" | "api_key_unknown" | "signed_out" => {
            "tell the user; keys are made with the command `htm keys`"
        }
        "plan_missing" | "erase_plan_changed" | "erasure_unknown" => {
            "tell the user; memories are erased with the command `htm erase`"
        }
        "backfill_unknown" => "tell the user; backfills are started with the command `htm backfill`",
        "file_too_many_lines" => "read its memory with recall",
        "model_of_callers" => "tell the user; its vectors come from the programs that write",
        "document_not_found" => "look for it with recall; documents are loaded with the command `htm load`",
        "node_not_found" => "look for it with recall; a forgotten memory comes back with restore",
        "relation_cycle" => {
            "the last relation of the chain is another robot's; to remove it, set any_robot: true, if the user agrees"
        }
        "relation_unknown" => "list the relations of the memory with related",
        "recall_unknown" => {
            "give the recall id that an answer names, within a day; if answers name none, learning is off: send no feedback"
        }
        "ranking_unknown" | "ranking_unusable" => {
            "tell the user; rankings are chosen with the command `htm ranking`"
        }
        "revision_conflict" => "read it again, then change what it says now",
        "not_forgotten" => "nothing is left to do",
        "not_owner" => {
            "pass the robot and the namespace that remembered it, or any_robot: true if the user wants that"
        }
        "remembered_by_others" => {
            "every robot that remembered it would lose it: any_robot: true, if the user wants that"
        }
        "not_confirmed" => "call it again with confirm: true",
        "stage_dead" => "tell the user that a job of this memory failed",
        "contended" | "change_unknown" => "try again in a moment",
        "embedder_missing" => "recall with strategy fulltext",
        "embedder_other" => {
            "recall with strategy fulltext; the operator has to start HTM with the active model"
        }
        "reranker_missing" | "expander_missing" => "recall without it",
        "robot_unknown" => "check the name and the namespace; a robot is known after its first memory",
        "robot_taken" => "use another name",
        "group_unknown" => "check its name and namespace; create_group makes a new one",
        "group_member_unknown" => "see its members with get_group",
        "group_member_passive" => "let an active member write, or make this one active with promote_robot",
        "group_member_lost" | "group_member_replaced" => "join the group again with join_group",
        "group_last_active" => "let another robot join first, or shut the group down with shutdown_group",
        "group_closed" => "join_group opens it again",
        "node_oversized" => "split the text; each part has to fit the working memory",
        "job_not_found" | "job_state_unfit" => "see the jobs with list_jobs",
        "tag_unknown" => "see the tags with the tool tags",
        "model_not_ready" => "new memories are found by their words until a worker embeds them",
        "namespace_full" => "use tags that there are; see them with the tool tags",
        "wait_timeout" => "try again later; `htm doctor` says whether a worker runs",
        "provider_unknown" => "see them with list_providers",
        "tag_taken" | "tag_into_own_child" | "tag_in_use" | "tag_is_synonym" | "synonym_is_tag"
        | "synonym_unknown" | "change_reverted" | "changed_since" => {
            "tell the user; tags are changed with the command `htm tags`"
        }
        "model_unknown"
        | "model_retired"
        | "model_active"
        | "vector_index_unavailable"
        | "model_incomplete"
        | "version_unfit"
        | "provider_unusable_answer" => "tell the user; models are changed with the command `htm models`",
        "database_unreachable" => "tell the user that the database does not answer; `htm doctor` says why",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use htm_core::error::codes;
    use htm_core::{Memory, NodeId};

    use super::*;

    #[test]
    fn no_hint_names_a_function_of_the_library() {
        for code in codes::ALL {
            let hint = for_tools(code.name).unwrap_or(code.hint);
            assert!(!hint.contains("::"), "{}: {hint}", code.name);
        }
    }

    #[test]
    fn a_failure_says_what_was_wrong_and_what_is_next() {
        let error = ToolError::from(Memory::new("a").importance(11.0).validate().unwrap_err());
        let result = error.into_result();
        assert_eq!(result.is_error, Some(true));
        let text = result.content[0].as_text().unwrap().text.clone();
        assert!(
            text.starts_with("error[importance_out_of_range]: importance 11 is outside 1 to 10\nnext: "),
            "{text}"
        );
        assert_eq!(result.structured_content.unwrap()["error"]["code"], "importance_out_of_range");
    }

    #[test]
    fn a_failure_passes_no_control_character() {
        let error =
            ToolError::new(crate::codes::ARGUMENT_INVALID, format!("\u{1b}[31m{}\u{202e}", NodeId(7)));
        assert!(error.text().contains("[31m7\\u{202e}"), "{}", error.text());
    }
}
