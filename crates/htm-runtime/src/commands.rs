//! The commands to type after an error. The library's hints name its functions. Programs show these hints instead.

use htm_core::Error;

/// The next step: the command to type if there is one, else the error's own hint.
pub fn hint(error: &Error) -> String {
    of_code(error).unwrap_or_else(|| error.hint().to_owned())
}

/// The table from codes to commands. None if the error's own hint is as good.
fn of_code(error: &Error) -> Option<String> {
    let value = |name| error.value(name);
    let named = |name: &'static str| value(name).map_or_else(|| name.to_uppercase(), str::to_owned);
    Some(match error.code() {
        "key_taken" => format!("use another key, or look at its node: `htm get {}`", named("node")),
        "content_taken" => {
            let node = named("node");
            format!("use the existing node: `htm get {node}`; or forget one of the two")
        }
        "contended" => {
            value("namespace")?;
            "try again in a moment; a change of many nodes is in `htm tags log` when it is done".into()
        }
        "namespace_forbidden" => "name a namespace that the handle sees: `htm namespaces list`".into(),
        "robot_forbidden" => "name no robot, or that of the key".into(),
        "api_key_invalid" | "api_key_expired" => "create a new one: `htm keys create`".into(),
        "api_key_revoked" => "ask an administrator, or create a new one: `htm keys create`".into(),
        "signed_out" => "sign in again".into(),
        "api_key_unknown" => "list the keys: `htm keys list`".into(),
        "quota_exceeded" => {
            format!("forget memories, or raise the quota: `htm namespaces quota {}`", named("namespace"))
        }
        "node_not_found" => "look for it: `htm recall QUERY`".into(),
        "not_owner" => {
            "ask as that robot (`--robot`, `--namespace`), or allow any robot's: `--any-robot`".into()
        }
        "remembered_by_others" => {
            "allow any robot's (`--any-robot`): every robot that remembered it loses it".into()
        }
        "revision_conflict" => format!("read it again (`htm get {}`), then edit that", named("node")),
        "not_confirmed" => match (value("node"), value("jobs")) {
            (Some(node), _) => format!("confirm: `htm forget {node} --yes`"),
            (_, Some(_)) => "look at them with `htm jobs list`, then confirm with `--yes`".into(),
            _ => "preview it with `--dry-run`, then confirm with `--yes`".into(),
        },
        "recall_unknown" => {
            "give the recall_id of a recall, or `last`; recalls are kept where learning is on (`htm learning on`), and \
             for a day until they are judged"
                .into()
        }
        "ranking_unknown" => "list the rankings: `htm ranking list`".into(),
        "ranking_unusable" => "use another version (`htm ranking list`), or let a `learn-worker` fit a new one".into(),
        "file_too_many_lines" => "read the text of its memory: `htm get NODE`".into(),
        "document_not_found" => "list the documents: `htm documents`".into(),
        "backfill_unknown" => "start one: `htm backfill`".into(),
        "erasure_unknown" => "list them: `htm erase list`".into(),
        "erase_plan_changed" => "check the memories again with `--dry-run`".into(),
        "relation_cycle" => "remove one relation of the chain first, such as `htm unrelate 42 supersedes 17`".into(),
        "relation_unknown" => format!("list the relations: `htm related {}`", named("node")),
        "not_forgotten" => format!("nothing is left to do: `htm get {}`", named("node")),
        "wait_timeout" => "see whether a worker runs: `htm doctor`".into(),
        "stage_dead" => format!("see the details: `htm status {}`", named("node")),
        "embedder_missing" => "set embedding.provider, or recall with strategy `fulltext`".into(),
        "embedder_other" => format!(
            "recall asks the active model: give the program the embedder of {}, or activate a model that it has: \
             `htm models list`",
            named("label")
        ),
        "reranker_missing" => {
            "set rerank.provider to \"http\" with rerank.url, or to \"local\" with rerank.path; or recall without it"
                .into()
        }
        "expander_missing" => {
            "set expansion.provider to \"ollama\" or \"openai\", and expansion.model; or recall without it".into()
        }
        "robot_unknown" => "list them: `htm robots list --all`; a robot belongs to one namespace".into(),
        "robot_taken" => {
            let name = named("name");
            format!("use another name, or merge them: `htm robots merge OTHER {name} --yes`")
        }
        "group_unknown" => format!(
            "list them: `htm groups list --all`; the first to join makes one: `htm groups join {}`",
            named("group")
        ),
        "group_member_unknown" => format!("see its members: `htm groups show {}`", named("group")),
        "group_member_passive" => format!(
            "let an active member write, or make this one active: `htm groups promote {} {}`",
            named("group"),
            named("robot")
        ),
        "group_closed" => format!("to open it again, join it: `htm groups join {}`", named("group")),
        "group_member_lost" => format!(
            "start its process again: `htm groups join {} --robot {}`",
            named("group"),
            named("robot")
        ),
        "group_last_active" => {
            "let another robot join first, or shut the group down: `htm groups shutdown`".into()
        }
        "node_oversized" => match value("group") {
            Some(_) => {
                "nothing was written; split the text, or remember it without the group: `htm remember`".into()
            }
            None => "it stays in long-term memory; raise working_memory.max_tokens, or split the text".into(),
        },
        "namespace_full" => format!(
            "use existing tags, remove some (`htm tags orphans --namespace {}`), or raise \
             `tag.namespace_limit`",
            named("namespace")
        ),
        "tag_unknown" => return unknown_tag(error),
        "tag_taken" => {
            format!("merge them: `htm tags merge {} {} --yes`", named("from"), named("tag"))
        }
        "tag_into_own_child" => {
            format!("to split it: `htm tags split {} …`", named("tag"))
        }
        "tag_in_use" => {
            let tag = named("tag");
            format!(
                "merge it into another (`htm tags merge {tag} INTO --yes`), or take it from them: `htm tags remove \
                 {tag} --assigned --yes`"
            )
        }
        "tag_is_synonym" => format!(
            "use `{}`, or free the name: `htm tags synonyms remove {}`",
            named("tag"),
            named("name")
        ),
        "synonym_is_tag" => {
            format!("merge them: `htm tags merge {} {} --yes`", named("name"), named("tag"))
        }
        "synonym_unknown" => "list them: `htm tags synonyms list`".into(),
        "change_unknown" => "list them: `htm tags log`".into(),
        "change_reverted" => format!("to do it again, undo that: `htm tags revert {} --yes`", named("by")),
        "changed_since" => match value("by") {
            Some(by) => format!("undo that one first: `htm tags revert {by} --yes`"),
            None => format!("look at what it is now: `htm tags show {}`", named("name")),
        },
        "job_not_found" => "list them: `htm jobs list`, and `--state done` for the done".into(),
        "job_state_unfit" => match (named("job"), value("state").unwrap_or_default()) {
            (job, "running") => format!("wait for its end, or `htm jobs cancel {job}` first"),
            (job, "dead") => format!("to do it again: `htm jobs retry {job}`"),
            (job, _) => format!("nothing is left to do; see `htm jobs show {job}`"),
        },
        "provider_unknown" if value("known").is_none() => {
            "nothing is limited and nothing has failed; see `htm providers`".into()
        }
        "provider_unreachable" => {
            "check that the provider runs at its base URL: `htm config show`, `htm doctor`".into()
        }
        "provider_unusable_answer" => {
            "look at what the model said: `htm jobs show`; a larger model may do better".into()
        }
        "model_unknown" => match value("known") {
            Some(known) => format!("use one of: {known}; `htm models add` registers another"),
            None => "none is registered yet: start an `embed-worker`, or `htm models add PROVIDER/NAME`".into(),
        },
        "model_not_ready" => "start an embed-worker with this configuration: `embed-worker`".into(),
        "model_retired" => format!("take it into use again: `htm models add {}`", named("label")),
        "model_active" => "activate another one first: `htm models activate LABEL`".into(),
        "model_incomplete" => {
            let (label, open, dead) = (named("label"), named("open"), named("dead"));
            format!(
                "open jobs in its queue: {open}, dead letters: {dead}: `htm models backfill {label}`, `htm jobs retry` \
                 for the dead; or go without those nodes: `htm models activate {label} --force`"
            )
        }
        "model_of_callers" => "bring the vector by the library or over HTTP, or use `--strategy fulltext`".into(),
        "version_unfit" => "to embed everything again: `htm backfill embed --force`".into(),
        "database_unreachable" if value("file").is_some() => {
            "check what database.url names (`htm config show`): the directory of the server's socket (host), and the \
             files sslrootcert, sslcert and sslkey"
                .into()
        }
        "database_unreachable" if value("proof").is_none() => {
            "check database.url with `htm config show` and the server with `htm db status`".into()
        }
        // insufficient_privilege
        "database_denied" if error.database()?.sqlstate() == Some("42501") => {
            "the role in database.url may not do this: run commands that change the schema (`htm db migrate`, \
             `htm models`) as the role that owns it; for the rest, `htm db migrate --application-role ROLE` as the owner"
                .into()
        }
        "database_denied" => {
            "check user, password and database in database.url (`htm config show`), and the role's privileges".into()
        }
        "database_error" => "run `htm doctor`; the statement changed nothing".into(),
        _ => return None,
    })
}

