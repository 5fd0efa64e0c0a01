//! The memories that a hook adds to the context.

use chrono::{DateTime, Utc};
use htm_core::{Hit, Htm, Node};
use serde_json::{Map, Value};

use super::event::Event;
use super::{database, transcript};

/// The least similarity of a relevant memory, for all-MiniLM-L6-v2: with it, 26 of the demo's 32 questions show a memory
/// that answers them, and none of 20 prompts about other things shows any memory of the four namespaces. Scores do not
/// tell them apart, because a few common words make a large share of a short prompt: above the score of every unrelated
/// prompt (0.42), 8 questions are left. The share of the words alone does no better.
const MIN_SIMILARITY: f64 = 0.35;

/// The hits that are asked for. Those of the session itself may be in its context already.
const CANDIDATES: usize = 30;

/// The most memories that are added to a prompt.
const MOST: usize = 8;

/// The most bytes of a prompt that are searched for: the start of a long paste says what it is about.
const MAX_QUERY_BYTES: usize = 4_000;

/// A prompt of fewer bytes, such as `ok, go on`, has no subject.
const MIN_PROMPT_BYTES: usize = 12;

/// The importance of decisions and preferences.
const IMPORTANT: f32 = 7.0;

/// The most important memories, and the most turns of the directory, that a session starts with.
const IMPORTANT_MEMORIES: usize = 10;
const TURNS: usize = 6;

/// A hit, as far as it matters here.
#[derive(Clone, Debug)]
pub(super) struct Found {
    node: Node,
    /// None while its embedding is pending.
    similarity: Option<f64>,
}

impl From<Hit> for Found {
    fn from(hit: Hit) -> Self {
        Self { node: hit.node, similarity: hit.scores.similarity }
    }
}

impl Found {
    fn is_near(&self, min_similarity: f64) -> bool {
        self.similarity.is_some_and(|similarity| similarity >= min_similarity)
    }

    /// Whether it was said right after `other`: its answer.
    fn follows(&self, other: &Self) -> bool {
        let place = |found: &Self| Some((found.node.session.clone()?, found.node.seq?));
        let (own, before) = (place(self), place(other));
        own.zip(before).is_some_and(|(own, (session, seq))| own == (session, seq.saturating_add(1)))
    }
}

/// The memories that are relevant to a prompt, best first. 0 as `min_similarity` stands for the default.
pub(super) async fn to_prompt(htm: &Htm, event: &Event, min_similarity: f64) -> htm_core::Result<Vec<Node>> {
    let prompt = event.prompt.as_deref().unwrap_or_default().trim();
    // A command of Claude Code is no question.
    if prompt.len() < MIN_PROMPT_BYTES || prompt.starts_with('/') {
        return Ok(Vec::new());
    }
    let query = &prompt[..prompt.floor_char_boundary(MAX_QUERY_BYTES)];
    let found = database::recall(htm, query, CANDIDATES).await?;
    let least = if min_similarity > 0.0 { min_similarity } else { MIN_SIMILARITY };
    let compacted = match found.iter().any(|hit| is_of_session(&hit.node, event)) {
        true => transcript::compacted_at(event).await,
        false => None,
    };
    Ok(chosen(&found, event, compacted, least))
}

/// The hits that are near, and the answers to what was asked before.
fn chosen(
    found: &[Found],
    event: &Event,
    compacted: Option<DateTime<Utc>>,
    min_similarity: f64,
) -> Vec<Node> {
    let prompt = event.prompt.as_deref().unwrap_or_default().trim();
    let near: Vec<&Found> = found.iter().filter(|hit| hit.is_near(min_similarity)).collect();
    let is_relevant =
        |hit: &Found| hit.is_near(min_similarity) || near.iter().any(|other| hit.follows(other));
    let mut chosen: Vec<Node> = Vec::new();
    for node in found.iter().filter(|hit| is_relevant(hit)).map(|hit| &hit.node) {
        // The same question may have been asked in several sessions.
        let is_known = [prompt]
            .into_iter()
            .chain(chosen.iter().map(|it| it.content.trim()))
            .any(|it| it == node.content.trim());
        if !is_known && !is_in_context(node, event, compacted) {
            chosen.push(node.clone());
        }
    }
    chosen.truncate(MOST);
    chosen
}

