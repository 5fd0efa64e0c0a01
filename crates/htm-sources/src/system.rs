//! The systems that memories come from.

use htm_core::{Error, Result};
use strum::VariantNames;

use crate::codes;

/// A system whose memories can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum System {
    /// Folders of basic-memory.
    BasicMemory,
    /// The export of ChatGPT.
    #[strum(serialize = "chatgpt")]
    ChatGpt,
    /// The export of Claude.
    Claude,
    /// The database of HTM in Ruby.
    HtmRuby,
    /// LangGraph's store in PostgreSQL.
    #[strum(serialize = "langgraph")]
    LangGraph,
    /// Letta's database.
    Letta,
    /// mem0's table of pgvector, or answers of its REST API.
    Mem0,
    /// memobase's database.
    Memobase,
    /// The database of OpenMemory.
    #[strum(serialize = "openmemory")]
    OpenMemory,
}

impl System {
    /// The system of this name.
    ///
    /// # Errors
    /// `source_unknown`, with the names that there are.
    pub fn parse(name: &str) -> Result<Self> {
        name.parse().map_err(|_| {
            let message = format!("HTM imports from no system `{name}`");
            let hint = format!("use one of {}", Self::names().join(", "));
            Error::new(codes::SOURCE_UNKNOWN, message).with_hint(hint)
        })
    }

    /// The names of all systems.
    pub fn names() -> &'static [&'static str] {
        Self::VARIANTS
    }

    /// The name, which is also the first label of its keys and its namespace.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_none_is_refused_with_those_that_are() {
        assert_eq!(System::parse("chatgpt").unwrap(), System::ChatGpt);
        let error = System::parse("ChatGPT 5").unwrap_err();
        assert_eq!(error.code(), "source_unknown");
        assert!(error.hint().contains("chatgpt"), "{}", error.hint());
        for name in System::names() {
            assert_eq!(System::parse(name).unwrap().name(), *name);
        }
    }
}