/// The hint for an unknown tag. A merge into an unknown tag was meant as a rename.
fn unknown_tag(error: &Error) -> Option<String> {
    let value = |name| error.value(name);
    let Some(first) = value("from") else {
        return match value("nearest") {
            Some(_) => None,
            None => Some("list them: `htm tags list`; a tag belongs to one namespace".into()),
        };
    };
    let (tag, namespace) = (value("tag")?, value("namespace")?);
    let mut hint = format!(
        "to give a tag this name, rename it: `htm tags rename {first} {tag} --namespace {namespace} --yes`"
    );
    if let Some(others) = value("others").filter(|others| !others.is_empty()) {
        hint += &format!(", then `htm tags merge {others} {tag} --namespace {namespace} --yes`");
    }
    if let Some(nearest) = value("nearest") {
        hint += &format!("; the nearest that there are: {nearest}");
    }
    Some(hint)
}

#[cfg(test)]
mod tests {
    use htm_core::error::codes;

    use super::*;

    #[test]
    fn no_hint_names_a_function_of_the_library() {
        let of_library: Vec<String> = (codes::ALL.iter())
            .filter(|code| code.hint.contains("::"))
            .map(|code| format!("{}: {}", code.name, hint(&Error::new(code, "it failed"))))
            .filter(|hint| hint.contains("::"))
            .collect();
        assert_eq!(of_library, [""; 0]);
    }
}
