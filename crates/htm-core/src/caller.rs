//! Who asks for a change to what is remembered, and whether somebody has said that it is meant.

use crate::error::{Error, Result};
use crate::htm::Settings;
use crate::id::NodeId;

/// Who asks to edit, forget or restore a node. A robot, by its name, has a say over what it remembered itself. This keeps
/// robots from each other's memories by mistake; it is no access control: whoever calls says who it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Caller {
    /// The handle's robot.
    #[default]
    Handle,
    /// The robot of this name.
    Robot(String),
    /// Somebody who may change what any robot remembered.
    AnyRobot,
}

impl Caller {
    /// The robot whose nodes may be changed; none: any.
    pub(crate) fn robot<'a>(&'a self, settings: &'a Settings) -> Option<&'a str> {
        match self {
            Self::Handle => Some(&settings.robot),
            Self::Robot(name) => Some(name),
            Self::AnyRobot => None,
        }
    }
}

/// Refuses a robot that is not the one that remembered the node.
pub(crate) fn refuse_others(robot: Option<&str>, node: NodeId, owner: &str) -> Result<()> {
    match robot {
        Some(robot) if robot != owner => {
            Err(Error::NotOwner { node, owner: owner.into(), robot: robot.into() })
        }
        _ => Ok(()),
    }
}

/// Whether somebody has said that a memory is to be forgotten, or purged. Never forget unless told to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirmation {
    /// Yes, do it.
    Confirmed,
    /// Nobody has said so.
    Missing,
}

impl Confirmation {
    /// Refuses what nobody has confirmed; `what` and `hint` as in [`Error::NotConfirmed`].
    pub(crate) fn require(self, what: impl Fn() -> (String, String)) -> Result<()> {
        match self {
            Self::Confirmed => Ok(()),
            Self::Missing => {
                let (what, hint) = what();
                Err(Error::NotConfirmed { what, hint })
            }
        }
    }
}
