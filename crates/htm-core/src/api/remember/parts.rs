//! The split of memories into transactions: the locks of their tags' names have to fit into the database's lock table,
//! which has a fixed size (`max_locks_per_transaction`, 64 by default, for each connection).

use std::collections::{HashMap, HashSet};

use crate::model::tags::TagPath;
use crate::store::tags::{LOCKS_A_NAMESPACE, MOST_LOCKS};

/// The indexes of the memories that each transaction writes, from the namespace and the tags of each memory. A
/// namespace is written by one transaction.
pub(super) fn parts<'a>(memories: impl Iterator<Item = (&'a str, Vec<TagPath>)>) -> Vec<Vec<usize>> {
    let mut namespaces: Vec<(Vec<usize>, HashSet<String>)> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (place, (namespace, tags)) in memories.enumerate() {
        let number = *known.entry(namespace).or_insert(namespaces.len());
        if number == namespaces.len() {
            namespaces.push(Default::default());
        }
        let (places, names) = &mut namespaces[number];
        places.push(place);
        for tag in tags {
            let path = tag.as_str();
            let above = path.match_indices(':').map(|(end, _)| path[..end].to_owned());
            names.extend(above.chain([path.to_owned()]));
        }
    }
    let mut parts: Vec<Vec<usize>> = Vec::new();
    let mut locks = 0;
    for (places, names) in namespaces {
        // One more for the namespace.
        let needed = if names.is_empty() { 0 } else { 1 + names.len().min(LOCKS_A_NAMESPACE) };
        match parts.last_mut() {
            Some(part) if locks + needed <= MOST_LOCKS => {
                locks += needed;
                part.extend(places);
            }
            _ => {
                locks = needed;
                parts.push(places);
            }
        }
    }
    for part in &mut parts {
        part.sort_unstable();
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(memories: &[(&str, &[&str])]) -> Vec<Vec<usize>> {
        let tags = |tags: &[&str]| tags.iter().map(|tag| tag.parse().unwrap()).collect();
        parts(memories.iter().map(|(namespace, given)| (*namespace, tags(given))))
    }

    #[test]
    fn memories_without_tags_are_one_part_whatever_their_namespaces() {
        let names: Vec<String> = (0..5_000).map(|n| n.to_string()).collect();
        let memories: Vec<(&str, &[&str])> = names.iter().map(|name| (name.as_str(), &[][..])).collect();
        assert_eq!(of(&memories), [(0..5_000).collect::<Vec<_>>()]);
        assert!(of(&[]).is_empty());
    }

    #[test]
    fn many_tags_of_one_namespace_are_one_part() {
        let tags: Vec<String> = (0..5_000).map(|n| format!("a:{n}")).collect();
        let memories: Vec<Vec<&str>> = tags.iter().map(|tag| vec![tag.as_str()]).collect();
        let memories: Vec<(&str, &[&str])> = memories.iter().map(|tags| ("default", &tags[..])).collect();
        assert_eq!(of(&memories).len(), 1);
    }

    #[test]
    fn namespaces_with_tags_are_split_and_stay_whole() {
        // Each takes 1 + 4 locks: a, a:b, a:b:c, d.
        let names: Vec<String> = (0..500).map(|n| (n % 250).to_string()).collect();
        let memories: Vec<(&str, &[&str])> =
            names.iter().map(|name| (name.as_str(), &["a:b:c", "d"][..])).collect();
        let parts = of(&memories);
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [400, 100]);
        assert!(parts[0].contains(&0) && parts[0].contains(&250) && parts[1].contains(&499));
        assert!(parts.iter().all(|part| part.is_sorted()));
    }
}
