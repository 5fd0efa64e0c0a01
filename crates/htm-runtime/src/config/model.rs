//! The configuration's values. What each key does stands once, in `config/default.toml`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use htm_core::{TagLimits, TagRules};
use serde::{Deserialize, Serialize};

use super::secret::{Secret, SecretUrl};
use crate::paths::Paths;

/// All of the configuration; `config/default.toml` says what each key does.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Config {
    pub database: Database,
    pub memory: Memory,
    pub time: Time,
    pub tokens: Tokens,
    pub working_memory: WorkingMemory,
    pub embedding: Embedding,
    pub tag: Tag,
    pub ollama: Ollama,
    pub openai: Openai,
    pub local: Local,
    pub recall: Recall,
    pub rerank: Rerank,
    pub expansion: Expansion,
    pub groups: Groups,
    pub jobs: Jobs,
    pub worker: WorkerProcess,
    pub embed_worker: Worker,
    pub tag_worker: Worker,
    pub log: Log,
}

/// `[database]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Database {
    /// Empty: the private PostgreSQL. May hold a password.
    pub url: SecretUrl,
    /// Where `url` was read from; may be empty.
    pub url_file: String,
    pub max_connections: u32,
    pub connect_timeout_ms: u64,
    pub statement_timeout_ms: u64,
}

/// `[memory]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Memory {
    pub namespace: String,
    /// May be empty: see [`Memory::robot_name`].
    pub robot: String,
    pub language: String,
    pub deduplicate: Deduplicate,
}

impl Memory {
    /// The robot, `htm` when none is set.
    pub fn robot_name(&self) -> &str {
        if self.robot.is_empty() { "htm" } else { &self.robot }
    }
}

/// `[time]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Time {
    /// See [`Time::settings`].
    pub zone: String,
    pub week_start: WeekStart,
}

impl Time {
    /// As the library takes it.
    pub fn settings(&self) -> htm_core::TimeSettings {
        htm_core::TimeSettings {
            // What is no zone was refused when the configuration was loaded.
            zone: self.zone.parse().unwrap_or_default(),
            week_start: match self.week_start {
                WeekStart::Monday => htm_core::WeekStart::Monday,
                WeekStart::Sunday => htm_core::WeekStart::Sunday,
            },
        }
    }
}

/// `[tokens]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Tokens {
    pub encoding: Encoding,
}

/// `[working_memory]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct WorkingMemory {
    pub max_tokens: u32,
}

/// `[embedding]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Embedding {
    pub provider: Provider,
    /// May be empty: see [`Embedding::model_name`].
    pub model: String,
    /// 0: ask the provider.
    pub dimensions: usize,
    /// 0: the model's own.
    pub window: usize,
    pub timeout_ms: u64,
    /// `auto`: the model's own.
    pub document_prefix: String,
    /// `auto`: the model's own.
    pub query_prefix: String,
}

impl Embedding {
    /// The model, the provider's default when none is set.
    pub fn model_name(&self) -> &str {
        match (self.model.as_str(), self.provider) {
            ("", Provider::Local) => "all-MiniLM-L6-v2",
            ("", Provider::Ollama) => "nomic-embed-text",
            ("", Provider::Openai) => "text-embedding-3-small",
            ("", Provider::Fake) => "fake-64",
            (model, _) => model,
        }
    }
}

/// `[tag]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Tag {
    pub provider: Provider,
    /// May be empty: see [`Tag::model_name`].
    pub model: String,
    pub timeout_ms: u64,
    pub threshold: f32,
    pub max_tags: usize,
    pub ontology: Vec<String>,
    /// A file; may be empty.
    pub prompt: String,
    /// `plural=singular`.
    pub singular: Vec<String>,
    pub namespace_limit: usize,
}

impl Tag {
    /// How tags are written.
    pub fn rules(&self) -> TagRules {
        let pairs = self.singular.iter().filter_map(|pair| pair.split_once('='));
        TagRules {
            singular: pairs.map(|(plural, one)| (plural.to_owned(), one.to_owned())).collect(),
            limits: TagLimits { namespace: self.namespace_limit, ..TagLimits::default() },
            ..TagRules::default()
        }
    }

