//! The tag worker, as a library for `htm up` and tests. The process is in `main.rs`.

mod arguments;
mod governed;
mod in_use;
mod relevant;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use htm_core::error::chain;
use htm_core::provider::{Calls, ProviderError, ProviderErrorKind, TagOrigin, TagSuggestion, Tagger};
use htm_core::tag::{KnownTag, KnownTags, TagRules};
use htm_core::worker::governor::Breaker;
use htm_core::worker::jobs::{self, Claimed, Lease, Tagged, TaggedBy};
use htm_core::worker::tags;
use htm_core::{Error, Result, Stage};
use htm_runtime::Runtime;
use htm_worker::{Handler, Item, Kind, Subjects, Text, WorkError, texts};
use sqlx::PgPool;

pub use arguments::Arguments;
pub use governed::Governed;
use in_use::{InUse, MOST, Readings};
pub use relevant::TagSelection;

/// The most tags of a namespace that are passed to a tagger without a [`TagSelection`].
const ONTOLOGY_SHOWN: u32 = 200;

/// The token budget of the tags that a language model sees: some hundred tags, a fraction of the smallest window.
const ONTOLOGY_TOKENS: usize = 1_500;

/// The time limit for choosing the tags to show. A database that has vanished never answers.
const CHOICE: Duration = Duration::from_secs(60);

/// Proposes tags for texts, given the existing tags of their namespace.
pub struct TagHandler {
    pool: PgPool,
    tagger: Arc<dyn Tagger>,
    shown: Shown,
    rules: TagRules,
}

/// The tags that the tagger is shown.
enum Shown {
    /// The most used ones, with the changes of former names. The tagger chooses by itself.
    MostUsed(Readings<Vec<KnownTag>>),
    /// The relevant ones.
    Relevant(Readings<InUse>, TagSelection),
}

impl TagHandler {
    /// Makes the handler of a tagger. The ontology is read from `pool`.
    pub fn new(pool: PgPool, tagger: Arc<dyn Tagger>) -> Self {
        Self { pool, tagger, shown: Shown::MostUsed(Readings::new()), rules: TagRules::default() }
    }

    /// Shows the tagger only the relevant part of the ontology.
    #[must_use]
    pub fn showing(mut self, relevance: TagSelection) -> Self {
        self.shown = Shown::Relevant(Readings::new(), relevance);
        self
    }

    /// Writes tags by these rules.
    #[must_use]
    pub fn rules(mut self, rules: TagRules) -> Self {
        self.rules = rules;
        self
    }

    /// The tags to show the tagger. If they cannot be read, it is shown none: tags are then only less consistent.
    async fn ontology(&self, namespace: &str, texts: &[String]) -> KnownTags {
        self.known(namespace, texts).await.unwrap_or_else(|error| {
            tracing::warn!(code = error.code(), error = %chain(&*error), "tagging without the tags in use");
            KnownTags::default()
        })
    }

    async fn known(&self, namespace: &str, texts: &[String]) -> Result<KnownTags, Arc<Error>> {
        // Before the tags: a reading that is newer than its change is read again, and no other way round.
        let change = tags::last_change(&self.pool, namespace).await.map_err(Arc::new)?;
        let of = (namespace, change);
        match &self.shown {
            Shown::Relevant(readings, relevance) => {
                let read = tags::in_use(&self.pool, namespace, MOST);
                let reading = readings.of(of, read, InUse::new).await?;
                let tags = relevance.choose(&reading.value, texts).await;
                Ok(KnownTags { tags, ..KnownTags::default() })
            }
            Shown::MostUsed(readings) => {
                let read = tags::in_use_or_split(&self.pool, namespace, ONTOLOGY_SHOWN);
                let reading = readings.of(of, read, |tags| tags).await?;
                // Not from a cache, so that a name that was removed a moment ago is not given again.
                let former = tags::former(&self.pool, namespace).await.map_err(Arc::new)?;
                Ok(KnownTags { tags: reading.value.clone(), former })
            }
        }
    }
}

/// Makes the handler of the runtime's configuration. A language model is shown the tags nearest to its texts by the
/// configured embedder. `local` finds the nearest terms by itself.
///
/// # Errors
/// One of the `provider_settings_…` codes.
pub async fn handler(runtime: &Runtime) -> Result<TagHandler> {
    let handler =
        TagHandler::new(runtime.pool().clone(), runtime.tagger()?).rules(runtime.config().tag.rules());
    if handler.tagger.origin() != TagOrigin::Llm {
        return Ok(handler);
    }
    let config = runtime.config();
    let embedder = runtime.embedder().map_err(|error| {
        tracing::warn!(code = error.code(), error = %chain(&error), "no embedder: the model is shown only the top of the ontology");
    });
    let governed = Governed {
        pool: runtime.pool().clone(),
        breaker: Breaker::default(),
        deadline: Duration::from_millis(config.embedding.timeout_ms),
    };
    let relevance = TagSelection::new(embedder.ok(), ONTOLOGY_TOKENS, config.tokens.encoding);
    Ok(handler.showing(relevance.governed(governed)))
}

#[async_trait]
impl Handler for TagHandler {
    type Subject = Text;
    type Output = Vec<TagSuggestion>;

    fn kind(&self) -> Kind {
        Kind::Stage(Stage::Tag)
    }

    fn model(&self) -> Option<String> {
        Some(self.tagger.model().to_string())
    }

    fn one_namespace_a_call(&self) -> bool {
        true
    }

    async fn read(&self, pool: &PgPool, jobs: &[Claimed]) -> Result<Subjects<Text>> {
        texts(pool, jobs).await
    }

    async fn work(&self, items: &[Item], calls: &dyn Calls) -> Result<Vec<Vec<TagSuggestion>>, WorkError> {
        let Some(first) = items.first() else { return Ok(Vec::new()) };
        let texts: Vec<String> = items.iter().map(|item| item.subject.content.clone()).collect();
        let choice = tokio::time::timeout(CHOICE, self.ontology(&first.namespace, &texts)).await;
        let ontology = choice.unwrap_or_else(|_elapsed| {
            tracing::warn!("tagging without the tags in use: the database or the embedder does not answer");
            KnownTags::default()
        });
        let suggestions = self.tagger.extract_within(&texts, &ontology, calls).await?;
        if suggestions.len() != texts.len() {
            return Err(ProviderError::new(
                self.tagger.model(),
                ProviderErrorKind::BadResponse,
                format!("answered for {} of {} texts", suggestions.len(), texts.len()),
            )
            .into());
        }
        Ok(suggestions)
    }

    fn harmless(&self, item: &Item) -> Option<Item> {
        // The tags of its namespace may be more than the provider takes.
        Some(Item { namespace: String::new(), ..item.harmless() })
    }

    async fn ack(
        &self,
        pool: &PgPool,
        lease: &Lease,
        results: &[(Item, Vec<TagSuggestion>)],
    ) -> htm_core::Result<usize> {
        let results: Vec<Tagged> = results
            .iter()
            .map(|(item, suggestions)| Tagged {
                job: item.job.clone(),
                node: item.subject.node,
                namespace: item.namespace.clone(),
                revision: item.subject.revision,
                tags: suggestions.clone(),
            })
            .collect();
        let by = TaggedBy {
            model: self.tagger.model(),
            version: self.tagger.version(),
            origin: self.tagger.origin(),
            rules: &self.rules,
        };
        jobs::ack_tagged(pool, lease, by, &results).await
    }
}
