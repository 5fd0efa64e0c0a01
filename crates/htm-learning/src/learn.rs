//! The steps of learning: prepare, test, decide, fit.

use std::collections::BTreeMap;

use htm_core::ranking::{FEATURES, Learnt};

use crate::authors::weighted;
use crate::boost::trees;
use crate::evaluate::{Of, Tests};
use crate::linear::Linear;
use crate::outcome::{Figures, MovedWeight, Outcome, Reason};
use crate::recall::JudgedRecall;
use crate::sample::Sample;
use crate::solve::{COUNT, Vector};

/// The options of learning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// The least number of recalls with a used candidate.
    pub least_judged: usize,
    /// The least number of them for trees.
    pub least_for_trees: usize,
    /// The seed of all random choices.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { least_judged: 40, least_for_trees: 250, seed: 1 }
    }
}

/// The most that recall of the first ten may lose.
const MOST_LOSS: f64 = 0.003;

/// A change of a weight that is worth telling.
const WORTH_TELLING: f64 = 0.05;

/// Learns a ranking from judged recalls, and says whether it should replace `base`. The order of the recalls does not
/// matter, and the same recalls give the same outcome.
pub fn learn(recalls: &[JudgedRecall], base: &Learnt, options: &Options) -> Outcome {
    let kept = |figures, reason| Outcome { learnt: base.clone(), figures, adopted: false, reason };
    let mut figures = Figures { given: recalls.len(), ..Figures::default() };
    if let Some(reason) = base.unusable() {
        return kept(figures, Reason::Unusable { reason });
    }
    let (samples, authors) = prepared(recalls, base);
    figures.judged = samples.len();
    figures.authors = authors.len();
    figures.groups = samples.iter().map(|sample| sample.group + 1).max().unwrap_or(0);
    if samples.len() < options.least_judged {
        return kept(figures, Reason::TooFew { judged: samples.len(), needed: options.least_judged });
    }
    let start: Vector = std::array::from_fn(|at| base.weights.get(at).copied().unwrap_or(0.0));
    let with_trees = samples.len() >= options.least_for_trees;
    let tests = Tests::of(&samples, &start, with_trees, options.seed);
    figures.gain_of_trees = with_trees.then(|| tests.gain(|it| it.linear, |it| it.trees, options.seed));
    let takes_trees = figures.gain_of_trees.is_some_and(|gain| gain.low > 0.0);
    let after: Of = if takes_trees { |it| it.trees } else { |it| it.linear };
    fill(&mut figures, &tests, after, options.seed);

    let all = weighted(&samples);
    let linear = Linear::fit(&all, &start);
    let trees = if takes_trees { trees(&all, &linear, options.seed) } else { Vec::new() };
    figures.moved = moved(&start, &linear.weights);
    let learnt = Learnt { weights: linear.weights.into(), trees, ..Learnt::default_ranking() };
    let reason = decide(&figures, tests.loser(after), &authors);
    Outcome { learnt, adopted: matches!(reason, Reason::Better { .. }), figures, reason }
}

/// The samples, the earliest first, and the names of their authors.
fn prepared(recalls: &[JudgedRecall], base: &Learnt) -> (Vec<Sample>, Vec<String>) {
    let mut recalls: Vec<&JudgedRecall> = recalls.iter().filter(|recall| recall.says_something()).collect();
    recalls.sort_by(|a, b| (a.at, a.id, &a.author).cmp(&(b.at, b.id, &b.author)));
    let (mut authors, mut groups) = (BTreeMap::new(), BTreeMap::new());
    let mut samples = Vec::new();
    for recall in recalls {
        let author = number(&mut authors, recall.author.clone());
        // Hours of an author stand for the sessions that are not known.
        let hour =
            recall.session.is_none().then(|| (recall.author.clone(), recall.at.timestamp().div_euclid(3600)));
        let group = number(&mut groups, (recall.session.clone(), hour));
        samples.extend(Sample::of(recall, base, author, group));
    }
    let mut names = vec![String::new(); authors.len()];
    for (name, author) in authors {
        names[author] = name;
    }
    (samples, names)
}

/// The number of a key, by its first appearance.
fn number<Key: Ord>(numbers: &mut BTreeMap<Key, usize>, key: Key) -> usize {
    let next = numbers.len();
    *numbers.entry(key).or_insert(next)
}

fn fill(figures: &mut Figures, tests: &Tests, after: Of, seed: u64) {
    figures.trained_on = tests.trained_on;
    figures.tested_on = tests.tested.len();
    figures.ndcg_before = tests.mean(|it| it.before.ndcg);
    figures.ndcg_after = tests.mean(|it| after(it).ndcg);
    figures.recall_before = tests.mean(|it| it.before.recall);
    figures.recall_after = tests.mean(|it| after(it).recall);
    figures.gain = tests.gain(|it| it.before, after, seed);
}

fn decide(figures: &Figures, loser: Option<(usize, f64)>, authors: &[String]) -> Reason {
    let gain = figures.gain;
    let change = figures.recall_after - figures.recall_before;
    if gain.low <= 0.0 || !gain.low.is_finite() {
        Reason::Doubtful { gain: gain.mean, low: gain.low }
    } else if change < -MOST_LOSS {
        Reason::LosesRecall { change }
    } else if let Some((author, change)) = loser {
        Reason::WorseFor { author: authors[author].clone(), change }
    } else {
        Reason::Better { low: gain.low }
    }
}

/// The weights that moved, the largest change first.
fn moved(from: &Vector, to: &Vector) -> Vec<MovedWeight> {
    let change = |at: &usize| (to[*at] - from[*at]).abs();
    let mut places: Vec<usize> = (0..COUNT).filter(|at| change(at) >= WORTH_TELLING).collect();
    places.sort_by(|a, b| change(b).total_cmp(&change(a)));
    let moved = |at: usize| MovedWeight { feature: FEATURES[at].0.into(), from: from[at], to: to[at] };
    places.into_iter().map(moved).collect()
}
