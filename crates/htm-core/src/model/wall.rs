//! The wall: the restriction of a handle to some namespaces.

use crate::model::settings::Settings;

/// The restriction of a handle: its namespaces, and settings with one of them as the default.
pub(crate) struct Wall {
    pub(crate) namespaces: Vec<String>,
    pub(crate) settings: Settings,
}
