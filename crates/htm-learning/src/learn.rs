//! The steps of learning: prepare, test, decide, fit.

use std::collections::BTreeMap;

use htm_core::ranking::Learnt;

use crate::authors::weighted;
use crate::boost::trees;
use crate::evaluate::{Of, Tests};
use crate::linear::Linear;
use crate::outcome::{Figures, Outcome, Reason};
use crate::recall::JudgedRecall;
use crate::sample::Sample;
use crate::solve::Vector;
use crate::step::{STEP, ranking};

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
        Self { least_judged: 20, least_for_trees: 250, seed: 1 }
    }
}

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
    figures.blocks = samples.iter().map(|sample| sample.block + 1).max().unwrap_or(0);
    if samples.len() < options.least_judged {
        return kept(figures, Reason::TooFew { judged: samples.len(), needed: options.least_judged });
    }
    let start: Vector = std::array::from_fn(|at| base.weights.get(at).copied().unwrap_or(0.0));
    let with_trees = samples.len() >= options.least_for_trees;
    let tests = Tests::of(&samples, &start, with_trees, options.seed);
    figures.gain_of_trees =
        with_trees.then(|| tests.gain(|it| it.linear.step, |it| it.trees.step, options.seed));
    let takes_trees = figures.gain_of_trees.is_some_and(|gain| gain.low > 0.0);
    let after: Of = if takes_trees { |it| it.trees.step } else { |it| it.linear.step };
    let whole: Of = if takes_trees { |it| it.trees.whole } else { |it| it.linear.whole };
    fill(&mut figures, &tests, after, options.seed);

    let all = weighted(&samples);
    let linear = Linear::fit(&all, &start);
    let trees = if takes_trees { trees(&all, &linear, options.seed) } else { Vec::new() };
    let learnt = ranking(&start, &linear, &trees, STEP);
    let reason = decide(&figures, &tests, whole, &authors);
    Outcome { learnt, adopted: matches!(reason, Reason::Better { .. }), figures, reason }
}