    /// The model, the provider's default when none is set; `local` names the model that embeds its terms.
    pub fn model_name(&self) -> &str {
        match (self.model.as_str(), self.provider) {
            ("", Provider::Local) => "all-MiniLM-L6-v2",
            ("", Provider::Ollama) => "llama3.2",
            ("", Provider::Openai) => "gpt-4o-mini",
            ("", Provider::Fake) => "fake",
            (model, _) => model,
        }
    }
}

/// `[ollama]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Ollama {
    pub base_url: SecretUrl,
}

/// `[openai]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Openai {
    pub base_url: SecretUrl,
    pub api_key: Secret,
    /// Where `api_key` was read from; may be empty.
    pub api_key_file: String,
}

/// `[local]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Local {
    /// May be empty: see [`Local::directory`].
    pub model_dir: String,
}

impl Local {
    /// The directory of `model`'s weights, below `HTM_HOME` when none is set.
    pub fn directory(&self, paths: &Paths, model: &str) -> PathBuf {
        if self.model_dir.is_empty() { paths.model_dir(model) } else { PathBuf::from(&self.model_dir) }
    }

    /// The directory of a registered model, which is named after its directory: the one that is set may hold another.
    pub fn directory_named(&self, paths: &Paths, model: &str) -> PathBuf {
        let set = PathBuf::from(&self.model_dir);
        if set.file_name().is_some_and(|name| name == model) { set } else { paths.model_dir(model) }
    }
}

/// `[recall]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Recall {
    pub strategy: Strategy,
    pub limit: u32,
    pub ef_search: u32,
    pub spelling: Spelling,
    pub min_similarity: f64,
}

/// `[rerank]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Rerank {
    pub provider: RerankProvider,
    pub url: SecretUrl,
    pub api_key: Secret,
    /// Where `api_key` was read from; may be empty.
    pub api_key_file: String,
    /// May be empty.
    pub model: String,
    pub format: RerankFormat,
    /// May be empty unless the provider is `local`.
    pub path: String,
    pub top: usize,
    pub timeout_ms: u64,
}

/// `[expansion]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Expansion {
    pub provider: ExpansionProvider,
    /// May be empty: see [`Expansion::model_name`].
    pub model: String,
    pub timeout_ms: u64,
    /// A file; may be empty.
    pub prompt: String,
}

impl Expansion {
    /// The model, the provider's default when none is set.
    pub fn model_name(&self) -> &str {
        match (self.model.as_str(), self.provider) {
            ("", ExpansionProvider::Ollama) => "llama3.2",
            ("", ExpansionProvider::Openai) => "gpt-4o-mini",
            ("", ExpansionProvider::None | ExpansionProvider::Fake) => "fake",
            (model, _) => model,
        }
    }
}

/// `[groups]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Groups {
    pub lease_ms: u64,
    pub max_tokens: u64,
}

/// `[jobs]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Jobs {
    pub max_attempts: u32,
    pub lease_ms: u64,
    pub poll_ms: u64,
    pub backoff_base_ms: u64,
    pub backoff_cap_ms: u64,
    pub grace_ms: u64,
    pub patience_ms: u64,
    pub breaker_failures: u32,
    pub breaker_open_ms: u64,
    pub breaker_cap_ms: u64,
    pub keep_done_ms: u64,
}

impl Jobs {
    /// `lease_ms`.
    pub fn lease(&self) -> Duration {
        Duration::from_millis(self.lease_ms)
    }

    /// `poll_ms`.
    pub fn poll(&self) -> Duration {
        Duration::from_millis(self.poll_ms)
    }

    /// The interval of the search for dead workers' jobs: short beside the lease, which delays their return most.
    pub fn sweep(&self) -> Duration {
        self.lease() / 6
    }
}

/// `[worker]`: what worker processes of both kinds have.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct WorkerProcess {
    /// Empty: no port is opened. See [`WorkerProcess::address`].
    pub listen: String,
}

