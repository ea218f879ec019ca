//! An entry of a square matrix: the step that makes the matrix singular, and the matrix's size.
//!
//! The determinant is linear in one entry: it vanishes when entry (i, j) moves by -1/(A⁻¹)ⱼᵢ. In a
//! matrix that stays symmetric both (i, j) and (j, i) move, and two steps make it vanish.

use super::{Feature, Logarithm, MOST_FEATURES, Scale, finite, log_length};

pub(super) const FEATURES: &[Feature] = &[
    ("value", Scale::Number),
    ("step_to_singular", Scale::Number),
    ("value_at_singular", Scale::Number),
    ("log_step", Scale::Even),
    ("log_value", Scale::Even),
    ("log_relative_step", Scale::Even),
    ("log_determinant", Scale::Even),
    ("sign_of_determinant", Scale::Even),
    ("on_diagonal", Scale::Even),
    ("log_largest", Scale::Even),
    ("log_length", Scale::Even),
    ("log_condition", Scale::Even),
    ("symmetric_step_up", Scale::Number),
    ("symmetric_step_down", Scale::Number),
    ("square_of_matrix", Scale::Number),
    ("log_square_of_matrix", Scale::Even),
    ("opposite", Scale::Number),
    ("value_at_singular_sign", Scale::Even),
    ("log_step_in_matrix", Scale::Even),
    ("log_value_at_singular", Scale::Even),
    ("step_beyond_zero", Scale::Even),
    ("log_largest_of_square", Scale::Even),
    ("log_largest_of_cube", Scale::Even),
];

pub struct Matrix<'a> {
    values: &'a [f64],
    side: usize,
    logarithm: Logarithm,
    /// Absent for a matrix that elimination finds singular.
    inverse: Option<Vec<f64>>,
    log_determinant: f64,
    sign: f64,
    log_largest: f64,
    log_length: f64,
    log_condition: f64,
    log_largest_of_square: f64,
    log_largest_of_cube: f64,
}

