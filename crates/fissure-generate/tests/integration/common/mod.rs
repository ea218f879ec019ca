//! Specs written by hand, as constraint files.

use std::path::Path;

use fissure_model::Spec;

/// Reads a constraint file given as text.
pub(crate) fn spec(name: &str, text: &str) -> Spec {
    fissure_spec::load_text(Path::new(name), text).unwrap().spec
}

/// One file per form that constraints can take.
pub(crate) fn all_specs() -> Vec<Spec> {
    [
        (
            "pool",
            "title: torch.nn.functional.avg_pool2d
package: torch
target: avg_pool2d
version: 2.9.1
link: https://example.org
inputs: {required: [input, kernel_size], optional: [padding, mode]}
constraints:
  input: {tensor_t: [torch.tensor], dtype: [torch.float32, torch.float64], ndim: ['3', '4'], shape: ['[>=1,>=&kernel_size,>=&kernel_size]', '[batch,>=1,>=&kernel_size,>=&kernel_size]']}
  kernel_size: {dtype: [int], ndim: ['0'], range: ['[1,16]']}
  padding: {default: '0', dtype: [int], ndim: ['0'], range: ['[0,&kernel_size/2]']}
  mode: {default: None, dtype: [string], enum: [None, mean, sum]}
",
        ),
        (
            "symbols",
            "title: torch.symbols
package: torch
target: symbols
version: '1'
link: https://example.org
inputs: {required: [a, b, lengths, groups, weight], optional: [dims, pads, table]}
constraints:
  a: {tensor_t: [torch.tensor], dtype: [torch.float16, torch.bfloat16], shape: ['[n,m]'], range: ['(0,1]']}
  b: {tensor_t: [torch.tensor], dtype: ['dtype:&a'], shape: ['[m,n+2]', '[...,m]']}
  lengths: {tensor_t: [torch.tensor], dtype: [torch.int64], shape: ['[n]'], range: ['[1,9)']}
  groups: {dtype: [int], range: ['[1,4]']}
  weight: {tensor_t: [torch.tensor], dtype: [float], shape: ['[out/&groups,max_value:&lengths,len:&a]']}
  dims: {structure: [list], dtype: [int], range: ['[-ndim:&b,ndim:&b)']}
  pads: {structure: ['tuple(int)'], ndim: ['1'], shape: ['[4]'], range: ['int:[0,3]']}
  table: {structure: ['dict(string:tensor)', 'list(float)']}
",
        ),
        (
            "layer",
            "title: torch.nn.Linear
package: torch
target: Linear
version: '1'
link: https://example.org
layer_constructor: true
inputs: {required: [in_features, out_features], optional: [bias]}
constraints:
  in_features: {dtype: [int], ndim: ['0'], range: ['[1,inf)']}
  out_features: {dtype: [int], ndim: ['0'], range: ['[1,64]']}
  bias: {default: 'True', dtype: [torch.bool], ndim: ['0']}
",
        ),
        (
            "star",
            "title: torch.block_diag
package: torch
target: block_diag
version: '1'
link: https://example.org
inputs: {required: ['*tensors'], optional: [dtype, side, '**kwargs']}
constraints:
  '*tensors': {tensor_t: [torch.tensor, SparseTensor], ndim: ['>=1'], dtype: [numeric]}
  dtype: {default: None, dtype: [torch.dtype]}
  side: {default: left, dtype: [string], enum: [left, right]}
  '**kwargs': {}
",
        ),
        (
            "flag",
            "title: tf.reverse
package: tensorflow
target: reverse
version: '1'
link: https://example.org
inputs: {required: [tensor, axes], optional: [flag]}
constraints:
  tensor: {tensor_t: [tf.tensor], ndim: ['2', '3']}
  axes: {structure: [list], dtype: [int]}
  flag: {default: 'False', enum: [True, False]}
",
        ),
        (
            "ragged",
            "title: tf.ragged_and_sparse
package: tensorflow
target: ragged_and_sparse
version: '1'
link: https://example.org
inputs: {required: [rows, cells], optional: []}
constraints:
  rows: {tensor_t: [RaggedTensor], dtype: [tf.float32]}
  cells: {tensor_t: [tf.SparseTensor], dtype: ['dtype:&rows'], ndim: ['2']}
",
        ),
    ]
    .into_iter()
    .map(|(name, text)| spec(name, text))
    .collect()
}
