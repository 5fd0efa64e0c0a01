//! The solution of a system of linear equations by Cholesky's decomposition.

use htm_core::ranking::FEATURES;

pub(crate) const COUNT: usize = FEATURES.len();

/// A vector with a number for each feature.
pub(crate) type Vector = [f64; COUNT];

/// A symmetric matrix. Only its lower triangle is read.
pub(crate) type Matrix = [Vector; COUNT];

/// Solves `matrix × x = right` for a positive definite matrix. None if it is not.
pub(crate) fn solve(matrix: &Matrix, right: &Vector) -> Option<Vector> {
    let mut lower = [[0.0; COUNT]; COUNT];
    for row in 0..COUNT {
        for column in 0..=row {
            let known: f64 = (0..column).map(|at| lower[row][at] * lower[column][at]).sum();
            let rest = matrix[row][column] - known;
            lower[row][column] = if row == column {
                if !(rest.is_finite() && rest > 0.0) {
                    return None;
                }
                rest.sqrt()
            } else {
                rest / lower[column][column]
            };
        }
    }
    let mut x = *right;
    for row in 0..COUNT {
        let known: f64 = (0..row).map(|at| lower[row][at] * x[at]).sum();
        x[row] = (x[row] - known) / lower[row][row];
    }
    for row in (0..COUNT).rev() {
        let known: f64 = (row + 1..COUNT).map(|at| lower[at][row] * x[at]).sum();
        x[row] = (x[row] - known) / lower[row][row];
    }
    Some(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_solution_solves_its_equations() {
        let matrix: Matrix = std::array::from_fn(|row| {
            std::array::from_fn(
                |column| if row == column { 30.0 } else { 1.0 / (1.0 + row as f64 + column as f64) },
            )
        });
        let right: Vector = std::array::from_fn(|at| at as f64 - 3.0);
        let x = solve(&matrix, &right).unwrap();
        for (row, wanted) in matrix.iter().zip(right) {
            let got: f64 = row.iter().zip(x).map(|(a, b)| a * b).sum();
            assert!((got - wanted).abs() < 1e-9, "{got} is not {wanted}");
        }
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_has_no_solution() {
        assert_eq!(solve(&[[0.0; COUNT]; COUNT], &[1.0; COUNT]), None);
        assert_eq!(solve(&[[f64::NAN; COUNT]; COUNT], &[1.0; COUNT]), None);
    }
}
