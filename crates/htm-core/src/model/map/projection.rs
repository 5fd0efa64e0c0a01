//! The projection of vectors to their two principal components.

/// The share of the direction by which a component may still turn when it is taken as found.
const PRECISION: f64 = 1e-6;

/// The most rounds. Components whose variances are nearly equal turn into each other slowly, and either will do.
const MAX_ROUNDS: usize = 60;

/// Vectors in two dimensions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Projection {
    /// A place for each vector, from -1 to 1.
    pub(crate) places: Vec<[f32; 2]>,
    /// The share of the variance along each dimension.
    pub(crate) variance: [f32; 2],
}

/// Projects vectors of one length to their principal components (Jolliffe, Principal Component Analysis, 2002), found by
/// orthogonal iteration. The result depends on the vectors alone.
pub(crate) fn project(mut vectors: Vec<Vec<f32>>) -> Projection {
    centre(&mut vectors);
    let total: f64 = vectors.iter().flatten().map(|x| f64::from(*x).powi(2)).sum();
    if total <= f64::EPSILON {
        return Projection { places: vec![[0.0; 2]; vectors.len()], variance: [0.0; 2] };
    }
    let axes = principal_axes(&vectors);
    let mut places: Vec<[f64; 2]> =
        vectors.iter().map(|vector| [along(vector, &axes[0]), along(vector, &axes[1])]).collect();
    let share = |axis: usize| places.iter().map(|place| place[axis].powi(2)).sum::<f64>() / total;
    let variance = [share(0) as f32, share(1) as f32];
    let widest = places.iter().flatten().fold(0.0_f64, |widest, x| widest.max(x.abs()));
    places.iter_mut().flatten().for_each(|x| *x /= widest);
    Projection { places: places.iter().map(|[x, y]| [*x as f32, *y as f32]).collect(), variance }
}

/// Moves the mean to the origin.
fn centre(vectors: &mut [Vec<f32>]) {
    let Some(first) = vectors.first() else { return };
    let mut mean = vec![0.0_f64; first.len()];
    for vector in vectors.iter() {
        mean.iter_mut().zip(vector).for_each(|(mean, x)| *mean += f64::from(*x));
    }
    mean.iter_mut().for_each(|mean| *mean /= vectors.len() as f64);
    for vector in vectors {
        vector.iter_mut().zip(&mean).for_each(|(x, mean)| *x = (f64::from(*x) - mean) as f32);
    }
}

/// The directions of the largest variance and of the next. The second is zero if the vectors are on a line.
fn principal_axes(vectors: &[Vec<f32>]) -> [Vec<f64>; 2] {
    // From the farthest vector on, and from the one that is farthest from that line: close to the result already.
    let mut axes = [farthest(vectors, &[]), Vec::new()];
    make_orthonormal(&mut axes);
    axes[1] = farthest(vectors, &axes[0]);
    make_orthonormal(&mut axes);
    for _ in 0..MAX_ROUNDS {
        let mut next = [turned(vectors, &axes[0]), turned(vectors, &axes[1])];
        make_orthonormal(&mut next);
        let is_found = axes.iter().zip(&next).all(|(old, new)| 1.0 - dot(old, new).abs() < PRECISION);
        axes = next;
        if is_found {
            break;
        }
    }
    axes.map(upright)
}

/// The vector with the greatest part across `axis`.
fn farthest(vectors: &[Vec<f32>], axis: &[f64]) -> Vec<f64> {
    let across = |vector: &Vec<f32>| {
        let length: f64 = vector.iter().map(|x| f64::from(*x).powi(2)).sum();
        length - along(vector, axis).powi(2)
    };
    let found = vectors.iter().max_by(|a, b| across(a).total_cmp(&across(b)));
    found.map(|vector| vector.iter().map(|x| f64::from(*x)).collect()).unwrap_or_default()
}

/// The product of the vectors' covariance and an axis.
fn turned(vectors: &[Vec<f32>], axis: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; axis.len()];
    for vector in vectors {
        let weight = along(vector, axis);
        product.iter_mut().zip(vector).for_each(|(sum, x)| *sum += weight * f64::from(*x));
    }
    product
}

