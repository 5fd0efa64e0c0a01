//! Jobs: their queues and payloads.
//!
//! A payload holds ids, never content: the worker reads the text that the node has *now*, and a job whose
//! revision is no longer the node's writes nothing. A job of [`LEARN_QUEUE`] is about a namespace, not about a node.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::model::error::{Error, codes};
use crate::model::id::NodeId;

/// The version of the payloads that this program writes, and the newest that it reads.
pub const PAYLOAD_VERSION: u16 = 1;

/// The queue of the jobs that learn the ranking of a namespace. The key of such a job is the namespace, so each namespace
/// has one at most. It becomes due again when there is more to learn from.
pub const LEARN_QUEUE: &str = "htm.learn";

/// The stages of a node after its write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[derive(Serialize, Deserialize, strum::Display, strum::EnumString, strum::AsRefStr, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", parse_err_ty = String, parse_err_fn = no_stage)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Stage {
    /// Its embedding.
    Embed,
    /// Its tags.
    Tag,
}

impl Stage {
    /// Both, in the order in which they are shown.
    pub const ALL: [Stage; 2] = [Stage::Embed, Stage::Tag];

    /// The queue of its jobs: a stable name, whatever the Rust types are called.
    pub fn queue(self) -> &'static str {
        match self {
            Stage::Embed => "htm.embed",
            Stage::Tag => "htm.tag",
        }
    }

    /// The stage of the jobs of a queue. A queue that is of no stage by its name is of an embedding model.
    pub fn of_queue(queue: &str) -> Self {
        Self::ALL.into_iter().find(|stage| stage.queue() == queue).unwrap_or(Self::Embed)
    }
}

fn no_stage(text: &str) -> String {
    format!("`{text}` is not a stage; use embed or tag")
}

/// The missing part of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, strum::Display, strum::EnumString)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Loss {
    /// Its job: there is no result, no job and no dead letter.
    Job,
    /// Its vector, although the job is done.
    Vector,
}

impl Loss {
    /// The loss in words.
    pub fn about(self) -> &'static str {
        match self {
            Self::Job => "no result, no job, no dead letter",
            Self::Vector => "done, but its vector is missing",
        }
    }
}

/// The state of a job, for people. The row has four states; a pending job is due, waiting or parked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[derive(
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumString,
    strum::AsRefStr,
    strum::IntoStaticStr,
    strum::VariantNames
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", parse_err_ty = String, parse_err_fn = no_state)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum JobState {
    /// It can be claimed.
    Due,
    /// It can be claimed later: a delay between attempts.
    Waiting,
    /// It waits for a budget, or for an operator because it was deferred for too long.
    Parked,
    /// A worker holds it.
    Running,
    /// Its result is written, or there was nothing to write.
    Done,
    /// A dead letter.
    Dead,
}

impl JobState {
    /// All of them, in the order of a job's life.
    pub const ALL: [JobState; 6] = [
        JobState::Due,
        JobState::Waiting,
        JobState::Parked,
        JobState::Running,
        JobState::Done,
        JobState::Dead,
    ];
}

fn no_state(text: &str) -> String {
    format!("`{text}` is not a state; use one of: due, waiting, parked, running, done, dead")
}

/// The payload of a node's job, as JSON in `apalis.jobs.job`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Payload {
    /// [`PAYLOAD_VERSION`] of the writer.
    pub v: u16,
    /// The node.
    pub node: NodeId,
    /// The revision of its content that the job is about.
    pub revision: i32,
}

impl Payload {
    /// Decodes the payload of a job.
    ///
    /// # Errors
    /// [`PayloadError::Newer`] is left for a newer worker; [`PayloadError::Undecodable`] is a dead letter.
    pub fn decode(bytes: &[u8]) -> Result<Self, PayloadError> {
        decode(bytes)
    }
}

/// The payload of a job of [`LEARN_QUEUE`], as JSON in `apalis.jobs.job`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnPayload {
    /// [`PAYLOAD_VERSION`] of the writer.
    pub v: u16,
    /// The namespace.
    pub namespace: String,
}

/// Decodes the payload of a job.
///
/// # Errors
/// [`PayloadError::Newer`] is left for a newer worker; [`PayloadError::Undecodable`] is a dead letter.
pub fn decode<P: DeserializeOwned>(bytes: &[u8]) -> Result<P, PayloadError> {
    #[derive(Deserialize)]
    struct Version {
        v: u16,
    }
    let undecodable = |error: serde_json::Error| PayloadError::Undecodable(error.to_string());
    let Version { v } = serde_json::from_slice(bytes).map_err(undecodable)?;
    if v > PAYLOAD_VERSION {
        return Err(PayloadError::Newer(v));
    }
    serde_json::from_slice(bytes).map_err(undecodable)
}

/// A payload that this program cannot process.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    /// Written by a newer version.
    #[error("the payload has version {0}, this worker reads up to {PAYLOAD_VERSION}")]
    Newer(u16),
    /// Not a payload.
    #[error("the payload cannot be read: {0}")]
    Undecodable(String),
}

pub(crate) fn not_found(job: &str) -> Error {
    Error::new(codes::JOB_NOT_FOUND, format!("there is no job {job}"))
}

pub(crate) fn queue_unknown(queue: &str, known: &[String]) -> Error {
    let error = Error::new(codes::QUEUE_UNKNOWN, format!("there is no queue `{queue}`"));
    match known {
        [] => error,
        known => error.with_hint(format!("use one of: {}", known.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_queue_is_of_a_stage() {
        assert_eq!(Stage::ALL.map(|stage| Stage::of_queue(stage.queue())), Stage::ALL);
        assert_eq!(Stage::of_queue("htm.embed.2"), Stage::Embed);
    }

    #[test]
    fn payloads_decode_or_say_why_not() {
        let payload = Payload { v: 1, node: NodeId(7), revision: 2 };
        assert_eq!(Payload::decode(&serde_json::to_vec(&payload).unwrap()), Ok(payload));
        assert_eq!(Payload::decode(br#"{"v":2,"anything":true}"#), Err(PayloadError::Newer(2)));
        assert!(matches!(Payload::decode(b"\xff"), Err(PayloadError::Undecodable(_))));
        assert!(matches!(Payload::decode(br#"{"v":1,"node":"x"}"#), Err(PayloadError::Undecodable(_))));
        let learning = LearnPayload { v: 1, namespace: "atlas".into() };
        assert_eq!(decode(br#"{"v":1,"namespace":"atlas"}"#), Ok(learning));
        assert_eq!(decode::<LearnPayload>(br#"{"v":2,"group":"atlas"}"#), Err(PayloadError::Newer(2)));
        assert!(matches!(
            decode::<LearnPayload>(br#"{"v":1,"node":7,"revision":2}"#),
            Err(PayloadError::Undecodable(_))
        ));
    }
}
