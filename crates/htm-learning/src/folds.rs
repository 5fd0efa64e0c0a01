//! The division of samples into those that a test learns from and those that it measures: earlier and later blocks.

use std::collections::HashMap;

use crate::sample::Sample;

/// The number of parts. The first one is only learnt from, the last one only measured.
const PARTS: usize = 5;

/// Cuts samples, which are in the order of time, into parts of whole blocks, about equal in number. A block that has more
/// than half of the samples is cut too: a robot may have a single block.
pub(crate) fn parts(samples: &[Sample]) -> Vec<Vec<&Sample>> {
    let mut sizes: HashMap<usize, usize> = HashMap::new();
    for sample in samples {
        *sizes.entry(sample.block).or_default() += 1;
    }
    let mut blocks: Vec<Vec<&Sample>> = Vec::new();
    let mut places: HashMap<usize, usize> = HashMap::new();
    for sample in samples {
        let place = match sizes[&sample.block] > samples.len() / 2 {
            true => blocks.len(),
            false => *places.entry(sample.block).or_insert(blocks.len()),
        };
        if place == blocks.len() {
            blocks.push(Vec::new());
        }
        blocks[place].push(sample);
    }
    let mut parts: Vec<Vec<&Sample>> = vec![Vec::new(); PARTS];
    let mut before = 0;
    for block in blocks {
        let middle = before as f64 + block.len() as f64 / 2.0;
        let part = (middle * PARTS as f64 / samples.len() as f64) as usize;
        before += block.len();
        parts[part.min(PARTS - 1)].extend(block);
    }
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made::sample;

    fn samples(blocks: &[usize]) -> Vec<Sample> {
        blocks.iter().map(|&block| Sample { block, ..sample(&[1.0, 0.0]) }).collect()
    }

    #[test]
    fn blocks_stay_whole_and_in_order() {
        let samples = samples(&[0, 0, 0, 1, 0, 1, 2, 2, 3, 3, 4, 4, 5]);
        let parts = parts(&samples);
        let blocks: Vec<Vec<usize>> =
            parts.iter().map(|part| part.iter().map(|it| it.block).collect()).collect();
        assert_eq!(blocks, [vec![0, 0, 0, 0], vec![1, 1], vec![2, 2], vec![3, 3], vec![4, 4, 5]]);
    }

    #[test]
    fn a_block_of_most_samples_is_cut_by_time() {
        for blocks in [[0; 11], [0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0]] {
            let samples = samples(&blocks);
            let parts = parts(&samples);
            assert_eq!(parts.iter().map(Vec::len).sum::<usize>(), 11);
            assert_eq!(parts.len(), PARTS);
        }
    }
}
