//! MPNet's bias of attention by the distance of two tokens, as in T5 (Raffel et al. 2020, arXiv 1910.10683). Each near
//! distance has a bucket. Far distances share buckets of logarithmic size.

/// All longer distances share the last bucket.
const FARTHEST: usize = 128;

/// The bias for each head and distance, for sequences up to a length. Empty for families without.
pub(super) struct Distances {
    /// A run for each head, from the distance `-(longest - 1)` to `longest - 1`.
    biases: Vec<f32>,
    run: usize,
}

impl Distances {
    /// Expands `table`, which has a row for each bucket and a column for each head. An empty table means no bias.
    pub(super) fn new(table: &[f32], heads: usize, longest: usize) -> Self {
        if table.is_empty() || longest == 0 {
            return Self { biases: Vec::new(), run: 0 };
        }
        let run = 2 * longest - 1;
        let buckets = table.len() / heads;
        let bias = |head: usize, place: usize| {
            let distance = place as isize - (longest as isize - 1);
            table[bucket(distance, buckets) * heads + head]
        };
        let biases = (0..heads).flat_map(|head| (0..run).map(move |place| bias(head, place))).collect();
        Self { biases, run }
    }

    /// The biases of a head by distance, with the distance 0 in the middle.
    pub(super) fn head(&self, head: usize) -> Option<&[f32]> {
        (self.run > 0).then(|| &self.biases[head * self.run..][..self.run])
    }
}

/// The bucket of `distance`, the key's position less the query's. The second half of the buckets is for keys after the
/// query. Needs 2 buckets or more, which [`Config`](super::config::Config) checks.
fn bucket(distance: isize, buckets: usize) -> usize {
    let half = buckets / 2;
    let side = if distance > 0 { half } else { 0 };
    let distance = distance.unsigned_abs();
    let exact = half / 2;
    if distance < exact {
        return side + distance;
    }
    // In f32 as in the reference, because rounding decides at a bucket's border.
    let share = (distance as f32 / exact as f32).ln() / (FARTHEST as f32 / exact as f32).ln();
    let far = exact + (share * (half - exact) as f32) as usize;
    side + far.min(half - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_distances_have_their_own_bucket_and_far_ones_share() {
        let found: Vec<usize> =
            [0, -1, -7, -8, -9, -12, -16, -127, -128, -500].map(|at| bucket(at, 32)).into();
        assert_eq!(found, [0, 1, 7, 8, 8, 9, 10, 15, 15, 15]);
        assert_eq!([1, 7, 8, 500].map(|at| bucket(at, 32)), [17, 23, 24, 31]);
    }

    #[test]
    fn a_run_has_the_distance_zero_in_its_middle() {
        let table: Vec<f32> = (0..64).map(|place| place as f32).collect();
        let distances = Distances::new(&table, 2, 3);
        // Two columns: the bucket b of head h is 2 b + h.
        assert_eq!(distances.head(1).unwrap(), [5.0, 3.0, 1.0, 35.0, 37.0]);
        assert!(Distances::new(&[], 2, 3).head(0).is_none());
    }
}
