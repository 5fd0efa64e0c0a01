//! `htm workers`.

use std::process::ExitCode;

use htm_core::Zone;
use htm_core::jobs::Worker;
use htm_runtime::config::Config;

use super::runtime::with_htm;
use crate::duration::rough;
use crate::error::CliError;
use crate::instant::local;
use crate::output::{Output, plain, table};

pub(crate) async fn run(config: &Config, output: &Output) -> Result<ExitCode, CliError> {
    let listed = with_htm(config, async |htm| htm.jobs()?.workers().await).await?;
    let zone = &config.time.settings().zone;
    output.value(&listed, || {
        if listed.is_empty() {
            return "no workers; start some: `embed-worker`, `tag-worker` and `learn-worker`, or `htm up`"
                .into();
        }
        let header = ["worker", "queue", "program", "started", "seen", "state", "jobs"];
        table(&header, &[6], listed.iter().map(|worker| row(worker, zone)).collect())
    });
    Ok(ExitCode::SUCCESS)
}

fn row(worker: &Worker, zone: &Zone) -> Vec<String> {
    vec![
        plain(&worker.id),
        worker.queue.clone(),
        plain(&worker.detail),
        worker.started_at.map(|at| local(at, zone)).unwrap_or_default(),
        format!("{} ago", rough(worker.unseen_ms)),
        if worker.alive { "alive" } else { "lost" }.into(),
        worker.jobs.to_string(),
    ]
}
