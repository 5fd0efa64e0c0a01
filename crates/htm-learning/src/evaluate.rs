//! The test of learning: rankings are learnt from earlier blocks and measured on later ones.

use htm_core::ranking::{Learnt, Tree};

use crate::authors::weighted;
use crate::boost::trees;
use crate::bootstrap::{Confidence, Gain, Value, gain};
use crate::folds::parts;
use crate::linear::Linear;
use crate::measure::{Quality, quality};
use crate::sample::Sample;
use crate::solve::Vector;
use crate::step::{STEP, ranking};

/// A recall that was tested.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tested {
    author: usize,
    block: usize,
    weight: f64,
    /// Whether all candidates were judged, or only those of an answer.
    is_complete: bool,
    pub(crate) before: Quality,
    pub(crate) linear: Way,
    /// The quality with trees; that of the weights if none were tried.
    pub(crate) trees: Way,
}

/// The quality by a step towards what was learnt, and by the whole way. The step is what is used. The whole way shows
/// better what harms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) step: Quality,
    pub(crate) whole: Quality,
}

/// The tests of learning.
#[derive(Debug, Default)]
pub(crate) struct Tests {
    pub(crate) tested: Vec<Tested>,
    /// The number of recalls that the last ranking was learnt from.
    pub(crate) trained_on: usize,
}

/// The quality by one of the rankings.
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
            let rankings = |trees: &[Tree]| [STEP, 1.0].map(|step| ranking(base, &linear, trees, step));
            let (by_linear, by_trees) = (rankings(&[]), rankings(&trees));
            tests.trained_on = earlier.len();
            for sample in &parts[at] {
                let quality_by = |ranking: &Learnt| {
                    let scores: Vec<f64> = sample.rows.iter().map(|row| ranking.score(row)).collect();
                    quality(sample, &scores)
                };
                let by =
                    |[step, whole]: &[Learnt; 2]| Way { step: quality_by(step), whole: quality_by(whole) };
                let by_weights = by(&by_linear);
                tests.tested.push(Tested {
                    author: sample.author,
                    block: sample.block,
                    weight: 0.0,
                    is_complete: sample.is_complete(),
                    before: quality(sample, &sample.base),
                    linear: by_weights,
                    trees: if with_trees { by(&by_trees) } else { by_weights },
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
            block: tested.block,
        };
        gain(&self.tested.iter().map(value).collect::<Vec<_>>(), self.confidence(), seed)
    }

    /// The confidence that is needed. Recalls of which only the answer was judged say less than they seem to: of the
    /// rankings learnt from few of them that had a gain with 95 %, a sixth lost recall.
    fn confidence(&self) -> Confidence {
        let complete = self.mean(|tested| f64::from(u8::from(tested.is_complete)));
        if complete > 0.5 { Confidence::Usual } else { Confidence::High }
    }

    /// The change of recall that is too large a loss, if there is one.
    pub(crate) fn lost_recall(&self, after: Of) -> Option<f64> {
        let change = |tested: &Tested| after(tested).recall - tested.before.recall;
        [(true, MOST_LOST), (false, MOST_LEAVING)].into_iter().find_map(|(is_complete, most)| {
            let (change, _) = self.change(change, 1, |tested| tested.is_complete == is_complete)?;
            (change < -most).then_some(change)
        })
    }

    /// The author with the largest loss in nDCG, if the loss is larger than its standard error.
    pub(crate) fn loser(&self, after: Of) -> Option<(usize, f64)> {
        let change = |author| self.change(gain_by(after), LEAST_OF_AUTHOR, |tested| tested.author == author);
        let losses = self.authors().filter_map(|author| change(author).map(|change| (author, change)));
        let lost =
            losses.filter(|(_, (mean, error))| *mean < -error).map(|(author, (mean, _))| (author, mean));
        lost.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The author that the gain depends on: in the recalls of all others, it is not larger than its standard error.
    pub(crate) fn depends_on(&self, after: Of) -> Option<(usize, f64)> {
        let change = |author| self.change(gain_by(after), LEAST_OF_OTHERS, |tested| tested.author != author);
        let gains = self.authors().filter_map(|author| change(author).map(|change| (author, change)));
        let lacking =
            gains.filter(|(_, (mean, error))| mean <= error).map(|(author, (mean, _))| (author, mean));
        lacking.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    fn authors(&self) -> std::ops::Range<usize> {
        0..self.tested.iter().map(|tested| tested.author + 1).max().unwrap_or(0)
    }

    /// The mean of a change with its standard error, in some of the tested recalls; none if they are too few.
    fn change(
        &self,
        change: impl Fn(&Tested) -> f64,
        least: usize,
        of: impl Fn(&Tested) -> bool,
    ) -> Option<(f64, f64)> {
        let some: Vec<&Tested> = self.tested.iter().filter(|tested| of(tested)).collect();
        let total: f64 = some.iter().map(|tested| tested.weight).sum();
        if some.len() < least || total <= 0.0 {
            return None;
        }
        let mean = some.iter().map(|tested| tested.weight * change(tested)).sum::<f64>() / total;
        let square = |tested: &&Tested| (tested.weight * (change(tested) - mean)).powi(2);
        Some((mean, some.iter().map(square).sum::<f64>().sqrt() / total))
    }
}

/// The gain in nDCG.
fn gain_by(after: Of) -> impl Fn(&Tested) -> f64 {
    move |tested| after(tested).ndcg - tested.before.ndcg
}

/// The most that recall of the first ten may lose.
const MOST_LOST: f64 = 0.003;

/// The largest share of used candidates that may leave the first ten, if only those could be used. Better rankings lead
/// to .18, because others take their places. Junk leads to .2 to .55.
const MOST_LEAVING: f64 = 0.2;

/// The number of tested recalls from which on an author's loss is looked at.
const LEAST_OF_AUTHOR: usize = 20;

/// The number of tested recalls of the others from which on a gain must not depend on an author.
const LEAST_OF_OTHERS: usize = 10;
