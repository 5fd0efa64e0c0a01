//! The division of samples into those that a test learns from and those that it measures: earlier and later groups.

use crate::sample::Sample;

/// The number of parts. The first one is only learnt from, the last one only measured.
const PARTS: usize = 5;

/// Cuts samples, the earliest group first, into parts of whole groups, about equal in number. With one group, the parts
/// are of recalls.
pub(crate) fn parts(samples: &[Sample]) -> Vec<Vec<&Sample>> {
    let mut groups: Vec<Vec<&Sample>> = Vec::new();
    let mut place_of: std::collections::HashMap<usize, usize> = std::collections::HashMap::new();
    for sample in samples {
        let place = *place_of.entry(sample.group).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(sample);
    }
    if groups.len() == 1 {
        groups = samples.iter().map(|sample| vec![sample]).collect();
    }
    let mut parts: Vec<Vec<&Sample>> = vec![Vec::new(); PARTS];
    let mut before = 0;
    for group in groups {
        let middle = before as f64 + group.len() as f64 / 2.0;
        let part = (middle * PARTS as f64 / samples.len() as f64) as usize;
        before += group.len();
        parts[part.min(PARTS - 1)].extend(group);
    }
    parts.retain(|part| !part.is_empty());
    parts
}
