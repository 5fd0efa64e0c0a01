//! Made recalls and samples, for tests.

use chrono::{DateTime, Duration};
use htm_core::ranking::{FEATURES, FeatureVector, Learnt};

use crate::recall::{JudgedCandidate, JudgedRecall, Verdict};
use crate::sample::Sample;

/// A feature that the default ranking does not weigh.
pub(crate) const HIDDEN: usize = 11;

/// A sample of an author of its own, whose candidates have these gains. The default ranking prefers the first ones.
pub(crate) fn sample(gains: &[f64]) -> Sample {
    let candidates = gains.iter().enumerate().map(|(at, gain)| JudgedCandidate {
        features: row(1.0 - at as f32 / gains.len() as f32, 0.0),
        shown: None,
        verdict: if *gain > 0.0 { Verdict::Used(*gain) } else { Verdict::Unknown },
    });
    Sample::of(&recall(0, candidates.collect()), &Learnt::default_ranking(), 0, 0).unwrap()
}

pub(crate) fn row(vector: f32, hidden: f32) -> FeatureVector {
    let mut row = [0.0; FEATURES.len()];
    (row[0], row[HIDDEN]) = (vector, hidden);
    row
}

pub(crate) fn recall(id: i64, candidates: Vec<JudgedCandidate>) -> JudgedRecall {
    let at = DateTime::UNIX_EPOCH + Duration::minutes(20 * id);
    JudgedRecall { id, author: "ada".into(), block: None, at, candidates, missed: 0 }
}

/// The reason why a candidate is used, in a world of made recalls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum World {
    /// The hidden feature.
    Hidden,
    /// The vectors, as in the default ranking.
    Vector,
    /// None.
    Chance,
}

/// Recalls of 15 candidates each, all judged, with one used.
pub(crate) fn recalls(world: World, count: i64, seed: u64) -> Vec<JudgedRecall> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..count)
        .map(|id| {
            let rows: Vec<FeatureVector> = (0..15).map(|_| row(random.f32(), random.f32())).collect();
            let value = |at: usize, chance: f32| match world {
                World::Hidden => rows[at][HIDDEN] + 0.2 * chance,
                World::Vector => rows[at][0] + 0.2 * chance,
                World::Chance => chance,
            };
            let values: Vec<f32> = (0..rows.len()).map(|at| value(at, random.f32())).collect();
            let used = (0..rows.len()).max_by(|a, b| values[*a].total_cmp(&values[*b])).unwrap();
            let verdict = |at| if at == used { Verdict::Used(1.0) } else { Verdict::Unknown };
            let candidate = |(at, row): (usize, &FeatureVector)| JudgedCandidate {
                features: *row,
                shown: None,
                verdict: verdict(at),
            };
            recall(id, rows.iter().enumerate().map(candidate).collect())
        })
        .collect()
}
