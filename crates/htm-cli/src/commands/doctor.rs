//! `htm doctor`: finds problems and suggests fixes.

use std::process::ExitCode;

use console::style;
use htm_core::fault::Fault;
use htm_core::job::LEARN_QUEUE;
use htm_core::models::ModelState;
use htm_core::providers::Provider;
use htm_core::{BreakerState, Error, LearningProblem, ReplicaState, Result};
use htm_runtime::config::Config;
use htm_runtime::providers::local_facts;
use htm_runtime::{Session, chain};
use serde::Serialize;

use crate::error::{CliError, hint};
use crate::output::{Output, count, plain};

/// pgvector 0.8.2 to 0.8.4 fix a vulnerability in parallel HNSW builds and index corruption at vacuum.
const PGVECTOR_SAFE: (u32, u32, u32) = (0, 8, 4);

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

pub(crate) async fn run(config: &Config, output: &Output) -> Result<ExitCode, CliError> {
    let mut findings = vec![ok("the configuration is valid")];
    match Session::open(config).await {
        Err(error) => findings.push(from_error("the database", &error)),
        Ok(session) => {
            let result = look(&session, &mut findings).await;
            session.close().await;
            if let Err(error) = result {
                findings.push(from_error("checking the database", &error));
            }
        }
    }
    let failed = findings.iter().any(|finding| finding.state == State::Error);
    output.value(&findings, || findings.iter().map(describe).collect::<Vec<_>>().join("\n"));
    Ok(if failed { ExitCode::from(Fault::Permanent.exit_code()) } else { ExitCode::SUCCESS })
}

async fn look(session: &Session, findings: &mut Vec<Finding>) -> Result<()> {
    let htm = session.htm();
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
    if let Some(replicas) = htm.replicas() {
        findings.extend(replicas.look().await.into_iter().map(from_replica));
    }
    if htm.has_row_security().await? {
        findings.push(ok("row-level security restricts keys with namespaces"));
    } else if htm.has_api_keys().await? {
        findings.push(warning(
            "row-level security is off: the library alone restricts keys with namespaces",
            "run `htm db migrate` as a role that may create roles",
        ));
    }
    match session.embedder() {
        Ok(embedder) => match embedder.dimensions().await {
            Ok(dimensions) => {
                let model = embedder.model();
                findings.push(ok(format!("{model} answers with {dimensions} dimensions")));
                if let Some(Ok(facts)) = local_facts(session.config(), session.paths(), model) {
                    findings.push(ok(format!("{model}: {facts}")));
                }
            }
            Err(error) => findings.push(from_error("the embedding provider", &error.into())),
        },
        Err(error) => findings.push(from_error("the embedding provider", &error)),
    }
    look_at_models(session, findings).await?;
    if let Err(error) = session.tagger() {
        findings.push(from_error("the tag provider", &error));
    }
    look_at_refiners(session, findings).await;
    look_at_queues(session, findings).await?;
    findings.extend(htm.providers()?.list().await?.iter().filter_map(from_provider));
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

fn from_replica(replica: ReplicaState) -> Finding {
    let host = &replica.host;
    match replica.in_use {
        true => ok(format!("the replica {host} answers reads")),
        false => warning(
            format!("the replica {host} is not read: {}", replica.reason),
            "check its replication on the primary: select * from pg_stat_replication",
        ),
    }
}

/// Checks whether the active model is the configured one. Another one works too, if its queries can be embedded here.
async fn look_at_models(session: &Session, findings: &mut Vec<Finding>) -> Result<()> {
    let models = session.htm().models()?.list().await?;
    let Some(active) = models.iter().find(|model| model.state == ModelState::Active) else { return Ok(()) };
    let configured = session.htm().settings().embedding_model.clone();
    if active.name == configured {
        return Ok(());
    }
    let label = &active.label;
    if active.is_of_callers() {
        findings.push(ok(format!("recall uses {label}: its vectors come from callers")));
        return Ok(());
    }
    let known = models.iter().find(|model| model.name == configured);
    let state = known.map_or("not registered".into(), |model| format!("in state {}", model.state));
    let what = format!("recall uses {label}, the active model; the configured one, {configured}, is {state}");
    let back = format!(
        "stay with {label}: set embedding.provider = \"{}\" and embedding.model = \"{}\"",
        active.name.provider, active.name.name
    );
    let over = match known.filter(|model| model.is_in_use()) {
        Some(model) => format!("`htm models backfill {0}`, then `htm models activate {0}`", model.label),
        None => {
            format!(
                "`htm models add {configured}`, `htm models backfill {configured}`, then `htm models activate {configured}`"
            )
        }
    };
    let help = format!("{back}; or switch to {configured}: {over}");
    findings.push(match session.embedder_of(active).await {
        Ok(_) => warning(what, help),
        Err(error) => {
            let what = format!("{what}; {label} cannot embed a query here: {error} [{}]", error.code());
            Finding { state: State::Error, what, help: Some(help) }
        }
    });
    Ok(())
}

/// Checks the configured re-ranker and query expander. The re-ranker is called. The language model is not, because its
/// calls cost money.
async fn look_at_refiners(session: &Session, findings: &mut Vec<Finding>) {
    match session.reranker() {
        Ok(Some(reranker)) => match reranker.rerank("ping", &["pong".to_owned()]).await {
            Ok(_) => findings.push(ok(format!("{} re-ranks", reranker.model()))),
            Err(error) => findings.push(from_error("the re-ranker", &error.into())),
        },
        Ok(None) => {}
        Err(error) => findings.push(from_error("the re-ranker", &error)),
    }
    if let Err(error) = session.expander() {
        findings.push(from_error("query expansion", &error));
    }
}

async fn look_at_queues(session: &Session, findings: &mut Vec<Finding>) -> Result<()> {
    let htm = session.htm();
    let configured = htm.settings().embedding_model.to_string();
    for queue in htm.jobs()?.queues().await? {
        let name = &queue.queue;
        let waiting = queue.due + queue.waiting;
        let text = format!(
            "{name}: {waiting} waiting, {} running, {} done, {}; {}",
            queue.running,
            queue.done,
            count(queue.dead, "dead letter"),
            count(queue.workers, "worker")
        );
        findings.push(if waiting + queue.running > 0 && queue.workers == 0 {
            let program = match name.as_str() {
                "htm.tag" => "tag-worker".to_owned(),
                LEARN_QUEUE => "learn-worker".to_owned(),
                _ if queue.model.as_ref().is_none_or(|model| *model == configured) => {
                    "embed-worker".to_owned()
                }
                // The queue of another model than the configured one.
                other => format!("embed-worker --queue {other}"),
            };
            let help = format!("start one: `{program}`, or `htm up`");
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

fn from_provider(provider: &Provider) -> Option<Finding> {
    let model = &provider.model;
    let is_left_alone = provider.breaker != BreakerState::Closed || provider.held_ms.is_some();
    let what = match provider.reason.as_deref() {
        reason if is_left_alone => {
            format!("{model} is not called at the moment: {}", reason.unwrap_or("no reason recorded"))
        }
        Some(reason) => format!("the last call of {model} failed: {reason}"),
        None => return None,
    };
    let help = format!("see `htm providers`; when the cause is fixed: `htm providers reset {model}`");
    Some(warning(what, help))
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
        help: Some(hint(error)),
    }
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
