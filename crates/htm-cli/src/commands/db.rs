//! `htm db …`.

pub(crate) mod repartition;
mod upgrade;

use std::path::Path;
use std::process::ExitCode;

use htm_runtime::backup::{self, Restored};
use htm_runtime::config::Config;
use htm_runtime::paths::{Paths, size_of};
use htm_runtime::private_pg::{PrivatePg, Released};
use htm_runtime::shutdown::INTERRUPTED;
use htm_runtime::{Layout, LayoutChange, Runtime};
use indicatif::{HumanBytes, ProgressBar};

use super::runtime::with_runtime;
use crate::args::DbCommand;
use crate::codes;
use crate::error::CliError;
use crate::output::{Output, count, table};

pub(crate) async fn run(config: &Config, command: DbCommand, output: &Output) -> Result<ExitCode, CliError> {
    match command {
        DbCommand::Up => up(config, output).await?,
        DbCommand::Down { force } => {
            down(&private(config, "stop")?, force).await?;
            output.value(&serde_json::json!({ "running": false }), || "stopped".into());
        }
        DbCommand::Status => status(config, output).await?,
        DbCommand::Url => {
            let url = url(config)?;
            output.value(&serde_json::json!({ "url": url }), || url.clone());
        }
        DbCommand::Migrate { application_role, partitions } => {
            let answer = serde_json::json!({ "stopped": true });
            output.leaves(answer, "the same command goes on: what is migrated by now stays");
            htm_runtime::migrate(config).await?;
            if let Some(partitions) = partitions {
                htm_runtime::set_partitions(config, partitions).await?;
            }
            if let Some(role) = &application_role {
                htm_runtime::grant(config, role).await?;
            }
            let version = htm_migration::LATEST;
            output.value(&serde_json::json!({ "schema_version": version }), || {
                format!("schema version {version}")
            });
        }
        DbCommand::Repartition { partitions, .. } => repartition::run(config, partitions, output).await?,
        DbCommand::Backup { directory, jobs } => return back_up(config, &directory, jobs, output).await,
        DbCommand::Restore { directory, dry_run: true, .. } => check(&directory, output).await?,
        DbCommand::Restore { directory, jobs, .. } => return restore(config, &directory, jobs, output).await,
        DbCommand::Upgrade { dry_run, old_home, dump } => {
            only_private(config, "upgrade")?;
            return upgrade::run(&Paths::from_env()?, old_home.as_deref(), dump, dry_run, output).await;
        }
        DbCommand::Reset { yes: false } => {
            let place = htm_runtime::place(config)?;
            return Err(CliError::not_confirmed(format!("deleting every memory of the {place}")));
        }
        DbCommand::Reset { yes: true } => {
            let place = htm_runtime::place(config)?;
            let answer = serde_json::json!({ "stopped": true });
            output.leaves(answer, format!("the memories of the {place} are all there, or all deleted"));
            htm_runtime::drop_schemas(config).await?;
            let answer = serde_json::json!({ "reset": true, "database": place });
            output.value(&answer, || {
                format!("every memory of the {place} is deleted; `htm db migrate` recreates the schema")
            });
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn up(config: &Config, output: &Output) -> Result<(), CliError> {
    let server = private(config, "start")?;
    server.up().await?;
    htm_runtime::migrate(config).await?;
    let url = server.url();
    output.value(&serde_json::json!({ "running": true, "url": url }), || format!("running at {url}"));
    Ok(())
}

async fn back_up(config: &Config, to: &Path, jobs: u16, output: &Output) -> Result<ExitCode, CliError> {
    let stop = output.stop();
    let mut bar = None;
    let saved = backup::back_up(config, to, jobs, &stop, &mut |done, all| {
        show(&mut bar, "backup", done, all, output)
    })
    .await;
    drop(bar);
    let Some(manifest) = saved? else {
        let answer = serde_json::json!({ "stopped": true, "saved": false });
        output.value(&answer, || "stopped; nothing was saved".into());
        return Ok(ExitCode::from(INTERRUPTED));
    };
    let size = size_of(to);
    // A path may be no text.
    let directory = to.display().to_string();
    let answer = serde_json::json!({ "directory": directory, "bytes": size, "manifest": manifest });
    output.value(&answer, || {
        let (memories, rows) = (count(manifest.memories(), "memory"), count(manifest.rows(), "row"));
        format!(
            "{memories}, {rows} of {} saved to {} ({})",
            count(manifest.tables.len() as u64, "table"),
            directory,
            HumanBytes(size)
        )
    });
    Ok(ExitCode::SUCCESS)
}

/// Checks the files of a backup.
async fn check(from: &Path, output: &Output) -> Result<(), CliError> {
    let manifest = backup::check(from).await?;
    // A backup of an older program has nothing to compare its files with.
    let is_checked = !manifest.files.is_empty();
    let answer = serde_json::json!({ "restored": false, "checked": is_checked, "manifest": manifest });
    output.value(&answer, || {
        let (memories, rows) = (count(manifest.memories(), "memory"), count(manifest.rows(), "row"));
        let files = match is_checked {
            true => {
                let bytes = manifest.files.values().map(|file| file.bytes).sum();
                format!("{} ({}) as they were saved", count(manifest.files.len(), "file"), HumanBytes(bytes))
            }
            false => "its manifest does not say what is in its files, so they were not checked".into(),
        };
        format!("{memories}, {rows} of {}; {files}; nothing is restored", manifest.made_at)
    });
    Ok(())
}

async fn restore(config: &Config, from: &Path, jobs: u16, output: &Output) -> Result<ExitCode, CliError> {
    let stop = output.stop();
    let mut bar = None;
    let restored = backup::restore(config, from, jobs, &stop, &mut |done, all| {
        show(&mut bar, "restore", done, all, output)
    })
    .await;
    drop(bar);
    let stopped = |incomplete: bool, what: &str| {
        let answer = serde_json::json!({ "stopped": true, "incomplete": incomplete });
        output.value(&answer, || format!("stopped; {what}"));
        Ok(ExitCode::from(INTERRUPTED))
    };
    let manifest = match restored? {
        Restored::Whole(manifest) => manifest,
        Restored::Untouched => return stopped(false, "the database is as it was"),
        Restored::Incomplete => {
            return stopped(
                true,
                "the database has a part of the backup, and no program uses it: run `htm db restore` again, or delete the \
                 part: `htm db reset --yes`",
            );
        }
    };
    let stranded =
        with_runtime(config, async |runtime| Ok(runtime.htm().jobs()?.count_stranded().await?)).await?;
    let answer = serde_json::json!({ "manifest": manifest, "stranded": stranded });
    output.value(&answer, || {
        let (memories, rows) = (count(manifest.memories(), "memory"), count(manifest.rows(), "row"));
        let jobs = match stranded {
            0 => "each memory has its results, a job or a dead letter".to_owned(),
            _ => format!("{}: `htm jobs audit` lists them", count(stranded.unsigned_abs(), "stranded job")),
        };
        format!("{memories}, {rows} restored, as the backup of {} says; {jobs}", manifest.made_at)
    });
    Ok(if stranded == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Shows how many tables are done. The bar comes with the first number.
fn show(bar: &mut Option<ProgressBar>, what: &'static str, done: usize, all: usize, output: &Output) {
    let bar = bar.get_or_insert_with(|| output.progress(all as u64, "tables").with_message(what));
    bar.set_position(done as u64);
}

async fn down(server: &PrivatePg, force: bool) -> Result<(), CliError> {
    if force {
        return Ok(server.down().await?);
    }
    let in_use = |who: String| CliError::new(codes::DATABASE_IN_USE, format!("{who} the private PostgreSQL"));
    // Programs that connect by its URL hold no lock of HTM. A server that does not answer is stopped.
    match server.connected().await? {
        0 => {}
        1 => return Err(in_use("1 other connection is open to".into())),
        others => return Err(in_use(format!("{others} other connections are open to"))),
    }
    match server.down_unless_used().await? {
        Released::InUse => Err(in_use("another process of HTM uses".into())),
        Released::Stopped | Released::Stays => Ok(()),
    }
}

async fn status(config: &Config, output: &Output) -> Result<(), CliError> {
    let paths = Paths::from_env()?;
    if !config.database.url.is_empty() {
        let version = htm_runtime::schema_version(config).await?;
        let layout = layout(config).await;
        let answer = serde_json::json!({
            "private": false, "schema_version": version, "wanted": htm_migration::LATEST,
            "partitions": layout.map(|layout| layout.partitions), "change": change(layout),
        });
        output.value(&answer, || {
            let layout = layout.map(|layout| format!("; {}", repartition::describe(layout)));
            format!(
                "database.url answers; schema version {version} (this program needs {}){}",
                htm_migration::LATEST,
                layout.unwrap_or_default()
            )
        });
        return Ok(());
    }
    let status = PrivatePg::locate(&paths)?.status().await?;
    let layout = if status.running { layout(config).await } else { None };
    let yes = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    let answer = serde_json::json!({
        "private": true, "running": status.running, "pid": status.pid, "version": status.version,
        "data_dir": status.data_dir.display().to_string(), "url": status.url,
        "stays": status.stay, "in_use": status.in_use,
        "partitions": layout.map(|layout| layout.partitions), "change": change(layout),
    });
    output.value(&answer, || {
        let rows = [
            ("running", yes(status.running)),
            ("pid", status.pid.map(|pid| pid.to_string()).unwrap_or_default()),
            ("version", status.version.to_string()),
            ("data", status.data_dir.display().to_string()),
            ("url", status.url.clone()),
            ("stays", yes(status.stay)),
            ("in use", status.in_use.map(yes).unwrap_or_default()),
            ("memories", layout.map(repartition::describe).unwrap_or_default()),
        ];
        table(
            &["private PostgreSQL", ""],
            &[],
            rows.into_iter().map(|(name, value)| vec![name.into(), value]).collect(),
        )
    });
    Ok(())
}

/// The layout of the memories; none if this program cannot use the database.
async fn layout(config: &Config) -> Option<Layout> {
    let runtime = Runtime::open_if_up(config).await.ok()?;
    let layout = htm_runtime::layout_of(&runtime).await;
    runtime.close().await;
    layout.ok()
}

/// A change of the layout that is not complete, for programs.
fn change(layout: Option<Layout>) -> Option<serde_json::Value> {
    let LayoutChange { to, is_running } = layout?.change?;
    Some(serde_json::json!({ "partitions": to, "running": is_running }))
}

fn url(config: &Config) -> Result<String, CliError> {
    if !config.database.url.is_empty() {
        return Ok(config.database.url.expose().to_owned());
    }
    Ok(PrivatePg::locate(&Paths::from_env()?)?.url())
}

/// The private server. An error if another database is configured.
fn private(config: &Config, verb: &str) -> Result<PrivatePg, CliError> {
    only_private(config, verb)?;
    Ok(PrivatePg::locate(&Paths::from_env()?)?)
}

fn only_private(config: &Config, verb: &str) -> Result<(), CliError> {
    if config.database.url.is_empty() {
        return Ok(());
    }
    let message = format!("database.url is set: HTM does not {verb} that server");
    Err(CliError::new(codes::DATABASE_NOT_PRIVATE, message))
}
