//! From inputs to the bytes of an arena.
//!
//! One input is one `marshal` object, a tuple of
//! 1. positional arguments, a list (with `None` where something is filled in later),
//! 2. keyword arguments, a dictionary,
//! 3. plain tensors: `(by name?, key, dtype code, shape, strides, offset in elements)`,
//! 4. everything else that `marshal` cannot hold: `(by name?, key, tree)`, the tree tagged as in
//!    `build.py`,
//! 5. `None`, or 1 to 4 for the call on a constructed layer.
//!
//! Elements of tensors lie apart, aligned, so that the worker copies them without parsing.

use fissure_model::{Argument, ConcreteInput, Dtype, Passing, TensorValue, Value};

use crate::marshal::Marshal;

/// Tensors begin at multiples of this: a cache line, and a whole element of every dtype.
const ALIGNMENT: usize = 64;
/// A repeated pattern is written out up to this many bytes, because plain tensors are faster.
const WRITTEN_OUT: u64 = 4096;

const PLAIN: i128 = 0;
const DENSE: i128 = 1;
const REPEATED: i128 = 2;
const SPARSE: i128 = 3;
const NDARRAY: i128 = 4;
const DTYPE: i128 = 5;
const OBJECT: i128 = 6;
const CALL: i128 = 7;
const LIST: i128 = 8;
const TUPLE: i128 = 9;
const DICT: i128 = 10;

/// The encoded beginning of a batch. Buffers are kept from one batch to the next.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    elements: Vec<u8>,
    objects: Marshal,
    /// Where each object begins in `objects`.
    starts: Vec<usize>,
}

impl Encoder {
    /// Encodes inputs until the next one does not fit `capacity` or `most` are in; at least one.
    /// Returns how many are in.
    pub(crate) fn fill(&mut self, inputs: &[ConcreteInput], capacity: usize, most: usize) -> usize {
        self.elements.clear();
        self.objects.bytes.clear();
        self.starts.clear();
        for input in inputs.iter().take(most) {
            let before = (self.elements.len(), self.objects.bytes.len());
            self.starts.push(before.1);
            self.input(input);
            if self.needed() > capacity && self.starts.len() > 1 {
                self.elements.truncate(before.0);
                self.objects.bytes.truncate(before.1);
                self.starts.pop();
                break;
            }
        }
        self.starts.len()
    }

    /// Bytes of an arena that holds what is encoded.
    pub(crate) fn needed(&self) -> usize {
        self.table() + 8 * self.starts.len()
    }

    /// Where the table of objects begins: after the elements and the objects.
    pub(crate) fn table(&self) -> usize {
        (self.elements.len() + self.objects.bytes.len()).next_multiple_of(8)
    }

    /// Writes everything into an arena of at least [`Encoder::needed`] bytes.
    pub(crate) fn write(&self, arena: &mut [u8]) {
        let objects = self.elements.len();
        let end = objects + self.objects.bytes.len();
        arena[..objects].copy_from_slice(&self.elements);
        arena[objects..end].copy_from_slice(&self.objects.bytes);
        let table = &mut arena[self.table()..self.needed()];
        for (entry, start) in table.chunks_exact_mut(8).zip(&self.starts) {
            entry.copy_from_slice(&((objects + start) as u64).to_le_bytes());
        }
    }

    fn input(&mut self, input: &ConcreteInput) {
        self.objects.tuple(5);
        self.call(&input.arguments);
        match &input.layer_arguments {
            None => self.objects.none(),
            Some(arguments) => {
                self.objects.tuple(4);
                self.call(arguments);
            }
        }
    }

    fn call(&mut self, arguments: &[Argument]) {
        let positional = arguments
            .iter()
            .filter(|argument| argument.passing == Passing::Positional);
        self.objects.list(positional.clone().count());
        for argument in positional {
            match kind(&argument.value) {
                Kind::Plain => self.plain(&argument.value),
                Kind::Tensor(_) | Kind::Tree => self.objects.none(),
            }
        }
        self.objects.dict();
        for argument in arguments
            .iter()
            .filter(|argument| argument.passing == Passing::Keyword)
        {
            if let Kind::Plain = kind(&argument.value) {
                self.objects.name(&argument.name);
                self.plain(&argument.value);
            }
        }
        self.objects.end_dict();
        self.filled_in(arguments, false);
        self.filled_in(arguments, true);
    }

    /// The tuple of plain tensors, or of trees.
    fn filled_in(&mut self, arguments: &[Argument], trees: bool) {
        let wanted = |argument: &&Argument| match kind(&argument.value) {
            Kind::Plain => false,
            Kind::Tensor(_) => !trees,
            Kind::Tree => trees,
        };
        self.objects.tuple(arguments.iter().filter(wanted).count());
        let mut position = 0;
        for argument in arguments {
            if wanted(&argument) {
                self.objects.tuple(if trees { 3 } else { 6 });
                match argument.passing {
                    Passing::Keyword => {
                        self.objects.boolean(true);
                        self.objects.name(&argument.name);
                    }
                    Passing::Positional => {
                        self.objects.boolean(false);
                        self.objects.integer(position);
                    }
                }
                match kind(&argument.value) {
                    Kind::Tensor(tensor) => self.dense(tensor),
                    Kind::Tree | Kind::Plain => self.tree(&argument.value),
                }
            }
            if argument.passing == Passing::Positional {
                position += 1;
            }
        }
    }

