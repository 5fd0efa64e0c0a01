//! The table of all keys and their allowed values. It checks the values of every layer.

use std::net::{Ipv6Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::{Component, Path};

use figment::value::{Num, Value};
use htm_core::{Deduplicate, Error, MAX_BUDGET, Result, Settings, Strategy, TokenEncoding, WeekStart};
use htm_providers::rerank::RerankFormat;
use strum::VariantNames;

use super::model::{ExpansionProvider, Level, LogFormat, Provider, RerankProvider, Spelling};
use super::secret_url::masked;
use super::{Source, error};

/// A key, such as `recall.limit`.
pub(super) struct Key {
    pub(super) name: &'static str,
    rule: Rule,
}

/// The allowed values of a key.
enum Rule {
    /// Any text, empty too.
    Text,
    /// Text that is not blank.
    Filled,
    /// Empty, or the name of a robot.
    Robot,
    /// A text that is never shown.
    Secret,
    /// Empty, or the path of a file or a directory that is read.
    Path,
    /// Empty, or a PostgreSQL URL; its password is hidden.
    DatabaseUrl,
    /// A list of PostgreSQL URLs; their passwords are hidden.
    DatabaseUrls,
    /// An http or https URL.
    HttpUrl,
    /// Empty, or an http or https URL.
    OptionalHttpUrl,
    /// Empty, or an address and a port.
    Listen,
    /// A list of hosts, without ports.
    Hosts,
    /// A time zone.
    Zone,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A list of `plural=singular`.
    Singulars,
    /// A list of these words, or of TOML files.
    WordsOrFiles(&'static [&'static str]),
    /// A whole number.
    Whole(RangeInclusive<i64>),
    /// A number.
    Number(RangeInclusive<f64>),
}

const ONTOLOGIES: &[&str] = &["software", "research", "personal", "business"];
/// A day, in milliseconds. No configured wait is longer.
const DAY_MS: i64 = 86_400_000;