/// Brings the first axis to unit length, and the second to unit length at a right angle to it (Gram-Schmidt).
fn make_orthonormal(axes: &mut [Vec<f64>; 2]) {
    let [first, second] = axes;
    make_unit(first, 0.0);
    let length = dot(second, second).sqrt();
    let shared = dot(first, second);
    second.iter_mut().zip(first.iter()).for_each(|(x, other)| *x -= shared * other);
    // The rest of a vector on the first axis is a rounding error.
    make_unit(second, length * 1e-9);
}

/// Brings an axis to unit length, or to zero if it is not longer than `least`.
fn make_unit(axis: &mut [f64], least: f64) {
    let length = dot(axis, axis).sqrt();
    let factor = if length > least { length.recip() } else { 0.0 };
    axis.iter_mut().for_each(|x| *x *= factor);
}

/// The axis in the direction in which its largest component is positive: either direction would be right.
fn upright(mut axis: Vec<f64>) -> Vec<f64> {
    let largest = axis.iter().copied().fold(0.0_f64, |most, x| if x.abs() > most.abs() { x } else { most });
    if largest < 0.0 {
        axis.iter_mut().for_each(|x| *x = -*x);
    }
    axis
}

fn along(vector: &[f32], axis: &[f64]) -> f64 {
    vector.iter().zip(axis).map(|(x, y)| f64::from(*x) * y).sum()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn without_differences_everything_is_in_the_middle() {
        assert_eq!(project(Vec::new()), Projection::default());
        for vectors in [vec![vec![3.0, 4.0]], vec![vec![0.5; 3]; 4]] {
            let middle = Projection { places: vec![[0.0; 2]; vectors.len()], variance: [0.0; 2] };
            assert_eq!(project(vectors), middle);
        }
    }

    #[test]
    fn a_line_has_one_dimension() {
        let found = project((0..5).map(|step| vec![step as f32, 2.0 * step as f32, 7.0]).collect());
        assert_eq!(found.places.iter().map(|[x, _]| *x).collect::<Vec<_>>(), [-1.0, -0.5, 0.0, 0.5, 1.0]);
        assert!(found.places.iter().all(|[_, y]| y.abs() < 1e-6), "{found:?}");
        assert!((found.variance[0] - 1.0).abs() < 1e-6 && found.variance[1] < 1e-6, "{found:?}");
    }

    #[test]
    fn the_widest_direction_is_x_and_the_next_is_y() {
        // A box of 8 by 2 by 1, in other columns.
        let corners = (0..8).map(|bits| [0, 1, 2].map(|bit| f32::from(bits >> bit & 1_u8)));
        let found = project(corners.map(|[a, b, c]| vec![b * 2.0, c, a * 8.0]).collect());
        let close = |a: f32, b: f32| (a - b).abs() < 1e-3;
        assert!(found.places.iter().all(|[x, y]| close(x.abs(), 1.0) && close(y.abs(), 0.25)), "{found:?}");
        assert!(close(found.variance[0], 64.0 / 69.0) && close(found.variance[1], 4.0 / 69.0), "{found:?}");
    }

    proptest! {
        #[test]
        fn places_are_in_range_and_no_farther_apart_than_the_vectors(
            vectors in prop::collection::vec(prop::collection::vec(-1.0_f32..1.0, 6), 2..40),
        ) {
            let found = project(vectors.clone());
            prop_assert!(found.places.iter().flatten().all(|x| x.abs() <= 1.0));
            prop_assert!(found.variance[0] + found.variance[1] <= 1.0 + 1e-4);
            prop_assert_eq!(found.places.len(), vectors.len());
            let widest = found.places.iter().flatten().fold(0.0_f32, |widest, x| widest.max(x.abs()));
            prop_assert!((widest - 1.0).abs() < 1e-5);
            prop_assert_eq!(&project(vectors), &found);
        }

        #[test]
        fn two_clusters_are_apart_on_x(
            noise in prop::collection::vec(prop::collection::vec(-0.1_f32..0.1, 5), 4..40),
        ) {
            let far = |(at, mut vector): (usize, Vec<f32>)| {
                vector[3] += if at % 2 == 0 { 5.0 } else { -5.0 };
                vector
            };
            let found = project(noise.into_iter().enumerate().map(far).collect());
            for (at, [x, _]) in found.places.iter().enumerate() {
                prop_assert_eq!(*x > 0.0, at % 2 == 0);
            }
        }
    }
}
