//! The memberships in groups that this server holds for its clients.

use std::collections::HashMap;
use std::sync::Arc;

use htm_core::GroupMember;
use htm_core::error::chain;
use tokio::sync::Mutex;

use crate::codes;
use crate::error::ToolError;
use crate::text::name;
use crate::tools::Who;

/// Namespace, group and robot.
type Key = (String, String, String);

/// The members whose leases this process renews.
#[derive(Default)]
pub(crate) struct Memberships(Mutex<HashMap<Key, Arc<GroupMember>>>);

fn key(who: &Who, group: &str) -> Key {
    (who.namespace.clone(), group.to_owned(), who.robot.clone())
}

impl Memberships {
    /// Keeps a membership; an earlier one of the robot was replaced.
    pub(super) async fn add(&self, who: &Who, group: &str, member: GroupMember) {
        self.0.lock().await.insert(key(who, group), Arc::new(member));
    }

    pub(super) async fn remove(&self, who: &Who, group: &str) {
        self.0.lock().await.remove(&key(who, group));
    }

    pub(super) async fn get(&self, who: &Who, group: &str) -> Result<Arc<GroupMember>, ToolError> {
        let member = self.0.lock().await.get(&key(who, group)).cloned();
        member.ok_or_else(|| {
            let message = format!("{} did not join {} through this server", name(&who.robot), name(group));
            ToolError::new(codes::GROUP_NOT_JOINED, message)
        })
    }

    /// Leaves all groups.
    pub(crate) async fn leave_all(&self) {
        for (_, member) in self.0.lock().await.drain() {
            // A call that still uses it keeps it; its lease ends with the process.
            let Ok(member) = Arc::try_unwrap(member) else { continue };
            if let Err(error) = member.leave().await {
                tracing::warn!(code = error.code(), error = %chain(&error), "a group was not left; the lease will end");
            }
        }
    }
}
