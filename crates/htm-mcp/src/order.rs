//! The order of calls, where some change the session: its robot, or its memberships in groups.
//!
//! Requests run concurrently. A transport that has one client gives each call its place when it arrives: a call that changes
//! the session begins when those before it have ended, and those after it begin when it has ended.

use std::mem::take;
use std::sync::Arc;

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, Extensions};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::tools::changes_session;

/// The calls of a session that have not ended.
#[derive(Debug, Default)]
pub struct Order {
    /// The end of the last change.
    changed: Option<CancellationToken>,
    /// The ends of the calls after it.
    since: Vec<CancellationToken>,
}

/// The place of a call. The call has ended when it is dropped, also if it was cancelled.
#[derive(Clone)]
struct Place {
    /// The ends of the calls to wait for.
    after: Vec<CancellationToken>,
    _end: Arc<DropGuard>,
}

impl Order {
    /// Gives a message its place if it is a call. Other messages wait for nothing.
    pub fn place(&mut self, message: &mut ClientJsonRpcMessage) {
        let ClientJsonRpcMessage::Request(message) = message else { return };
        match &mut message.request {
            ClientRequest::CallToolRequest(call) => {
                let place = match changes_session(&call.params.name) {
                    true => self.change(),
                    false => self.call(),
                };
                call.extensions.insert(place);
            }
            ClientRequest::ReadResourceRequest(call) => drop(call.extensions.insert(self.call())),
            ClientRequest::GetPromptRequest(call) => drop(call.extensions.insert(self.call())),
            _ => {}
        }
    }

    fn call(&mut self) -> Place {
        let end = CancellationToken::new();
        self.since.retain(|end| !end.is_cancelled());
        self.since.push(end.clone());
        Place { after: self.changed.iter().cloned().collect(), _end: Arc::new(end.drop_guard()) }
    }

    fn change(&mut self) -> Place {
        let end = CancellationToken::new();
        // The former change too: a call after it may have been cancelled while it waited.
        let after = take(&mut self.since).into_iter().chain(self.changed.replace(end.clone())).collect();
        Place { after, _end: Arc::new(end.drop_guard()) }
    }
}

/// Waits until it is the turn of a request.
pub(crate) async fn wait(extensions: &Extensions) {
    for end in extensions.get::<Place>().into_iter().flat_map(|place| &place.after) {
        end.cancelled().await;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A call that arrives.
    fn arrives(order: &mut Order, tool: &str) -> Extensions {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool } });
        let mut message = crate::message(&call).unwrap();
        order.place(&mut message);
        match message {
            ClientJsonRpcMessage::Request(request) => match request.request {
                ClientRequest::CallToolRequest(call) => call.extensions,
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    fn may_begin(call: &Extensions) -> bool {
        call.get::<Place>().unwrap().after.iter().all(CancellationToken::is_cancelled)
    }

    #[test]
    fn a_change_of_the_session_stands_between_the_calls_before_and_after_it() {
        let mut order = Order::default();
        let before = [arrives(&mut order, "remember"), arrives(&mut order, "recall")];
        let change = arrives(&mut order, "set_robot");
        let after = [arrives(&mut order, "remember"), arrives(&mut order, "get_robot")];
        assert!(before.iter().all(may_begin) && !may_begin(&change) && !after.iter().any(may_begin));
        drop(before);
        assert!(may_begin(&change) && !after.iter().any(may_begin));
        drop(change);
        assert!(after.iter().all(may_begin));
    }

    #[test]
    fn a_cancelled_call_lets_no_change_overtake_another() {
        let mut order = Order::default();
        let first = arrives(&mut order, "set_robot");
        drop(arrives(&mut order, "remember"));
        let second = arrives(&mut order, "join_group");
        assert!(may_begin(&first) && !may_begin(&second));
        drop(first);
        assert!(may_begin(&second));
    }

    #[test]
    fn what_has_ended_is_not_kept() {
        let mut order = Order::default();
        (0..100).for_each(|_| drop(arrives(&mut order, "remember")));
        assert_eq!(order.since.len(), 1);
    }
}
