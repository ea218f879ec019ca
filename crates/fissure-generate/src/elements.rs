//! Elements of tensors, biased like a tester's.

use std::sync::OnceLock;

use fissure_model::{Dtype, Fill, FillScheme, Scalar, TensorData, TensorValue};
use fissure_solve::{Random, as_number, write_element};

use crate::arranged::arranged;
use crate::wide;

/// Tensors with more elements repeat a pattern of [`PATTERN`] elements: drawing elements is the
/// larger part of the cost of an input, and the pattern tests as much.
const WHOLE: u64 = 512;
/// A prime, so that the repetition does not line up with the dimensions.
const PATTERN: u64 = 251;
/// Arrangements make sense only as a whole, and stay whole up to this many elements.
const WHOLE_ARRANGED: u64 = 4096;

const SIMPLE: [f64; 16] = [
    0.0, 1.0, -1.0, 0.5, 2.0, -0.5, 3.0, 10.0, -2.0, 0.25, 1.5, 0.1, -10.0, 4.0, 5.0, -3.0,
];

/// Draws the elements of one tensor.
pub(crate) fn fill_tensor(
    dtype: Dtype,
    shape: Vec<u64>,
    fill: Fill,
    random: &mut Random,
) -> TensorValue {
    let elements = shape
        .iter()
        .try_fold(1_u64, |product, dim| product.checked_mul(*dim));
    let elements = elements.unwrap_or(u64::MAX);
    let whole = match fill.scheme {
        FillScheme::Identity
        | FillScheme::Permutation
        | FillScheme::Distinct
        | FillScheme::OneHot
        | FillScheme::Rising => WHOLE_ARRANGED,
        _ => WHOLE,
    };
    let count = if elements > whole { PATTERN } else { elements };
    let mut bytes = Vec::with_capacity(count as usize * dtype.size().unwrap_or(1));
    let bounds = Bounds::new(dtype, fill);
    // A boundary element in one tensor of ten; never where the values were chosen to fit others.
    let boundary = (fill.scheme == FillScheme::Mixed && random.below(10) == 0 && count > 0)
        .then(|| random.below(count));
    // In one tensor of sixteen each: elements from the whole of the type, and of the magnitudes that measurements have.
    let magnitudes: Option<fn(Dtype, &mut Random) -> f64> = match fill.scheme {
        FillScheme::Mixed if !bounds.bounded && !dtype.is_complex() => match random.below(16) {
            0 => Some(wide::number),
            1 => Some(|_, random| wide::everyday(random)),
            _ => None,
        },
        _ => None,
    };
    match fill.scheme {
        _ if let Some(number) = magnitudes => {
            for _ in 0..count {
                bounds.write(number(dtype, random), &mut bytes);
            }
        }
        FillScheme::Identity if shape.len() >= 2 && elements <= WHOLE_ARRANGED => {
            let columns = shape[shape.len() - 1];
            let matrix = columns * shape[shape.len() - 2];
            for at in 0..count {
                let diagonal = (at % matrix) / columns == (at % matrix) % columns;
                bounds.write(f64::from(u8::from(diagonal)), &mut bytes);
            }
        }
        FillScheme::Permutation
        | FillScheme::Distinct
        | FillScheme::OneHot
        | FillScheme::Rising => {
            let elements = arranged(fill.scheme, &shape, count, bounds.extremes(), random);
            for number in elements.into_iter().flatten() {
                bounds.write(number, &mut bytes);
            }
        }
        scheme if !bounds.bounded && Table::of(scheme).is_some() => {
            let table = Table::of(scheme).unwrap_or(Table::Mixed);
            table.draw(dtype, scheme, count, random, &mut bytes);
            if let Some(at) = boundary {
                let size = dtype.size().unwrap_or(0);
                let mut element = Vec::with_capacity(size);
                bounds.write_boundary(random, &mut element);
                bytes[at as usize * size..][..size].copy_from_slice(&element);
            }
        }
        scheme => {
            for at in 0..count {
                if boundary == Some(at) {
                    bounds.write_boundary(random, &mut bytes);
                } else {
                    bounds.write_element(scheme, at, random, &mut bytes);
                }
            }
        }
    }
    TensorValue {
        dtype,
        shape,
        data: TensorData {
            pattern: bytes.into(),
        },
    }
}

/// Entries of each table; a power of two, so that ten random bits choose one.
const TABLE: usize = 1024;

/// Ready elements for the schemes without bounds, encoded once per dtype: copying them is several
/// times faster than drawing and rounding each.
#[derive(Clone, Copy)]
enum Table {
    Mixed,
    Unit,
    Positive,
    /// 0, 1, 2, …
    Whole,
}

