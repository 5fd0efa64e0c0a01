//! The collection: memories of eight months, four namespaces, several robots, and questions about them.

use chrono::{DateTime, Utc};
use htm_core::Timeframe;
use serde::Deserialize;

use crate::codes;
use crate::error::CliError;

/// The memories, in the format of `htm import`.
pub(super) const MEMORIES: &str = include_str!("../../../../../demo/memories.jsonl");

/// A question and the keys of the memories that answer it.
#[derive(Debug, Deserialize)]
pub(super) struct Question {
    pub(super) ns: String,
    pub(super) text: String,
    pub(super) category: String,
    pub(super) relevant: Vec<String>,
    /// The start of the time that the question is about, if it is about one.
    from: Option<DateTime<Utc>>,
    to: Option<DateTime<Utc>>,
}

impl Question {
    pub(super) fn timeframe(&self) -> htm_core::Result<Timeframe> {
        Timeframe::new(self.from, self.to)
    }
}

/// All questions.
pub(super) fn questions() -> Result<Vec<Question>, CliError> {
    include_str!("../../../../../demo/questions.jsonl")
        .lines()
        .map(|line| {
            serde_json::from_str(line).map_err(|error| {
                CliError::new(codes::DEMO_UNREADABLE, format!("a question of the demo: {error}"))
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_right_answer_is_in_the_collection() {
        let keys: HashSet<String> = MEMORIES
            .lines()
            .map(|line| {
                serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_str().unwrap().to_owned()
            })
            .collect();
        let questions = questions().unwrap();
        assert!(keys.len() >= 300 && questions.len() >= 20);
        for question in questions {
            assert!(!question.relevant.is_empty());
            question.timeframe().unwrap();
            for key in &question.relevant {
                assert!(keys.contains(key), "{key}");
            }
        }
    }
}
