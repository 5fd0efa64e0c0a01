//! The diversity of hits: maximal marginal relevance, and the folding of near-duplicates. Pure.

/// The least cosine of near-duplicates.
pub(crate) const NEAR_DUPLICATE: f64 = 0.98;

/// The least part of the letter pairs of both texts that near-duplicates have in common.
const ALIKE: f64 = 0.5;
/// The beginning of a text, in characters, that is compared with another.
const COMPARED: usize = 1_000;

/// A candidate to compare.
pub(crate) struct Candidate<'a> {
    /// Its text.
    pub(crate) text: &'a str,
    /// Its vector, of any length above 0; none while its embedding is pending.
    pub(crate) vector: Option<&'a [f32]>,
}

impl Candidate<'_> {
    /// The cosine of both, -1 to 1. It is 1 for the same text, and 0 if one has no vector yet.
    pub(crate) fn similarity(&self, other: &Self) -> f64 {
        if self.text == other.text {
            return 1.0;
        }
        let (Some(a), Some(b)) = (self.vector, other.vector) else { return 0.0 };
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
        let lengths = (dot(a, a) * dot(b, b)).sqrt();
        if lengths > 0.0 { (dot(a, b) / lengths).clamp(-1.0, 1.0) } else { 0.0 }
    }

    /// Whether both say the same, by their vectors and by their letters.
    pub(crate) fn is_near_duplicate(&self, other: &Self) -> bool {
        self.similarity(other) >= NEAR_DUPLICATE && are_alike(self.text, other.text)
    }
}

/// Whether two texts are alike in their letters. A model gives texts that it does not know the same vector.
pub(crate) fn are_alike(one: &str, other: &str) -> bool {
    let beginning = |text: &str| text.chars().take(COMPARED).collect::<String>().to_lowercase();
    one == other || strsim::sorensen_dice(&beginning(one), &beginning(other)) >= ALIKE
}

/// The earlier candidate that each of `count` candidates, best first, is folded into; none if no earlier one is alike.
/// A folded candidate has none folded into it.
pub(crate) fn folded(count: usize, is_alike: impl Fn(usize, usize) -> bool) -> Vec<Option<usize>> {
    let mut stands_for_itself: Vec<usize> = Vec::new();
    (0..count)
        .map(|candidate| {
            let found = stands_for_itself.iter().copied().find(|earlier| is_alike(*earlier, candidate));
            if found.is_none() {
                stands_for_itself.push(candidate);
            }
            found
        })
        .collect()
}

/// The chosen candidates, at most `limit`. Each is the one with the largest
/// `(1 - novelty) * relevance - novelty * (its largest similarity to those chosen before)`, or the first of equal ones
/// (Carbonell and Goldstein 1998, "The Use of MMR", with λ = 1 - novelty). Relevance is 0 to 1.
pub(crate) fn maximal_marginal_relevance(
    relevance: &[f64],
    similarity: impl Fn(usize, usize) -> f64,
    novelty: f64,
    limit: usize,
) -> Vec<usize> {
    let mut open: Vec<usize> = (0..relevance.len()).collect();
    let mut nearest: Vec<Option<f64>> = vec![None; relevance.len()];
    let mut chosen = Vec::with_capacity(limit.min(relevance.len()));
    while chosen.len() < limit && !open.is_empty() {
        let worth = |candidate: usize| {
            (1.0 - novelty) * relevance[candidate] - novelty * nearest[candidate].unwrap_or(0.0)
        };
        let mut best = 0;
        for at in 1..open.len() {
            if worth(open[at]) > worth(open[best]) {
                best = at;
            }
        }
        // Not `swap_remove`: the first of equal ones must be found first.
        let next = open.remove(best);
        for candidate in &open {
            let near = similarity(next, *candidate);
            let known = &mut nearest[*candidate];
            *known = Some(known.map_or(near, |known| known.max(near)));
        }
        chosen.push(next);
    }
    chosen
}