impl Table {
    fn of(scheme: FillScheme) -> Option<Table> {
        match scheme {
            FillScheme::Mixed => Some(Table::Mixed),
            FillScheme::Unit => Some(Table::Unit),
            FillScheme::Positive => Some(Table::Positive),
            FillScheme::Index(bound) if bound <= TABLE as u64 => Some(Table::Whole),
            FillScheme::Zeros | FillScheme::Ones => Some(Table::Whole),
            FillScheme::Index(_)
            | FillScheme::Peak
            | FillScheme::Identity
            | FillScheme::Permutation
            | FillScheme::Distinct
            | FillScheme::OneHot
            | FillScheme::Rising => None,
        }
    }

    fn elements(self, dtype: Dtype, size: usize) -> &'static [u8] {
        static TABLES: [[OnceLock<Vec<u8>>; Dtype::ALL.len()]; 4] =
            [const { [const { OnceLock::new() }; Dtype::ALL.len()] }; 4];
        TABLES[self as usize][dtype as usize].get_or_init(|| {
            let bounds = Bounds::new(dtype, Fill::default());
            // The same in every run, whatever the seed.
            let mut random = Random::new([7; 32], dtype as u64);
            let mut elements = Vec::with_capacity(TABLE * size);
            for at in 0..TABLE {
                let scheme = match self {
                    Table::Mixed => FillScheme::Mixed,
                    Table::Unit => FillScheme::Unit,
                    Table::Positive => FillScheme::Positive,
                    Table::Whole => {
                        bounds.write(at as f64, &mut elements);
                        continue;
                    }
                };
                bounds.write_element(scheme, at as u64, &mut random, &mut elements);
            }
            elements
        })
    }

    fn draw(
        self,
        dtype: Dtype,
        scheme: FillScheme,
        count: u64,
        random: &mut Random,
        bytes: &mut Vec<u8>,
    ) {
        let Some(size) = dtype.size() else { return };
        let table = self.elements(dtype, size);
        let entry = |at: usize| &table[at * size..][..size];
        match scheme {
            FillScheme::Zeros => (0..count).for_each(|_| bytes.extend_from_slice(entry(0))),
            FillScheme::Ones => (0..count).for_each(|_| bytes.extend_from_slice(entry(1))),
            FillScheme::Index(bound) => {
                for _ in 0..count {
                    bytes.extend_from_slice(entry(random.below(bound) as usize));
                }
            }
            _ => {
                let mut left = count;
                while left > 0 {
                    let mut bits = random.bits();
                    for _ in 0..left.min(6) {
                        bytes.extend_from_slice(entry(bits as usize % TABLE));
                        bits >>= 10;
                    }
                    left = left.saturating_sub(6);
                }
            }
        }
    }
}

/// Which numbers the elements of one tensor may be.
pub(crate) struct Bounds {
    dtype: Dtype,
    lower: f64,
    upper: f64,
    /// The constraint bounds the elements, so that rounding must be looked at.
    bounded: bool,
}

impl Bounds {
    pub(crate) fn new(dtype: Dtype, fill: Fill) -> Self {
        let (least, most) = match dtype.integer_limits() {
            Some((least, most)) => (least as f64, most as f64),
            None => {
                let most = dtype.float_max().unwrap_or(f64::MAX);
                (-most, most)
            }
        };
        Bounds {
            dtype,
            lower: fill.lower.unwrap_or(least).clamp(least, most),
            upper: fill.upper.unwrap_or(most).clamp(least, most),
            bounded: fill.lower.is_some() || fill.upper.is_some(),
        }
    }

    fn write_element(&self, scheme: FillScheme, at: u64, random: &mut Random, bytes: &mut Vec<u8>) {
        let whole = self.dtype.integer_limits().is_some();
        let number = match scheme {
            FillScheme::Zeros => 0.0,
            FillScheme::Ones
            | FillScheme::Identity
            | FillScheme::Permutation
            | FillScheme::Distinct
            | FillScheme::OneHot
            | FillScheme::Rising => 1.0,
            FillScheme::Index(bound) => random.below(bound) as f64,
            FillScheme::Peak if at == 0 => self.upper,
            FillScheme::Unit if whole => random.below(2) as f64,
            FillScheme::Unit => random.unit(),
            FillScheme::Positive if whole => 1.0 + random.below(8) as f64,
            FillScheme::Positive => 0.05 + random.unit() * 8.0,
            FillScheme::Mixed | FillScheme::Peak if whole => random.between(-8, 16) as f64,
            FillScheme::Mixed | FillScheme::Peak => {
                let bits = random.bits();
                if bits & 3 == 0 {
                    SIMPLE[(bits >> 8) as usize % SIMPLE.len()]
                } else {
                    // Multiples of 1/64 in ±10: exact in every type from half precision on.
                    ((bits >> 8) % 1281) as f64 / 64.0 - 10.0
                }
            }
        };
        let number = if number < self.lower || number > self.upper {
            self.inside(number, random)
        } else {
            number
        };
        if self.dtype.is_complex() {
            let imaginary = if scheme == FillScheme::Mixed {
                random.unit() * 4.0 - 2.0
            } else {
                0.0
            };
            write_element(self.dtype, Scalar::Complex(number, imaginary), bytes);
        } else {
            self.write(number, bytes);
        }
    }

