//! The features of a candidate: the numbers that a learnt ranking weighs.
//!
//! The first ones are the parts of the default ranking's score, so the default weighs them 1, and the others 0. All are
//! of the order of 1. Features of the query are the same for all of its candidates. Only trees can use them.
//!
//! A ranking is learnt for one version of this list. After a change of what a feature means, [`VERSION`] is another.

use super::bm25::{Bm25, Score};
use super::neighbours::Neighbours;
use super::{Asked, Member, Parts};
use crate::model::refine::fuse::DAMPING;

/// The version of the features.
pub const VERSION: i16 = 1;

/// The number of features.
pub const COUNT: usize = 25;

/// The number of features that the default ranking weighs 1: the parts of its score.
const OF_DEFAULT: usize = 8;

/// The names of the features, in their order, with what each is.
pub const FEATURES: [(&str, &str); COUNT] = [
    ("vector", "similarity, from the least similar candidate to the most similar one"),
    ("words", "BM25, as a share of the best candidate's, corrected for length"),
    ("together", "adjacent words, as in the query"),
    ("exact", "exact terms as written"),
    ("beside", "the better of the turns beside it"),
    ("further", "the better of the turns one step further"),
    ("speaker", "the query names its speaker"),
    ("time", "the query names its month"),
    ("similarity", "cosine similarity"),
    ("text_share", "BM25 as a share of the highest possible one"),
    ("coverage", "the share of the query's words that it has, by their weights"),
    ("density", "BM25 without smoothing of lengths"),
    ("vector_rank", "its place among the nearest vectors"),
    ("text_rank", "its place among the candidates by words"),
    ("length", "its length, compared with the other candidates"),
    ("beside_vector", "the similarity of the turns beside it"),
    ("beside_words", "the words of the turns beside it"),
    ("standing_out_vector", "similarity, in standard deviations"),
    ("standing_out_words", "BM25, in standard deviations"),
    ("age", "its age among the candidates, from the newest to the oldest"),
    ("query_words", "the number of the query's words"),
    ("best_similarity", "the similarity of the nearest candidate"),
    ("names_speaker", "the query names a speaker"),
    ("names_time", "the query names a month"),
    ("usual_length", "the usual length of the candidates"),
];

/// The features of one candidate, in the order of [`FEATURES`].
pub type FeatureVector = [f32; COUNT];

/// The weights of the default ranking.
pub(super) fn default_weights() -> [f64; COUNT] {
    std::array::from_fn(|at| f64::from(u8::from(at < OF_DEFAULT)))
}

/// The most that a feature adds to a score by default, about. The parts of the default score have their weights in them.
const SCALES: [f64; OF_DEFAULT] = [0.5, 0.5, 0.5, 0.5, 0.3, 0.2, 0.15, 0.3];

/// The factor that makes a weight comparable with others, for people.
pub(crate) fn scale(feature: usize) -> f64 {
    SCALES.get(feature).copied().unwrap_or(1.0)
}

/// The values that the features of all candidates refer to.
pub(super) struct Reference {
    similarity: Spread,
    text: Spread,
    length: Spread,
    best_density: f64,
    best_similarity: f64,
    names_speaker: bool,
    names_time: bool,
    /// The ages of the members, in their order.
    ages: Vec<f64>,
}

/// A mean with its standard deviation.
#[derive(Clone, Copy, Default)]
struct Spread {
    mean: f64,
    deviation: f64,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let (mut count, mut sum, mut square) = (0.0, 0.0, 0.0);
        for value in values {
            (count, sum, square) = (count + 1.0, sum + value, square + value * value);
        }
        if count == 0.0 {
            return Self::default();
        }
        let mean: f64 = sum / count;
        Self { mean, deviation: (square / count - mean * mean).max(0.0).sqrt() }
    }

    /// A value's distance from the mean, in thirds of three standard deviations.
    fn standing_out(self, value: f64) -> f64 {
        if self.deviation > 1e-9 { (value - self.mean) / self.deviation / 3.0 } else { 0.0 }
    }
}

fn extent(member: &Member) -> f64 {
    f64::from(member.terms.lexemes).ln_1p()
}

/// The age of each member among all: 0 is the newest, 1 the oldest, and 0.5 one without a time.
fn ages(scored: &[(Member, Score)]) -> Vec<f64> {
    let times = scored.iter().enumerate().filter_map(|(at, (it, _))| Some((it.created_at?, it.id, at)));
    let mut by_time: Vec<_> = times.collect();
    by_time.sort_unstable_by(|a, b| b.cmp(a));
    let oldest = by_time.len().saturating_sub(1).max(1) as f64;
    let mut ages = vec![0.5; scored.len()];
    for (place, (.., at)) in by_time.into_iter().enumerate() {
        ages[at] = place as f64 / oldest;
    }
    ages
}

impl Reference {
    pub(super) fn of(scored: &[(Member, Score)], bm25: &Bm25<'_>) -> Self {
        let candidates = || scored.iter().filter(|(member, _)| member.is_candidate());
        let similarities = || candidates().filter_map(|(member, _)| member.similarity);
        Self {
            similarity: Spread::of(similarities()),
            text: Spread::of(candidates().map(|(_, text)| text.total)),
            length: Spread::of(candidates().map(|(member, _)| extent(member))),
            best_density: candidates().map(|(member, _)| bm25.density(member)).fold(0.0, f64::max),
            best_similarity: similarities().fold(0.0, f64::max),
            names_speaker: scored.iter().any(|(member, _)| member.is_of_speaker),
            names_time: scored.iter().any(|(member, _)| member.is_of_month),
            ages: ages(scored),
        }
    }

    /// The features of a candidate, by its place among the members.
    pub(super) fn features(
        &self,
        at: usize,
        (member, text): (&Member, &Score),
        parts: &Parts,
        beside: &Neighbours,
        bm25: &Bm25<'_>,
        asked: &Asked,
    ) -> FeatureVector {
        let place = |rank: Option<i64>| rank.map_or(0.0, |rank| DAMPING / (DAMPING + rank as f64));
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let yes = |is_so: bool| f64::from(u8::from(is_so));
        let features = [
            parts.vector,
            parts.words,
            parts.together,
            parts.exact,
            beside.next,
            beside.further,
            parts.speaker,
            parts.time,
            member.similarity.unwrap_or(0.0),
            share(text.total, bm25.most()),
            asked.coverage(&member.terms),
            share(bm25.density(member), self.best_density),
            place(member.vector_rank),
            place(member.text_rank),
            extent(member) - self.length.mean,
            beside.vector,
            beside.text,
            member.similarity.map_or(0.0, |similarity| self.similarity.standing_out(similarity)),
            self.text.standing_out(text.total),
            self.ages[at],
            (asked.words.len() as f64).ln_1p() / 4.0,
            self.best_similarity,
            yes(self.names_speaker),
            yes(self.names_time),
            self.length.mean / 8.0,
        ];
        features.map(|feature| feature as f32)
    }
}
