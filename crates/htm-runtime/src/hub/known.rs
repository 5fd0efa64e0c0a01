//! Models of the hub that are known to run.

use serde::Serialize;

use super::place::{Kind, Prompts};

/// A model that is known to run.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct KnownModel {
    /// Its repository.
    pub repository: &'static str,
    /// Its purpose.
    pub kind: Kind,
    /// The length of its vectors. None for a cross-encoder.
    pub dimensions: Option<u16>,
    /// The tokens that it reads at once.
    pub window: u16,
    /// The size of its weights in MB.
    pub megabytes: u16,
    /// Its languages.
    pub languages: &'static str,
    /// The text before a query.
    pub query_prefix: &'static str,
    /// The text before a document.
    pub document_prefix: &'static str,
}

/// The prefix of a query of BGE and its relatives.
const SEARCH: &str = "Represent this sentence for searching relevant passages: ";

/// The models, those for embeddings first. Their makers, sentence-transformers and the lists of mteb and fastembed name
/// the sizes and the prefixes.
pub const KNOWN: &[KnownModel] = &[
    embedder("sentence-transformers/all-MiniLM-L6-v2", 384, 256, 91, "English", ["", ""]),
    embedder("sentence-transformers/all-MiniLM-L12-v2", 384, 256, 133, "English", ["", ""]),
    embedder("sentence-transformers/multi-qa-MiniLM-L6-cos-v1", 384, 512, 91, "English", ["", ""]),
    embedder("sentence-transformers/all-mpnet-base-v2", 768, 384, 438, "English", ["", ""]),
    embedder("BAAI/bge-small-en-v1.5", 384, 512, 133, "English", [SEARCH, ""]),
    embedder("BAAI/bge-base-en-v1.5", 768, 512, 438, "English", [SEARCH, ""]),
    embedder("BAAI/bge-large-en-v1.5", 1024, 512, 1340, "English", [SEARCH, ""]),
    embedder("intfloat/e5-small-v2", 384, 512, 133, "English", ["query: ", "passage: "]),
    embedder("intfloat/e5-base-v2", 768, 512, 438, "English", ["query: ", "passage: "]),
    embedder("thenlper/gte-small", 384, 512, 67, "English", ["", ""]),
    embedder("thenlper/gte-base", 768, 512, 219, "English", ["", ""]),
    embedder("Snowflake/snowflake-arctic-embed-s", 384, 512, 133, "English", [SEARCH, ""]),
    embedder("Snowflake/snowflake-arctic-embed-m", 768, 512, 436, "English", [SEARCH, ""]),
    embedder("mixedbread-ai/mxbai-embed-large-v1", 1024, 512, 670, "English", [SEARCH, ""]),
    embedder(
        "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2",
        384,
        128,
        471,
        "50 languages",
        ["", ""],
    ),
    embedder("intfloat/multilingual-e5-small", 384, 512, 471, "94 languages", ["query: ", "passage: "]),
    embedder("intfloat/multilingual-e5-base", 768, 512, 1112, "94 languages", ["query: ", "passage: "]),
    embedder("intfloat/multilingual-e5-large", 1024, 512, 2240, "94 languages", ["query: ", "passage: "]),
    cross_encoder("cross-encoder/ms-marco-MiniLM-L6-v2", 512, 91, "English"),
    cross_encoder("cross-encoder/ms-marco-MiniLM-L12-v2", 512, 133, "English"),
];

const fn embedder(
    repository: &'static str,
    dimensions: u16,
    window: u16,
    megabytes: u16,
    languages: &'static str,
    [query_prefix, document_prefix]: [&'static str; 2],
) -> KnownModel {
    let (kind, dimensions) = (Kind::Embedder, Some(dimensions));
    KnownModel { repository, kind, dimensions, window, megabytes, languages, query_prefix, document_prefix }
}

const fn cross_encoder(
    repository: &'static str,
    window: u16,
    megabytes: u16,
    languages: &'static str,
) -> KnownModel {
    let kind = Kind::CrossEncoder;
    let (query_prefix, document_prefix) = ("", "");
    KnownModel {
        repository,
        kind,
        dimensions: None,
        window,
        megabytes,
        languages,
        query_prefix,
        document_prefix,
    }
}

impl KnownModel {
    /// The prefixes of its texts; none if it was trained without.
    pub(super) fn prompts(&self) -> Option<Prompts> {
        let wants = !self.query_prefix.is_empty() || !self.document_prefix.is_empty();
        wants.then(|| Prompts { query: self.query_prefix.into(), document: self.document_prefix.into() })
    }
}

/// A known model.
pub(super) fn of(repository: &str) -> Option<&'static KnownModel> {
    KNOWN.iter().find(|model| model.repository.eq_ignore_ascii_case(repository))
}
