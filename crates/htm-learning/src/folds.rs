//! The division of samples into those that a test learns from and those that it measures: earlier and later groups.

use std::collections::HashMap;

use crate::sample::Sample;

/// The number of parts. The first one is only learnt from, the last one only measured.
const PARTS: usize = 5;

/// Cuts samples, which are in the order of time, into parts of whole groups, about equal in number. A group that has more
/// than half of the samples is cut too: a robot may have a single session.
pub(crate) fn parts(samples: &[Sample]) -> Vec<Vec<&Sample>> {
    let mut sizes: HashMap<usize, usize> = HashMap::new();
    for sample in samples {
        *sizes.entry(sample.group).or_default() += 1;
    }
    let mut groups: Vec<Vec<&Sample>> = Vec::new();
    let mut places: HashMap<usize, usize> = HashMap::new();
    for sample in samples {
        let place = match sizes[&sample.group] > samples.len() / 2 {
            true => groups.len(),
            false => *places.entry(sample.group).or_insert(groups.len()),
        };
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(sample);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made::sample;

    fn samples(groups: &[usize]) -> Vec<Sample> {
        groups.iter().map(|&group| Sample { group, ..sample(&[1.0, 0.0]) }).collect()
    }

    #[test]
    fn groups_stay_whole_and_in_order() {
        let samples = samples(&[0, 0, 0, 1, 0, 1, 2, 2, 3, 3, 4, 4, 5]);
        let parts = parts(&samples);
        let groups: Vec<Vec<usize>> =
            parts.iter().map(|part| part.iter().map(|it| it.group).collect()).collect();
        assert_eq!(groups, [vec![0, 0, 0, 0], vec![1, 1], vec![2, 2], vec![3, 3], vec![4, 4, 5]]);
    }

    #[test]
    fn a_group_of_most_samples_is_cut_by_time() {
        for groups in [[0; 11], [0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0]] {
            let samples = samples(&groups);
            let parts = parts(&samples);
            assert_eq!(parts.iter().map(Vec::len).sum::<usize>(), 11);
            assert_eq!(parts.len(), PARTS);
        }
    }
}
