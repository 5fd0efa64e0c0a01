//! Groups of robots: one working memory for all members, whoever writes, whoever goes.

#[path = "groups/convergence.rs"]
mod convergence;
#[path = "groups/failover.rs"]
mod failover;
#[path = "groups/members.rs"]
mod members;
#[path = "groups/memory.rs"]
mod memory;

use std::time::Duration;

use htm_core::{GroupMember, GroupRole, Htm, JoinOptions, NodeId};
use htm_tests::wait_until;

const GROUP: &str = "crew";

fn options(role: Option<GroupRole>, max_tokens: u64) -> JoinOptions {
    JoinOptions { role, max_tokens, lease: Duration::from_secs(30) }
}

async fn join(htm: &Htm, robot: &str, role: GroupRole) -> GroupMember {
    htm.group(GROUP).join(robot, options(Some(role), 1_000)).await.unwrap()
}

/// The nodes that a member has in mind, by id.
async fn held(member: &GroupMember) -> Vec<NodeId> {
    let mut nodes: Vec<NodeId> = member.entries().await.iter().map(|entry| entry.node).collect();
    nodes.sort_unstable();
    nodes
}

async fn until_held(member: &GroupMember, nodes: &[NodeId]) {
    wait_until(|| async { held(member).await == nodes }).await;
}
