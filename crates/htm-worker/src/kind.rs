//! The kinds of worker.

use htm_core::Stage;
use htm_core::job::LEARN_QUEUE;

/// A kind of worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Works on nodes at this stage, by a provider.
    Stage(Stage),
    /// Learns the ranking of namespaces.
    Learn,
}

impl Kind {
    /// The kind of the workers of a queue.
    pub fn of_queue(queue: &str) -> Self {
        match queue {
            LEARN_QUEUE => Self::Learn,
            queue => Self::Stage(Stage::of_queue(queue)),
        }
    }

    /// The program of this kind.
    pub fn program(self) -> &'static str {
        match self {
            Self::Stage(Stage::Embed) => "embed-worker",
            Self::Stage(Stage::Tag) => "tag-worker",
            Self::Learn => "learn-worker",
        }
    }

    /// The queue of its jobs. A stage may have further ones.
    pub fn queue(self) -> &'static str {
        match self {
            Self::Stage(stage) => stage.queue(),
            Self::Learn => LEARN_QUEUE,
        }
    }
}
