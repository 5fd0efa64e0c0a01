//! `htm keys`, `htm audit`: the keys of the API, and who did what.

use std::process::ExitCode;

use chrono::Utc;
use htm_core::{ApiKey, AuditEntry, NewApiKey, Zone};
use htm_runtime::config::Config;

use crate::args::{AuditArgs, CreateKeyArgs, KeysCommand};
use crate::commands::runtime::with_htm;
use crate::error::CliError;
use crate::instant::local;
use crate::output::{Output, limited, plain, table};

pub(crate) async fn run(
    config: &Config,
    command: KeysCommand,
    output: &Output,
) -> Result<ExitCode, CliError> {
    match command {
        KeysCommand::Create(args) => create(config, args, output).await?,
        KeysCommand::List => {
            let keys = with_htm(config, async |htm| htm.api_keys().await).await?;
            output.value(&keys, || list(&keys, &config.time.settings().zone));
        }
        KeysCommand::Revoke(args) => {
            let key = with_htm(config, async |htm| htm.revoke_api_key(&args.id).await).await?;
            output.value(&key, || format!("key {} is revoked; servers refuse it within a second", key.id));
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn create(config: &Config, args: CreateKeyArgs, output: &Output) -> Result<(), CliError> {
    let key = NewApiKey {
        role: args.role,
        namespaces: args.namespaces,
        robot: args.robot,
        name: args.name,
        expires_in: args.expires,
        requests_per_minute: args.requests_per_minute,
    };
    // Invalid input is rejected before a server is started for it.
    key.validate()?;
    let created = with_htm(config, async |htm| htm.create_api_key(&key).await).await?;
    output.value(&created, || created.secret.expose().to_owned());
    output.aside(&format!("key {}: {}. It is shown this once.", created.key.id, described(&created.key)));
    Ok(())
}

/// The role, the namespaces and the robot of a key.
fn described(key: &ApiKey) -> String {
    let mut text = format!("{} of {}", key.role, namespaces(key));
    if let Some(robot) = &key.robot {
        text.push_str(&format!(" as {}", plain(robot)));
    }
    text
}

fn namespaces(key: &ApiKey) -> String {
    key.namespaces.as_ref().map_or_else(|| "all namespaces".into(), |them| plain(&them.join(", ")))
}

fn list(keys: &[ApiKey], zone: &Zone) -> String {
    if keys.is_empty() {
        return "no keys: the server answers every program of this machine".into();
    }
    let now = Utc::now();
    let state = |key: &ApiKey| match (key.revoked_at, key.expires_at) {
        (Some(_), _) => "revoked".into(),
        (None, Some(at)) if at <= now => "expired".into(),
        (None, Some(at)) => format!("until {}", local(at, zone)),
        (None, None) => "valid".into(),
    };
    let rows = keys.iter().map(|key| {
        vec![
            key.id.clone(),
            key.name.as_deref().map(plain).unwrap_or_default(),
            key.role.to_string(),
            namespaces(key),
            key.robot.as_deref().map(plain).unwrap_or_default(),
            state(key),
            key.last_used_at.map_or_else(|| "never".into(), |at| local(at, zone)),
        ]
    });
    table(&["key", "name", "role", "namespaces", "robot", "state", "last used"], &[], rows.collect())
}

pub(crate) async fn audit(config: &Config, args: AuditArgs, output: &Output) -> Result<ExitCode, CliError> {
    let entries = with_htm(config, async |htm| htm.audit_log(None, args.limit).await).await?;
    output.value(&entries, || {
        audited(&entries, &config.time.settings().zone) + &limited(entries.len(), args.limit)
    });
    Ok(ExitCode::SUCCESS)
}

fn audited(entries: &[AuditEntry], zone: &Zone) -> String {
    if entries.is_empty() {
        return "no entries".into();
    }
    let rows = entries.iter().map(|entry| {
        let details: Vec<String> = entry
            .details
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        vec![
            local(entry.at, zone),
            plain(&entry.actor),
            entry.action.clone(),
            entry.namespace.as_deref().map_or_else(|| "all".into(), plain),
            entry.subject.as_deref().map(plain).unwrap_or_default(),
            plain(&details.join(" ")),
        ]
    });
    table(&["time", "who", "what", "namespace", "of", "details"], &[], rows.collect())
}
