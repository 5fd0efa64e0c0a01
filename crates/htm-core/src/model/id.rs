//! Ids. Each kind has its own type, so that ids are never mixed up.

use std::fmt;
use std::str::FromStr;

/// The error for a text that is not an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an id is a whole number, as 42")]
pub struct IdInvalid;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
        )]
        #[serde(transparent)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = IdInvalid;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self).map_err(|_| IdInvalid)
            }
        }
    };
}

id!(
    /// A node: one memory.
    NodeId
);
id!(
    /// A robot: an agent that remembers.
    RobotId
);
id!(
    /// A group of robots.
    GroupId
);

/// A membership of a robot in a group. Its holder acts for the robot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MembershipId(pub(crate) uuid::Uuid);
