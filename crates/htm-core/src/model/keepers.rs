//! Who keeps a memory: who made it, who said it again, who has it in mind.

use chrono::{DateTime, Utc};

/// Who keeps a memory.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Keepers {
    /// The robots, by name.
    pub robots: Vec<KeptBy>,
    /// The groups that have it in mind, by name.
    pub groups: Vec<String>,
}

/// A robot that keeps a memory.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct KeptBy {
    /// Its namespace; a robot may have a memory of another one in mind.
    pub namespace: String,
    /// Its name.
    pub robot: String,
    /// Whether it made the memory.
    pub made: bool,
    /// How often it remembered it: once by making it, and each time that it said it again.
    pub remember_count: i64,
    /// When it said it again first; none when it did not.
    pub first_repeat: Option<DateTime<Utc>>,
    /// When it said it again last.
    pub last_repeat: Option<DateTime<Utc>>,
    /// Whether it has it in its working memory, as that was written last.
    pub in_working_memory: bool,
}
