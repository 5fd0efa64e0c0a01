//! The test of learning: rankings are learnt from earlier groups and measured on later ones.

use htm_core::ranking::Learnt;

use crate::authors::weighted;
use crate::boost::trees;
use crate::bootstrap::{Gain, Value, gain};
use crate::folds::parts;
use crate::linear::Linear;
use crate::measure::{Quality, quality};
use crate::sample::Sample;
use crate::solve::Vector;

/// A recall that was tested.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tested {
    author: usize,
    group: usize,
    weight: f64,
    pub(crate) before: Quality,
    pub(crate) linear: Quality,
    /// The quality with trees; that of the weights if none were tried.
    pub(crate) trees: Quality,
}

/// The tests of learning.
#[derive(Debug, Default)]
pub(crate) struct Tests {
    pub(crate) tested: Vec<Tested>,
    /// The number of recalls that the last ranking was learnt from.
    pub(crate) trained_on: usize,
}

/// Which of two rankings is measured.
pub(crate) type Of = fn(&Tested) -> Quality;

impl Tests {
    /// Learns from each part's predecessors, and measures the part.
    pub(crate) fn of(samples: &[Sample], base: &Vector, with_trees: bool, seed: u64) -> Self {
        let parts = parts(samples);
        let mut tests = Self::default();
        for at in 1..parts.len() {
            let earlier = weighted(parts[..at].iter().flatten().copied());
            let linear = Linear::fit(&earlier, base);
            let trees = if with_trees { trees(&earlier, &linear, seed) } else { Vec::new() };
            let ranking = Learnt { weights: linear.weights.into(), trees, ..Learnt::default_ranking() };
            tests.trained_on = earlier.len();
            for sample in &parts[at] {
                let by_linear = quality(sample, &linear.scores(sample));
                let by_trees = || {
                    let scores: Vec<f64> = sample.rows.iter().map(|row| ranking.score(row)).collect();
                    quality(sample, &scores)
                };
                tests.tested.push(Tested {
                    author: sample.author,
                    group: sample.group,
                    weight: 0.0,
                    before: quality(sample, &sample.base),
                    linear: by_linear,
                    trees: if with_trees { by_trees() } else { by_linear },
                });
            }
        }
        let later = weighted(parts.iter().skip(1).flatten().copied());
        for (tested, (_, weight)) in tests.tested.iter_mut().zip(later) {
            tested.weight = weight;
        }
        tests
    }

    /// The mean of a value over the tested recalls.
    pub(crate) fn mean(&self, value: impl Fn(&Tested) -> f64) -> f64 {
        let sum: f64 = self.tested.iter().map(|tested| tested.weight * value(tested)).sum();
        sum / self.tested.iter().map(|tested| tested.weight).sum::<f64>().max(1e-9)
    }

    /// The gain of one ranking over another, in nDCG.
    pub(crate) fn gain(&self, before: Of, after: Of, seed: u64) -> Gain {
        let value = |tested: &Tested| Value {
            value: after(tested).ndcg - before(tested).ndcg,
            weight: tested.weight,
            group: tested.group,
        };
        gain(&self.tested.iter().map(value).collect::<Vec<_>>(), seed)
    }

    /// The author with the largest loss in nDCG, if the loss is larger than its standard error.
    pub(crate) fn loser(&self, after: Of) -> Option<(usize, f64)> {
        let authors = self.tested.iter().map(|tested| tested.author + 1).max().unwrap_or(0);
        let loss = |author: usize| {
            let of_author = self.tested.iter().filter(|tested| tested.author == author);
            let changes: Vec<f64> = of_author.map(|tested| after(tested).ndcg - tested.before.ndcg).collect();
            let count = changes.len() as f64;
            let mean = changes.iter().sum::<f64>() / count;
            let error = (changes.iter().map(|it| (it - mean).powi(2)).sum::<f64>()).sqrt() / count;
            (changes.len() >= LEAST_OF_AUTHOR && mean < -error).then_some((author, mean))
        };
        (0..authors).filter_map(loss).min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// The number of tested recalls from which on an author's loss is looked at.
const LEAST_OF_AUTHOR: usize = 20;