/// All keys, in the order of `config/default.toml`.
pub(super) const KEYS: &[Key] = &[
    key("database.url", Rule::DatabaseUrl),
    key("database.url_file", Rule::Path),
    key("database.replica_urls", Rule::DatabaseUrls),
    key("database.max_staleness_ms", Rule::Whole(100..=DAY_MS)),
    key("database.max_connections", Rule::Whole(1..=1000)),
    key("database.connect_timeout_ms", Rule::Whole(1..=DAY_MS)),
    key("database.statement_timeout_ms", Rule::Whole(0..=DAY_MS)),
    key("memory.namespace", Rule::Filled),
    key("memory.robot", Rule::Robot),
    key("memory.language", Rule::Filled),
    key("memory.deduplicate", Rule::OneOf(Deduplicate::VARIANTS)),
    key("time.zone", Rule::Zone),
    key("time.week_start", Rule::OneOf(WeekStart::VARIANTS)),
    key("tokens.encoding", Rule::OneOf(TokenEncoding::VARIANTS)),
    key("working_memory.max_tokens", Rule::Whole(1..=MAX_BUDGET as i64)),
    key("embedding.provider", Rule::OneOf(Provider::VARIANTS)),
    key("embedding.model", Rule::Text),
    key("embedding.dimensions", Rule::Whole(0..=4000)),
    key("embedding.window", Rule::Whole(0..=1_000_000)),
    key("embedding.timeout_ms", Rule::Whole(1..=DAY_MS)),
    key("embedding.document_prefix", Rule::Text),
    key("embedding.query_prefix", Rule::Text),
    key("tag.provider", Rule::OneOf(Provider::VARIANTS)),
    key("tag.model", Rule::Text),
    key("tag.timeout_ms", Rule::Whole(1..=DAY_MS)),
    key("tag.threshold", Rule::Number(0.0..=1.0)),
    key("tag.max_tags", Rule::Whole(1..=50)),
    key("tag.ontology", Rule::WordsOrFiles(ONTOLOGIES)),
    key("tag.prompt", Rule::Path),
    key("tag.singular", Rule::Singulars),
    key("tag.namespace_limit", Rule::Whole(1..=10_000_000)),
    key("ollama.base_url", Rule::HttpUrl),
    key("openai.base_url", Rule::HttpUrl),
    key("openai.api_key", Rule::Secret),
    key("openai.api_key_file", Rule::Path),
    key("local.model_dir", Rule::Path),
    key("recall.strategy", Rule::OneOf(Strategy::VARIANTS)),
    key("recall.limit", Rule::Whole(1..=10_000)),
    key("recall.ef_search", Rule::Whole(1..=1000)),
    key("recall.spelling", Rule::OneOf(Spelling::VARIANTS)),
    key("recall.min_similarity", Rule::Number(0.0..=1.0)),
    key("rerank.provider", Rule::OneOf(RerankProvider::VARIANTS)),
    key("rerank.url", Rule::HttpUrl),
    key("rerank.api_key", Rule::Secret),
    key("rerank.api_key_file", Rule::Path),
    key("rerank.model", Rule::Text),
    key("rerank.format", Rule::OneOf(RerankFormat::VARIANTS)),
    key("rerank.path", Rule::Path),
    key("rerank.top", Rule::Whole(1..=1000)),
    key("rerank.timeout_ms", Rule::Whole(1..=DAY_MS)),
    key("expansion.provider", Rule::OneOf(ExpansionProvider::VARIANTS)),
    key("expansion.model", Rule::Text),
    key("expansion.timeout_ms", Rule::Whole(1..=DAY_MS)),
    key("expansion.prompt", Rule::Path),
    key("jobs.max_attempts", Rule::Whole(1..=1000)),
    key("jobs.lease_ms", Rule::Whole(1000..=DAY_MS)),
    key("jobs.poll_ms", Rule::Whole(10..=DAY_MS)),
    key("jobs.grace_ms", Rule::Whole(0..=DAY_MS)),
    key("jobs.patience_ms", Rule::Whole(0..=365 * DAY_MS)),
    key("jobs.keep_done_ms", Rule::Whole(0..=365 * DAY_MS)),
    key("worker.listen", Rule::Listen),
    key("server.listen", Rule::Listen),
    key("server.hosts", Rule::Hosts),
    key("server.tls_certificate", Rule::Path),
    key("server.tls_key", Rule::Path),
    key("oauth.issuer", Rule::OptionalHttpUrl),
    key("oauth.resource", Rule::OptionalHttpUrl),
    key("oauth.jwks_url", Rule::OptionalHttpUrl),
    key("oauth.namespaces_claim", Rule::Filled),
    key("embed_worker.batch", Rule::Whole(1..=2048)),
    key("embed_worker.concurrency", Rule::Whole(1..=256)),
    key("tag_worker.batch", Rule::Whole(1..=2048)),
    key("tag_worker.concurrency", Rule::Whole(1..=256)),
    key("log.format", Rule::OneOf(LogFormat::VARIANTS)),
    key("log.level", Rule::OneOf(Level::VARIANTS)),
    key("log.otlp_endpoint", Rule::OptionalHttpUrl),
];

const fn key(name: &'static str, rule: Rule) -> Key {
    Key { name, rule }
}

pub(super) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// The keys whose value a file may hold, each with the key for the file's path.
pub(super) fn in_files() -> impl Iterator<Item = (&'static str, &'static str)> {
    KEYS.iter().filter_map(|key| Some((key.name.strip_suffix("_file")?, key.name)))
}

/// The secrets that are sent to a server, each with the key for the server's URL. A replica gets the primary's password.
pub(super) const SENT: [(&str, &str); 3] = [
    ("openai.api_key", "openai.base_url"),
    ("rerank.api_key", "rerank.url"),
    ("database.url", "database.replica_urls"),
];

/// The variables of OpenTelemetry whose headers, often a key, are sent to [`COLLECTOR`].
pub(super) const HEADERS: [&str; 2] = ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"];
pub(super) const COLLECTOR: &str = "log.otlp_endpoint";

/// The error for an unknown key. It names the key with the most similar name, if one is similar.
pub(super) fn unknown(name: &str, source: &Source) -> Error {
    error::unknown_key(name, &source_name(source, name), nearest(name))
}

