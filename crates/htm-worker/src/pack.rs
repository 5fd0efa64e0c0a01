//! Packing of a batch's items into calls.

use std::collections::VecDeque;

use crate::subject::Item;

/// The limits of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallLimits {
    pub(crate) items: usize,
    pub(crate) tokens: u32,
    /// Whether all items must be of one namespace.
    pub(crate) one_namespace: bool,
}

/// Takes the next call's items from the front. Takes at least one, even if it exceeds the limits.
pub(crate) fn next_call<S>(items: &mut VecDeque<Item<S>>, limits: CallLimits) -> Vec<Item<S>> {
    let mut call: Vec<Item<S>> = Vec::new();
    let mut tokens = 0u32;
    while let Some(item) = items.front() {
        let full = call.len() >= limits.items || tokens.saturating_add(item.tokens) > limits.tokens;
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

    fn item(number: usize, tokens: u32, namespace: u8) -> Item<()> {
        Item {
            job: number.to_string(),
            namespace: namespace.to_string(),
            priority: 0,
            tokens,
            has_budget: false,
            subject: (),
        }
    }

    proptest! {
        #[test]
        fn calls_keep_their_limits_and_lose_nothing(
            texts in prop::collection::vec((0u32..500, 0u8..3), 0..100),
            items in 1usize..20,
            tokens in 1u32..1_000,
            one_namespace: bool,
        ) {
            let limits = CallLimits { items, tokens, one_namespace };
            let mut left: VecDeque<Item<()>> =
                texts.iter().enumerate().map(|(n, (tokens, namespace))| item(n, *tokens, *namespace)).collect();
            let mut seen = Vec::new();
            while !left.is_empty() {
                let call = next_call(&mut left, limits);
                prop_assert!(!call.is_empty() && call.len() <= items);
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
