//! `htm doctor`: finds problems and suggests fixes.

mod models;

use std::process::ExitCode;

use console::style;
use htm_core::error::codes::DATABASE_DENIED;
use htm_core::fault::Fault;
use htm_core::{Error, LearningProblem, MAX_LIMIT, ReplicaState, Result, Stage};
use htm_runtime::commands::in_namespace;
use htm_runtime::config::Config;
use htm_runtime::{Runtime, TO_TURN_ON_ROW_SECURITY, active_model, chain};
use htm_worker::Kind;
use serde::Serialize;

use super::db::repartition;
use crate::error::{CliError, hint};
use crate::output::{Output, count, plain};
use crate::quantity;

/// pgvector 0.8.2 to 0.8.4 fix a vulnerability in parallel HNSW builds and index corruption at vacuum.
const PGVECTOR_SAFE: (u32, u32, u32) = (0, 8, 4);

/// The free bytes on the disk of the private PostgreSQL below which the operator is warned: PostgreSQL extends its log by 16 MB
/// at a time, and a checkpoint may be a while away.
const LITTLE_ROOM: u64 = 256_000_000;

/// The result of one check.
#[derive(Serialize)]
struct Finding {
    state: State,
    what: String,
    /// The next step, if there is one.
    help: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ok,
    Warning,
    Error,
}

/// The findings. Each is told when it is known: a provider may take half a minute not to answer.
struct Findings<'a> {
    output: &'a Output,
    all: Vec<Finding>,
}

impl Findings<'_> {
    fn push(&mut self, finding: Finding) {
        self.output.say(describe(&finding));
        self.all.push(finding);
    }

    fn extend(&mut self, findings: impl IntoIterator<Item = Finding>) {
        findings.into_iter().for_each(|finding| self.push(finding));
    }
}

pub(crate) async fn run(config: &Config, output: &Output) -> Result<ExitCode, CliError> {
    let mut findings = Findings { output, all: Vec::new() };
    findings.push(ok("the configuration is valid"));
    match Runtime::open(config).await {
        Err(error) => findings.push(from_error("the database", &error)),
        Ok(runtime) => {
            let result = look(&runtime, &mut findings).await;
            runtime.close().await;
            if let Err(error) = result {
                findings.push(from_error("checking the database", &error));
            }
        }
    }
    if output.is_json() {
        output.json(&findings.all);
    }
    let failed = findings.all.iter().any(|finding| finding.state == State::Error);
    Ok(if failed { ExitCode::from(Fault::Permanent.exit_code()) } else { ExitCode::SUCCESS })
}

async fn look(runtime: &Runtime, findings: &mut Findings<'_>) -> Result<()> {
    let htm = runtime.htm();
    let versions = htm.database()?.versions().await?;
    findings.push(ok(format!(
        "PostgreSQL {} with pgvector {}, schema version {}",
        versions.postgres,
        versions.pgvector,
        htm_migration::LATEST
    )));
    if parse_version(&versions.pgvector) < PGVECTOR_SAFE {
        findings.push(warning(
            format!("pgvector {} has bugs that 0.8.4 fixes", versions.pgvector),
            "upgrade the extension on the server, then: alter extension vector update",
        ));
    }
    if !versions.durable {
        findings.push(warning(
            "fsync or synchronous_commit is off: a crash of the server may lose memories",
            "set both to on in postgresql.conf",
        ));
    }
    look_at_room(runtime, findings).await?;
    if let Some(replicas) = htm.replicas() {
        findings.extend(replicas.measure().await.into_iter().map(from_replica));
    }
    if htm.has_row_security().await? {
        findings.push(ok("row-level security restricts keys with namespaces"));
    } else if htm.has_api_keys().await? {
        findings.push(warning(
            "row-level security is off: the library alone restricts keys with namespaces",
            TO_TURN_ON_ROW_SECURITY,
        ));
    }
    look_at_unfinished(runtime, findings).await?;
    models::look(runtime, findings).await?;
    look_at_queues(runtime, findings).await?;
    findings.extend(htm.providers()?.list().await?.iter().filter_map(models::from_provider));
    let alive: Vec<_> = htm.jobs()?.workers().await?.into_iter().filter(|worker| worker.alive).collect();
    for worker in &alive {
        let version = worker.detail.split(' ').nth(1).unwrap_or_default();
        if version != env!("CARGO_PKG_VERSION") {
            findings.push(warning(
                format!(
                    "worker {} has version {version}, this program {}",
                    worker.id,
                    env!("CARGO_PKG_VERSION")
                ),
                "restart the workers with this version's binaries",
            ));
        }
    }
    findings.extend(htm.learning_problems().await?.into_iter().map(from_learning));
    findings.extend(htm.full_namespaces().await?.iter().map(|namespace| {
        warning(
            format!("namespace {} has as many tags as it may: new ones are left out", plain(namespace)),
            format!(
                "remove unused ones (`htm tags orphans{}`), or raise `tag.namespace_limit`",
                plain(&in_namespace(Some(namespace)))
            ),
        )
    }));
    let stranded = htm.jobs()?.count_stranded().await?;
    findings.push(if stranded == 0 {
        ok("no node is stranded: each has its result, a job, or a dead letter")
    } else {
        let help =
            "list them with `htm jobs audit`, fix them with `--repair`; this is a bug, please report it"
                .to_owned();
        let what = format!("{} of nodes without a result, a job or a dead letter", count(stranded, "stage"));
        Finding { state: State::Error, what, help: Some(help) }
    });
    Ok(())
}

