"""What the name of a parameter says where nothing else does. Data, in one place.

`NAMES` are whole names, `ENDINGS` and `BEGINNINGS` are words at the end or the beginning of a name
split at `_`. The facts are about the habits of array libraries, not about any one function.
"""

import re

from fissure_worker.discover.words import of

INT = of("int")
POSITIVE = of("int", min=1)
COUNT = of("int", min=0)
AXIS = of("axis")
AXES = of("list", of=of("axis"))
SHAPE = of("shape")
FLOAT = of("float")
UNIT = of("float", min=0, max=1)
BOOL = of("bool")
TEXT = of("string")
DTYPE = of("dtype")
INDEX = of("index_tensor")
TENSOR = of("tensor")
TENSORS = of("tensors")
CALLABLE = of("callable")
GENERATOR = of("generator")
PYTREE = of("pytree")
CALLABLES = of("list", of=CALLABLE)

#: sort of facts → (types, names)
NAMES = (
    ([AXIS], "dim axis batch_dims axis1 axis2 dim0 dim1 start_dim end_dim seq_axis batch_axis "
     "feature_axis seq_dim batch_dim source destination batch_dimension axis_a axis_b"),
    ([AXIS, AXES], "axes dims reduction_indices dimension dimensions reduction_axes"),
    ([SHAPE], "shape size sizes newshape new_shape output_shape input_shape target_shape "
     "normalized_shape dense_shape out_shape batch_shape event_shape block_shape sample_shape"),
    ([POSITIVE, of("list", of=POSITIVE)], "kernel_size stride strides dilation dilations "
     "dilation_rate output_size pool_size ksize rates window_shape window_dimensions "
     "window_strides scale_factor upscale_factor downscale_factor multiples reps repeats"),
    ([COUNT, of("list", of=COUNT)], "output_padding pad_width paddings pad crops"),
    ([COUNT, of("list", of=COUNT), TEXT], "padding"),
    ([POSITIVE], "groups num_groups in_channels out_channels in_features out_features channels "
     "hidden_size input_size embedding_dim num_embeddings embed_dim num_heads num_layers "
     "num_features num_classes depth num_segments block_size d_model nhead dim_feedforward units "
     "filters n_fft hop_length win_length frame_length frame_step fft_length window_length"),
    ([INT], "k n m num offset diagonal order degree deg shift shifts level rank "
     "count length steps N M num_lower num_upper seed index idx position times"),
    ([of("number")], "fill_value value alpha beta min max lower upper base exponent weight_decay "
     "lambd scale zero_point tolerance start stop end step initial low high lower_bound upper_bound"),
    ([FLOAT], "eps epsilon momentum lr learning_rate rtol atol negative_slope threshold "
     "temperature tau sigma stddev mean gamma delta margin smoothing rcond tol rho"),
    ([UNIT], "p dropout rate probability keep_prob drop_prob quantile q"),
    ([BOOL], "keepdim keepdims training inplace bias affine ceil_mode count_include_pad "
     "align_corners return_indices sorted largest descending stable unbiased upper transpose "
     "hermitian normalized center onesided requires_grad sparse batch_first bidirectional "
     "track_running_stats elementwise_affine full_matrices exclusive reverse include_last_offset "
     "validate_args pin_memory non_blocking copy ascending adjoint verbose deterministic "
     "transpose_a transpose_b adjoint_a adjoint_b size_average endpoint overwrite_input"),
    ([TEXT], "name mode reduction method padding_mode equation direction nonlinearity activation "
     "interpolation data_format norm rounding_mode indexing approximate reduce side subscripts"),
    ([DTYPE], "dtype preferred_element_type out_type output_type Tout DstT output_dtype out_dtype param_dtype"),
    ([of("device")], "device map_location"),
    ([of("layout")], "layout"),
    ([of("memory_format")], "memory_format"),
    ([GENERATOR], "generator rng"),
    ([INDEX], "index indices idxs ids labels segment_ids offsets lengths row_splits "
     "sequence_length sequence_lengths seq_lengths input_lengths target_lengths row_lengths"),
    ([TENSORS], "tensors arrays arys operands xs inputs_list tensor_list sequences"),
    ([TENSOR], "input x y a b other self tensor weight weights logits target mask mat1 mat2 vec "
     "vec1 vec2 mat batch1 batch2 matrix images image boxes scores query key value array arr "
     "inputs data features labels_tensor condition cond values running_mean running_var grad out "
     "lhs rhs x1 x2 src X Y A B c c1 c2 z v w u where ary ar1 ar2 ar element arg1 arg2 grad_output key_padding_mask attn_mask hx predictions y_true y_pred operand"),
    ([CALLABLE], "fn func function f fun callback callable activation_fn hook closure predicate "
     "body_fun cond_fun true_fn false_fn"),
    ([CALLABLES], "fns funcs functions callables branches"),
    ([PYTREE], "tree pytree trees"),
    ([of("module")], "module model net layer"),
    ([of("path")], "filename file path fname filepath directory folder url fp filenames"),
)  # fmt: skip

