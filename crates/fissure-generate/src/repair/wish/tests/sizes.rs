//! What refusals say of sizes, shapes and positions.

use super::*;

#[test]
fn sizes_that_must_agree_are_tried_both_ways() {
    let wanted = wants(
        "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
        &["a", "b"],
    );
    assert!(
        wanted.contains(&Want::Number { from: 4, to: 3 }),
        "{wanted:?}"
    );
    assert!(
        wanted.contains(&Want::Number { from: 3, to: 4 }),
        "{wanted:?}"
    );
}

#[test]
fn a_subscript_says_what_it_needs() {
    let size = |from, to| Want::Number { from, to };
    for (message, wanted) in [
        (
            "index 3 is out of bounds for dimension 1 with size 2",
            size(2, 4),
        ),
        (
            "index -3 is out of bounds for axis 0 with size 1",
            size(1, 3),
        ),
        (
            "too many indices for tensor of dimension 1",
            Want::Rank(vec![2]),
        ),
        (
            "too many indices for array: array is 1-dimensional, but 3 were indexed",
            Want::Rank(vec![3]),
        ),
    ] {
        assert!(wants(message, &["a"]).contains(&wanted), "{message}");
    }
    let element = wants("index 7 is out of range", &["a"]);
    assert!(
        !element
            .iter()
            .any(|want| matches!(want, Want::Number { .. }))
    );
}

#[test]
fn numbers_in_words_count_and_positions_from_zero_are_positions() {
    let wanted = wants("lstm_cell expects two hidden states", &["input", "hx"]);
    assert!(wanted.contains(&Want::Length(2)), "{wanted:?}");
    let message = "cannot compute Foo as input #1(zero-based) was expected to be a float tensor \
                   but is a double tensor";
    let found = asked(message, &["a", "b"], None);
    assert_eq!(found[0].about.as_deref(), Some("b"));
}

#[test]
fn shapes_that_do_not_agree_are_read_in_every_spelling() {
    let agree = |one: &[u64], other: &[u64]| Want::Agree {
        one: one.to_vec(),
        other: other.to_vec(),
    };
    let said = "Outer dimensions of indices and update must match. Indices shape: [4,1], updates shape:[3]";
    assert!(wants(said, &[]).contains(&agree(&[4, 1], &[3])));
    let said = "operands could not be broadcast together with shapes (2,3) (4,) ";
    assert!(wants(said, &[]).contains(&agree(&[2, 3], &[4])));
    let said = "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)";
    assert!(wants(said, &[]).contains(&agree(&[2, 3], &[4, 5])));
    // One shape alone, or two without a word on how they stand to each other.
    let silent = ["must match: [2,3]", "at [1,2] and [3,4]"];
    for said in silent {
        let wanted = wants(said, &[]);
        assert!(
            !wanted.iter().any(|want| matches!(want, Want::Agree { .. })),
            "{wanted:?}"
        );
    }
}

#[test]
fn how_many_columns_elements_and_parts_there_must_be_is_read() {
    let wanted = wants(
        "paddings must be a matrix with 2 columns: [4,3]",
        &["paddings"],
    );
    assert!(wanted.contains(&Want::Last(2)), "{wanted:?}");
    let wanted = wants(
        "value_range should be a vector of 2 elements.",
        &["value_range"],
    );
    assert!(wanted.contains(&Want::Length(2)), "{wanted:?}");
    let wanted = wants("not enough values to unpack (expected 3, got 2)", &["x"]);
    assert!(wanted.contains(&Want::Rank(vec![3])), "{wanted:?}");
    let wanted = wants("`input.shape.rank` must be 3, 4 or 5.", &["input"]);
    assert!(wanted.contains(&Want::Rank(vec![3, 4, 5])), "{wanted:?}");
    let wanted = wants(
        "strides should be of length 1, 3 or 5. Received: 2",
        &["strides"],
    );
    for length in [1, 3, 5] {
        assert!(wanted.contains(&Want::Length(length)), "{wanted:?}");
    }
}

#[test]
fn a_shape_that_is_named_is_wanted() {
    let found = wants("crops should have shape [2,2] instead of [3]", &["crops"]);
    assert!(found.contains(&Want::Shape(vec![2, 2])), "{found:?}");
    let found = wants("input rank should be >= 3 instead of 2", &["input"]);
    assert!(found.contains(&Want::Rank(vec![3])), "{found:?}");
}

#[test]
fn factors_and_channels_say_which_size_is_wanted() {
    let found = wants(
        "mat1 and mat2 shapes cannot be multiplied (16x4 and 64x32)",
        &["x"],
    );
    let number = Want::Number { from: 4, to: 64 };
    assert_eq!(found[..2], [Want::Last(64), number]);
    let message =
        "Given groups=1, expected input[2, 3, 4, 5] to have 8 channels, but got 3 channels instead";
    let number = Want::Number { from: 3, to: 8 };
    assert!(wants(message, &["x"])[..2].contains(&number));
    let found = wants("shapes cannot be multiplied (4x4 and 4x8)", &["x"]);
    assert!(!found.contains(&Want::Last(4)), "{found:?}");
}

#[test]
fn what_has_to_be_divided_is_made_a_multiple_or_its_divisor_one() {
    let message = "Expected number of channels in input to be divisible by num_groups, but got input of shape [3, 3] and num_groups=8";
    let wanted = wants(message, &["input", "num_groups"]);
    assert!(wanted.contains(&Want::Multiple(8)), "{wanted:?}");
    assert!(
        wanted.contains(&Want::Number { from: 8, to: 1 }),
        "{wanted:?}"
    );
    let wanted = wants("height must be a multiple of 16", &["x"]);
    assert!(wanted.contains(&Want::Multiple(16)), "{wanted:?}");
}
