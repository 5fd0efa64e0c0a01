//! `htm db …`.

use std::process::ExitCode;

use htm_runtime::config::Config;
use htm_runtime::paths::Paths;
use htm_runtime::private_pg::PrivatePg;

use crate::args::DbCommand;
use crate::error::CliError;
use crate::output::{Output, table};

pub(crate) async fn run(config: &Config, command: DbCommand, output: &Output) -> Result<ExitCode, CliError> {
    match command {
        DbCommand::Up => up(config, output).await?,
        DbCommand::Down => {
            private(config, "stop")?.down().await?;
            output.value(&serde_json::json!({ "running": false }), || "stopped".into());
        }
        DbCommand::Status => status(config, output).await?,
        DbCommand::Url => {
            let url = url(config)?;
            output.value(&serde_json::json!({ "url": url }), || url.clone());
        }
        DbCommand::Migrate { application_role } => {
            htm_runtime::migrate(config).await?;
            if let Some(role) = &application_role {
                htm_runtime::grant(config, role).await?;
            }
            let version = htm_migration::LATEST;
            output.value(&serde_json::json!({ "schema_version": version }), || {
                format!("schema version {version}")
            });
        }
        DbCommand::Reset { yes: false } => {
            return Err(CliError::Usage {
                code: "not_confirmed",
                what: "resetting deletes every memory, and that was not confirmed".into(),
                hint: "say so: `htm db reset --yes`".into(),
            });
        }
        DbCommand::Reset { yes: true } => {
            htm_runtime::drop_schemas(config).await?;
            output.value(&serde_json::json!({ "reset": true }), || {
                "every memory is gone; `htm db migrate` makes the schema again".into()
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

async fn status(config: &Config, output: &Output) -> Result<(), CliError> {
    let paths = Paths::from_env()?;
    if !config.database.url.is_empty() {
        let version = htm_runtime::schema_version(config).await?;
        let answer = serde_json::json!({ "private": false, "schema_version": version, "wanted": htm_migration::LATEST });
        output.value(&answer, || {
            format!(
                "database.url answers; schema version {version} (this program wants {})",
                htm_migration::LATEST
            )
        });
        return Ok(());
    }
    let status = PrivatePg::locate(&paths)?.status().await?;
    let yes = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    let answer = serde_json::json!({
        "private": true, "running": status.running, "pid": status.pid, "version": status.version,
        "data_dir": status.data_dir, "url": status.url, "stays": status.stay, "in_use": status.in_use,
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
        ];
        table(
            &["private PostgreSQL", ""],
            &[],
            rows.into_iter().map(|(name, value)| vec![name.into(), value]).collect(),
        )
    });
    Ok(())
}

fn url(config: &Config) -> Result<String, CliError> {
    if !config.database.url.is_empty() {
        return Ok(config.database.url.clone());
    }
    Ok(PrivatePg::locate(&Paths::from_env()?)?.url())
}

/// The private server, which is only there when no other database is configured.
fn private(config: &Config, verb: &str) -> Result<PrivatePg, CliError> {
    if !config.database.url.is_empty() {
        return Err(CliError::Usage {
            code: "database_not_private",
            what: format!("database.url is set: that server is not this program's to {verb}"),
            hint: "use that server's own tools, or unset database.url (HTM_DATABASE__URL)".into(),
        });
    }
    Ok(PrivatePg::locate(&Paths::from_env()?)?)
}
