//! Clients that turn texts into vectors, tags and scores: `ollama`, `openai` (and every server that speaks its API),
//! `local` (in this process, no network) and `fake` (deterministic, for tests).
//!
//! Each module has a plain settings struct and two constructors that give the traits of [`htm_core::provider`]:
//!
//! ```
//! use htm_core::provider::Purpose;
//! use htm_providers::fake::{self, FakeSettings};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let embedder = fake::embedder(FakeSettings::default())?;
//! let embeddings = embedder.embed(&["the cat sat".to_owned()], Purpose::Document).await.unwrap();
//! assert_eq!(embeddings[0].vector.len(), embedder.dimensions().await.unwrap());
//! # Ok::<(), htm_core::Error>(())
//! # }).unwrap();
//! ```
//!
//! A constructor makes no call. It fails with one of the [`codes`] if the settings cannot work, for example an invalid
//! URL or a missing model directory. Calls fail with [`ProviderError`](htm_core::provider::ProviderError), whose
//! message never contains a key or a text.
//!
//! | feature | module | needs |
//! |---|---|---|
//! | (always) | [`fake`] | nothing |
//! | `ollama` | [`ollama`] | an Ollama server |
//! | `openai` | [`openai`] | an OpenAI-compatible server and, mostly, a key |
//! | `local` | [`local`] | a directory with the model's weights |
//! | `rerank` | [`rerank`] | a server that scores texts at `/rerank` |
//!
//! [`templates`] are ready-made ontologies. `local` chooses tags from them, and `htm tags apply-template` adds one to a
//! namespace.

#[cfg(any(feature = "ollama", feature = "openai"))]
mod answer;
#[cfg(any(feature = "ollama", feature = "openai"))]
mod api_embedder;
#[cfg(any(feature = "ollama", feature = "openai"))]
mod api_settings;
#[cfg(any(feature = "ollama", feature = "openai"))]
mod api_tagger;
#[cfg(any(feature = "ollama", feature = "openai"))]
mod chat;
#[cfg(any(feature = "ollama", feature = "openai"))]
mod check;
pub mod codes;
#[cfg(any(feature = "ollama", feature = "openai"))]
mod expansion;
pub mod fake;
mod hash;
#[cfg(any(feature = "ollama", feature = "openai", feature = "rerank"))]
mod http;
#[cfg(feature = "local")]
pub mod local;
#[cfg(feature = "ollama")]
pub mod ollama;
#[cfg(feature = "openai")]
pub mod openai;
mod pool;
#[cfg(any(feature = "ollama", feature = "openai"))]
mod prefix;
#[cfg(any(feature = "ollama", feature = "openai"))]
mod prompt;
#[cfg(any(feature = "ollama", feature = "openai"))]
mod requests;
#[cfg(feature = "rerank")]
pub mod rerank;
mod secret;
// Without the HTTP providers only `fake` splits texts, with an exact count.
#[cfg_attr(not(any(feature = "ollama", feature = "openai")), allow(dead_code))]
mod split;
pub mod templates;

#[cfg(any(feature = "ollama", feature = "openai"))]
pub use api_settings::ApiSettings;
pub use secret::Secret;
