//! BM25 (Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework"), extended by pairs of words that are
//! together as in the query, exact terms as written, and prefixes.

use super::{Asked, Member, Sought};

/// The weight of two words that are together, as a share of the rarer word's weight.
const TOGETHER: f64 = 0.25;

/// The weight of an exact term as written, as a multiple of its words' weight. With it, the term ranks above its parts
/// alone.
const EXACT: f64 = 1.2;

/// The parameter k1: the saturation of a frequent word.
const K1: f64 = 1.0;

/// The parameter b: the normalisation by length, 0 to 1. Long answers among short messages need all of it.
const B: f64 = 1.0;

/// The words that are added to each length and to the average, because a turn of three words is hardly more about them
/// than one of ten.
const SMOOTHING: f64 = 30.0;

/// BM25 of one member.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Score {
    pub(crate) total: f64,
    /// The part of the words that are together.
    pub(crate) together: f64,
    /// The part of the exact terms as written.
    pub(crate) exact: f64,
    /// The summed weight of these terms.
    pub(crate) exact_idf: f64,
}

/// BM25 for one query.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bm25<'a> {
    asked: &'a Asked,
    /// The average length of a text, in words.
    average: f64,
}

impl<'a> Bm25<'a> {
    /// The corpus has its average length in distinct lexemes. The members give the words per lexeme.
    pub(super) fn new(asked: &'a Asked, members: &[Member]) -> Self {
        let sum = |of: fn(&Member) -> f64| members.iter().map(of).sum::<f64>();
        let lexemes = sum(|member| f64::from(member.terms.lexemes));
        let words_a_lexeme = if lexemes > 0.0 { sum(|member| member.terms.length) / lexemes } else { 1.0 };
        Self { asked, average: asked.corpus.average_lexemes * words_a_lexeme }
    }

    pub(super) fn score(&self, member: &Member) -> Score {
        let asked = self.asked;
        let of = |frequency: f64, idf: f64| idf * self.saturated(frequency, member.terms.length);
        let words: f64 = asked
            .words
            .iter()
            .zip(&member.terms.frequencies)
            .map(|(word, &frequency)| of(frequency, word.idf))
            .sum();
        let together: f64 = member
            .terms
            .together
            .iter()
            .filter_map(|&at| asked.pairs.get(at))
            .map(|pair| TOGETHER * pair.idf)
            .sum();
        let (mut beginnings, mut exact_idf) = (0.0, 0.0);
        for &(at, frequency) in &member.sought {
            match asked.sought.get(at) {
                Some(Sought { is_prefix: true, idf }) => beginnings += of(frequency, *idf),
                Some(Sought { is_prefix: false, idf }) => exact_idf += idf,
                None => {}
            }
        }
        let exact = EXACT * exact_idf;
        Score { total: words + beginnings + together + exact, together, exact, exact_idf }
    }

    fn saturated(&self, frequency: f64, length: f64) -> f64 {
        saturated(frequency, (length + SMOOTHING) / (self.average + SMOOTHING))
    }

    /// The BM25 score of the words alone, by the length as it is.
    pub(super) fn density(&self, member: &Member) -> f64 {
        let length = member.terms.length / self.average.max(1.0);
        let words = self.asked.words.iter().zip(&member.terms.frequencies);
        words.map(|(word, &frequency)| word.idf * saturated(frequency, length)).sum()
    }

    /// The highest possible score for this query.
    pub(super) fn most(&self) -> f64 {
        let asked = self.asked;
        let words: f64 = asked.words.iter().map(|word| word.idf * (K1 + 1.0)).sum();
        let pairs: f64 = asked.pairs.iter().map(|pair| TOGETHER * pair.idf).sum();
        let sought: f64 = asked
            .sought
            .iter()
            .map(|sought| sought.idf * if sought.is_prefix { K1 + 1.0 } else { EXACT })
            .sum();
        words + pairs + sought
    }
}

/// A frequency's saturation in a text of a length, as a multiple of the average.
fn saturated(frequency: f64, length: f64) -> f64 {
    if frequency > 0.0 { frequency * (K1 + 1.0) / (frequency + K1 * (1.0 - B + B * length)) } else { 0.0 }
}

/// The inverse document frequency of a word, from the number of nodes that contain it.
pub(crate) fn idf(corpus: f64, nodes: f64) -> f64 {
    ((corpus - nodes + 0.5).max(0.5) / (nodes + 0.5)).ln_1p()
}
