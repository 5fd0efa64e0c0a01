//! The defaults of a handle.

use crate::model::error::{Error, Result, codes};
use crate::model::memory::{MAX_NAME_BYTES, validate_name};
use crate::model::models::ModelName;
use crate::model::recall::RecallSettings;
use crate::model::remember::Deduplicate;
use crate::model::robots::DEFAULT_BUDGET;
use crate::model::tags::TagRules;
use crate::model::timeframe::TimeSettings;
use crate::model::tokens::TokenEncoding;

/// The most attempts that a job may have.
const MAX_ATTEMPTS: u32 = 1_000;

/// The defaults of a handle.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The default namespace.
    pub namespace: String,
    /// The default robot, at most 128 bytes without control characters.
    pub robot: String,
    /// The default text search configuration, for example `english` or `simple`.
    pub language: String,
    /// The time zone and the first day of the week.
    pub time: TimeSettings,
    /// The encoding that counts tokens.
    pub token_encoding: TokenEncoding,
    /// The token budget of a robot's working memory.
    pub working_memory_tokens: usize,
    /// The scope in which the same text is the same memory.
    pub deduplicate: Deduplicate,
    /// The rules that normalise tags.
    pub tag_rules: TagRules,
    /// The embedding model, used in jobs' keys until a model is registered.
    pub embedding_model: ModelName,
    /// The tag model, part of the jobs' keys.
    pub tag_model: ModelName,
    /// The most attempts of a job, 1 to 1,000.
    pub max_attempts: u32,
    /// The settings of recall.
    pub recall: RecallSettings,
    /// The number of cached query embeddings.
    pub cache_entries: u64,
}

impl Settings {
    /// Checks the robot and the attempts. Calls that use them check them too.
    ///
    /// # Errors
    /// `robot_invalid`, `limit_out_of_range`.
    pub fn validate(&self) -> Result<()> {
        validate_name("robot", &self.robot, MAX_NAME_BYTES)?;
        self.attempts().map(drop)
    }

    /// The most attempts of a job.
    ///
    /// # Errors
    /// `limit_out_of_range`.
    pub(crate) fn attempts(&self) -> Result<u32> {
        if (1..=MAX_ATTEMPTS).contains(&self.max_attempts) {
            return Ok(self.max_attempts);
        }
        let message = format!("{} attempts of a job are outside 1 to {MAX_ATTEMPTS}", self.max_attempts);
        Err(Error::new(codes::LIMIT_OUT_OF_RANGE, message).with_hint("set `max_attempts` from 1 to 1000"))
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            namespace: "default".into(),
            robot: "htm".into(),
            language: "english".into(),
            time: TimeSettings::default(),
            token_encoding: TokenEncoding::default(),
            working_memory_tokens: DEFAULT_BUDGET,
            deduplicate: Deduplicate::default(),
            tag_rules: TagRules::default(),
            embedding_model: ModelName::new("local", "all-MiniLM-L6-v2"),
            tag_model: ModelName::new("local", "all-MiniLM-L6-v2"),
            max_attempts: 25,
            recall: RecallSettings::default(),
            cache_entries: 10_000,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_robot_and_attempts_that_no_row_can_have_are_refused() {
        let code = |settings: Settings| settings.validate().err().map_or("ok", |error| error.code());
        assert_eq!(code(Settings::default()), "ok");
        for robot in ["", "a\nb", &"a".repeat(300)] {
            assert_eq!(code(Settings { robot: robot.into(), ..Settings::default() }), "robot_invalid");
        }
        for max_attempts in [0, u32::MAX] {
            assert_eq!(code(Settings { max_attempts, ..Settings::default() }), "limit_out_of_range");
        }
    }
}
