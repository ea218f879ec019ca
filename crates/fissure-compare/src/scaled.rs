//! The same input at another scale: a small constant that is added somewhere (an `eps`) changes nothing beside ordinary
//! numbers, and everything beside small ones.

use fissure_model::{ConcreteInput, Dtype, TensorData, TensorValue, Value};

/// Powers of two by which elements are multiplied: numbers of about a thousandth, and of about 10⁻⁸.
pub(crate) const SCALES: [i64; 2] = [-10, -26];

/// The input with every element of its floating-point tensors multiplied by a power of two; `None` where none changes.
pub(crate) fn scaled(input: &ConcreteInput, power: i64) -> Option<ConcreteInput> {
    let mut scaled = input.clone();
    let mut changed = false;
    let layer = scaled.layer_arguments.iter_mut().flatten();
    for argument in scaled.arguments.iter_mut().chain(layer) {
        changed |= scale(&mut argument.value, power);
    }
    changed.then_some(scaled)
}

fn scale(value: &mut Value, power: i64) -> bool {
    match value {
        Value::Tensor(tensor) | Value::NdArray(tensor) => scale_elements(tensor, power),
        Value::List(items) | Value::Tuple(items) => {
            (items.iter_mut()).fold(false, |changed, item| scale(item, power) | changed)
        }
        _ => false,
    }
}

/// Bytes of a number, and the places of its exponent: the lowest bit and how many there are.
fn layout(dtype: Dtype) -> Option<(usize, u32, u32)> {
    match dtype {
        Dtype::Float16 => Some((2, 10, 5)),
        Dtype::Bfloat16 => Some((2, 7, 8)),
        Dtype::Float32 | Dtype::Complex64 => Some((4, 23, 8)),
        Dtype::Float64 | Dtype::Complex128 => Some((8, 52, 11)),
        _ => None,
    }
}

fn scale_elements(tensor: &mut TensorValue, power: i64) -> bool {
    let Some((size, lowest, bits)) = layout(tensor.dtype) else {
        return false;
    };
    let mut bytes = tensor.data.pattern.to_vec();
    let mut changed = false;
    for element in bytes.chunks_exact_mut(size) {
        let mut word = [0; 8];
        word[..size].copy_from_slice(element);
        let word = u64::from_le_bytes(word);
        let field = ((1_u64 << bits) - 1) << lowest;
        let exponent = ((word & field) >> lowest) as i64;
        // Zeros and numbers below the normal ones stay, and so do infinities and NaN.
        if exponent == 0 || exponent == (1 << bits) - 1 {
            continue;
        }
        let exponent = (exponent + power).clamp(1, (1 << bits) - 2);
        let scaled = (word & !field) | ((exponent as u64) << lowest);
        changed |= scaled != word;
        element.copy_from_slice(&scaled.to_le_bytes()[..size]);
    }
    if changed {
        tensor.data = TensorData {
            pattern: bytes.into(),
        };
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(dtype: Dtype, bytes: Vec<u8>, count: u64) -> TensorValue {
        TensorValue {
            dtype,
            shape: vec![count],
            data: TensorData {
                pattern: bytes.into(),
            },
        }
    }

    #[test]
    fn numbers_become_smaller_by_a_power_of_two_and_special_ones_stay() {
        let numbers = [1.5_f32, -3.0, 0.0, f32::INFINITY, f32::NAN, 1e-38];
        let bytes = numbers.iter().flat_map(|it| it.to_le_bytes()).collect();
        let mut one = tensor(Dtype::Float32, bytes, 6);
        assert!(scale_elements(&mut one, -10));
        let (words, _) = one.data.pattern.as_chunks::<4>();
        let found: Vec<f32> = words.iter().map(|it| f32::from_le_bytes(*it)).collect();
        assert_eq!(
            found[..4],
            [1.5 / 1024.0, -3.0 / 1024.0, 0.0, f32::INFINITY]
        );
        assert!(found[4].is_nan());
        assert_eq!(found[5], 1e-38, "no normal number becomes zero");
        // 1.0 in half precision is 0x3c00; 2⁻²⁶ is out of its range.
        let mut half = tensor(Dtype::Float16, vec![0x00, 0x3c], 1);
        assert!(scale_elements(&mut half, -26));
        assert_eq!(half.data.pattern[..], [0x00, 0x04]);
    }

    #[test]
    fn whole_numbers_and_zeros_are_the_same_input() {
        assert!(!scale_elements(
            &mut tensor(Dtype::Int32, vec![1, 0, 0, 0], 1),
            -10
        ));
        assert!(!scale_elements(
            &mut tensor(Dtype::Float64, vec![0; 8], 1),
            -10
        ));
    }
}