    /// A value made only of what `marshal` holds.
    fn plain(&mut self, value: &Value) {
        let objects = &mut self.objects;
        match value {
            Value::Bool(value) => objects.boolean(*value),
            Value::Int(value) => objects.integer(*value),
            Value::Float(value) => objects.float(*value),
            Value::Complex { re, im } => objects.complex(*re, *im),
            Value::Text(value) => objects.text(value),
            Value::Bytes(value) => objects.binary(value),
            Value::List(items) => {
                objects.list(items.len());
                items.iter().for_each(|item| self.plain(item));
            }
            Value::Tuple(items) => {
                objects.tuple(items.len());
                items.iter().for_each(|item| self.plain(item));
            }
            Value::None
            | Value::Dict(_)
            | Value::Tensor(_)
            | Value::SparseTensor(_)
            | Value::NdArray(_)
            | Value::Dtype(_)
            | Value::Object(_)
            | Value::Call { .. } => objects.none(),
        }
    }

    fn tree(&mut self, value: &Value) {
        match value {
            Value::Tensor(tensor) => self.tensor_tree(tensor),
            Value::SparseTensor(tensor) => {
                self.tag(2, SPARSE);
                self.tensor_tree(tensor);
            }
            Value::NdArray(tensor) => {
                self.tag(6, NDARRAY);
                self.repeated(tensor);
            }
            Value::Dtype(dtype) => {
                self.tag(2, DTYPE);
                self.objects.integer(code(*dtype));
            }
            Value::Object(path) => {
                self.tag(2, OBJECT);
                self.objects.text(path);
            }
            Value::Call { path, arguments } => {
                self.tag(3, CALL);
                self.objects.text(path);
                self.trees(arguments);
            }
            Value::Dict(pairs) => {
                self.tag(2, DICT);
                self.objects.tuple(pairs.len());
                for (key, value) in pairs {
                    self.objects.tuple(2);
                    self.tree(key);
                    self.tree(value);
                }
            }
            Value::List(items) if !is_plain(value) => {
                self.tag(2, LIST);
                self.trees(items);
            }
            Value::Tuple(items) if !is_plain(value) => {
                self.tag(2, TUPLE);
                self.trees(items);
            }
            plain => {
                self.tag(2, PLAIN);
                self.plain(plain);
            }
        }
    }

    fn tag(&mut self, items: usize, tag: i128) {
        self.objects.tuple(items);
        self.objects.integer(tag);
    }

    fn trees(&mut self, items: &[Value]) {
        self.objects.tuple(items.len());
        items.iter().for_each(|item| self.tree(item));
    }

    fn tensor_tree(&mut self, tensor: &TensorValue) {
        if is_dense(tensor) {
            self.tag(5, DENSE);
            self.dense(tensor);
        } else {
            self.tag(6, REPEATED);
            self.repeated(tensor);
        }
    }

    /// Code, shape, strides, offset of a tensor whose elements are all in the arena.
    fn dense(&mut self, tensor: &TensorValue) {
        let size = element_size(tensor.dtype);
        let bytes = tensor.byte_len().map_or(0, |bytes| bytes as usize);
        let offset = self.align();
        let pattern = &*tensor.data.pattern;
        while self.elements.len() < offset + bytes {
            let missing = offset + bytes - self.elements.len();
            self.elements
                .extend_from_slice(&pattern[..missing.min(pattern.len())]);
        }
        self.objects.integer(code(tensor.dtype));
        self.shape(&tensor.shape);
        self.objects.tuple(tensor.shape.len());
        for axis in 0..tensor.shape.len() {
            let stride: u64 = tensor.shape[axis + 1..].iter().product();
            self.objects.integer(stride.into());
        }
        self.objects.integer((offset / size) as i128);
    }

    /// Code, shape, offset, elements of the pattern, elements of the tensor.
    fn repeated(&mut self, tensor: &TensorValue) {
        let size = element_size(tensor.dtype);
        let elements = tensor
            .shape
            .iter()
            .try_fold(1i128, |product, dim| product.checked_mul(i128::from(*dim)));
        // No library has that many: it refuses, and the input is reported as not built.
        let elements = elements.unwrap_or(i128::MAX);
        let whole = (tensor.data.pattern.len() / size) as i128;
        let pattern = whole.min(elements);
        let offset = self.align();
        self.elements
            .extend_from_slice(&tensor.data.pattern[..pattern as usize * size]);
        self.objects.integer(code(tensor.dtype));
        self.shape(&tensor.shape);
        self.objects.integer((offset / size) as i128);
        self.objects.integer(pattern);
        self.objects.integer(elements);
    }