impl<'a> Matrix<'a> {
    pub fn new(values: &'a [f64], logarithm: Logarithm) -> Matrix<'a> {
        let side = values.len().isqrt();
        let (inverse, log_determinant, sign) = inverse(values, side);
        let largest = |values: &[f64]| values.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        let log_largest = logarithm.at(largest(values));
        let log_condition = inverse.as_ref().map_or(2000.0, |inverse| {
            let product = finite(norm(values, side) * norm(inverse, side));
            product.max(f64::MIN_POSITIVE).log2()
        });
        let [square, cube] = powers(values, side);
        Matrix {
            log_largest_of_square: (square + 2.0 * log_largest).max(logarithm.at(0.0)),
            log_largest_of_cube: (cube + 3.0 * log_largest).max(logarithm.at(0.0)),
            values,
            side,
            logarithm,
            inverse,
            log_determinant,
            sign,
            log_largest,
            log_length: log_length(values.iter().copied(), logarithm),
            log_condition,
        }
    }

    pub fn describe(&self, position: usize, into: &mut [f64; MOST_FEATURES]) {
        let (row, column) = (position / self.side, position % self.side);
        let value = self.values[position];
        let entry = |row: usize, column: usize| {
            self.inverse
                .as_ref()
                .map_or(0.0, |inverse| inverse[row * self.side + column])
        };
        let across = entry(column, row);
        let step = toward(across);
        let corner = (entry(row, row) * entry(column, column)).max(0.0).sqrt();
        let (one, two) = (toward(across + corner), toward(across - corner));
        let diagonal = row == column;
        let steps = if diagonal { [step, step] } else { [one, two] };
        let across_square: f64 = (0..self.side)
            .map(|k| finite(self.values[column * self.side + k] * self.values[k * self.side + row]))
            .fold(0.0, |sum, term| finite(sum + term));
        into[0] = value;
        into[1] = step;
        into[2] = finite(value + step);
        into[3] = self.logarithm.at(step);
        into[4] = self.logarithm.at(value);
        into[5] = into[3] - into[4];
        into[6] = self.log_determinant;
        into[7] = self.sign;
        into[8] = f64::from(u8::from(diagonal));
        into[9] = self.log_largest;
        into[10] = self.log_length;
        into[11] = self.log_condition;
        into[12] = nearest(steps.into_iter().filter(|step| *step > 0.0));
        into[13] = nearest(
            steps
                .into_iter()
                .filter(|step| *step < 0.0)
                .map(|step| -step),
        );
        into[14] = across_square;
        into[15] = self.logarithm.at(across_square);
        into[16] = self.values[column * self.side + row];
        into[17] = into[2].signum();
        into[18] = into[3] - self.log_largest;
        into[19] = self.logarithm.at(into[2]);
        into[20] = f64::from(u8::from(value * into[2] < 0.0));
        into[21] = self.log_largest_of_square;
        into[22] = self.log_largest_of_cube;
    }
}

/// `log2` of the largest entries of the square and of the cube, of the matrix whose largest entry is
/// made one: they cannot overflow.
fn powers(values: &[f64], side: usize) -> [f64; 2] {
    let largest = |values: &[f64]| values.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    let most = largest(values).max(f64::MIN_POSITIVE);
    let scaled: Vec<f64> = values.iter().map(|value| value / most).collect();
    let square = product(&scaled, &scaled, side);
    let cube = product(&square, &scaled, side);
    [square, cube].map(|power| largest(&power).log2())
}

fn product(left: &[f64], right: &[f64], side: usize) -> Vec<f64> {
    let mut found = vec![0.0; side * side];
    for (into, row) in found.chunks_exact_mut(side).zip(left.chunks_exact(side)) {
        for (factor, entries) in row.iter().zip(right.chunks_exact(side)) {
            for (sum, entry) in into.iter_mut().zip(entries) {
                *sum += factor * entry;
            }
        }
    }
    found
}

/// The largest sum of magnitudes of a column.
fn norm(values: &[f64], side: usize) -> f64 {
    let column = |column: usize| -> f64 {
        let entries = (0..side).map(|row| values[row * side + column].abs());
        entries.sum()
    };
    (0..side).map(column).fold(0.0, f64::max)
}

fn toward(entry: f64) -> f64 {
    if entry == 0.0 {
        0.0
    } else {
        finite(-1.0 / entry)
    }
}

fn nearest(steps: impl Iterator<Item = f64>) -> f64 {
    steps.fold(f64::MAX, f64::min)
}

/// Inverse, `log2` of the determinant's magnitude and its sign, by elimination with pivots.
fn inverse(values: &[f64], side: usize) -> (Option<Vec<f64>>, f64, f64) {
    let mut left = values.to_vec();
    let mut right = vec![0.0; side * side];
    for row in 0..side {
        right[row * side + row] = 1.0;
    }
    let (mut log_determinant, mut sign) = (0.0, 1.0);
    for column in 0..side {
        let pivot = (column..side)
            .max_by(|&a, &b| {
                let size = |row: usize| left[row * side + column].abs();
                size(a).total_cmp(&size(b))
            })
            .expect("a column is not empty");
        let value = left[pivot * side + column];
        if value == 0.0 || !value.is_finite() {
            return (None, -4000.0, 0.0);
        }
        if pivot != column {
            sign = -sign;
            for k in 0..side {
                left.swap(pivot * side + k, column * side + k);
                right.swap(pivot * side + k, column * side + k);
            }
        }
        sign *= value.signum();
        log_determinant += value.abs().log2();
        for k in 0..side {
            left[column * side + k] /= value;
            right[column * side + k] /= value;
        }
        for row in (0..side).filter(|&row| row != column) {
            let factor = left[row * side + column];
            if factor != 0.0 {
                for k in 0..side {
                    left[row * side + k] -= factor * left[column * side + k];
                    right[row * side + k] -= factor * right[column * side + k];
                }
            }
        }
    }
    if right.iter().all(|value| value.is_finite()) {
        (Some(right), log_determinant, sign)
    } else {
        (None, log_determinant, sign)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::Precision;

    #[test]
    fn the_step_to_singular_makes_the_determinant_vanish() {
        let values = [2.0, 1.0, 3.0, 5.0];
        let matrix = Matrix::new(&values, Logarithm::of(Precision::Float64));
        let mut features = [0.0; MOST_FEATURES];
        matrix.describe(0, &mut features);
        // (2 + s) · 5 - 3 = 0
        assert!((features[1] + 1.4).abs() < 1e-12, "{}", features[1]);
        assert!((matrix.log_determinant - 7f64.log2()).abs() < 1e-12);
    }

    #[test]
    fn the_powers_of_a_matrix_are_known_beyond_the_largest_number() {
        for scale in [1.0, 2f64.powi(1000)] {
            let values = [2.0 * scale, 0.0, 0.0, scale];
            let matrix = Matrix::new(&values, Logarithm::of(Precision::Float64));
            assert_eq!(matrix.log_largest_of_square, 2.0 * (2.0 * scale).log2());
            assert_eq!(matrix.log_largest_of_cube, 3.0 * (2.0 * scale).log2());
        }
    }

    #[test]
    fn a_singular_matrix_has_no_step() {
        let values = [1.0, 1.0, 1.0, 1.0];
        let matrix = Matrix::new(&values, Logarithm::of(Precision::Float32));
        let mut features = [0.0; MOST_FEATURES];
        matrix.describe(1, &mut features);
        assert_eq!(features[1], 0.0);
    }
}