#: The last word of a name.
ENDINGS = (
    ([INDEX], "ids indices idx index labels"),
    ([AXIS], "axis dim"),
    ([AXIS, AXES], "axes dims"),
    ([SHAPE], "shape sizes"),
    ([DTYPE], "dtype"),
    ([POSITIVE], "size channels features width height depth heads layers groups count classes"),
    ([FLOAT], "eps epsilon rate ratio prob probability factor tol threshold temperature"),
    ([of("path")], "file filename path dir directory folder url"),
    ([CALLABLE], "fn func function callback hook"),
    ([CALLABLES], "fns funcs functions callbacks callables"),
    ([TEXT], "mode name format method"),
    ([BOOL], "flag enabled"),
    ([INDEX], "length lengths splits offsets"),
    ([TENSOR], "mask tensor weight weights bias logits matrix images"),
    ([TENSORS], "tensors arrays"),
    ([PYTREE], "tree pytree"),
)
#: The first word of a name.
BEGINNINGS = (
    ([POSITIVE], "num n max_num"),
    ([BOOL], "is use with return has enable allow keep include compute assume"),
    ([INT], "max_len min_len"),
)


def table(rows):
    found = {}
    for types, words in rows:
        for word in words.split():
            found.setdefault(word, types)
    return found


WHOLE = table(NAMES)
LAST = table(ENDINGS)
FIRST = table(BEGINNINGS)
NUMBERED = re.compile(r"_?[0-9]+$")


def types_of(name):
    """The types that a name suggests, most likely first; an empty list when it says nothing."""
    if name in WHOLE:
        return list(WHOLE[name])
    plain = NUMBERED.sub("", name)
    if plain != name and plain in WHOLE:
        return list(WHOLE[plain])
    words = plain.lower().split("_")
    if len(words) > 1:
        if words[-1] in LAST:
            return list(LAST[words[-1]])
        if words[0] in FIRST:
            return list(FIRST[words[0]])
    return []


def is_axis(name):
    return name in WHOLE and WHOLE[name][0] is AXIS or name.split("_")[-1] in ("axis", "dim")


def is_axes(name):
    return is_axis(name) or (name in WHOLE and WHOLE[name][-1] is AXES)


def is_shape(name):
    return name in WHOLE and WHOLE[name][0] is SHAPE or name.split("_")[-1] == "shape"


#: Words that a tensor of positions or of class numbers is named with.
INDEX_WORDS = frozenset("index indices idx ids labels offsets lengths splits".split())


#: Lists with a number for each dimension of an image: what a window covers, and how far it moves.
WINDOW_NAMES = frozenset("ksize ksizes strides dilations rates window_strides".split())


def is_window(name):
    return name in WINDOW_NAMES


def is_index(name):
    return name.rpartition("_")[2] in INDEX_WORDS


def refined(name, types):
    """Plain integers and lists of them, as the name says more of them."""
    if types_of(name) == [DTYPE] and not any(one["sort"] == "dtype" for one in types):
        # "A float dtype" reads like a number, and aliases of dtypes like nothing at all.
        return [DTYPE] + [one for one in types if one["sort"] == "none"]
    if is_axes(name):
        return [as_axis(one) for one in types]
    suggested = types_of(name)
    if suggested in ([CALLABLE], [CALLABLES]) and not any(holds_callable(one) for one in types):
        # "A dict of callables, or a list of them" reads like a dict of anything.
        return suggested + types
    if is_shape(name):
        return [shape_of(one) for one in types]
    if is_index(name):
        types = [as_index(one) for one in types]
    if suggested == [UNIT]:
        return [UNIT if one == FLOAT else one for one in types]
    least = suggested[0].get("min") if suggested and suggested[0]["sort"] == "int" else None
    if least is None:
        return types
    return [with_minimum(one, least) for one in types]


def holds_callable(one):
    return one["sort"] == "callable" or (one.get("of") or {}).get("sort") == "callable"


def is_plain(one):
    return one == INT


def as_index(one):
    """A tensor of integers, as far as anything says."""
    if one["sort"] == "tensor" and all("int" in dtype for dtype in one.get("dtypes") or ["int"]):
        return dict(one, sort="index_tensor")
    return one


def as_axis(one):
    if is_plain(one):
        return AXIS
    if one["sort"] == "shape":
        return AXES
    if one["sort"] in ("list", "tuple") and one.get("of") == INT:
        return dict(one, of=AXIS)
    return one


def shape_of(one):
    if one["sort"] in ("list", "tuple") and one.get("of") in (INT, None):
        return of("shape", length=one.get("length"))
    return one


def with_minimum(one, least):
    if one["sort"] == "int" and one.get("min", 0) < least and set(one) <= {"sort", "min"}:
        return dict(one, min=least)
    if one["sort"] in ("list", "tuple") and one.get("of"):
        return dict(one, of=with_minimum(one["of"], least))
    return one
