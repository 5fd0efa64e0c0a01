//! The model's arithmetic besides matrix products, with the processor's widest vectors.
//!
//! The loops are plain. pulp compiles them for each instruction set and chooses one at run time, so the binary needs no
//! `target-cpu`. candle calls a scalar `erf` per component, which costs more than its matrix products.

use std::f32::consts::{FRAC_1_SQRT_2, LN_2, LOG2_E};

use pulp::Arch;

/// The exact GELU, not the approximation with tanh.
#[inline(always)]
pub(super) fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * FRAC_1_SQRT_2))
}

/// `x = LayerNorm(x + y + bias)`, row by row, followed by `scale` and `shift`.
pub(super) fn add_norm(x: &mut [f32], y: &[f32], bias: &[f32], scale: &[f32], shift: &[f32], epsilon: f32) {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            let width = bias.len();
            for (x, y) in x.chunks_exact_mut(width).zip(y.chunks_exact(width)) {
                for ((x, y), bias) in x.iter_mut().zip(y).zip(bias) {
                    *x += y + bias;
                }
                norm(x, scale, shift, epsilon);
            }
        },
    );
}

/// `x = LayerNorm(x)`, row by row, followed by `scale` and `shift`.
pub(super) fn layer_norm(x: &mut [f32], scale: &[f32], shift: &[f32], epsilon: f32) {
    Arch::new().dispatch(
        #[inline(always)]
        || x.chunks_exact_mut(scale.len()).for_each(|row| norm(row, scale, shift, epsilon)),
    );
}

/// Softmax of `factor * x` over each row of `width`.
pub(super) fn softmax(x: &mut [f32], width: usize, factor: f32) {
    Arch::new().dispatch(
        #[inline(always)]
        || x.chunks_exact_mut(width).for_each(|row| softmax_row(row, factor)),
    );
}

/// Softmax of `factor * x + bias` over each row of `width`. Rows are queries, and columns are keys. `biases` has a
/// value for each distance of key and query, with the distance 0 in the middle.
pub(super) fn softmax_biased(x: &mut [f32], width: usize, factor: f32, biases: &[f32]) {
    let middle = biases.len() / 2;
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for (query, row) in x.chunks_exact_mut(width).enumerate() {
                for (x, bias) in row.iter_mut().zip(&biases[middle - query..]) {
                    *x = *x * factor + bias;
                }
                softmax_row(row, 1.0);
            }
        },
    );
}

/// Adds every row of `rows` to `total`.
pub(super) fn add_rows(total: &mut [f32], rows: &[f32]) {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for row in rows.chunks_exact(total.len()) {
                for (total, x) in total.iter_mut().zip(row) {
                    *total += x;
                }
            }
        },
    );
}

/// Enough partial sums for two AVX-512 registers. With a single sum each addition would wait for the previous one.
const LANES: usize = 32;

#[inline(always)]
fn sum(row: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0; LANES];
    let (chunks, rest) = row.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane += of(*x);
        }
    }
    lanes.iter().sum::<f32>() + rest.iter().map(|x| of(*x)).sum::<f32>()
}

#[inline(always)]
fn softmax_row(row: &mut [f32], factor: f32) {
    let mut max = [f32::NEG_INFINITY; LANES];
    let (chunks, rest) = row.as_chunks::<LANES>();
    for chunk in chunks {
        for (max, x) in max.iter_mut().zip(chunk) {
            *max = if *x > *max { *x } else { *max };
        }
    }
    let max = max.iter().chain(rest).copied().fold(f32::NEG_INFINITY, f32::max);
    for x in row.iter_mut() {
        *x = exp((*x - max) * factor);
    }
    let scale = 1.0 / sum(row, |x| x);
    for x in row.iter_mut() {
        *x *= scale;
    }
}

