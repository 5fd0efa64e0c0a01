//! The caller of a change, and its confirmation.

use crate::model::error::{Error, Result, codes};
use crate::model::id::NodeId;
use crate::model::settings::Settings;

/// The caller of an edit, forget, restore or purge. A robot may change the nodes that it remembered first. It is
/// identified by its namespace and its name. This prevents mistakes between robots. It is not access control: the
/// caller states who it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Caller {
    /// The handle's robot, in the handle's namespace.
    #[default]
    Handle,
    /// The robot of this name in the handle's namespace.
    Robot(String),
    /// A robot of this namespace.
    In {
        /// The namespace.
        namespace: String,
        /// The robot's name there; none is that of the handle's robot.
        robot: Option<String>,
    },
    /// Any robot: all nodes may be changed.
    AnyRobot,
}

impl Caller {
    /// The name of the calling robot.
    pub(crate) fn robot<'a>(&'a self, settings: &'a Settings) -> &'a str {
        self.owner(settings).map_or(&settings.robot, |owner| owner.robot)
    }

    /// The robot whose nodes may be changed; none: any.
    pub(crate) fn owner<'a>(&'a self, settings: &'a Settings) -> Option<Owner<'a>> {
        let (namespace, robot): (&str, &str) = match self {
            Self::Handle => (&settings.namespace, &settings.robot),
            Self::Robot(name) => (&settings.namespace, name),
            Self::In { namespace, robot } => (namespace, robot.as_deref().unwrap_or(&settings.robot)),
            Self::AnyRobot => return None,
        };
        Some(Owner { namespace, robot })
    }
}

/// A robot that nodes belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner<'a> {
    pub(crate) namespace: &'a str,
    pub(crate) robot: &'a str,
}

/// Refuses a robot that is not the one that remembered the node first: a repeat makes no owner.
pub(crate) fn refuse_others(asks: Option<Owner<'_>>, node: NodeId, owner: Owner<'_>) -> Result<()> {
    match asks {
        Some(asks) if asks != owner => Err(Error::new(
            codes::NOT_OWNER,
            format!(
                "node {node} was first remembered by robot `{}` of namespace `{}`, not by `{}` of `{}`",
                owner.robot, owner.namespace, asks.robot, asks.namespace
            ),
        )),
        _ => Ok(()),
    }
}

/// The confirmation of a forget or purge. Never forget unless told to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirmation {
    /// Confirmed.
    Confirmed,
    /// Not confirmed.
    Missing,
}

impl Confirmation {
    /// Refuses an unconfirmed act. `what` names the act, such as `forgetting node 7`.
    pub(crate) fn require(self, what: impl Fn() -> String) -> Result<()> {
        match self {
            Self::Confirmed => Ok(()),
            Self::Missing => Err(Error::new(codes::NOT_CONFIRMED, format!("{} was not confirmed", what()))),
        }
    }
}
