//! The wall: what a handle is held to.

use crate::model::settings::Settings;

/// What a handle is held to.
pub(crate) struct Wall {
    pub(crate) namespaces: Vec<String>,
    pub(crate) settings: Settings,
}
