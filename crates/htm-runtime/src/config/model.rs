//! The configuration's values. The keys are explained once, in `config/default.toml`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use htm_core::{TagLimits, TagRules};
use htm_providers::Secret;
use htm_providers::rerank::RerankFormat;
use serde::{Deserialize, Serialize};

use super::secret_url::SecretUrl;
use crate::paths::Paths;
use crate::telemetry::Collector;

/// The model of embeddings of the provider `local`, when none is set.
const LOCAL_MODEL: &str = "all-MiniLM-L6-v2";

/// The language model of Ollama, when none is set.
const OLLAMA_CHAT: &str = "llama3.2";

/// The language model of OpenAI, when none is set.
const OPENAI_CHAT: &str = "gpt-4o-mini";

/// The whole configuration. `config/default.toml` explains each key.
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
    pub jobs: Jobs,
    pub worker: WorkerProcess,
    pub server: Server,
    pub oauth: OAuth,
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
    /// The path of the file that `url` was read from. May be empty.
    pub url_file: String,
    /// The read replicas. May hold passwords.
    pub replica_urls: Vec<SecretUrl>,
    pub max_staleness_ms: u64,
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
    pub deduplicate: htm_core::Deduplicate,
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
    pub week_start: htm_core::WeekStart,
}

impl Time {
    /// The settings for the library.
    pub fn settings(&self) -> htm_core::TimeSettings {
        htm_core::TimeSettings {
            // An invalid zone is rejected when the configuration is loaded, and when a runtime is opened with it.
            zone: self.zone.parse().unwrap_or_default(),
            week_start: self.week_start,
        }
    }
}

/// `[tokens]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Tokens {
    pub encoding: htm_core::TokenEncoding,
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
    /// 0: those of the registered model, or the provider's.
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
            ("", Provider::Local) => LOCAL_MODEL,
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
    /// Pairs of the form `plural=singular`.
    pub singular: Vec<String>,
    pub namespace_limit: usize,
}

impl Tag {
    /// The rules of tags.
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
            ("", Provider::Local) => LOCAL_MODEL,
            ("", Provider::Ollama) => OLLAMA_CHAT,
            ("", Provider::Openai) => OPENAI_CHAT,
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
    /// The path of the file that `api_key` was read from. May be empty.
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
    /// The directory of `model`'s weights: see [`Paths::found_model_dir`] when none is set.
    pub fn directory(&self, paths: &Paths, model: &str) -> PathBuf {
        if self.model_dir.is_empty() { paths.found_model_dir(model) } else { PathBuf::from(&self.model_dir) }
    }

    /// The directory of a registered model. `model_dir` is used only if it is named after the model. Otherwise it may
    /// hold another one.
    pub fn directory_named(&self, paths: &Paths, model: &str) -> PathBuf {
        let set = PathBuf::from(&self.model_dir);
        if set.file_name().is_some_and(|name| name == model) { set } else { paths.found_model_dir(model) }
    }
}

/// `[recall]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Recall {
    pub strategy: htm_core::Strategy,
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
    /// The path of the file that `api_key` was read from. May be empty.
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
            ("", ExpansionProvider::Ollama) => OLLAMA_CHAT,
            ("", ExpansionProvider::Openai) => OPENAI_CHAT,
            ("", ExpansionProvider::None | ExpansionProvider::Fake) => "fake",
            (model, _) => model,
        }
    }
}

/// `[jobs]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Jobs {
    pub max_attempts: u32,
    pub lease_ms: u64,
    pub poll_ms: u64,
    pub grace_ms: u64,
    pub patience_ms: u64,
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

    /// The interval of the search for dead workers' jobs. It is short beside the lease, which delays their return most.
    pub fn sweep(&self) -> Duration {
        self.lease() / 6
    }
}

/// `[worker]`: the settings of every kind of worker process.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct WorkerProcess {
    /// Empty: no port is opened. See [`WorkerProcess::address`].
    pub listen: String,
}

impl WorkerProcess {
    /// The address in `listen`, if one is set. Port 0 is any free port.
    pub fn address(&self) -> Option<SocketAddr> {
        // An invalid address was rejected when the configuration was loaded.
        self.listen.parse().ok()
    }
}

/// `[server]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Server {
    /// May be empty. See [`Server::address`].
    pub listen: String,
    pub hosts: Vec<String>,
    pub tls_certificate: String,
    pub tls_key: String,
}

impl Server {
    /// The address in `listen`, if one is set. Port 0 is any free port.
    pub fn address(&self) -> Option<SocketAddr> {
        // An invalid address was rejected when the configuration was loaded.
        self.listen.parse().ok()
    }
}

/// `[oauth]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct OAuth {
    /// Empty: off.
    pub issuer: String,
    /// May be empty without an issuer.
    pub resource: String,
    /// May be empty.
    pub jwks_url: String,
    pub namespaces_claim: String,
}

/// `[embed_worker]` or `[tag_worker]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Worker {
    pub batch: usize,
    pub concurrency: usize,
}

/// `[log]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Log {
    pub format: LogFormat,
    pub level: Level,
    pub otlp_endpoint: SecretUrl,
}

impl Log {
    /// The collector of the traces of a process of this name. None: no traces are exported.
    pub fn collector<'a>(&'a self, service: &'a str) -> Option<Collector<'a>> {
        let endpoint = self.otlp_endpoint.expose();
        (!endpoint.is_empty()).then_some(Collector { endpoint, service })
    }
}

/// The provider of embeddings or tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[derive(strum::EnumString, strum::AsRefStr, strum::VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Provider {
    /// In this process.
    Local,
    /// An Ollama server.
    Ollama,
    /// OpenAI, or a server that speaks its API.
    Openai,
    /// Deterministic, for tests.
    Fake,
}

/// The re-ranking provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, strum::VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum RerankProvider {
    /// No re-ranking.
    #[serde(rename = "")]
    #[strum(serialize = "")]
    None,
    /// A server's `/rerank`.
    Http,
    /// In this process.
    Local,
    /// Deterministic, for tests.
    Fake,
}

/// The query expansion provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[derive(strum::AsRefStr, strum::VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum ExpansionProvider {
    /// No expansion.
    #[serde(rename = "")]
    #[strum(serialize = "")]
    None,
    /// An Ollama server.
    Ollama,
    /// OpenAI, or a server that speaks its API.
    Openai,
    /// Deterministic, for tests.
    Fake,
}

/// The handling of query words that no memory has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, strum::VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Spelling {
    /// They are spell-corrected.
    Correct,
    /// They are not corrected, and find nothing.
    Off,
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, strum::VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum LogFormat {
    /// JSON for a worker without a terminal, human for everything else.
    Auto,
    /// For people.
    Human,
    /// One JSON object per line.
    Json,
}

/// The minimum level of logged events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[derive(strum::AsRefStr, strum::VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Level {
    /// Errors that ended something.
    Error,
    /// Problems that were handled.
    Warn,
    /// Normal events.
    Info,
    /// Details of events.
    Debug,
    /// Every step.
    Trace,
}