    fn shape(&mut self, shape: &[u64]) {
        self.objects.tuple(shape.len());
        shape
            .iter()
            .for_each(|dim| self.objects.integer((*dim).into()));
    }

    fn align(&mut self) -> usize {
        let offset = self.elements.len().next_multiple_of(ALIGNMENT);
        self.elements.resize(offset, 0);
        offset
    }
}

/// How a value travels.
enum Kind<'a> {
    Plain,
    Tensor(&'a TensorValue),
    Tree,
}

fn kind(value: &Value) -> Kind<'_> {
    match value {
        Value::Tensor(tensor) if is_dense(tensor) => Kind::Tensor(tensor),
        value if is_plain(value) => Kind::Plain,
        _ => Kind::Tree,
    }
}

fn is_plain(value: &Value) -> bool {
    match value {
        Value::None
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Complex { .. }
        | Value::Text(_)
        | Value::Bytes(_) => true,
        Value::List(items) | Value::Tuple(items) => items.iter().all(is_plain),
        // `marshal` cannot hold a dictionary with a key that Python refuses to hash.
        Value::Dict(_)
        | Value::Tensor(_)
        | Value::SparseTensor(_)
        | Value::NdArray(_)
        | Value::Dtype(_)
        | Value::Object(_)
        | Value::Call { .. } => false,
    }
}

/// All elements are given, or cheaply written out, and the library takes them as they are.
fn is_dense(tensor: &TensorValue) -> bool {
    let quantized = matches!(
        tensor.dtype,
        Dtype::Qint8 | Dtype::Quint8 | Dtype::Qint16 | Dtype::Quint16 | Dtype::Qint32
    );
    match tensor.byte_len() {
        None | Some(0) => false,
        Some(bytes) => {
            let pattern = tensor.data.pattern.len() as u64;
            !quantized && pattern > 0 && (pattern >= bytes || bytes <= WRITTEN_OUT)
        }
    }
}

fn code(dtype: Dtype) -> i128 {
    dtype as i128
}

/// Types without a buffer travel as empty: the adapter knows them or refuses.
fn element_size(dtype: Dtype) -> usize {
    dtype.size().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fissure_model::{Intent, TensorData};

    fn tensor(dtype: Dtype, shape: &[u64], pattern: &[u8]) -> TensorValue {
        TensorValue {
            dtype,
            shape: shape.to_vec(),
            data: TensorData {
                pattern: pattern.into(),
            },
        }
    }

    fn input(value: Value) -> ConcreteInput {
        ConcreteInput {
            number: 0,
            arguments: vec![Argument {
                name: "x".into(),
                passing: Passing::Keyword,
                value,
            }],
            layer_arguments: None,
            intent: Intent::Conform,
            mutations: Vec::new(),
        }
    }

    #[test]
    fn dtype_codes_are_positions_in_the_list_that_python_gets() {
        for (position, dtype) in Dtype::ALL.into_iter().enumerate() {
            assert_eq!(code(dtype), position as i128);
        }
    }

    #[test]
    fn an_arena_is_filled_up_to_the_input_that_does_not_fit() {
        let value = Value::Tensor(tensor(Dtype::Uint8, &[100], &[7; 100]));
        let inputs = vec![input(value); 50];
        let mut encoder = Encoder::default();
        let all = encoder.fill(&inputs, usize::MAX, 50);
        assert_eq!(all, 50);
        let needed = encoder.needed();
        assert_eq!(encoder.fill(&inputs, needed, 50), 50);
        assert_eq!(encoder.fill(&inputs, needed - 1, 50), 49);
        assert!(encoder.needed() < needed);
        assert_eq!(encoder.fill(&inputs, usize::MAX, 3), 3);
        // One that does not fit is taken all the same: the arena has to grow.
        assert_eq!(encoder.fill(&inputs, 10, 50), 1);
        assert!(encoder.needed() > 10);
    }

    #[test]
    fn elements_begin_aligned_and_short_patterns_are_written_out() {
        let mut encoder = Encoder::default();
        let inputs = [
            input(Value::Tensor(tensor(Dtype::Uint8, &[3], &[1, 2]))),
            input(Value::Tensor(tensor(Dtype::Uint8, &[1 << 20], &[5, 6, 7]))),
        ];
        encoder.fill(&inputs, usize::MAX, 2);
        assert_eq!(encoder.elements[..3], [1, 2, 1]);
        assert_eq!(encoder.elements[64..], [5, 6, 7]);
    }

    #[test]
    fn a_table_leads_to_each_object() {
        let mut encoder = Encoder::default();
        let inputs = [
            input(Value::Int(1)),
            input(Value::Text("long".repeat(100))),
            input(Value::None),
        ];
        encoder.fill(&inputs, usize::MAX, 3);
        let mut arena = vec![0; encoder.needed()];
        encoder.write(&mut arena);
        for entry in arena[encoder.table()..].chunks_exact(8) {
            let at = u64::from_le_bytes(entry.try_into().unwrap()) as usize;
            // A tuple of five.
            assert_eq!(arena[at..at + 2], [b')', 5]);
        }
    }
}