    /// A number near the end of the interval that `number` overshot.
    fn inside(&self, number: f64, random: &mut Random) -> f64 {
        let span = (self.upper - self.lower).clamp(0.0, 8.0);
        let whole = self.dtype.integer_limits().is_some();
        let offset = if whole {
            random.below(span as u64 + 1) as f64
        } else {
            random.unit() * span
        };
        let value = if number < self.lower {
            self.lower + offset
        } else {
            self.upper - offset
        };
        value.clamp(self.lower, self.upper)
    }

    fn write_boundary(&self, random: &mut Random, bytes: &mut Vec<u8>) {
        let number = match random.below(4) {
            0 => self.lower,
            1 => self.upper,
            2 => 0.0_f64.clamp(self.lower, self.upper),
            _ => (-1.0_f64).clamp(self.lower, self.upper),
        };
        self.write(number, bytes);
    }

    /// Writes a number inside the interval such that it is still inside after rounding.
    pub(crate) fn write(&self, number: f64, bytes: &mut Vec<u8>) {
        let number = number.clamp(self.lower, self.upper);
        let value = if self.dtype.integer_limits().is_some() {
            // The limits of 64-bit types are not exact as floats.
            Scalar::Int(number as i128)
        } else {
            Scalar::Float(number)
        };
        let start = bytes.len();
        write_element(self.dtype, value, bytes);
        if !self.bounded {
            return;
        }
        let fits = |bytes: &[u8]| {
            Scalar::decode(self.dtype, bytes)
                .and_then(as_number)
                .is_none_or(|stored| stored >= self.lower && stored <= self.upper)
        };
        if fits(&bytes[start..]) {
            return;
        }
        // Rounded out of the interval: the middle, or zero or one where they are inside.
        let middle = self.lower / 2.0 + self.upper / 2.0;
        let width = self.upper - self.lower;
        let near = [
            number - width / 8.0,
            number + width / 8.0,
            middle,
            0.0,
            1.0,
            number,
        ];
        for candidate in near {
            bytes.truncate(start);
            write_element(self.dtype, Scalar::Float(candidate), bytes);
            if fits(&bytes[start..]) {
                return;
            }
        }
    }

    pub(crate) fn extremes(&self) -> (f64, f64) {
        (self.lower, self.upper)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random() -> Random {
        Random::new(Random::key(1, "elements"), 0)
    }

    #[test]
    fn elements_stay_within_their_bounds_in_every_dtype() {
        let mut random = random();
        for dtype in Dtype::ALL {
            if dtype.size().is_none() || dtype.is_complex() {
                continue;
            }
            for scheme in [FillScheme::Mixed, FillScheme::Unit, FillScheme::Index(9)] {
                let fill = Fill {
                    lower: Some(0.0),
                    upper: Some(1.0),
                    scheme,
                };
                let tensor = fill_tensor(dtype, vec![5, 7], fill, &mut random);
                assert_eq!(tensor.pattern_scalars().count(), 35);
                for scalar in tensor.pattern_scalars() {
                    let number = as_number(scalar).unwrap();
                    assert!((0.0..=1.0).contains(&number), "{dtype} {number}");
                }
            }
        }
    }

    #[test]
    fn a_large_tensor_is_a_short_pattern() {
        let tensor = fill_tensor(
            Dtype::Float32,
            vec![4096, 4096],
            Fill::default(),
            &mut random(),
        );
        assert_eq!(tensor.byte_len(), Some(64 << 20));
        assert_eq!(tensor.data.pattern.len() as u64, PATTERN * 4);
    }

    #[test]
    fn most_numbers_are_small() {
        let tensor = fill_tensor(Dtype::Int64, vec![500], Fill::default(), &mut random());
        let small = tensor
            .pattern_scalars()
            .filter(|scalar| matches!(scalar, Scalar::Int(-8..=16)))
            .count();
        assert!(small >= 490, "{small}");
    }

    #[test]
    fn an_identity_is_one_on_the_diagonal_of_each_matrix() {
        let fill = Fill {
            scheme: FillScheme::Identity,
            ..Fill::default()
        };
        let tensor = fill_tensor(Dtype::Int8, vec![2, 2, 2], fill, &mut random());
        let numbers: Vec<_> = tensor.pattern_scalars().filter_map(as_number).collect();
        assert_eq!(numbers, [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn the_peak_occurs() {
        let fill = Fill {
            lower: Some(0.0),
            upper: Some(5.0),
            scheme: FillScheme::Peak,
        };
        let tensor = fill_tensor(Dtype::Int32, vec![3], fill, &mut random());
        let most = tensor
            .pattern_scalars()
            .filter_map(as_number)
            .fold(0.0, f64::max);
        assert_eq!(most, 5.0);
    }
}
