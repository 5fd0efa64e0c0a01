//! The subjects of jobs: payloads, and the texts of nodes.

use htm_core::NodeId;
use htm_core::job::{Payload, PayloadError, decode};
use htm_core::worker::jobs::{Claimed, Superseded};
use htm_core::worker::nodes;
use serde::de::DeserializeOwned;
use sqlx::PgPool;

/// A job with its subject.
#[derive(Clone, Debug)]
pub struct Item<S = Text> {
    /// The job.
    pub job: String,
    /// The namespace.
    pub namespace: String,
    /// The job's priority. Larger is served first.
    pub priority: i32,
    /// The number of this attempt, from 1.
    pub attempt: i32,
    /// The most attempts.
    pub max_attempts: i32,
    /// The tokens that the provider reads; 0 without a provider.
    pub tokens: u32,
    /// Whether they are taken from the namespace's budget.
    pub has_budget: bool,
    /// The subject.
    pub subject: S,
}

/// A text that every provider takes.
pub const HARMLESS: &str = "Hello.";

impl Item<Text> {
    /// The item with a harmless text in place of its own.
    #[must_use]
    pub fn harmless(&self) -> Self {
        let Text { node, revision, .. } = self.subject;
        Self { tokens: 2, subject: Text { node, revision, content: HARMLESS.into() }, ..self.clone() }
    }
}

/// The current text of a node.
#[derive(Clone, Debug)]
pub struct Text {
    /// The node.
    pub node: NodeId,
    /// The revision of the text.
    pub revision: i32,
    /// The text.
    pub content: String,
}

/// The subjects of claimed jobs.
#[derive(Debug)]
pub struct Subjects<S> {
    /// The jobs to work on.
    pub items: Vec<Item<S>>,
    /// The jobs whose node was edited or forgotten.
    pub superseded: Vec<Superseded>,
    /// The jobs whose payload cannot be processed.
    pub undecoded: Vec<(String, PayloadError)>,
}

/// The jobs whose payload cannot be processed, with the reason.
type Undecoded = Vec<(String, PayloadError)>;

/// Decodes the payloads of jobs. Those that cannot be processed are returned with the reason.
pub fn payloads<P: DeserializeOwned>(jobs: &[Claimed]) -> (Vec<(&Claimed, P)>, Undecoded) {
    let mut payloads = Vec::with_capacity(jobs.len());
    let mut undecoded = Vec::new();
    for job in jobs {
        match decode(&job.payload) {
            Ok(payload) => payloads.push((job, payload)),
            Err(error) => undecoded.push((job.id.clone(), error)),
        }
    }
    (payloads, undecoded)
}

/// Reads the texts of the nodes that jobs are about.
///
/// # Errors
/// A database error.
pub async fn texts(pool: &PgPool, jobs: &[Claimed]) -> htm_core::Result<Subjects<Text>> {
    let (payloads, undecoded) = payloads::<Payload>(jobs);
    let wanted: Vec<_> =
        payloads.iter().map(|(job, payload)| (payload.node, payload.revision, &*job.namespace)).collect();
    let texts = nodes::contents(pool, &wanted).await?;
    let mut subjects =
        Subjects { items: Vec::with_capacity(payloads.len()), superseded: Vec::new(), undecoded };
    for (job, Payload { node, revision, .. }) in payloads {
        let Some(text) = texts.get(&(node, revision)) else {
            subjects.superseded.push(Superseded { job: job.id.clone(), node, revision });
            continue;
        };
        subjects.items.push(Item {
            job: job.id.clone(),
            namespace: text.namespace.clone(),
            priority: job.priority,
            attempt: job.attempt,
            max_attempts: job.max_attempts,
            tokens: text.tokens.max(0) as u32,
            has_budget: text.has_budget,
            subject: Text { node, revision, content: text.content.clone() },
        });
    }
    Ok(subjects)
}
