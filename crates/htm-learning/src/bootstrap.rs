//! The bounds of a mean by the bootstrap (Efron 1979): the mean of many samples, drawn from the sample with replacement.

/// The number of samples drawn.
const DRAWS: usize = 4000;

/// The number of blocks from which on blocks are drawn instead of recalls: the recalls of a block resemble each other.
const LEAST_BLOCKS: usize = 10;

/// A mean with the bounds of its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Gain {
    /// The mean.
    pub mean: f64,
    /// The lower bound of its interval.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
    /// The probability that the mean is between them: 0.95, or 0.99.
    pub confidence: f64,
}

/// A value with its weight and block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value {
    pub(crate) value: f64,
    pub(crate) weight: f64,
    pub(crate) block: usize,
}

/// The probability that the mean is in its interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Confidence {
    /// 95 %.
    Usual,
    /// 99 %.
    High,
}

impl Confidence {
    /// The number of draws below the interval, and above it.
    fn outside(self) -> usize {
        match self {
            Self::Usual => DRAWS / 40,
            Self::High => DRAWS / 200,
        }
    }

    fn share(self) -> f64 {
        match self {
            Self::Usual => 0.95,
            Self::High => 0.99,
        }
    }
}

/// The interval of the weighted mean. Blocks are drawn if there are enough; else the values of each block.
pub(crate) fn gain(values: &[Value], confidence: Confidence, seed: u64) -> Gain {
    let mut blocks: std::collections::BTreeMap<usize, Vec<(f64, f64)>> = std::collections::BTreeMap::new();
    for value in values {
        blocks.entry(value.block).or_default().push((value.value * value.weight, value.weight));
    }
    let blocks: Vec<Vec<(f64, f64)>> = blocks.into_values().collect();
    let sum = |pairs: &mut dyn Iterator<Item = (f64, f64)>| {
        pairs.fold((0.0, 0.0), |(value, weight), next| (value + next.0, weight + next.1))
    };
    let mean = |(value, weight): (f64, f64)| if weight > 0.0 { value / weight } else { 0.0 };
    let sums: Vec<(f64, f64)> = blocks.iter().map(|block| sum(&mut block.iter().copied())).collect();
    let mut random = fastrand::Rng::with_seed(seed);
    let mut means: Vec<f64> = (0..DRAWS)
        .map(|_| {
            if blocks.len() >= LEAST_BLOCKS {
                return mean(sum(&mut (0..sums.len()).map(|_| sums[random.usize(..sums.len())])));
            }
            let of_blocks = blocks
                .iter()
                .map(|block| sum(&mut (0..block.len()).map(|_| block[random.usize(..block.len())])));
            mean(sum(&mut of_blocks.collect::<Vec<_>>().into_iter()))
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let outside = confidence.outside();
    let [low, high] = [means[outside], means[DRAWS - 1 - outside]];
    Gain { mean: mean(sum(&mut sums.iter().copied())), low, high, confidence: confidence.share() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(of: impl Iterator<Item = f64>) -> Vec<Value> {
        of.enumerate().map(|(block, value)| Value { value, weight: 1.0, block }).collect()
    }

    #[test]
    fn an_interval_contains_the_mean_and_narrows_with_the_number() {
        let few = gain(&values((0..20).map(|at| f64::from(at % 5))), Confidence::Usual, 1);
        let many = gain(&values((0..500).map(|at| f64::from(at % 5))), Confidence::Usual, 1);
        assert!(few.low < 2.0 && few.high > 2.0 && (few.mean - 2.0).abs() < 1e-9, "{few:?}");
        assert!(many.high - many.low < (few.high - few.low) / 3.0, "{few:?} {many:?}");
    }

    #[test]
    fn blocks_that_agree_within_widen_the_interval() {
        let alike: Vec<Value> = (0..400)
            .map(|at| Value { value: f64::from(at / 20 % 2), weight: 1.0, block: at as usize / 20 })
            .collect();
        let apart = values(alike.iter().map(|value| value.value));
        let (alike, apart) = (gain(&alike, Confidence::Usual, 1), gain(&apart, Confidence::Usual, 1));
        assert!(alike.high - alike.low > 2.0 * (apart.high - apart.low), "{alike:?} {apart:?}");
    }

    #[test]
    fn more_confidence_widens_the_interval() {
        let values = values((0..60).map(|at| f64::from(at % 7)));
        let [usual, high] =
            [Confidence::Usual, Confidence::High].map(|confidence| gain(&values, confidence, 1));
        assert!(high.low < usual.low && high.high > usual.high, "{usual:?} {high:?}");
    }

    #[test]
    fn equal_values_have_no_spread() {
        let gain = gain(&values((0..30).map(|_| 0.25)), Confidence::Usual, 7);
        assert_eq!((gain.mean, gain.low, gain.high, gain.confidence), (0.25, 0.25, 0.25, 0.95));
    }
}
