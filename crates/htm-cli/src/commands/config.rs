//! `htm config …`.

mod explain;

use std::process::ExitCode;

use htm_runtime::config::{Config, Decision, Loaded, Locations, ProjectFile};

pub(crate) use self::explain::{default, explain};
use crate::codes;
use crate::error::CliError;
use crate::output::{Output, plain, table};

pub(crate) fn show(loaded: &Loaded, output: &Output) -> Result<ExitCode, CliError> {
    let entries = loaded.entries();
    output.value(&entries, || {
        let rows = entries
            .iter()
            .map(|entry| vec![entry.key.into(), entry.value.clone(), entry.source.clone()])
            .collect();
        table(&["key", "value", "from"], &[], rows)
    });
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn trust(revoke: bool, output: &Output) -> Result<ExitCode, CliError> {
    let decision = if revoke { Decision::Revoke } else { Decision::Trust };
    let files = Config::trust(&Locations::from_process(), decision)?;
    if files.is_empty() {
        return Err(CliError::new(
            codes::CONFIG_NO_PROJECT,
            "no htm.toml or htm.local.toml in this directory or above",
        ));
    }
    output.value(&files, || files.iter().map(describe).collect::<Vec<_>>().join("\n"));
    Ok(ExitCode::SUCCESS)
}

fn describe(file: &ProjectFile) -> String {
    let path = file.path.display();
    let mut text = match (file.guarded.is_empty(), file.trusted) {
        (true, _) => format!("{path} sets nothing that needs trust"),
        (false, true) => format!("{path} is trusted, as it is now, to set"),
        (false, false) => format!("{path} is not trusted to set"),
    };
    for (key, value) in &file.guarded {
        text.push_str(&format!("\n  {key} = {value}"));
    }
    plain(&text)
}
