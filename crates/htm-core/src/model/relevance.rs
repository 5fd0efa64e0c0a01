//! Relevance: a weighted sum of signals beyond words and vectors.

use std::str::FromStr;

use crate::model::error::{Error, Result, codes};

/// The weights of the signals. Their sum is 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelevanceWeights {
    /// The cosine similarity with the query.
    pub similarity: f64,
    /// The text score, relative to the best one.
    pub text: f64,
    /// Its importance.
    pub importance: f64,
    /// Its share of the boosted tags.
    pub tags: f64,
    /// Its recency.
    pub recency: f64,
    /// The number of earlier recalls.
    pub access: f64,
}

impl Default for RelevanceWeights {
    fn default() -> Self {
        Self { similarity: 0.5, tags: 0.3, recency: 0.1, access: 0.1, ..Self::NONE }
    }
}

/// The signals of a hit. An unknown signal counts one half.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Signals {
    /// Cosine similarity, -1 to 1; below 0 counts as 0.
    pub similarity: Option<f64>,
    /// The text score, 0 to 1.
    pub text: Option<f64>,
    /// Its importance, 1 to 10.
    pub importance: Option<f64>,
    /// Its share of the boosted tags, 0 to 1; none without boosted tags.
    pub tags: Option<f64>,
    /// Its age in hours; the future counts as now.
    pub hours: Option<f64>,
    /// The number of earlier recalls.
    pub accesses: Option<u64>,
}

/// The hours, one week, after which the recency of a memory is 1/e of a new one's.
const RECENCY_HOURS: f64 = 168.0;

/// The names of the signals, as the command line and [`RelevanceWeights::from_str`] take them.
const NAMES: [&str; 6] = ["similarity", "text", "importance", "recency", "access", "tags"];

impl RelevanceWeights {
    /// All weights 0, to be filled in.
    pub const NONE: Self =
        Self { similarity: 0.0, text: 0.0, importance: 0.0, tags: 0.0, recency: 0.0, access: 0.0 };

    /// w_s · similarity + w_x · text + w_i · (importance − 1)/9 + w_t · tags + w_r · e^(−hours/168)
    /// + w_a · min(1, ln(1 + accesses)/10), from 0 to 1.
    ///
    /// ```
    /// use htm_core::{RelevanceWeights, Signals};
    /// let weights = RelevanceWeights::default();
    /// let new = Signals { similarity: Some(1.0), tags: Some(1.0), hours: Some(0.0), accesses: Some(0), ..Signals::default() };
    /// assert_eq!(weights.relevance(&new), 0.9);
    /// assert_eq!(weights.relevance(&Signals::default()), 0.5);
    /// ```
    pub fn relevance(&self, signals: &Signals) -> f64 {
        // The weights are 1 together, but for rounding.
        self.parts(signals).iter().fold(0.0, |sum, (_, part)| sum + part).min(1.0)
    }

    /// The parts of the relevance, by signal.
    pub(crate) fn parts(&self, signals: &Signals) -> [(&'static str, f64); 6] {
        let known = |value: Option<f64>| value.unwrap_or(0.5).clamp(0.0, 1.0);
        let recency = signals.hours.map(|hours| (-hours.max(0.0) / RECENCY_HOURS).exp());
        let access = signals.accesses.map(|count| (count as f64).ln_1p() / 10.0);
        let importance = signals.importance.map(|importance| (importance - 1.0) / 9.0);
        [
            ("similarity", self.similarity * known(signals.similarity)),
            ("text", self.text * known(signals.text)),
            ("importance", self.importance * known(importance)),
            ("tags", self.tags * known(signals.tags)),
            ("recency", self.recency * known(recency)),
            ("access", self.access * known(access)),
        ]
    }

    /// # Errors
    /// `relevance_weights_invalid` for a weight that is no number from 0, or when they are not 1 together.
    pub(crate) fn validate(&self) -> Result<()> {
        let weights = [self.similarity, self.text, self.importance, self.tags, self.recency, self.access];
        let sum: f64 = weights.iter().sum();
        match weights.iter().all(|weight| *weight >= 0.0) && (sum - 1.0).abs() < 1e-6 {
            true => Ok(()),
            false => {
                let message = format!("the weights of relevance are {sum} together, or one is below 0");
                Err(Error::new(codes::RELEVANCE_WEIGHTS_INVALID, message))
            }
        }
    }
}

/// Parses `similarity=0.7,recency=0.3`. Names without numbers weigh the same, 1 in total. `relevance` is the default.
impl FromStr for RelevanceWeights {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text.trim() == "relevance" {
            return Ok(Self::default());
        }
        let unknown = |what: &str| {
            let value: String = text.chars().take(100).collect();
            Error::new(codes::ORDER_BY_INVALID, format!("`{value}` names no weights: {what}"))
        };
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        let mut weights = Self::NONE;
        let mut named = Vec::new();
        for part in &parts {
            let (name, weight) = match part.split_once('=') {
                Some((name, weight)) => (
                    name.trim(),
                    weight.trim().parse().map_err(|_| unknown(&format!("`{weight}` is no number")))?,
                ),
                None => (*part, 1.0 / parts.len() as f64),
            };
            let place = match name {
                "similarity" => &mut weights.similarity,
                "text" => &mut weights.text,
                "importance" => &mut weights.importance,
                "recency" => &mut weights.recency,
                "access" => &mut weights.access,
                "tags" => &mut weights.tags,
                _ => return Err(unknown(&format!("`{name}` is none of {}", NAMES.join(", ")))),
            };
            if named.contains(&name) {
                return Err(unknown(&format!("`{name}` comes twice")));
            }
            named.push(name);
            *place = weight;
        }
        weights.validate()?;
        Ok(weights)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn weights_are_one_together() {
        assert!(RelevanceWeights::default().validate().is_ok());
        for weights in [(0.5, 0.6), (1.5, -0.5), (f64::NAN, 1.0)] {
            let weights =
                RelevanceWeights { similarity: weights.0, tags: weights.1, ..RelevanceWeights::NONE };
            assert_eq!(weights.validate().unwrap_err().code(), "relevance_weights_invalid");
        }
    }

