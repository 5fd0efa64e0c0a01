//! The keepers of a memory: its first robot, the robots that remembered it again, and the working memories that hold
//! it.

use chrono::{DateTime, Utc};

/// The keepers of a memory.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Keepers {
    /// The robots, by name.
    pub robots: Vec<KeptBy>,
    /// The groups with it in their working memory, by name.
    pub groups: Vec<String>,
}

/// A robot that keeps a memory.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KeptBy {
    /// Its namespace; a working memory may hold nodes of other namespaces.
    pub namespace: String,
    /// Its name.
    pub robot: String,
    /// Whether it remembered the memory first.
    pub made: bool,
    /// The number of times that it remembered the memory, including the first.
    pub remember_count: i64,
    /// Its first repeat; none without repeats.
    pub first_repeat: Option<DateTime<Utc>>,
    /// Its last repeat.
    pub last_repeat: Option<DateTime<Utc>>,
    /// Whether its saved working memory holds it.
    pub in_working_memory: bool,
}
