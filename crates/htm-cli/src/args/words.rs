//! Options of which a shell completes the words.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};
use htm_core::{Error, Stage};

/// Any text, of which a shell completes these words. The library rejects others, with codes of its own.
#[derive(Clone)]
pub(super) struct Words(pub(super) &'static [&'static str]);

impl TypedValueParser for Words {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(|word| PossibleValue::new(*word))))
    }
}

/// A stage, by its name.
pub(super) fn stage() -> impl TypedValueParser<Value = Stage> {
    Words(&["embed", "tag"]).try_map(|text| text.parse::<Stage>())
}

/// The error of a word with its hint: clap shows one text.
pub(super) fn with_hint(error: Error) -> String {
    format!("{error}: {}", error.hint())
}