/// Scores, best first, normalised to 0 to 1. Equal scores are all 1.
pub(crate) fn normalised(scores: &[f64]) -> Vec<f64> {
    let (least, most) = scores.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), score| {
        (least.min(*score), most.max(*score))
    });
    let range = most - least;
    scores.iter().map(|score| if range > 0.0 { (score - least) / range } else { 1.0 }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn candidate<'a>(text: &'a str, vector: &'a [f32]) -> Candidate<'a> {
        Candidate { text, vector: (!vector.is_empty()).then_some(vector) }
    }

    #[test]
    fn similarity_is_the_cosine_or_the_same_text() {
        let near = |a: &Candidate, b: &Candidate| a.similarity(b);
        assert!((near(&candidate("a", &[3.0, 4.0]), &candidate("b", &[4.0, 3.0])) - 0.96).abs() < 1e-6);
        assert_eq!(near(&candidate("a", &[]), &candidate("a", &[])), 1.0);
        assert_eq!(near(&candidate("a", &[]), &candidate("b", &[1.0])), 0.0);
        assert_eq!(near(&candidate("a", &[0.0]), &candidate("b", &[1.0])), 0.0);
    }

    #[test]
    fn near_duplicates_are_alike_in_their_letters_too() {
        let near = |a: &str, b: &str| candidate(a, &[1.0]).is_near_duplicate(&candidate(b, &[1.0]));
        assert!(near("The database moved to port 5433", "the Database: moved to port 5433!"));
        assert!(!near("แมวนอนหลับบนโซฟา", "ราคาหุ้นตกลงอย่างรุนแรงเมื่อวาน"));
        assert!(!near("😀😀😀", "🚕🚕"));
        assert!(near("x", "x"));
    }

    #[test]
    fn without_novelty_the_order_stays_and_with_it_a_twin_waits() {
        let relevance = [1.0, 0.9, 0.5];
        let twins = |a: usize, b: usize| if a + b == 1 { 1.0 } else { 0.0 };
        assert_eq!(maximal_marginal_relevance(&relevance, twins, 0.0, 3), [0, 1, 2]);
        assert_eq!(maximal_marginal_relevance(&relevance, twins, 0.5, 3), [0, 2, 1]);
        assert_eq!(maximal_marginal_relevance(&relevance, twins, 1.0, 2), [0, 2]);
        assert!(maximal_marginal_relevance(&[], twins, 0.5, 2).is_empty());
    }

    #[test]
    fn scores_become_zero_to_one() {
        assert_eq!(normalised(&[3.0, 1.0, -1.0]), [1.0, 0.5, 0.0]);
        assert_eq!(normalised(&[2.0, 2.0]), [1.0, 1.0]);
        assert!(normalised(&[]).is_empty());
    }

    /// MMR by its definition: every similarity is looked up anew.
    fn naive(relevance: &[f64], near: &[Vec<f64>], novelty: f64, limit: usize) -> Vec<usize> {
        let mut chosen: Vec<usize> = Vec::new();
        while chosen.len() < limit.min(relevance.len()) {
            let mut best: Option<(f64, usize)> = None;
            for candidate in (0..relevance.len()).filter(|candidate| !chosen.contains(candidate)) {
                let nearest =
                    chosen.iter().map(|other| near[*other][candidate]).reduce(f64::max).unwrap_or(0.0);
                let worth = (1.0 - novelty) * relevance[candidate] - novelty * nearest;
                if best.is_none_or(|(most, _)| worth > most) {
                    best = Some((worth, candidate));
                }
            }
            chosen.push(best.unwrap().1);
        }
        chosen
    }

    proptest! {
        #[test]
        fn marginal_relevance_agrees_with_its_definition(
            scores in prop::collection::vec((0.0_f64..1.0, prop::collection::vec(-1.0_f32..1.0, 3)), 0..14),
            novelty in 0.0_f64..=1.0,
            limit in 0_usize..16,
        ) {
            let relevance: Vec<f64> = scores.iter().map(|(score, _)| *score).collect();
            let texts: Vec<String> = (0..scores.len()).map(|text| text.to_string()).collect();
            let all: Vec<Candidate> =
                scores.iter().zip(&texts).map(|((_, vector), text)| candidate(text, vector)).collect();
            let near: Vec<Vec<f64>> =
                all.iter().map(|a| all.iter().map(|b| a.similarity(b)).collect()).collect();
            let chosen = maximal_marginal_relevance(&relevance, |a, b| near[a][b], novelty, limit);
            prop_assert_eq!(chosen, naive(&relevance, &near, novelty, limit));
        }

        #[test]
        fn who_is_folded_is_like_one_that_is_shown(alike in prop::collection::vec(prop::bool::ANY, 144)) {
            let is_alike = |a: usize, b: usize| alike[12 * a + b];
            let stands = folded(12, is_alike);
            for (candidate, stand) in stands.iter().enumerate() {
                let shown = |other: &usize| stands[*other].is_none();
                let first = (0..candidate).filter(shown).find(|other| is_alike(*other, candidate));
                prop_assert_eq!(*stand, first);
            }
        }
    }
}
