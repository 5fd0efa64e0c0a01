//! `htm db upgrade`.

use std::path::Path;
use std::process::ExitCode;

use htm_runtime::paths::Paths;
use htm_runtime::private_pg::{PrivatePg, Upgrade, UpgradeMethod, UpgradePlan, Upgraded};
use htm_runtime::shutdown::INTERRUPTED;
use indicatif::HumanBytes;

use super::down;
use crate::error::CliError;
use crate::output::{Output, count};

pub(super) async fn run(
    paths: &Paths,
    old_home: Option<&Path>,
    by_dump: bool,
    dry_run: bool,
    output: &Output,
) -> Result<ExitCode, CliError> {
    let Some(upgrade) = Upgrade::find(paths, old_home, by_dump).await? else {
        nothing_to_do(paths, output).await?;
        return Ok(ExitCode::SUCCESS);
    };
    let plan = upgrade.plan();
    if dry_run {
        output.value(&serde_json::json!({ "upgraded": false, "plan": plan }), || planned(plan));
        return Ok(ExitCode::SUCCESS);
    }
    let stays = upgrade.server().status().await?.stay;
    // From here on a signal does not end this process: its locks keep others away while programs work on the clusters.
    let stop = output.stop();
    down(upgrade.server(), false).await?;
    let bar = output.progress_of_steps();
    let steps = bar.clone();
    let result = upgrade.run(&stop, move |step| steps.set_message(step)).await;
    bar.finish_and_clear();
    // One that was kept up before is up afterwards, and marked to stay: the new one, or the old one.
    let started = match (&result, stays) {
        (_, false) => Ok(()),
        (Ok(Some(_)), true) => start(paths).await,
        (Ok(None) | Err(_), true) => upgrade.server().up().await,
    };
    let Some(upgraded) = result? else {
        started?;
        let answer = serde_json::json!({ "stopped": true, "upgraded": false, "running": stays });
        output.value(&answer, || "stopped; the old cluster is in its place".into());
        return Ok(ExitCode::from(INTERRUPTED));
    };
    let running = stays && started.is_ok();
    let answer = serde_json::json!({
        "upgraded": true, "plan": plan, "result": upgraded, "running": running,
        "to_remove_the_old": to_remove(plan), "to_go_back": to_go_back(plan),
    });
    output.value(&answer, || done(plan, &upgraded, running));
    // The cluster is upgraded, and the answer says so, even if its server does not start.
    started?;
    Ok(ExitCode::SUCCESS)
}

async fn start(paths: &Paths) -> htm_core::Result<()> {
    PrivatePg::locate(paths)?.up().await
}

async fn nothing_to_do(paths: &Paths, output: &Output) -> Result<(), CliError> {
    let status = PrivatePg::locate(paths)?.status().await?;
    let version = &status.version;
    let is_named = std::env::var_os("HTM_POSTGRES_HOME").is_some_and(|home| !home.is_empty());
    let (reason, said) = match (status.data_dir.exists(), is_named) {
        (false, _) => {
            ("no_cluster", format!("there is no cluster yet; it will be one of PostgreSQL {version}"))
        }
        (true, true) => (
            "named_version",
            format!(
                "nothing to do: the cluster is one of PostgreSQL {version}, the one that HTM_POSTGRES_HOME names; unset it, \
                 and give it to --old-home, to use a newer one"
            ),
        ),
        (true, false) => (
            "newest_version",
            format!("nothing to do: the cluster is one of PostgreSQL {version}, the newest that is found"),
        ),
    };
    let answer = serde_json::json!({ "upgraded": false, "version": version, "reason": reason });
    output.value(&answer, || said);
    Ok(())
}

fn planned(plan: &UpgradePlan) -> String {
    let UpgradePlan { from, to, data_dir, old_data_dir, .. } = plan;
    let (needed, free) = (HumanBytes(plan.bytes_needed), HumanBytes(plan.bytes_free));
    let room = if plan.bytes_free < plan.bytes_needed { ", which is too little" } else { "" };
    format!(
        "{} would be brought from PostgreSQL {from} to {to} {}\n\
         up to {needed} would be needed, and {free} are free{room}\n\
         the old cluster would be kept in {}",
        data_dir.display(),
        by(plan.method),
        old_data_dir.display()
    )
}

fn done(plan: &UpgradePlan, upgraded: &Upgraded, running: bool) -> String {
    let UpgradePlan { from, to, old_data_dir, .. } = plan;
    let tables = count(upgraded.tables, "table");
    let mut lines = vec![format!(
        "PostgreSQL {from} is now {to} {}: {} of {tables}, as before",
        by(plan.method),
        count(upgraded.rows, "row"),
    )];
    for extension in &upgraded.extensions {
        let (name, database) = (&extension.name, &extension.database);
        lines.push(format!(
            "the extension {name} of {database} was {} and is {}",
            extension.from, extension.to
        ));
    }
    if !upgraded.left_behind.is_empty() {
        lines.push(format!("only the old cluster has: {}", upgraded.left_behind.join(", ")));
    }
    if running {
        lines.push("its server runs again".into());
    }
    lines.push(format!("the old cluster is kept in {}", old_data_dir.display()));
    lines.push(format!("  to remove it:  {}", to_remove(plan)));
    lines.push(format!("  to go back, without what is written from now on:  {}", to_go_back(plan)));
    lines.join("\n")
}

fn by(method: UpgradeMethod) -> &'static str {
    match method {
        UpgradeMethod::PgUpgrade => "by pg_upgrade",
        UpgradeMethod::Dump => "by a dump of HTM's schemas",
    }
}

fn to_remove(plan: &UpgradePlan) -> String {
    format!("rm -r {}", quoted(&plan.old_data_dir))
}

/// Moves the new cluster aside and the old one back. It needs the old programs: those of the upgrade.
fn to_go_back(plan: &UpgradePlan) -> String {
    let (data, old) = (quoted(&plan.data_dir), quoted(&plan.old_data_dir));
    let aside = quoted(&plan.aside_data_dir);
    let home = plan.old_bin_dir.parent().map(quoted).unwrap_or_default();
    format!(
        "htm db down && mv {data} {aside} && mv {old} {data} && export HTM_POSTGRES_HOME={home} && htm db up"
    )
}

/// A path for a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
    match text.chars().all(is_plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_quoted_for_a_shell() {
        let plan = UpgradePlan {
            from: "16.14".into(),
            to: "18.6".into(),
            method: UpgradeMethod::Dump,
            data_dir: "/a b/data".into(),
            old_data_dir: "/a b/data.postgresql-16".into(),
            aside_data_dir: "/a b/data.postgresql-18".into(),
            old_bin_dir: "/it's/bin".into(),
            bytes: 1,
            bytes_needed: 2,
            bytes_free: 1,
        };
        assert_eq!(to_remove(&plan), "rm -r '/a b/data.postgresql-16'");
        assert_eq!(
            to_go_back(&plan),
            r"htm db down && mv '/a b/data' '/a b/data.postgresql-18' && mv '/a b/data.postgresql-16' '/a b/data' && export HTM_POSTGRES_HOME='/it'\''s' && htm db up"
        );
        assert!(planned(&plan).contains("which is too little"));
    }
}
