//! The choice of a strategy by the form of the query.

use super::{Chosen, ChosenFor, Strategy};
use crate::model::words::{SignKind, Words};

/// The most words beside an exact term. With more of them, the query is no longer about the term.
const FEW: usize = 3;

/// Words that begin a question, also without a question mark.
const ASKING: &[&str] = &[
    "who", "whom", "whose", "what", "which", "when", "where", "why", "how", "is", "are", "was", "did",
    "does", "do", "can",
];

/// The strategy for a query, and the reason.
pub(crate) fn choose(words: &Words) -> Chosen {
    let chosen = |strategy, reason| Chosen { strategy, reason };
    let tokens: Vec<&str> =
        words.plain.split_whitespace().filter(|token| token.contains(char::is_alphanumeric)).collect();
    let is_term = |token: &str| Words::parse(token).has(SignKind::Term) || is_identifier(token);
    let others = tokens.iter().filter(|token| !is_term(token)).count();
    let first = tokens.first().map(|token| token.to_lowercase()).unwrap_or_default();
    let is_question = words.plain.trim_end().ends_with('?') || ASKING.contains(&first.as_str());
    if words.has(SignKind::Phrase) {
        return chosen(Strategy::Fulltext, ChosenFor::Phrase);
    }
    if is_question {
        return chosen(Strategy::Hybrid, ChosenFor::Question);
    }
    if words.has_beginning() && others <= FEW + 1 {
        return chosen(Strategy::Fulltext, ChosenFor::Prefix);
    }
    if others < tokens.len() && others <= FEW {
        return chosen(Strategy::Fulltext, ChosenFor::ExactTerms);
    }
    chosen(Strategy::Hybrid, ChosenFor::Words)
}

/// Whether a token is an identifier of a program or a code: `camelCase`, `HttpServer`, `E0308`, `ERR42`.
fn is_identifier(token: &str) -> bool {
    let name = token.trim_matches(|c: char| !c.is_alphanumeric());
    let chars: Vec<char> = name.chars().collect();
    let turns = chars.windows(2).any(|pair| pair[0].is_lowercase() && pair[1].is_uppercase());
    let has_code = chars.first().is_some_and(|c| c.is_uppercase())
        && chars.iter().filter(|c| c.is_ascii_digit()).count() >= 2
        && chars.iter().all(|c| c.is_uppercase() || c.is_ascii_digit());
    turns || has_code
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Strategy;
    use super::*;

    #[test]
    fn what_is_exact_is_looked_for_by_its_words() {
        for text in [
            "PostgreSQL 17.2",
            "\"night watch\" \"the castle\" -north",
            "--dry-run",
            "htm_core::recall",
            "snake_case",
            "the camelCase name",
            "src/store/recall.rs",
            "error E0308",
            "migrat*",
            "#123",
        ] {
            assert_eq!(choose(&Words::parse(text)).strategy, Strategy::Fulltext, "{text}");
        }
        for text in [
            "which database did we choose?",
            "what runs on PostgreSQL 17.2",
            "Who read \"The Alchemist\"?",
            "\"night watch\" of the castle in the north of the country",
            "night watch",
            "zeppelin",
            "we pinned PostgreSQL 17.2 for the storage vendor",
            "the painting of the lake at dawn",
            "猫",
            "",
        ] {
            assert_eq!(choose(&Words::parse(text)).strategy, Strategy::Hybrid, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_query_has_a_strategy_that_searches(text in "\\PC{0,40}") {
            prop_assert_ne!(choose(&Words::parse(&text)).strategy, Strategy::Auto);
        }
    }
}