/// The latest important memories and then the last turns of the session's directory, both in the order of time.
pub(super) async fn at_start(htm: &Htm, event: &Event) -> htm_core::Result<Vec<Node>> {
    let important = database::latest(htm, Some(IMPORTANT), Map::new(), IMPORTANT_MEMORIES).await?;
    let turns = match &event.cwd {
        Some(directory) => database::latest(htm, None, of_directory(directory), TURNS).await?,
        None => Vec::new(),
    };
    let mut all = important;
    for node in turns {
        if all.iter().all(|it| it.id != node.id) {
            all.push(node);
        }
    }
    if !event.is_after_compaction() && all.iter().any(|node| is_of_session(node, event)) {
        let compacted = transcript::compacted_at(event).await;
        all.retain(|node| !is_in_context(node, event, compacted));
    }
    Ok(all)
}

/// The metadata of what is said in a directory.
pub(super) fn of_directory(directory: &str) -> Map<String, Value> {
    Map::from_iter([("directory".to_owned(), directory.into())])
}

fn is_of_session(node: &Node, event: &Event) -> bool {
    event.session_id.is_some() && node.session == event.session_id
}

/// Whether it was said in this session, after the last compaction.
fn is_in_context(node: &Node, event: &Event, compacted: Option<DateTime<Utc>>) -> bool {
    is_of_session(node, event) && compacted.is_none_or(|at| node.created_at > at)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(content: &str, similarity: Option<f64>, place: Option<(&str, i32)>) -> Found {
        let (session, seq) = place.unzip();
        let node = json!({
            "id": 1, "namespace": "n", "robot": "r", "content": content, "session": session, "seq": seq,
            "importance": 1.0, "token_count": 1, "token_encoding": "estimate", "tags": [], "metadata": {},
            "remember_count": 1, "first_remembered": "2026-03-01T09:00:00Z",
            "last_remembered": "2026-03-01T09:00:00Z", "revision": 1, "created_at": "2026-03-01T09:00:00Z",
            "updated_at": "2026-03-01T09:00:00Z",
        });
        Found { node: serde_json::from_value(node).unwrap(), similarity }
    }

    #[test]
    fn near_hits_and_the_answers_to_near_questions_are_relevant() {
        let event =
            Event { session_id: Some("now".into()), prompt: Some("Which port?".into()), ..Event::default() };
        let all = [
            found("near", Some(0.36), None),
            found("far", Some(0.34), None),
            found("not embedded", None, None),
            found("of this session", Some(0.9), Some(("now", 2))),
            found(" Which port?\n", Some(1.0), Some(("before", 4))),
            found("5433.", Some(0.1), Some(("before", 5))),
            found("near ", Some(0.36), Some(("another", 1))),
            found("Thanks.", Some(0.1), Some(("before", 6))),
            found("of another session", Some(0.1), Some(("other", 5))),
        ];
        let shown: Vec<String> =
            chosen(&all, &event, None, MIN_SIMILARITY).into_iter().map(|node| node.content).collect();
        assert_eq!(shown, ["near", "5433."]);
        // All of them are of 09:00.
        for (compacted, is_shown) in [("2026-03-01T09:30:00Z", true), ("2026-03-01T08:30:00Z", false)] {
            let shown = chosen(&all, &event, Some(compacted.parse().unwrap()), MIN_SIMILARITY);
            assert_eq!(shown.iter().any(|node| node.content == "of this session"), is_shown, "{compacted}");
        }
    }
}
