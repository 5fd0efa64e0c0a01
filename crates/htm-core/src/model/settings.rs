//! What a handle does unless a call says otherwise.

use crate::model::models::ModelName;
use crate::model::recall::RecallSettings;
use crate::model::remember::Deduplicate;
use crate::model::tags::TagRules;
use crate::model::timeframe::TimeSettings;
use crate::model::tokens::TokenEncoding;

/// What a handle does unless a call says otherwise.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The namespace of memories and queries that name none.
    pub namespace: String,
    /// The robot of memories that name none.
    pub robot: String,
    /// The text search configuration, as `english` or `simple`.
    pub language: String,
    /// The zone and the week that words like `last week` are measured by.
    pub time: TimeSettings,
    /// What counts tokens.
    pub token_encoding: TokenEncoding,
    /// The most tokens that a robot's working memory holds.
    pub working_memory_tokens: usize,
    /// Within what the same text is the same memory.
    pub deduplicate: Deduplicate,
    /// How tags are written.
    pub tag_rules: TagRules,
    /// The model that embeds: part of the jobs' keys as long as none is registered.
    pub embedding_model: ModelName,
    /// The model that tags: part of the jobs' keys.
    pub tag_model: ModelName,
    /// How often a job may be tried.
    pub max_attempts: u32,
    /// How recall searches.
    pub recall: RecallSettings,
    /// The label of the model that recall asks; none is the active one.
    pub recall_model: Option<String>,
    /// How many query embeddings are kept.
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
            working_memory_tokens: 128_000,
            deduplicate: Deduplicate::default(),
            tag_rules: TagRules::default(),
            embedding_model: ModelName::new("local", "all-MiniLM-L6-v2"),
            tag_model: ModelName::new("local", "all-MiniLM-L6-v2"),
            max_attempts: 25,
            recall: RecallSettings::default(),
            recall_model: None,
            cache_entries: 10_000,
        }
    }
}
