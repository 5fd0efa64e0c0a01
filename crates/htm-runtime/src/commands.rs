//! The commands to type after an error. The library's hints name its functions. Programs show these hints instead.

use std::path::Path;

use htm_core::error::codes;
use htm_core::{Degraded, Error, Step};

use crate::private_pg::log_in_use;

/// The next step: the command to type if there is one, else the error's own hint.
pub fn hint(error: &Error) -> String {
    hint_within(error, None)
}

/// As [`hint`], after a command that named a namespace: what is typed next is about the same one.
pub fn hint_within(error: &Error, namespace: Option<&str>) -> String {
    of_code(error, namespace).unwrap_or_else(|| error.hint().to_owned())
}

/// The next step after a step of a recall that did not run. None if it is that of the error.
pub fn hint_of_step(degraded: &Degraded) -> Option<String> {
    let is_late = degraded.error.is(codes::PROVIDER_TIMEOUT);
    match degraded.step {
        Step::Rerank if is_late => Some("raise rerank.timeout_ms, or lower rerank.top".into()),
        Step::Expansion if is_late => Some("raise expansion.timeout_ms".into()),
        Step::Rerank if degraded.error.is(codes::PROVIDER_UNAUTHORIZED) => {
            Some("set a valid key: HTM_RERANK__API_KEY, or rerank.api_key".into())
        }
        _ => degraded.has_own_hint().then(|| degraded.hint.clone()),
    }
}

/// The option that names a namespace, with a space before it. Empty for none.
pub fn in_namespace(namespace: Option<&str>) -> String {
    namespace.map(|name| format!(" --namespace {}", quoted(name))).unwrap_or_default()
}

/// A word as it is typed in a shell, in quotes if the shell would read it otherwise.
pub fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_.:/,=@%+".contains(it);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// The next step if the database cannot be reached: a private one, with this log, or that of `database.url`.
fn of_unreachable(private_log: Option<&Path>, address: Option<&str>) -> String {
    if let Some(log) = private_log {
        let log = log.display();
        return format!(
            "see in its log why the private PostgreSQL does not answer: {log}; if it hangs: `htm db down --force`, then \
             `htm db up`"
        );
    }
    let server = address.map_or_else(|| "the server".into(), |it| format!("the server at {it}"));
    format!("check that {server} runs, and database.url: `htm db status`, `htm config show`")
}