impl WorkerProcess {
    /// `listen`, when it is set; port 0 is any that is free.
    pub fn address(&self) -> Option<SocketAddr> {
        // What cannot be parsed was refused when the configuration was loaded.
        self.listen.parse().ok()
    }
}

/// `[embed_worker]` or `[tag_worker]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Worker {
    pub batch: usize,
    pub batch_tokens: u32,
    pub concurrency: usize,
}

/// `[log]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Log {
    pub format: LogFormat,
    pub level: Level,
}

/// A choice between words, each with its name.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every word that the configuration may say.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// As the configuration says it.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// What a word of the configuration means.
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

choice! {
    /// What makes embeddings or tags.
    Provider {
        /// In this process.
        Local = "local",
        /// An Ollama server.
        Ollama = "ollama",
        /// OpenAI, or a server that speaks its API.
        Openai = "openai",
        /// Deterministic, for tests.
        Fake = "fake",
    }
}

choice! {
    /// What re-ranks.
    RerankProvider {
        /// Nothing.
        None = "",
        /// A server's `/rerank`.
        Http = "http",
        /// In this process.
        Local = "local",
        /// Deterministic, for tests.
        Fake = "fake",
    }
}

choice! {
    /// What a re-ranking server speaks.
    RerankFormat {
        /// Cohere's v2.
        Cohere = "cohere",
        /// Jina's.
        Jina = "jina",
        /// llama.cpp's server.
        LlamaCpp = "llama.cpp",
        /// Text Embeddings Inference.
        Tei = "tei",
    }
}

choice! {
    /// What says a query in other words.
    ExpansionProvider {
        /// Nothing.
        None = "",
        /// An Ollama server.
        Ollama = "ollama",
        /// OpenAI, or a server that speaks its API.
        Openai = "openai",
        /// Deterministic, for tests.
        Fake = "fake",
    }
}

choice! {
    /// The first day of a week.
    WeekStart {
        /// As ISO 8601 has it.
        Monday = "monday",
        /// As in the United States.
        Sunday = "sunday",
    }
}

choice! {
    /// Where a text that is remembered again is the same memory.
    Deduplicate {
        /// Nowhere.
        Off = "off",
        /// Among the memories of one robot.
        Robot = "robot",
        /// Within a namespace.
        Namespace = "namespace",
    }
}

choice! {
    /// What counts tokens.
    Encoding {
        /// GPT-4o and later.
        O200kBase = "o200k_base",
        /// GPT-4, text-embedding-3.
        Cl100kBase = "cl100k_base",
        /// A quarter of the characters.
        Estimate = "estimate",
    }
}

impl From<Encoding> for htm_core::TokenEncoding {
    fn from(encoding: Encoding) -> Self {
        match encoding {
            Encoding::O200kBase => Self::O200kBase,
            Encoding::Cl100kBase => Self::Cl100kBase,
            Encoding::Estimate => Self::Estimate,
        }
    }
}

choice! {
    /// How recall searches when nothing else is said.
    Strategy {
        /// By the query's embedding.
        Vector = "vector",
        /// By its words.
        Fulltext = "fulltext",
        /// By both, fused.
        Hybrid = "hybrid",
        /// By what the query looks like.
        Auto = "auto",
    }
}

choice! {
    /// What becomes of words that no memory has.
    Spelling {
        /// They are taken for those that were meant.
        Correct = "correct",
        /// They find nothing.
        Off = "off",
    }
}

choice! {
    /// How log lines look.
    LogFormat {
        /// JSON for a worker without a terminal, human for everything else.
        Auto = "auto",
        /// For people.
        Human = "human",
        /// One JSON object a line.
        Json = "json",
    }
}

choice! {
    /// The least that is logged.
    Level {
        /// What failed for good.
        Error = "error",
        /// What went wrong and was dealt with.
        Warn = "warn",
        /// What happened.
        Info = "info",
        /// How it happened.
        Debug = "debug",
        /// Every step.
        Trace = "trace",
    }
}