/// Looks for room on the disk. Without any, everything can be read, and no write succeeds.
async fn look_at_room(runtime: &Runtime, findings: &mut Findings<'_>) -> Result<()> {
    match runtime.htm().database()?.try_write().await {
        Ok(()) => {}
        Err(error) if error.is(DATABASE_DENIED) => findings.push(warning(
            "the room on the database's disk was not checked: the role may not make temporary tables",
            "grant it: grant temporary on database NAME to ROLE",
        )),
        Err(error) => findings.push(from_error("a trial write", &error)),
    }
    findings.extend(runtime.private_free_bytes().and_then(from_free_bytes));
    Ok(())
}

fn from_free_bytes(free: u64) -> Option<Finding> {
    let what = || format!("the disk of the private PostgreSQL has {} left", quantity::bytes(free));
    (free < LITTLE_ROOM).then(|| warning(what(), "make room there: without any, nothing can be remembered"))
}

fn from_replica(replica: ReplicaState) -> Finding {
    let host = &replica.host;
    match replica.in_use {
        true => ok(format!("the replica {host} answers reads")),
        false => warning(
            format!("the replica {host} is not read: {}", replica.reason),
            "if it was promoted, take it out of database.replica_urls, or make it a replica again; otherwise check its \
             replication on the primary: select * from pg_stat_replication",
        ),
    }
}

/// Looks for work that was interrupted, and goes on when it is told to.
async fn look_at_unfinished(runtime: &Runtime, findings: &mut Findings<'_>) -> Result<()> {
    let layout = htm_runtime::layout_of(runtime).await?;
    if let Some(change) = layout.change {
        let (what, help) = repartition::unfinished(layout.partitions, change);
        findings.push(if change.is_running { ok(what) } else { warning(what, help) });
    }
    for erasure in runtime.htm().erasures(None, MAX_LIMIT).await? {
        if erasure.ended_at.is_none() {
            let (id, erased, of) = (erasure.id, erasure.erased, count(erasure.memories, "memory"));
            findings.push(warning(
                format!("erasure {id} has not ended: {erased} of {of} erased"),
                format!("unless a process works on it, go on: `htm erase resume {id}`"),
            ));
        }
    }
    Ok(())
}

