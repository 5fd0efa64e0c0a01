//! The requests to send after an error. The library's hints name its functions. The server shows these hints instead.

use htm_core::Error;

/// The next step: the request to send if there is one, else the error's own hint.
pub(crate) fn hint(error: &Error) -> String {
    of_code(error).unwrap_or_else(|| error.hint().to_owned())
}

fn of_code(error: &Error) -> Option<String> {
    let value = |name| error.value(name).unwrap_or("{id}");
    Some(match error.code() {
        "key_taken" => format!("use another key, or read its memory: GET /v1/memories/{}", value("node")),
        "content_taken" => {
            format!("use the existing memory: GET /v1/memories/{}; or forget one of the two", value("node"))
        }
        "node_not_found" if error.value("as_of").is_none() => {
            "look for it: POST /v1/recall; a forgotten one comes back by POST /v1/memories/{id}/restore"
                .into()
        }
        "not_owner" => {
            "a key of one robot changes only what this robot remembered; with another key, name the robot that \
             remembered it (`robot`, `namespace`), or give `any_robot`"
                .into()
        }
        "remembered_by_others" => {
            "allow any robot's (`any_robot`): every robot that remembered it loses it".into()
        }
        "document_not_found" => "list them: GET /v1/documents".into(),
        "file_too_many_lines" => "read the text of its memory: GET /v1/memories/by-key/{key}".into(),
        // That of a conversation is about no memory in particular.
        "revision_conflict" if error.value("session").is_none() => {
            format!("read it again (GET /v1/memories/{}), then edit what it says now", value("node"))
        }
        "relation_cycle" => {
            let (from, to) = (value("superseding"), error.value("superseded").unwrap_or("{other}"));
            match error.value("robot") {
                Some(_) => format!(
                    "send `any_robot`: true: it removes another robot's relation, {from} supersedes {to}"
                ),
                // An import removes none.
                None => format!(
                    "remove this relation first: DELETE /v1/memories/{from}/relations?kind=supersedes&to={to}"
                ),
            }
        }
        "relation_unknown" => "list them: GET /v1/memories/{id}/relations".into(),
        "recall_unknown" => {
            "give the recall_id of a recall; they are kept where learning is on: GET /v1/learning".into()
        }
        "ranking_unknown" | "ranking_unusable" => "list them: GET /v1/rankings".into(),
        "not_confirmed" => {
            "confirm it with `confirm`; where the path has `dry_run`, preview it with that first".into()
        }
        "limit_out_of_range" => "give a number of the range that the error names".into(),
        "not_forgotten" => format!("nothing is left to do: GET /v1/memories/{}", value("node")),
        "stage_dead" => format!("see why: GET /v1/memories/{}/status", value("node")),
        "wait_timeout" => "see whether a worker runs: GET /v1/workers".into(),
        "embedder_missing" => "configure a provider of embeddings, or recall with strategy `fulltext`".into(),
        "model_of_callers" => {
            "give the vector: with the memory (`vectors`), later (PUT /v1/memories/{id}/vector), or with the query".into()
        }
        "reranker_missing" => "configure a re-ranker, or recall without `rerank`".into(),
        "expander_missing" => "configure a language model for expansion, or recall without `expand`".into(),
        "robot_unknown" => "list them: GET /v1/robots; a robot belongs to one namespace".into(),
        "robot_taken" => "use another name, or merge them: POST /v1/robots/merge".into(),
        "group_unknown" => "list them: GET /v1/groups".into(),
        "group_member_unknown" => "see its members: GET /v1/groups/{name}".into(),
        "group_member_passive" => {
            "let an active member write, or make this one active: POST /v1/groups/{name}/promote".into()
        }
        "group_member_lost" | "group_member_replaced" | "group_closed" => {
            "join again: POST /v1/groups/{name}/members".into()
        }
        "tag_unknown" if error.value("nearest").is_none() => {
            "list them: GET /v1/tags; a tag belongs to one namespace".into()
        }
        "group_last_active" => {
            "let another robot join first, or shut the group down: POST /v1/groups/{name}/shutdown".into()
        }
        "node_oversized" => "split the text, or remember it without the group".into(),
        "namespace_full" => {
            "give existing tags, or remove or merge unused ones: GET /v1/tags/orphans".into()
        }
        "tag_is_synonym" => "use that tag, or free the name: POST /v1/tags/synonyms/remove".into(),
        "contended" if error.value("erasure").is_some() => format!(
            "stop the programs that write to the namespace, then go on: POST /v1/erasures/{}/resume",
            value("erasure")
        ),
        "contended" => "send the request again in a moment".into(),
        "tag_taken" | "synonym_is_tag" => "merge them: POST /v1/tags/merge".into(),
        "tag_into_own_child" => "to split it: POST /v1/tags/split".into(),
        "tag_in_use" => {
            "merge it into another (POST /v1/tags/merge), or take it from them: `assigned`".into()
        }
        "synonym_unknown" => "list them: GET /v1/tags/synonyms".into(),
        "change_unknown" => "list them: GET /v1/tags/log".into(),
        "backfill_unknown" => "list them: GET /v1/backfills".into(),
        "erasure_unknown" => "list them: GET /v1/erasures".into(),
        "plan_missing" => "make the plan with `dry_run` and check it, then give it as `plan`".into(),
        "erase_plan_changed" => "make the plan again with `dry_run`, and check it".into(),
        "change_reverted" => format!("to do it again, revert change {}", value("by")),
        "changed_since" => "revert the later change first: GET /v1/tags/log".into(),
        "job_not_found" => "list them: GET /v1/jobs".into(),
        "job_state_unfit" => "see its state: GET /v1/jobs/{id}".into(),
        "queue_unknown" => "list them: GET /v1/queues".into(),
        "provider_unknown" => "list them: GET /v1/providers".into(),
        "model_unknown" => "list them: GET /v1/models".into(),
        "model_active" => "activate another one first: POST /v1/models/activate".into(),
        // A model of callers has no queue.
        "model_incomplete" if error.value("open").is_none() => {
            "bring the missing vectors (PUT /v1/memories/{id}/vector); or go without those memories: `force`".into()
        }
        "model_incomplete" => {
            "wait for its queue (GET /v1/queues), and retry its dead letters (POST /v1/jobs/retry); or go without those \
             memories: `force`"
                .into()
        }
        "model_retired" => "use another model: GET /v1/models; a worker with this one takes it into use again".into(),
        "version_unfit" => "leave out `prompt_version`; to embed everything again: `force`".into(),
        "embedder_other" => "activate a model that the server has (POST /v1/models/activate), or recall with strategy `fulltext`".into(),
        "provider_unusable_answer" => "read the answer with its job: GET /v1/jobs/{id}".into(),
        "api_key_invalid" | "api_key_expired" | "api_key_revoked" => {
            "ask the operator for a key, or make one with `htm keys create`".into()
        }
        "signed_out" => "sign in again with the key".into(),
        "api_key_unknown" => "list them: GET /v1/keys".into(),
        "robot_forbidden" if error.value("named").is_some() => "name no robot, or that of your key".into(),
        "robot_forbidden" => {
            "use a key that is bound to no robot; if the request has `any_robot`, leave it out".into()
        }
        "quota_exceeded" => "forget memories, or ask the operator for a larger quota: PATCH /v1/quotas".into(),
        "namespace_forbidden" => {
            "name a namespace that you may see; what is about all namespaces needs a key for all".into()
        }
        // Callers of the server cannot mend these.
        "database_unreachable" | "handle_closed" => "send the request again in a moment".into(),
        "database_exhausted" => {
            "tell the operator: the database's server has run out of disk, memory or files (`htm doctor`); then send \
             the request again"
                .into()
        }
        "database_denied" | "database_locks" | "database_error" | "corrupt" => {
            "tell the operator of the server; its log has the cause".into()
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use htm_core::error::codes;

    use super::*;

    #[test]
    fn a_model_of_callers_has_no_queue_to_wait_for() {
        let incomplete =
            || Error::new(codes::MODEL_INCOMPLETE, "it failed").with_value("label", "caller/mine");
        let of_callers = hint(&incomplete());
        assert!(of_callers.contains("PUT /v1/memories/{id}/vector"), "{of_callers}");
        assert!(!of_callers.contains("queue"), "{of_callers}");
        assert!(hint(&incomplete().with_value("open", 3)).contains("GET /v1/queues"));
    }

    #[test]
    fn no_hint_names_a_function_of_the_library() {
        for code in codes::ALL {
            let error = Error::new(code, "it failed").with_hint("`Htm::recall` and the like");
            let hint = match code.hint.contains("::") {
                true => hint(&error),
                false => code.hint.to_owned(),
            };
            assert!(!hint.contains("::"), "{}: {hint}", code.name);
        }
    }
}
