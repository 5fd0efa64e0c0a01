//! Packing of a batch's items into calls.

use std::collections::VecDeque;

use crate::subject::Item;

/// The attempts in which an item may be in a full call. In each further one, half as many may be together: a text that
/// makes the provider fail takes all of its call with it. It is alone in the last of three or more attempts.
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
    /// The most items of a call with this one.
    fn items_with<S>(self, item: &Item<S>) -> usize {
        if item.attempt <= TOGETHER {
            return self.items;
        }
        let halved = self.items >> (item.attempt - TOGETHER).min(63);
        let towards_the_end = 1 << (item.max_attempts - item.attempt).clamp(0, 62);
        halved.min(towards_the_end).max(1)
    }
}

/// Takes the next call's items from the front. Takes at least one, even if it exceeds the limits.
pub(crate) fn next_call<S>(items: &mut VecDeque<Item<S>>, limits: CallLimits) -> Vec<Item<S>> {
    let mut call: Vec<Item<S>> = Vec::new();
    let (mut tokens, mut most) = (0u32, limits.items);
    while let Some(item) = items.front() {
        most = most.min(limits.items_with(item));
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
            max_attempts: 25,
            tokens,
            has_budget: false,
            subject: (),
        }
    }

    #[test]
    fn an_item_is_alone_in_its_last_attempt() {
        let limits = CallLimits { items: 64, tokens: 1_000, one_namespace: false };
        let most =
            |attempt, max_attempts| limits.items_with(&Item { max_attempts, ..item(0, 1, 0, attempt) });
        assert_eq!([1, 2, 3, 4, 8, 9, 25].map(|attempt| most(attempt, 25)), [64, 64, 32, 16, 1, 1, 1]);
        assert_eq!([1, 2, 3, 4, 5].map(|attempt| most(attempt, 5)), [64, 64, 4, 2, 1]);
        assert_eq!((most(3, 3), most(1_000, 1_000)), (1, 1));
        assert_eq!((most(1, 1), most(2, 2)), (64, 64), "there are too few attempts");
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
                let most = call.iter().map(|item| limits.items_with(item)).min();
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
