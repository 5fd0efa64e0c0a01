//! The changes of a robot's working memory by a command.

use htm_core::{Htm, Intake, NodeId, Oversized, Robot};

use crate::output::{count, one_line};

/// Opens a robot of a namespace, and registers a new one. Returns whether it is new.
pub(crate) async fn open(htm: &Htm, namespace: &str, name: &str) -> htm_core::Result<(Robot, bool)> {
    let is_new = match htm.find_robot(Some(namespace), name).await {
        Ok(_) => false,
        Err(error) if error.code() == "robot_unknown" => true,
        Err(error) => return Err(error),
    };
    Ok((htm.robot_in(namespace, name).await?, is_new))
}

/// The nodes that entered and left a robot's working memory.
#[derive(serde::Serialize)]
pub(crate) struct TakenIn {
    robot: String,
    /// Whether the robot is new.
    is_new: bool,
    max_tokens: usize,
    #[serde(skip)]
    nodes: Vec<NodeId>,
    #[serde(flatten)]
    intake: Intake,
}

impl TakenIn {
    pub(crate) fn of(
        robot: &Robot,
        is_new: bool,
        nodes: impl IntoIterator<Item = NodeId>,
        intake: Intake,
    ) -> Self {
        let (nodes, max_tokens) = (nodes.into_iter().collect(), robot.working_memory_stats().max_tokens);
        Self { robot: robot.name(), is_new, max_tokens, nodes, intake }
    }

    /// The text for people, on lines of its own.
    pub(crate) fn describe(&self) -> String {
        let robot = one_line(&self.robot, 40);
        let is_in = |node: &&NodeId| {
            !self.intake.evicted.contains(node) && !self.intake.oversized.iter().any(|it| it.node == **node)
        };
        let mut text = format!(
            "\n{robot}'s working memory {}",
            match (self.nodes.len(), self.nodes.iter().filter(is_in).count()) {
                (1, 1) => "has it".into(),
                (1, _) => "does not have it".into(),
                (all, inside) if all == inside => format!("has these {all}"),
                (all, inside) => format!("has {inside} of these {all}"),
            }
        );
        for Oversized { node, tokens } in &self.intake.oversized {
            let max_tokens = self.max_tokens;
            text.push_str(&format!(
                "\nnode {node} ({}) is larger than its working memory of {max_tokens}",
                count(tokens, "token")
            ));
        }
        let left = self.intake.evicted.iter().filter(|node| !self.nodes.contains(node)).count();
        if left > 0 {
            text.push_str(&format!("; {} evicted for it", count(left, "memory")));
        }
        if self.is_new {
            text.push_str("; the robot is new and was registered");
        }
        text
    }
}