#[inline(always)]
fn norm(row: &mut [f32], scale: &[f32], shift: &[f32], epsilon: f32) {
    let width = row.len() as f32;
    let mean = sum(row, |x| x) / width;
    let variance = sum(row, |x| (x - mean) * (x - mean)) / width;
    let factor = 1.0 / (variance + epsilon).sqrt();
    for ((x, scale), shift) in row.iter_mut().zip(scale).zip(shift) {
        *x = (*x - mean) * factor * scale + shift;
    }
}

/// Eigen's rational approximation (`generic_fast_erf_float`) on [-4, 4]. Beyond, erf is ±1 in f32.
#[inline(always)]
fn erf(x: f32) -> f32 {
    let x = if x > 4.0 { 4.0 } else { x };
    let x = if x < -4.0 { -4.0 } else { x };
    let square = x * x;
    let mut above = -2.726_142e-10;
    for term in
        [2.770_681_4e-8, -2.101_024e-6, -5.692_506_4e-5, -7.349_906_3e-4, -2.954_6e-3, -1.609_603_3e-2]
    {
        above = above * square + term;
    }
    let mut below = -1.456_607_2e-5;
    for term in [-2.133_740_5e-4, -1.682_827e-3, -7.373_329e-3, -1.426_473_9e-2] {
        below = below * square + term;
    }
    x * above / below
}

/// Cephes' `expf`: 2^n times a polynomial on [-ln 2 / 2, ln 2 / 2]. Only for x ≤ 0, as in softmax.
#[inline(always)]
fn exp(x: f32) -> f32 {
    let x = if x < -87.0 { -87.0 } else { x };
    // Adding and subtracting 1.5 · 2^23 rounds to a whole number without a call.
    const ROUND: f32 = 12_582_912.0;
    let n = (x * LOG2_E + ROUND) - ROUND;
    let rest = x - n * LN_2;
    let mut value = 1.987_569_2e-4;
    for term in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        value = value * rest + term;
    }
    let value = value * rest * rest + rest + 1.0;
    // n as the biased exponent of a float is 2^n.
    let bits = (n + (ROUND + 127.0)).to_bits();
    value * f32::from_bits(bits << 23)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// erf by its Taylor series in f64, good to 1e-12 on [-4, 4].
    fn reference_erf(x: f64) -> f64 {
        let (mut term, mut total) = (x, x);
        for n in 1..200 {
            term *= -x * x / f64::from(n);
            total += term / f64::from(2 * n + 1);
        }
        total * 2.0 / std::f64::consts::PI.sqrt()
    }

    #[test]
    fn approximations_are_close() {
        for step in -400..=400 {
            let x = step as f32 / 100.0;
            assert!((f64::from(erf(x)) - reference_erf(f64::from(x))).abs() < 5e-7, "erf({x}) = {}", erf(x));
        }
        assert!((erf(30.0) - 1.0).abs() < 1e-6 && (erf(-30.0) + 1.0).abs() < 1e-6);
        for step in -8700..=0 {
            let x = step as f32 / 100.0;
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-5, "exp({x}) = {} not {}", exp(x), x.exp());
        }
        assert!(exp(-1000.0) < 1e-37);
    }

    #[test]
    fn softmax_sums_to_one_whatever_the_width() {
        for width in [1, 3, 32, 33, 100] {
            let mut x: Vec<f32> = (0..2 * width).map(|i| (i as f32 * 0.7).sin() * 50.0).collect();
            softmax(&mut x, width, 0.5);
            for row in x.chunks(width) {
                assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn layer_norm_has_mean_zero_and_variance_one() {
        let mut x: Vec<f32> = (0..70).map(|i| i as f32).collect();
        layer_norm(&mut x, &[1.0; 35], &[0.0; 35], 1e-12);
        assert!(x[..35].iter().sum::<f32>().abs() < 1e-4);
        assert!((x[..35].iter().map(|x| x * x).sum::<f32>() / 35.0 - 1.0).abs() < 1e-4);
    }
}
