//! BM25 (Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework"), and what it is given besides words: pairs of words
//! that stand together as in the query, terms as they are written, beginnings of words.

use super::{Asked, Member, Sought};

/// Of the rarer word's weight, for two words that stand together.
const TOGETHER: f64 = 0.3;

/// Of its words' weight, for a term that is there as written: with that it is above what has its parts alone.
const EXACT: f64 = 1.2;

/// The parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bm25 {
    /// Saturation of a word that comes often.
    pub(crate) k1: f64,
    /// Normalisation by length, 0 to 1.
    pub(crate) b: f64,
    /// Lexemes that are added to each length, so that a turn of three words does not win by its shortness alone.
    pub(crate) smoothing: f64,
}

/// BM25 of one member.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Score {
    pub(crate) total: f64,
    /// What of it words bring that stand together.
    pub(crate) together: f64,
    /// What of it terms bring that are there as written.
    pub(crate) exact: f64,
    /// What these terms weigh.
    pub(crate) exact_idf: f64,
}

impl Bm25 {
    pub(super) fn score(&self, asked: &Asked, member: &Member) -> Score {
        let length = f64::from(member.terms.length);
        let of =
            |frequency: f64, idf: f64| idf * self.saturated(frequency, length, asked.corpus.average_length);
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

    fn saturated(&self, frequency: f64, length: f64, average: f64) -> f64 {
        let length = (length + self.smoothing) / (average + self.smoothing);
        frequency * (self.k1 + 1.0) / (frequency + self.k1 * (1.0 - self.b + self.b * length))
    }

    /// What no node has more of for this query.
    pub(super) fn most(&self, asked: &Asked) -> f64 {
        let words: f64 = asked.words.iter().map(|word| word.idf * (self.k1 + 1.0)).sum();
        let pairs: f64 = asked.pairs.iter().map(|pair| TOGETHER * pair.idf).sum();
        let sought: f64 = asked
            .sought
            .iter()
            .map(|sought| sought.idf * if sought.is_prefix { self.k1 + 1.0 } else { EXACT })
            .sum();
        words + pairs + sought
    }
}

/// What a word weighs that is in so many of the nodes.
pub(crate) fn idf(corpus: f64, nodes: f64) -> f64 {
    ((corpus - nodes + 0.5).max(0.5) / (nodes + 0.5)).ln_1p()
}
