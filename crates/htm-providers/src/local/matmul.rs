//! Matrix products by the crate gemm. This is the only place with `unsafe`, because gemm takes pointers.

use gemm::Parallelism;

/// A matrix in a slice: `rows` × `columns`, element (i, j) at `i * row_stride + j * column_stride`.
#[derive(Clone, Copy)]
pub(super) struct Matrix<'a> {
    data: &'a [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> Matrix<'a> {
    /// A matrix of rows of `columns` elements. The rows start `row_stride` elements apart.
    pub(super) fn rows(data: &'a [f32], rows: usize, columns: usize, row_stride: usize) -> Self {
        Self { data, rows, columns, row_stride, column_stride: 1 }
    }

    /// The transposed matrix, of the same elements.
    pub(super) fn transposed(self) -> Self {
        Self {
            data: self.data,
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
        }
    }

    /// The index after the last element.
    fn end(&self) -> usize {
        if self.rows == 0 || self.columns == 0 {
            return 0;
        }
        (self.rows - 1) * self.row_stride + (self.columns - 1) * self.column_stride + 1
    }
}

/// `out = left · right` on this thread. The rows of `out` start `out_stride` elements apart.
///
/// # Panics
/// If a shape does not fit its slice or the other matrix. That is a bug in the model's code.
#[allow(unsafe_code)]
pub(super) fn multiply(out: &mut [f32], out_stride: usize, left: Matrix, right: Matrix) {
    let (m, k, n) = (left.rows, left.columns, right.columns);
    assert_eq!(k, right.rows, "the inner dimensions differ");
    assert!(left.end() <= left.data.len() && right.end() <= right.data.len(), "a matrix exceeds its slice");
    assert!(n <= out_stride, "rows of the product overlap");
    assert!(Matrix::rows(&[], m, n, out_stride).end() <= out.len(), "the product exceeds its slice");
    // SAFETY: the assertions above keep every element of the three matrices inside its slice, rows of `out`
    // do not overlap, and `out` is borrowed mutably, so that it shares no memory with the other two. Strides
    // are below the length of a slice, hence below isize::MAX.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            out.as_mut_ptr(),
            1,
            out_stride as isize,
            false,
            left.data.as_ptr(),
            left.column_stride as isize,
            left.row_stride as isize,
            right.data.as_ptr(),
            right.column_stride as isize,
            right.row_stride as isize,
            0.0,
            1.0,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiplies_and_transposes() {
        let (a, b) = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0, 0.0, 2.0, 0.0, 1.0, 3.0]);
        let mut out = [9.0; 8];
        multiply(&mut out, 4, Matrix::rows(&a, 2, 3, 3), Matrix::rows(&b, 2, 3, 3).transposed());
        assert_eq!(out, [7.0, 11.0, 9.0, 9.0, 16.0, 23.0, 9.0, 9.0]);
    }

    #[test]
    #[should_panic(expected = "exceeds its slice")]
    fn a_shape_beyond_the_slice_is_refused() {
        multiply(&mut [0.0; 4], 2, Matrix::rows(&[1.0; 3], 2, 2, 2), Matrix::rows(&[1.0; 4], 2, 2, 2));
    }
}
