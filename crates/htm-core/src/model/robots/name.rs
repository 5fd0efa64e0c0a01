//! Generated names for robots without one.

use uuid::Uuid;

const ADJECTIVES: [&str; 32] = [
    "amber", "bold", "brisk", "calm", "clever", "copper", "curious", "deep", "eager", "early", "fair",
    "gentle", "golden", "hidden", "honest", "keen", "kind", "lively", "lucid", "mellow", "nimble", "patient",
    "plain", "quick", "quiet", "silver", "steady", "still", "sunny", "swift", "warm", "wise",
];

const NOUNS: [&str; 32] = [
    "badger", "beaver", "crane", "dolphin", "eagle", "falcon", "finch", "fox", "gecko", "hare", "heron",
    "ibis", "jay", "kestrel", "lark", "lynx", "marten", "moth", "newt", "osprey", "otter", "owl", "panda",
    "plover", "raven", "robin", "seal", "stork", "swift", "tern", "vole", "wren",
];

/// A random name that is easy to say and remember, such as `quiet-heron-417`: one of a million.
pub(crate) fn generate() -> String {
    let random = Uuid::new_v4().as_u128();
    let adjective = ADJECTIVES[(random % 32) as usize];
    // The middle of a version 4 UUID has fixed bits; these ends have none.
    let noun = NOUNS[((random >> 5) % 32) as usize];
    let number = (random >> 96) as u32 % 1_000;
    format!("{adjective}-{noun}-{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_of_words_and_a_number_and_differ() {
        let names: std::collections::BTreeSet<String> = (0..1_000).map(|_| generate()).collect();
        assert!(names.len() > 990, "{}", names.len());
        for name in names {
            let parts: Vec<&str> = name.split('-').collect();
            assert!(ADJECTIVES.contains(&parts[0]) && NOUNS.contains(&parts[1]), "{name}");
            assert!(parts[2].parse::<u32>().unwrap() < 1_000 && parts.len() == 3, "{name}");
        }
    }
}