/// The key with the most similar name, if one is similar.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    let similarity = |key: &Key| {
        let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
        // The same key in another section counts as near: `embedding.base_url`.
        strsim::jaro_winkler(key.name, name).max(0.9 * strsim::jaro_winkler(&last(key.name), &last(name)))
    };
    KEYS.iter()
        .map(|key| (similarity(key), key.name))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(similarity, _)| *similarity > 0.75)
        .map(|(_, name)| name)
}

/// The key whose variable this would be, but for its underscores: `HTM_DATABASE_URL`.
pub(super) fn nearly(variable: &str) -> Option<&'static str> {
    let name = variable.strip_prefix("HTM_").filter(|name| !name.contains("__"))?.to_lowercase();
    KEYS.iter().map(|key| key.name).find(|key| key.replace('.', "_") == name)
}

/// Whether `name` is a section, which has no value of its own (`recall = 5`).
pub(super) fn is_section(name: &str) -> bool {
    KEYS.iter().any(|key| key.name.split_once('.').is_some_and(|(section, _)| section == name))
}

/// The name of a source for messages: the file, the variable or the flag.
pub(super) fn source_name(source: &Source, name: &str) -> String {
    match source {
        Source::Flag => format!("--set {name}"),
        Source::Default => "config/default.toml".to_owned(),
        other => other.to_string(),
    }
}

impl Key {
    /// Whether `value` is allowed.
    pub(super) fn check(&self, value: &Value, source: &Source) -> Result<()> {
        let text = value.as_str();
        if let (Rule::Zone, Some("system")) = (&self.rule, text) {
            let cannot = |cause| error::system_zone(&source_name(source, self.name), self.name, cause);
            return "system".parse::<htm_core::Zone>().map(drop).map_err(cannot);
        }
        let allowed = match &self.rule {
            Rule::Text | Rule::Secret | Rule::Path => text.is_some(),
            Rule::Filled => text.is_some_and(|text| !text.trim().is_empty()),
            Rule::Robot => text.is_some_and(|text| text.is_empty() || is_robot(text)),
            Rule::DatabaseUrl => text.is_some_and(|text| text.is_empty() || is_database_url(text)),
            Rule::DatabaseUrls => value
                .as_array()
                .is_some_and(|values| values.iter().all(|value| value.as_str().is_some_and(is_database_url))),
            Rule::HttpUrl => text.is_some_and(is_http_url),
            Rule::OptionalHttpUrl => text.is_some_and(|text| text.is_empty() || is_http_url(text)),
            Rule::Listen => text.is_some_and(|text| text.is_empty() || text.parse::<SocketAddr>().is_ok()),
            Rule::Hosts => value
                .as_array()
                .is_some_and(|values| values.iter().all(|value| value.as_str().is_some_and(is_host))),
            Rule::Zone => text.is_some_and(|text| text.parse::<htm_core::Zone>().is_ok()),
            Rule::OneOf(words) => text.is_some_and(|text| words.contains(&text)),
            Rule::Singulars => value
                .as_array()
                .is_some_and(|values| values.iter().all(|value| value.as_str().is_some_and(is_singular))),
            Rule::WordsOrFiles(words) => value.as_array().is_some_and(|values| {
                let is_one = |text: &str| words.contains(&text) || text.ends_with(".toml");
                values.iter().all(|value| value.as_str().is_some_and(is_one))
            }),
            Rule::Whole(range) => whole(value).is_some_and(|number| range.contains(&number)),
            Rule::Number(range) => number(value).is_some_and(|number| range.contains(&number)),
        };
        if allowed { Ok(()) } else { Err(self.bad(self.show(value), source)) }
    }

