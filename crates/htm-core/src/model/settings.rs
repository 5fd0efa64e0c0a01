//! The defaults of a handle.

use crate::model::models::ModelName;
use crate::model::recall::RecallSettings;
use crate::model::remember::Deduplicate;
use crate::model::robots::DEFAULT_BUDGET;
use crate::model::tags::TagRules;
use crate::model::timeframe::TimeSettings;
use crate::model::tokens::TokenEncoding;

/// The defaults of a handle.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The default namespace.
    pub namespace: String,
    /// The default robot.
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
    /// The most attempts of a job.
    pub max_attempts: u32,
    /// The settings of recall.
    pub recall: RecallSettings,
    /// The number of cached query embeddings.
    pub cache_entries: u64,
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
