//! Simpler numbers.

/// Up to here every smaller number is tried, from the smallest up.
const SMALL: i128 = 16;

/// Simpler than `number`, simplest first: 0, 1, -1, small ones upwards; for large ones powers of
/// two with fewer bits, found by halving the number of bits; then a rounder number of the same
/// length. Large numbers end at a power of two (or one less): the exact threshold would cost many
/// more steps and tell a reader less.
pub(super) fn simpler_integers(number: i128) -> Vec<i128> {
    let magnitude = number.unsigned_abs();
    let mut found = Vec::new();
    for small in 0..=SMALL {
        for signed in [small, -small] {
            found.push(signed);
        }
    }
    if magnitude > SMALL as u128 {
        let bits = u128::BITS - magnitude.leading_zeros();
        let mut step = bits.div_ceil(2);
        let mut exponent = bits - 1;
        let mut exponents = Vec::new();
        while step > 0 {
            exponent = exponent.saturating_sub(step);
            exponents.push(exponent);
            exponent += step;
            step = if step == 1 { 0 } else { step.div_ceil(2) };
        }
        for exponent in exponents.into_iter().filter(|exponent| *exponent >= 5) {
            found.push(1 << exponent);
        }
        if bits < 127 {
            found.extend([1 << (bits - 1), (1 << bits) - 1]);
        }
        if magnitude <= 4096 {
            let magnitude = magnitude as i128;
            let mut part = magnitude / 2;
            while part > 0 {
                found.push(magnitude - part);
                part /= 2;
            }
        }
        if number < 0 {
            let negative: Vec<i128> = found.iter().map(|one| -one).collect();
            found.push(number.saturating_neg());
            found.extend(negative);
        }
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|one| simplicity(*one) < simplicity(number) && seen.insert(*one));
    found
}

/// Smaller is simpler; a total order, so that simplifying ends.
fn simplicity(number: i128) -> (u32, u8, u128, bool) {
    let magnitude = number.unsigned_abs();
    let negative = number < 0;
    if magnitude <= 4 * SMALL as u128 {
        return (0, 0, magnitude, negative);
    }
    let bits = u128::BITS - magnitude.leading_zeros();
    let round = if magnitude.is_power_of_two() {
        0
    } else if (magnitude + 1).is_power_of_two() {
        1
    } else {
        2
    };
    (bits, round, magnitude, negative)
}

/// Simpler than `number`, simplest first: 0, 1, -1, 2, a half, small whole numbers, fewer digits,
/// powers of ten.
pub(super) fn simpler_floats(number: f64) -> Vec<f64> {
    let mut found = vec![0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0];
    if number.is_finite() {
        found.extend([4.0, 8.0, -4.0, -8.0, number.trunc(), number.round()]);
        found.extend([
            (number * 10.0).round() / 10.0,
            (number * 100.0).round() / 100.0,
        ]);
        if number != 0.0 {
            let exponent = number.abs().log10().trunc() as i32;
            // Towards one, from both sides: half as many digits, a quarter fewer, and so on.
            let mut parts = 2;
            while parts <= 64 {
                found.push(number.signum() * power_of_ten(exponent - exponent / parts));
                parts *= 2;
            }
            found.push(number.signum() * power_of_ten(exponent));
        }
    } else {
        found.extend([f64::INFINITY, f64::NEG_INFINITY]);
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|one| {
        float_simplicity(*one) < float_simplicity(number) && seen.insert(one.to_bits())
    });
    found
}

/// `powf` would be off by a bit, and `1.0000000000000001e-150` is no simple number.
fn power_of_ten(exponent: i32) -> f64 {
    format!("1e{exponent}")
        .parse()
        .expect("digits and an exponent are a number")
}

/// Length of the shortest text, then magnitude: `1e-07` is simpler than `0.0000001234`.
fn float_simplicity(number: f64) -> (u8, usize, u64, bool) {
    let kind = if number.is_nan() {
        3
    } else if number.is_infinite() {
        2
    } else {
        u8::from(number != 0.0 || number.is_sign_negative())
    };
    let length = format!("{:e}", number.abs()).len();
    let exponent = if number.is_finite() && number != 0.0 {
        (number.abs().log2() * 1024.0).abs() as u64
    } else {
        0
    };
    (kind, length, exponent, number.is_sign_negative())
}

/// Smaller sizes than `size`, smallest first. None is 0: a tensor without elements is a case of its
/// own, and a failure that does not need one should not be shown with one. For the same reason 0
/// gives 1.
pub(super) fn smaller_sizes(size: u64) -> Vec<u64> {
    if size == 0 {
        return vec![1];
    }
    let mut found: Vec<u64> = (1..size.min(9)).collect();
    let mut part = size / 2;
    while part > 0 {
        if size - part > 8 {
            found.push(size - part);
        }
        part /= 2;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_proposal_is_simpler_so_that_simplifying_ends() {
        for number in [
            0,
            1,
            -1,
            17,
            -100,
            4097,
            1 << 48,
            i128::from(i64::MAX),
            i128::MIN,
            i128::MAX,
        ] {
            for simpler in simpler_integers(number) {
                assert!(
                    simplicity(simpler) < simplicity(number),
                    "{simpler} {number}"
                );
            }
        }
        for number in [
            0.0,
            -0.0,
            1.0,
            1e300,
            -1e-310,
            0.1234,
            f64::NAN,
            f64::INFINITY,
        ] {
            for simpler in simpler_floats(number) {
                assert!(
                    float_simplicity(simpler) < float_simplicity(number),
                    "{simpler} {number}"
                );
            }
        }
    }

    #[test]
    fn the_simplest_numbers_have_nothing_simpler() {
        assert!(simpler_integers(0).is_empty());
        assert!(simpler_floats(0.0).is_empty());
        assert!(smaller_sizes(1).is_empty());
        assert_eq!(simpler_integers(1), [0]);
        assert_eq!(simpler_integers(-2), [0, 1, -1, 2]);
    }

    #[test]
    fn a_power_of_two_threshold_is_found_in_a_few_proposals() {
        let (mut number, mut proposals) = (1i128 << 62, 0);
        while let Some(next) = simpler_integers(number).into_iter().find(|one| {
            proposals += 1;
            *one >= 1 << 32
        }) {
            number = next;
        }
        assert_eq!(number, 1 << 32);
        assert!(proposals < 300, "{proposals}");
    }
}