    /// Whether a project's file may set this key to `value` only if the user trusts the file. These keys determine
    /// where memories and secrets are sent, which files are read, which port is opened, and who is let in.
    pub(super) fn is_guarded(&self, value: &Value) -> bool {
        if self.name.starts_with("oauth.") {
            return true;
        }
        let text = value.as_str();
        match &self.rule {
            Rule::Secret
            | Rule::DatabaseUrl
            | Rule::DatabaseUrls
            | Rule::HttpUrl
            | Rule::OptionalHttpUrl
            | Rule::Listen
            | Rule::Hosts
            | Rule::Path => true,
            // A provider outside this process reads the memories.
            Rule::OneOf(_) if self.name.ends_with(".provider") => {
                !matches!(text, Some("" | "local" | "fake"))
            }
            // The name of a local model is the name of its directory.
            Rule::Text if self.name.ends_with(".model") => text.is_none_or(|text| {
                let parts = Path::new(text).components();
                !text.is_empty() && !parts.into_iter().all(|part| matches!(part, Component::Normal(_)))
            }),
            Rule::WordsOrFiles(words) => value.as_array().is_none_or(|values| {
                values.iter().any(|one| one.as_str().is_none_or(|one| !words.contains(&one)))
            }),
            _ => false,
        }
    }

    /// Parses `text`, from the environment or the command line, as this key's type.
    pub(super) fn parse(&self, text: &str, source: &Source) -> Result<Value> {
        let bad = || self.bad(format!("{text:?}"), source);
        match &self.rule {
            Rule::Whole(_) => text.trim().parse::<i64>().map(Value::from).map_err(|_| bad()),
            Rule::Number(_) => text.trim().parse::<f64>().map(Value::from).map_err(|_| bad()),
            Rule::DatabaseUrls => Ok(toml_list(text).unwrap_or_else(|| {
                // A URL with several hosts has commas, so only a new scheme begins the next URL.
                let mut urls: Vec<String> = Vec::new();
                for part in parts(text) {
                    match urls.last_mut().filter(|_| !part.contains("://")) {
                        Some(url) => url.extend([",", part]),
                        None => urls.push(part.to_owned()),
                    }
                }
                Value::from(urls)
            })),
            Rule::WordsOrFiles(_) | Rule::Singulars | Rule::Hosts => Ok(toml_list(text)
                .unwrap_or_else(|| Value::from(parts(text).map(str::to_owned).collect::<Vec<_>>()))),
            _ => Ok(Value::from(text)),
        }
    }

    /// Whether the value may be a secret, or have one.
    pub(super) fn is_secret(&self) -> bool {
        matches!(
            self.rule,
            Rule::Secret | Rule::DatabaseUrl | Rule::DatabaseUrls | Rule::HttpUrl | Rule::OptionalHttpUrl
        )
    }

    /// The value in TOML, with secrets hidden.
    pub(super) fn show(&self, value: &Value) -> String {
        match &self.rule {
            Rule::Secret => {
                if value.as_str() == Some("") {
                    "\"\"".into()
                } else {
                    "\"***\"".into()
                }
            }
            Rule::DatabaseUrl | Rule::HttpUrl | Rule::OptionalHttpUrl => show_url(value),
            Rule::DatabaseUrls => match value.as_array() {
                Some(urls) => format!("[{}]", urls.iter().map(show_url).collect::<Vec<_>>().join(", ")),
                None => "\"***\"".into(),
            },
            _ => show(value),
        }
    }

    /// Whether the value decides what a command does, and not only how its process listens, logs or how large it is.
    pub(super) fn is_for_commands(&self) -> bool {
        const OF_PROCESSES: [&str; 6] = ["server", "oauth", "worker", "embed_worker", "tag_worker", "log"];
        !self.name.split_once('.').is_some_and(|(section, _)| OF_PROCESSES.contains(&section))
    }

    /// The value with its secret. Never log it.
    pub(super) fn expose(&self, value: &Value) -> String {
        match (&self.rule, value.as_str()) {
            (Rule::Path, Some(path)) if !path.is_empty() => {
                // It depends on the process's directory.
                std::path::absolute(path).map_or_else(|_| path.into(), |path| path.display().to_string())
            }
            _ => show(value),
        }
    }

    fn bad(&self, value: String, source: &Source) -> Error {
        error::bad_value(self.name, &value, &source_name(source, self.name), &self.allowed())
    }

