//! `feedback`.

use htm_core::{Feedback, NodeId};

use super::{Answer, Effect, ToolSpec};
use crate::McpServer;
use crate::arguments::{Arguments, Kind, argument};
use crate::error::ToolError;
use crate::text::{compact, count};

pub(super) const FEEDBACK: ToolSpec = ToolSpec {
    name: "feedback",
    about: "Say which memories you used, if an answer has a recall id.",
    arguments: &[
        argument("recall", Kind::Text).required(),
        argument("used", Kind::Numbers),
        argument("useless", Kind::Numbers),
    ],
    effect: Effect::Sets,
    call: |server, arguments| Box::pin(feedback(server, arguments)),
};

async fn feedback(server: McpServer, arguments: Arguments) -> Result<Answer, ToolError> {
    let nodes = |name| arguments.wholes(name).into_iter().map(NodeId).collect();
    let feedback = Feedback { used: nodes("used"), useless: nodes("useless") };
    let recall = arguments.text("recall").unwrap_or_default();
    let receipt = server.htm().feedback(recall, &feedback).await?;
    let mut text = format!("{} used, {} useless. Thank you.", receipt.used, receipt.useless);
    if !receipt.not_considered.is_empty() {
        let others = count(receipt.not_considered.len(), "memory");
        text.push_str(&format!(" The recall did not consider {others} of these."));
    }
    Ok(Answer::new(text, compact(&receipt)))
}