    #[test]
    fn the_default_weights_of_each_signal() {
        let least = Signals {
            similarity: Some(0.0),
            text: Some(0.0),
            importance: Some(1.0),
            tags: Some(0.0),
            hours: Some(f64::INFINITY),
            accesses: Some(0),
        };
        let weight_of = |signals| RelevanceWeights::default().relevance(&signals);
        assert_eq!(weight_of(least), 0.0);
        assert_eq!(weight_of(Signals { similarity: Some(1.0), ..least }), 0.5);
        assert_eq!(weight_of(Signals { tags: Some(1.0), ..least }), 0.3);
        assert_eq!(weight_of(Signals { hours: Some(0.0), ..least }), 0.1);
        assert_eq!(weight_of(Signals { accesses: Some(u64::MAX), ..least }), 0.1);
        assert_eq!(weight_of(Signals { text: Some(1.0), importance: Some(10.0), ..least }), 0.0);
        let guide = include_str!("../../../../docs/recall.md");
        assert!(
            guide.contains("similarity .5, tags .3, recency .1 and access .1"),
            "they are others in the guide"
        );
    }

    #[test]
    fn a_week_is_worth_1_over_e() {
        let only = RelevanceWeights { recency: 1.0, ..RelevanceWeights::NONE };
        let at = |hours| only.relevance(&Signals { hours: Some(hours), ..Signals::default() });
        assert_eq!((at(0.0), at(-5.0)), (1.0, 1.0));
        assert!((at(168.0) - 1.0 / std::f64::consts::E).abs() < 1e-9);
    }

    #[test]
    fn weights_are_read_from_words() {
        let read = |text: &str| text.parse::<RelevanceWeights>();
        let half = RelevanceWeights { similarity: 0.5, recency: 0.5, ..RelevanceWeights::NONE };
        assert_eq!(read("similarity, recency").unwrap(), half);
        assert_eq!(read("recency=0.5,similarity = 0.5").unwrap(), half);
        assert_eq!(read("relevance").unwrap(), RelevanceWeights::default());
        for (text, code) in [
            ("", "order_by_invalid"),
            ("age", "order_by_invalid"),
            ("text,text", "order_by_invalid"),
            ("text=x", "order_by_invalid"),
            ("text=0.5", "relevance_weights_invalid"),
            ("text=1.5,tags=-0.5", "relevance_weights_invalid"),
            ("text=NaN", "relevance_weights_invalid"),
        ] {
            assert_eq!(read(text).unwrap_err().code(), code, "{text}");
        }
    }

    proptest! {
        #[test]
        fn it_is_0_to_1_and_more_is_never_less(
            similarity in -1.0..1.0f64, text in 0.0..1.0f64, importance in 1.0..10.0f64, tags in 0.0..1.0f64,
            hours in -10.0..1e6f64, accesses: u64, more in 0.0..1.0f64
        ) {
            let weights: RelevanceWeights = NAMES.join(",").parse().unwrap();
            let signals = Signals {
                similarity: Some(similarity),
                text: Some(text),
                importance: Some(importance),
                tags: Some(tags),
                hours: Some(hours),
                accesses: Some(accesses),
            };
            let relevance = weights.relevance(&signals);
            prop_assert!((0.0..=1.0).contains(&relevance));
            for better in [
                Signals { similarity: Some(similarity + more), ..signals },
                Signals { tags: Some(tags + more), ..signals },
                Signals { text: Some(text + more), ..signals },
                Signals { importance: Some(importance + more), ..signals },
                Signals { hours: Some(hours - more), ..signals },
                Signals { accesses: Some(accesses.saturating_add(1)), ..signals },
            ] {
                prop_assert!(weights.relevance(&better) >= relevance);
            }
        }
    }
}
