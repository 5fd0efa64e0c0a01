//! Packing of a batch's items into calls.

use std::collections::VecDeque;

use crate::subject::Item;

/// The attempts in which an item may be in a full call. In each further one, half as many may be together: a text that
/// makes the provider fail takes all of its call with it, and so is alone before it is a dead letter. Others share a
/// failing call once or twice more at most.
const TOGETHER: i32 = 2;

/// The limits of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallLimits {
    pub(crate) items: usize,
    pub(crate) tokens: u32,
    /// Whether all items must be of one namespace.
    pub(crate) one_namespace: bool,
}

impl CallLimits {
    /// The most items of a call with one that is tried for the `attempt`th time.
    fn items_at(self, attempt: i32) -> usize {
        let halvings = (attempt - TOGETHER).clamp(0, 63);
        (self.items >> halvings).max(1)
    }
}

/// Takes the next call's items from the front. Takes at least one, even if it exceeds the limits.
pub(crate) fn next_call<S>(items: &mut VecDeque<Item<S>>, limits: CallLimits) -> Vec<Item<S>> {
    let mut call: Vec<Item<S>> = Vec::new();
    let (mut tokens, mut most) = (0u32, limits.items);
    while let Some(item) = items.front() {
        most = most.min(limits.items_at(item.attempt));
        let full = call.len() >= most || tokens.saturating_add(item.tokens) > limits.tokens;
        let foreign =
            limits.one_namespace && call.first().is_some_and(|first| first.namespace != item.namespace);
        if !call.is_empty() && (full || foreign) {
            break;
        }
        tokens = tokens.saturating_add(item.tokens);
        call.extend(items.pop_front());
    }
    call
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn item(number: usize, tokens: u32, namespace: u8, attempt: i32) -> Item<()> {
        Item {
            job: number.to_string(),
            namespace: namespace.to_string(),
            priority: 0,
            attempt,
            tokens,
            has_budget: false,
            subject: (),
        }
    }

    proptest! {
        #[test]
        fn calls_keep_their_limits_and_lose_nothing(
            texts in prop::collection::vec((0u32..500, 0u8..3, 1i32..30), 0..100),
            items in 1usize..20,
            tokens in 1u32..1_000,
            one_namespace: bool,
        ) {
            let limits = CallLimits { items, tokens, one_namespace };
            let each = texts.iter().enumerate();
            let mut left: VecDeque<Item<()>> =
                each.map(|(n, (tokens, namespace, attempt))| item(n, *tokens, *namespace, *attempt)).collect();
            let mut seen = Vec::new();
            while !left.is_empty() {
                let call = next_call(&mut left, limits);
                prop_assert!(!call.is_empty() && call.len() <= items);
                let most = call.iter().map(|item| limits.items_at(item.attempt)).min();
                prop_assert!(most.is_some_and(|most| call.len() <= most));
                let sum: u32 = call.iter().map(|item| item.tokens).sum();
                prop_assert!(sum <= tokens || call.len() == 1);
                if one_namespace {
                    prop_assert!(call.iter().all(|item| item.namespace == call[0].namespace));
                }
                seen.extend(call.into_iter().map(|item| item.job));
            }
            prop_assert_eq!(seen, (0..texts.len()).map(|n| n.to_string()).collect::<Vec<_>>());
        }
    }
}
