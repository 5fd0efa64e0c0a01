//! The properties of learning, from any judgement.

use chrono::{DateTime, Duration};
use htm_core::ranking::{FEATURES, FeatureVector, Learnt};
use htm_learning::{JudgedCandidate, JudgedRecall, Options, Verdict, learn};
use proptest::prelude::*;

fn feature() -> impl Strategy<Value = f32> {
    prop_oneof![10 => -2.0_f32..2.0, 1 => Just(0.0), 1 => Just(1e6), 1 => Just(-1e6)]
}

fn verdict() -> impl Strategy<Value = Verdict> {
    let weight = prop_oneof![0.0..3.0, Just(f64::NAN), Just(f64::INFINITY), Just(1e300), Just(-1.0)];
    prop_oneof![3 => Just(Verdict::Unknown), 1 => Just(Verdict::Useless), 2 => weight.prop_map(Verdict::Used)]
}

fn candidate() -> impl Strategy<Value = JudgedCandidate> {
    let features = proptest::collection::vec(feature(), FEATURES.len());
    let features = features.prop_map(|features| -> FeatureVector { std::array::from_fn(|at| features[at]) });
    let features = prop_oneof![30 => features, 1 => Just([f32::NAN; FEATURES.len()])];
    (features, proptest::option::of(0_u32..30), verdict())
        .prop_map(|(features, shown, verdict)| JudgedCandidate { features, shown, verdict })
}

fn recall() -> impl Strategy<Value = JudgedRecall> {
    let block = proptest::option::of("[a-d]");
    (0_i64..1000, "[xyz]", block, -1000_i64..1000, proptest::collection::vec(candidate(), 0..8), 0_usize..3)
        .prop_map(|(id, author, block, hours, candidates, missed)| JudgedRecall {
            id,
            author,
            block,
            at: DateTime::UNIX_EPOCH + Duration::minutes(20 * hours),
            candidates,
            missed,
        })
}

fn options() -> Options {
    Options { least_judged: 3, least_for_trees: 12, ..Options::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(10)))]

    #[test]
    fn a_learnt_ranking_can_be_used(recalls in proptest::collection::vec(recall(), 0..40)) {
        let outcome = learn(&recalls, &Learnt::default_ranking(), &options());
        prop_assert_eq!(outcome.learnt.unusable(), None);
        let figures = &outcome.figures;
        for figure in [figures.ndcg_before, figures.ndcg_after, figures.recall_before, figures.recall_after] {
            prop_assert!((0.0..=1.0 + 1e-9).contains(&figure), "{:?}", figures);
        }
        prop_assert!(figures.gain.low <= figures.gain.mean + 1e-9 && figures.gain.mean <= figures.gain.high + 1e-9);
        prop_assert!(!outcome.reason.to_string().is_empty());
    }

    #[test]
    fn the_order_of_the_input_does_not_matter(mut recalls in proptest::collection::vec(recall(), 5..30)) {
        for (id, recall) in (0..).zip(&mut recalls) {
            recall.id = id;
        }
        let before = learn(&recalls, &Learnt::default_ranking(), &options());
        recalls.reverse();
        for recall in &mut recalls {
            recall.candidates.reverse();
        }
        prop_assert_eq!(learn(&recalls, &Learnt::default_ranking(), &options()), before);
    }

    #[test]
    fn recalls_without_use_move_nothing(recalls in proptest::collection::vec(recall(), 0..30)) {
        let before = learn(&recalls, &Learnt::default_ranking(), &options());
        let mut more = recalls.clone();
        for recall in &recalls {
            let mut useless = recall.clone();
            useless.candidates.iter_mut().for_each(|candidate| candidate.verdict = Verdict::Useless);
            more.push(useless);
        }
        prop_assert_eq!(learn(&more, &Learnt::default_ranking(), &options()).learnt, before.learnt);
    }
}
