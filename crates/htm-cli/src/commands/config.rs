//! `htm config …`.

mod explain;

use std::process::ExitCode;

use htm_runtime::config::Loaded;

pub(crate) use self::explain::{default, explain};
use crate::error::CliError;
use crate::output::{Output, table};

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