async fn look_at_queues(runtime: &Runtime, findings: &mut Findings<'_>) -> Result<()> {
    let htm = runtime.htm();
    let listed = htm.models()?.list().await?;
    let configured = active_model::configured(runtime.config(), &listed)
        .map_or_else(|| htm.settings().embedding_model.to_string(), |model| model.label.clone());
    for queue in htm.jobs()?.queues().await? {
        let name = &queue.queue;
        let text = format!(
            "{name}: {} due, {} waiting, {} running, {} done, {}; {}",
            queue.due,
            queue.waiting,
            queue.running,
            queue.done,
            count(queue.dead, "dead letter"),
            count(queue.workers, "worker")
        );
        findings.push(if queue.due + queue.waiting + queue.running > 0 && queue.workers == 0 {
            let kind = Kind::of_queue(name);
            // The queue of another model than the configured one is named.
            let is_other = kind == Kind::Stage(Stage::Embed)
                && queue.model.as_ref().is_some_and(|model| *model != configured);
            let of_queue = if is_other { format!(" --queue {name}") } else { String::new() };
            let help = format!("start one: `{}{of_queue}`, or `htm up`", kind.program());
            Finding { state: State::Error, what: format!("{text}: no worker serves it"), help: Some(help) }
        } else if queue.dead > 0 {
            let help = format!(
                "see why: `htm jobs list --queue {name} --state dead`; retry: `htm jobs retry --all-dead`"
            );
            warning(text, help)
        } else {
            ok(text)
        });
        if let Some(reason) = &queue.paused {
            findings.push(warning(
                format!("{name} is paused: {reason}"),
                format!("resume it: `htm jobs resume {name}`"),
            ));
        }
        if let Some(reason) = &queue.refused {
            findings.push(warning(
                format!("{name}: the database refuses the results, so nothing is claimed: {reason}"),
                "fix it on the database's server; the results are kept and then written",
            ));
        }
        if queue.parked > 0 {
            let what = format!(
                "{name}: {} parked: budget spent, or put off for too long",
                count(queue.parked, "job")
            );
            findings.push(warning(what, format!("see why: `htm jobs list --queue {name} --state parked`")));
        }
    }
    Ok(())
}

fn from_learning(problem: LearningProblem) -> Finding {
    match problem {
        LearningProblem::OnlyRefuses { namespace, author, recalls } => warning(
            format!(
                "`{}` has judged {} of namespace {} and found nothing of use: it moves no ranking",
                plain(&author),
                count(recalls, "recall"),
                plain(&namespace)
            ),
            "look at who it is: `htm learning show`, `htm keys list`",
        ),
        LearningProblem::Unusable { namespace, version, reason } => warning(
            format!(
                "version {version} of the ranking of {} is not used: {reason}; the default ranking stands in",
                plain(&namespace)
            ),
            "choose another one: `htm ranking list`, `htm ranking activate VERSION`",
        ),
    }
}

fn ok(what: impl Into<String>) -> Finding {
    Finding { state: State::Ok, what: what.into(), help: None }
}

fn warning(what: impl Into<String>, help: impl Into<String>) -> Finding {
    Finding { state: State::Warning, what: what.into(), help: Some(help.into()) }
}

fn from_error(where_: &str, error: &Error) -> Finding {
    Finding {
        state: State::Error,
        what: format!("{where_}: {} [{}]", chain(error), error.code()),
        help: Some(help(error)),
    }
}

/// The next step after an error. This command is none.
fn help(error: &Error) -> String {
    let help = hint(error);
    if help.contains("`htm doctor`") { error.hint().to_owned() } else { help }
}

fn describe(finding: &Finding) -> String {
    let mark = match finding.state {
        State::Ok => style("ok     ").green(),
        State::Warning => style("warning").yellow(),
        State::Error => style("error  ").red(),
    };
    let help = finding.help.as_ref().map(|help| format!("\n         help: {help}")).unwrap_or_default();
    format!("{mark}  {}{}", plain(&finding.what), plain(&help))
}

fn parse_version(text: &str) -> (u32, u32, u32) {
    let mut parts = text.split('.').map(|part| part.parse().unwrap_or(0));
    let mut next = || parts.next().unwrap_or(0);
    (next(), next(), next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_with_little_room_is_a_warning() {
        let finding = from_free_bytes(3_000_000).unwrap();
        assert_eq!(finding.what, "the disk of the private PostgreSQL has 3.0 MB left");
        assert!(finding.state == State::Warning);
        assert!(from_free_bytes(LITTLE_ROOM).is_none());
    }
}