/// The samples, the earliest first, and the names of their authors.
fn prepared(recalls: &[JudgedRecall], base: &Learnt) -> (Vec<Sample>, Vec<String>) {
    let mut recalls: Vec<&JudgedRecall> = recalls.iter().filter(|recall| recall.says_something()).collect();
    recalls.sort_by(|a, b| (a.at, a.id, &a.author).cmp(&(b.at, b.id, &b.author)));
    let (mut authors, mut blocks) = (BTreeMap::new(), BTreeMap::new());
    let mut of_recalls = BTreeMap::new();
    let mut samples = Vec::new();
    for recall in recalls {
        let author = number(&mut authors, recall.author.clone());
        // Without a block of its own, a recall is in that of its author's hour.
        let hour =
            recall.block.is_none().then(|| (recall.author.clone(), recall.at.timestamp().div_euclid(3600)));
        // Two authors of one recall are of one block: what was learnt from it must not test it.
        let block =
            *of_recalls.entry(recall.id).or_insert_with(|| number(&mut blocks, (recall.block.clone(), hour)));
        samples.extend(Sample::of(recall, base, author, block));
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

fn decide(figures: &Figures, tests: &Tests, whole: Of, authors: &[String]) -> Reason {
    let gain = figures.gain;
    if gain.low <= 0.0 || !gain.low.is_finite() {
        Reason::Doubtful { gain: gain.mean, low: gain.low }
    } else if let Some(change) = tests.lost_recall(whole) {
        Reason::LosesRecall { change }
    } else if let Some((author, change)) = tests.loser(whole) {
        Reason::WorseFor { author: authors[author].clone(), change }
    } else if let Some((author, gain)) = tests.depends_on(whole) {
        Reason::DependsOn { author: authors[author].clone(), gain }
    } else {
        Reason::Better { low: gain.low }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made::{HIDDEN, World, recall, recalls};
    use crate::recall::Verdict;

    fn learnt(recalls: &[JudgedRecall]) -> Outcome {
        learn(recalls, &Learnt::default_ranking(), &Options::default())
    }

    #[test]
    fn a_ranking_that_is_better_is_adopted() {
        let outcome = learnt(&recalls(World::Hidden, 120, 1));
        let figures = &outcome.figures;
        assert!(outcome.adopted && figures.gain.low > 0.1, "{figures:?}");
        let default = Learnt::default_ranking();
        let change = |at: &usize| (outcome.learnt.weights[*at] - default.weights[*at]).abs();
        let most = (0..default.weights.len()).max_by(|a, b| change(a).total_cmp(&change(b)));
        assert_eq!(most, Some(HIDDEN));
        assert_eq!((figures.judged, figures.authors, figures.blocks), (120, 1, 40));
        assert!(figures.trained_on + figures.tested_on >= 120 && figures.tested_on < 120, "{figures:?}");
    }

    #[test]
    fn chance_and_what_the_default_knows_change_nothing() {
        for world in [World::Chance, World::Vector] {
            let outcome = learnt(&recalls(world, 120, 1));
            assert!(!outcome.adopted && matches!(outcome.reason, Reason::Doubtful { .. }), "{outcome:?}");
        }
    }

    #[test]
    fn few_recalls_are_too_few() {
        let outcome = learnt(&recalls(World::Hidden, 15, 1));
        assert_eq!(outcome.reason, Reason::TooFew { judged: 15, needed: 20 });
        assert_eq!(outcome.learnt, Learnt::default_ranking());
    }

    #[test]
    fn the_order_does_not_matter_and_recalls_without_use_move_nothing() {
        let mut all = recalls(World::Hidden, 60, 1);
        let before = learnt(&all);
        all.reverse();
        for recall in &mut all {
            recall.candidates.reverse();
        }
        for (id, mut useless) in (100..).zip(recalls(World::Chance, 50, 2)) {
            useless.candidates.iter_mut().for_each(|candidate| candidate.verdict = Verdict::Useless);
            all.push(recall(id, useless.candidates));
        }
        let after = learnt(&all);
        assert_eq!(after.learnt, before.learnt);
        assert_eq!(after.figures, Figures { given: 110, ..before.figures });
    }

    fn of_authors(worlds: &[(&str, World, i64)]) -> Vec<JudgedRecall> {
        let mut all = Vec::new();
        for (place, &(author, world, count)) in (0..).zip(worlds) {
            for recall in recalls(world, count, place + 1) {
                let id = recall.id + 1000 * place as i64;
                all.push(JudgedRecall { author: author.into(), id, ..recall });
            }
        }
        all
    }

    #[test]
    fn what_two_authors_say_of_a_recall_is_of_one_block() {
        let by =
            |author: &str, recall: &JudgedRecall| JudgedRecall { author: author.into(), ..recall.clone() };
        let all: Vec<JudgedRecall> =
            recalls(World::Hidden, 30, 1).iter().flat_map(|it| [by("ada", it), by("bob", it)]).collect();
        let (samples, authors) = prepared(&all, &Learnt::default_ranking());
        assert_eq!((samples.len(), authors.len()), (60, 2));
        assert!(samples.chunks(2).all(|pair| pair[0].block == pair[1].block));
    }

    #[test]
    fn a_ranking_that_is_worse_for_an_author_is_refused() {
        let worlds = [("ada", World::Hidden, 100), ("bob", World::Vector, 60), ("eve", World::Hidden, 100)];
        let outcome = learnt(&of_authors(&worlds));
        assert_eq!(outcome.figures.authors, 3);
        assert!(outcome.figures.gain.low > 0.0, "{outcome:?}");
        assert!(
            matches!(outcome.reason, Reason::WorseFor { ref author, .. } if author == "bob"),
            "{outcome:?}"
        );
    }

    #[test]
    fn a_gain_that_depends_on_an_author_is_refused() {
        let outcome = learnt(&of_authors(&[("ada", World::Hidden, 110), ("bob", World::Chance, 110)]));
        assert!(outcome.figures.gain.low > 0.0, "{outcome:?}");
        assert!(
            matches!(outcome.reason, Reason::DependsOn { ref author, .. } if author == "ada"),
            "{outcome:?}"
        );
    }

    #[test]
    fn a_gain_of_two_authors_is_taken() {
        let outcome = learnt(&of_authors(&[("ada", World::Hidden, 60), ("bob", World::Hidden, 60)]));
        assert!(outcome.adopted, "{outcome:?}");
    }

    #[test]
    fn trees_are_taken_for_what_weights_cannot_say() {
        let mut all = recalls(World::Chance, 300, 5);
        for recall in &mut all {
            let middle =
                |at: usize, recall: &JudgedRecall| (recall.candidates[at].features[HIDDEN] - 0.5).abs();
            let best = (0..15).min_by(|a, b| middle(*a, recall).total_cmp(&middle(*b, recall))).unwrap();
            for (at, candidate) in recall.candidates.iter_mut().enumerate() {
                candidate.verdict = if at == best { Verdict::Used(1.0) } else { Verdict::Unknown };
            }
        }
        let outcome = learnt(&all);
        assert!(outcome.adopted && !outcome.learnt.trees.is_empty(), "{:?}", outcome.figures);
        assert_eq!(outcome.learnt.unusable(), None);
    }

    #[test]
    fn a_ranking_of_another_version_is_refused() {
        let base = Learnt { version: -1, ..Learnt::default_ranking() };
        let outcome = learn(&recalls(World::Hidden, 60, 1), &base, &Options::default());
        assert!(matches!(outcome.reason, Reason::Unusable { .. }), "{outcome:?}");
    }
}
