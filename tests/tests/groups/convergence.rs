//! Two that write at random, and one that follows, end with what the table holds, and never held too much.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use htm_core::{GroupMember, GroupRole, Memory, NodeId};
use htm_tests::TestDatabase;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::{GROUP, held, options};

const BUDGET: u64 = 60;
const NODES: usize = 20;

#[derive(Clone, Copy, Debug)]
enum Step {
    Add(usize),
    Remove(usize),
    Touch(usize),
    Remember(usize),
    Sync,
}

fn steps(count: usize) -> Vec<Step> {
    let step = prop_oneof![
        6 => (0..NODES).prop_map(Step::Add),
        3 => (0..NODES).prop_map(Step::Remove),
        2 => (0..NODES).prop_map(Step::Touch),
        2 => (1..20_usize).prop_map(Step::Remember),
        1 => Just(Step::Sync),
    ];
    let steps = prop::collection::vec(step, count);
    steps.new_tree(&mut TestRunner::default()).unwrap().current()
}

async fn run(member: &GroupMember, nodes: &[NodeId], steps: Vec<Step>) {
    for (number, step) in steps.into_iter().enumerate() {
        match step {
            Step::Add(node) => drop(member.add(nodes[node]).await.unwrap()),
            Step::Remove(node) => drop(member.remove(nodes[node]).await.unwrap()),
            Step::Touch(node) => drop(member.touch(nodes[node]).await.unwrap()),
            Step::Remember(words) => {
                let text = format!("{} {number}{}", member.robot(), " word".repeat(words));
                member.remember(Memory::new(text)).await.unwrap();
            }
            Step::Sync => member.sync().await.unwrap(),
        }
        let tokens: usize = member.entries().await.iter().map(|entry| entry.tokens).sum();
        assert!(tokens <= BUDGET as usize, "{tokens} after {step:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_converge_and_stay_within_the_budget() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let mut nodes = Vec::new();
    for number in 0..NODES {
        let memory = Memory::new(format!("node {number}{}", " word".repeat(number)))
            .importance((1 + number % 4) as f32);
        nodes.push(htm.remember(memory).await.unwrap().node);
    }
    let mut members = Vec::new();
    for (robot, role) in [("ada", GroupRole::Active), ("bob", GroupRole::Active), ("cyd", GroupRole::Passive)]
    {
        members.push(db.htm().group(GROUP).join(robot, options(Some(role), BUDGET)).await.unwrap());
    }
    let done = Arc::new(AtomicBool::new(false));
    let watch = tokio::spawn({
        let (pool, done) = (db.pool.clone(), done.clone());
        async move {
            let mut looks = 0;
            while !done.load(Ordering::Relaxed) {
                let tokens: i64 = sqlx::query_scalar(
                    "select coalesce(sum(n.token_count), 0) from htm.group_memory m join htm.nodes n on n.id = m.node_id
                      where m.removed_at is null",
                )
                .fetch_one(&pool)
                .await
                .unwrap();
                assert!(tokens <= BUDGET as i64, "{tokens} in the table");
                looks += 1;
            }
            looks
        }
    });
    let [ada, bob, cyd] = &members[..] else { unreachable!() };
    tokio::join!(run(ada, &nodes, steps(150)), run(bob, &nodes, steps(150)));
    done.store(true, Ordering::Relaxed);
    assert!(watch.await.unwrap() > 10);
    let table: Vec<NodeId> =
        sqlx::query_scalar("select node_id from htm.group_memory where removed_at is null order by node_id")
            .fetch_all(&db.pool)
            .await
            .unwrap();
    assert!(!table.is_empty());
    for member in [ada, bob, cyd] {
        member.sync().await.unwrap();
        assert_eq!(held(member).await, table, "{}", member.robot());
    }
    // Each write has a version of its own, and the group's is the last.
    assert_eq!(
        db.count("select g.version - max(m.version) from htm.robot_groups g join htm.group_memory m on m.group_id = g.id
                   group by g.version").await,
        0
    );
}