/// The table from codes to commands. None if the error's own hint is as good.
fn of_code(error: &Error, namespace: Option<&str>) -> Option<String> {
    let value = |name| error.value(name);
    let named = |name: &'static str| value(name).map_or_else(|| name.to_uppercase(), quoted);
    let of = in_namespace(value("namespace").or(namespace));
    Some(match error.code() {
        "key_taken" => match (named("node"), value("restored")) {
            (node, None) => format!("use another key, or look at its node: `htm get {node}`"),
            (node, Some(restored)) => format!(
                "give node {node} another key (`htm edit {node} --new-key KEY{of}`), or forget it (`htm forget {node}{of}`); \
                 then `htm restore {restored}{of}`"
            ),
        },
        "content_taken" => {
            let node = named("node");
            format!("use the existing node: `htm get {node}`; or forget one of the two")
        }
        "contended" if value("erasure").is_some() => format!(
            "stop the programs that write to the namespace, then go on: `htm erase resume {}`",
            named("erasure")
        ),
        "contended" => {
            value("namespace")?;
            format!("try again in a moment; a change of many nodes is in `htm tags log{of}` when it is done")
        }
        "namespace_forbidden" => "name a namespace that the handle sees: `htm namespaces list`".into(),
        "robot_forbidden" => "name no robot, or that of the key".into(),
        "api_key_invalid" | "api_key_expired" => "create a new one: `htm keys create`".into(),
        "api_key_revoked" => "ask an administrator, or create a new one: `htm keys create`".into(),
        "signed_out" => "sign in again".into(),
        "api_key_unknown" => "list the keys: `htm keys list`".into(),
        "quota_exceeded" => {
            let (namespace, limit) = (named("namespace"), named("limit"));
            let what = value("what").unwrap_or("memories");
            format!(
                "forget memories, or raise the quota, now {limit}: `htm namespaces quota {namespace} --{what} N`"
            )
        }
        "node_not_found" if value("as_of").is_none() => match value("namespace") {
            Some(_) => format!("bring it back: `htm restore {}{of}`", named("node")),
            None => "look for it: `htm recall QUERY`".into(),
        },
        "not_owner" => {
            "ask as that robot (`--robot`, `--namespace`), or allow any robot's: `--any-robot`".into()
        }
        "remembered_by_others" => {
            "allow any robot's (`--any-robot`): every robot that remembered it loses it".into()
        }
        "revision_conflict" => format!("read it again (`htm get {}`), then edit that", named("node")),
        "not_confirmed" => "confirm with `--yes`".into(),
        "recall_unknown" => format!(
            "give the recall_id of a recall, or `last`; recalls are kept where learning is on (`htm learning on{of}`), \
             and for a day until they are judged"
        ),
        "ranking_unknown" => format!("list the rankings: `htm ranking list{of}`"),
        "ranking_unusable" => {
            format!("use another version (`htm ranking list{of}`), or let a `learn-worker` fit a new one")
        }
        "file_too_many_lines" => "read the text of its memory: `htm get NODE`".into(),
        "document_not_found" => format!("list the documents: `htm documents{of}`"),
        "backfill_unknown" => "start one: `htm backfill`".into(),
        "erasure_unknown" => "list them: `htm erase list`".into(),
        "plan_missing" => {
            "check the matches with `--dry-run`, which prints the plan's number, then confirm: `--plan PLAN --yes`"
                .into()
        }
        "erase_plan_changed" => "check the memories again with `--dry-run`".into(),
        "relation_cycle" => {
            let (from, to) = (value("superseding").unwrap_or("NODE"), value("superseded").unwrap_or("OTHER"));
            match value("robot") {
                Some(_) => format!(
                    "add `--any-robot`: it removes another robot's relation, {from} supersedes {to}"
                ),
                // An import removes none.
                None => format!("remove this relation first: `htm unrelate {from} supersedes {to}`"),
            }
        }
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
            "set rerank.provider to \"http\" with rerank.url, or to \"local\" with rerank.model or rerank.path; or recall \
             without it"
                .into()
        }
        "expander_missing" => {
            "set expansion.provider to \"ollama\" or \"openai\", and expansion.model; or recall without it".into()
        }
        "robot_unknown" => "list them: `htm robots list --all`; a robot belongs to one namespace".into(),
        "robot_taken" => {
            let name = named("name");
            format!("use another name, or merge them: `htm robots merge OTHER {name}{of} --yes`")
        }
        "group_unknown" => format!(
            "list them: `htm groups list --all`; the first to join makes one: `htm groups join {}{of}`",
            named("group")
        ),
        "group_member_unknown" => format!("see its members: `htm groups show {}{of}`", named("group")),
        "group_member_passive" => format!(
            "let an active member write, or make this one active: `htm groups promote {} {}{of}`",
            named("group"),
            named("robot")
        ),
        "group_closed" => format!("to open it again, join it: `htm groups join {}{of}`", named("group")),
        "group_member_lost" => format!(
            "start its process again: `htm groups join {} --robot {}{of}`",
            named("group"),
            named("robot")
        ),
        "group_last_active" => format!(
            "let another robot join first, or shut the group down: `htm groups shutdown {}{of}`",
            named("group")
        ),
        "node_oversized" => match value("group") {
            Some(_) => {
                "nothing was written; split the text, or remember it without the group: `htm remember`".into()
            }
            None => "it stays in long-term memory; raise working_memory.max_tokens, or split the text".into(),
        },
        "namespace_full" => format!(
            "use existing tags, remove some (`htm tags orphans{of}`), or raise `tag.namespace_limit`"
        ),
        "tag_unknown" => return unknown_tag(error, &of),
        "tag_taken" => {
            format!("merge them: `htm tags merge {} {}{of} --yes`", named("from"), named("tag"))
        }
        "tag_into_own_child" => {
            format!("to split it: `htm tags split {} …{of}`", named("tag"))
        }
        "tag_in_use" => {
            let tag = named("tag");
            format!(
                "merge it into another (`htm tags merge {tag} INTO{of} --yes`), or take it from them: `htm tags remove \
                 {tag}{of} --assigned --yes`"
            )
        }
        "tag_is_synonym" => format!(
            "use `{}`, or free the name: `htm tags synonyms remove {}{of}`",
            named("tag"),
            named("name")
        ),
        "synonym_is_tag" => {
            format!("merge them: `htm tags merge {} {}{of} --yes`", named("name"), named("tag"))
        }
        "synonym_unknown" => format!("list them: `htm tags synonyms list{of}`"),
        "change_unknown" => format!("list them: `htm tags log{of}`"),
        "change_reverted" => format!("to do it again, undo that: `htm tags revert {}{of} --yes`", named("by")),
        "changed_since" => match value("by") {
            Some(by) => format!("undo that one first: `htm tags revert {by}{of} --yes`"),
            None => format!("look at what it is now: `htm tags show {}{of}`", named("name")),
        },
        "job_not_found" => "list them: `htm jobs list`, and `--state done` for the done".into(),
        // Without a job, it is about a filter, of which its own hint knows more.
        "job_state_unfit" if value("job").is_none() && error.hint() != codes::JOB_STATE_UNFIT.hint => return None,
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
        "provider_refused_all" => {
            "correct the setting that the provider's message names, such as embedding.dimensions or the model".into()
        }
        "provider_unauthorized" => "set a valid key, for example HTM_OPENAI__API_KEY".into(),
        "provider_other_dimensions" => "let the provider serve the registered model; or set embedding.dimensions to the \
                                        new number: that is another model"
            .into(),
        "provider_unusable_answer" => {
            "look at what the model said: `htm jobs show`; a larger model may do better".into()
        }
        "model_unknown" => match value("known") {
            Some(known) => format!("use one of: {known}; `htm models add` registers another"),
            None => "none is registered yet: start an `embed-worker`, or `htm models add PROVIDER/NAME`".into(),
        },
        "model_not_ready" => "start an embed-worker with this configuration: `embed-worker`".into(),
        // A hint of the error's own names the active model.
        "model_retired" if error.hint() == codes::MODEL_RETIRED.hint => format!("take it into use again: `htm models add {}`", named("label")),
        "model_active" => "activate another one first: `htm models activate LABEL`".into(),
        "model_incomplete" => {
            let label = named("label");
            let wait = match (value("open"), value("dead")) {
                (Some(open), Some(dead)) => format!(
                    "open jobs in its queue: {open}, dead letters: {dead}: `htm models backfill {label}`, `htm jobs retry` \
                     for the dead"
                ),
                // A model of callers has no queue.
                _ => "bring the missing vectors: `PUT /v1/memories/{id}/vector`".into(),
            };
            format!("{wait}; or go without those nodes: `htm models activate {label} --force`")
        }
        "model_of_callers" => "bring the vector by the library or over HTTP, or use `--strategy fulltext`".into(),
        "version_unfit" => "to embed everything again: `htm backfill embed --force`".into(),
        // A hint of the error's own names the cause, but knows of no private database.
        "database_unreachable"
            if error.hint() == codes::DATABASE_UNREACHABLE.hint || log_in_use().is_some() =>
        {
            of_unreachable(log_in_use(), value("address"))
        }
        "database_no_primary" => "promote one of them, or check the hosts in database.url".into(),
        "database_pooled" => "name PostgreSQL's own host and port in database.url: HTM pools connections itself, as many \
                              as database.max_connections"
            .into(),
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

/// The hint for an unknown tag, `of` its namespace. A merge into an unknown tag was meant as a rename.
fn unknown_tag(error: &Error, of: &str) -> Option<String> {
    let value = |name| error.value(name);
    let Some(first) = value("from") else {
        return match value("nearest") {
            Some(_) => None,
            None => Some(format!("list them: `htm tags list{of}`; a tag belongs to one namespace")),
        };
    };
    let (first, tag) = (quoted(first), quoted(value("tag")?));
    let mut hint = format!("to give a tag this name, rename it: `htm tags rename {first} {tag}{of} --yes`");
    if let Some(others) = value("others").filter(|others| !others.is_empty()) {
        hint += &format!(", then `htm tags merge {others} {tag}{of} --yes`");
    }
    if let Some(nearest) = value("nearest") {
        hint += &format!("; the nearest that there are: {nearest}");
    }
    Some(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::is_key;

    #[test]
    fn a_command_is_about_the_namespace_of_the_error_or_else_of_the_command_before() {
        let unknown = || Error::new(codes::CHANGE_UNKNOWN, "it failed");
        let log = |options: &str| format!("list them: `htm tags log{options}`");
        assert_eq!(hint(&unknown()), log(""));
        assert_eq!(hint_within(&unknown(), Some("it's mine")), log(" --namespace 'it'\\''s mine'"));
        assert_eq!(hint_within(&unknown().with_value("namespace", "hb"), Some("x")), log(" --namespace hb"));
    }

    #[test]
    fn a_recall_without_a_step_names_the_settings_of_that_step() {
        let after = |step, code| {
            let error = std::sync::Arc::new(Error::new(code, "it failed"));
            let (code, reason, hint) = (error.code(), error.to_string(), "ask again".to_owned());
            hint_of_step(&Degraded { step, code, reason, hint, error })
        };
        let late = after(Step::Rerank, codes::PROVIDER_TIMEOUT);
        assert_eq!(late.as_deref(), Some("raise rerank.timeout_ms, or lower rerank.top"));
        assert!(is_key("rerank.timeout_ms") && is_key("rerank.top") && is_key("expansion.timeout_ms"));
        let refused = after(Step::Rerank, codes::PROVIDER_UNAUTHORIZED);
        assert_eq!(refused.as_deref(), Some("set a valid key: HTM_RERANK__API_KEY, or rerank.api_key"));
        assert!(is_key("rerank.api_key"));
        let unusable = after(Step::Expansion, codes::PROVIDER_UNUSABLE_ANSWER);
        assert_eq!(unusable.as_deref(), Some("ask again"));
        assert_eq!(after(Step::Rerank, codes::PROVIDER_UNREACHABLE), None);
    }

    #[test]
    fn a_hint_is_about_what_the_error_names() {
        let unfit = || Error::new(codes::JOB_STATE_UNFIT, "it failed").with_hint("use one of: dead, parked");
        assert_eq!(hint(&unfit()), "use one of: dead, parked");
        let one = unfit().with_value("job", "j1").with_value("state", "dead");
        assert_eq!(hint(&one), "to do it again: `htm jobs retry j1`");
        let incomplete = || Error::new(codes::MODEL_INCOMPLETE, "it failed").with_value("label", "a/b");
        let of_callers = hint(&incomplete());
        assert!(of_callers.contains("/vector") && !of_callers.contains("queue"), "{of_callers}");
        assert!(of_callers.ends_with("`htm models activate a/b --force`"), "{of_callers}");
        let of_queue = hint(&incomplete().with_value("open", 3).with_value("dead", 1));
        assert!(of_queue.contains("queue: 3, dead letters: 1: `htm models backfill a/b`"), "{of_queue}");
        let reranker = hint(&Error::new(codes::RERANKER_MISSING, "it failed"));
        assert!(
            ["rerank.url", "rerank.model", "rerank.path"]
                .iter()
                .all(|key| is_key(key) && reranker.contains(key))
        );
        let circle = || {
            let error = Error::new(codes::RELATION_CYCLE, "it failed");
            error.with_value("superseding", 5).with_value("superseded", 4)
        };
        assert_eq!(hint(&circle()), "remove this relation first: `htm unrelate 5 supersedes 4`");
        let of_bob = hint(&circle().with_value("robot", "bob"));
        assert_eq!(of_bob, "add `--any-robot`: it removes another robot's relation, 5 supersedes 4");
    }

    #[test]
    fn a_private_database_that_cannot_be_reached_is_not_said_to_be_that_of_a_url() {
        let hint = of_unreachable(Some(Path::new("/data/server.log")), Some("/run:5432"));
        assert!(hint.contains("/data/server.log"), "{hint}");
        // The doctor shows the hint too, and it finds no more.
        assert!(!hint.contains("database.url") && !hint.contains("`htm doctor`"), "{hint}");
        let hint = of_unreachable(None, Some("one:5432"));
        assert!(hint.contains("the server at one:5432 runs, and database.url"), "{hint}");
    }

    #[test]
    fn no_hint_names_a_function_of_the_library() {
        let of_library: Vec<String> = (codes::ALL.iter())
            .filter(|code| code.hint.contains("::"))
            .map(|code| format!("{}: {}", code.name, hint(&Error::new(code, "it failed"))))
            .filter(|hint| hint.contains("::"))
            .collect();
        assert_eq!(of_library, [""; 0]);
    }

    #[test]
    fn no_hint_of_the_library_names_a_key_of_the_configuration() {
        let is_of_key = |it: char| it.is_ascii_lowercase() || it == '_' || it == '.';
        let names_key = |hint: &str| hint.split(|it| !is_of_key(it)).any(is_key);
        let named = codes::ALL.iter().filter(|code| names_key(code.hint) || code.hint.contains("HTM_"));
        assert_eq!(named.map(|code| code.name).collect::<Vec<_>>(), [""; 0]);
    }
}
