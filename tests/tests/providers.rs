//! What every provider must do, whichever it is: one suite over `fake`, `local`, `ollama` and `openai`; the
//! two that speak HTTP also against a mock server that fails in each documented way.

#[path = "providers/embedding.rs"]
mod embedding;
#[path = "providers/http_embedding.rs"]
mod http_embedding;
#[path = "providers/http_expansion.rs"]
mod http_expansion;
#[path = "providers/http_rerank.rs"]
mod http_rerank;
#[path = "providers/http_tags.rs"]
mod http_tags;
#[path = "providers/long_texts.rs"]
mod long_texts;
#[path = "providers/mock.rs"]
mod mock;
#[path = "providers/tag_quality.rs"]
mod tag_quality;
#[path = "providers/tagging.rs"]
mod tagging;