    fn allowed(&self) -> String {
        let words =
            |words: &[&str]| words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", ");
        match &self.rule {
            Rule::Text | Rule::Secret => "a text".into(),
            Rule::Path => "a path, or empty".into(),
            Rule::Filled => "a text that is not empty".into(),
            Rule::Robot => "empty, or a name of at most 128 bytes without control characters".into(),
            Rule::DatabaseUrl => "empty, or a URL as postgres://user:password@host/database".into(),
            Rule::DatabaseUrls => "a list of URLs as \"postgres://user:password@host/database\"".into(),
            Rule::HttpUrl => "a URL that starts with http:// or https://".into(),
            Rule::OptionalHttpUrl => "empty, or a URL that starts with http:// or https://".into(),
            Rule::Listen => "empty, or an address and a port as 127.0.0.1:9464".into(),
            Rule::Hosts => "a list of hosts without ports, as \"memory.example.com\"".into(),
            Rule::Zone => "a time zone as \"Europe/Berlin\", \"UTC\", or \"system\"".into(),
            Rule::OneOf(choices) => words(choices),
            Rule::Singulars => "a list of words and their singular, as \"indices=index\"".into(),
            Rule::WordsOrFiles(choices) => {
                format!("a list of {}, or of files that end in .toml", words(choices))
            }
            Rule::Whole(range) => format!("a whole number from {} to {}", range.start(), range.end()),
            Rule::Number(range) => format!("a number from {} to {}", range.start(), range.end()),
        }
    }
}

/// A list in TOML. None for another text, such as `[::1]`.
fn toml_list(text: &str) -> Option<Value> {
    let list: toml::Value = text.trim().parse().ok()?;
    Value::serialize(list.as_array()?).ok()
}

/// The parts between commas, in brackets or not. An empty text is an empty list.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    unbracketed(text)
        .split(',')
        .map(|part| part.trim().trim_matches(['"', '\'']))
        .filter(|part| !part.is_empty())
}

/// A list without the brackets around it. Those of addresses, as in `[::1]` and `[::1],[fd00::2]`, stay.
fn unbracketed(text: &str) -> &str {
    let inner = text.trim().strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let list = inner.filter(|it| it.find('[') <= it.find(']') && it.parse::<Ipv6Addr>().is_err());
    list.unwrap_or(text)
}

fn show_url(value: &Value) -> String {
    match value.as_str() {
        // Without a scheme, a password cannot be located.
        Some(url) if url.is_empty() || url.contains("://") => format!("{:?}", masked(url)),
        Some(_) => "\"***\"".into(),
        None => show(value),
    }
}

fn is_robot(text: &str) -> bool {
    Settings { robot: text.to_owned(), ..Settings::default() }.validate().is_ok()
}

fn is_database_url(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

fn is_http_url(text: &str) -> bool {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(char::is_whitespace))
}

/// A name, an IPv4 address, or an IPv6 address in brackets.
fn is_host(text: &str) -> bool {
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    !text.is_empty()
        && inner.map_or_else(
            || text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_')),
            |inner| inner.parse::<Ipv6Addr>().is_ok(),
        )
}

fn is_singular(text: &str) -> bool {
    let is_word =
        |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    text.split_once('=').is_some_and(|(plural, singular)| is_word(plural) && is_word(singular))
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Num(_, Num::F32(_) | Num::F64(_)) => None,
        Value::Num(_, number) => {
            number.to_i128().or_else(|| number.to_u128().map(|n| n as i128)).and_then(|n| n.try_into().ok())
        }
        _ => None,
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Num(_, number) => number.to_f64().or_else(|| whole(value).map(|number| number as f64)),
        _ => None,
    }
}

fn show(value: &Value) -> String {
    match value {
        Value::String(_, text) => format!("{text:?}"),
        Value::Char(_, char) => format!("{:?}", char.to_string()),
        Value::Bool(_, bool) => bool.to_string(),
        Value::Num(..) => match (whole(value), number(value)) {
            (Some(whole), _) => whole.to_string(),
            (None, Some(number)) => format!("{number:?}"),
            (None, None) => "a number".into(),
        },
        Value::Array(_, values) => {
            format!("[{}]", values.iter().map(show).collect::<Vec<_>>().join(", "))
        }
        Value::Dict(..) => "a table".into(),
        Value::Empty(..) => "nothing".into(),
    }
}
