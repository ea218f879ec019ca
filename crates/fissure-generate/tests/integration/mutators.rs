//! Boundary cases and special values.

use crate::common;

use fissure_generate::{GenerateOptions, Generator};
use fissure_model::{ConcreteInput, Mode, Mutator, Scalar, Value};

fn conforming() -> GenerateOptions {
    GenerateOptions {
        mode: Mode::Conform,
        mutate_ratio: 0.0,
        ..GenerateOptions::default()
    }
}

fn generate(options: GenerateOptions, count: u64) -> Vec<ConcreteInput> {
    let spec = &common::all_specs()[0];
    let mut generator = Generator::new(spec, None, options, 1).unwrap();
    (0..count)
        .map(|number| generator.generate(number))
        .collect()
}

#[test]
fn every_mutator_occurs_where_it_fits_and_is_counted() {
    let specs = common::all_specs();
    let mut seen = Vec::new();
    for spec in &specs {
        let mutating = GenerateOptions {
            mutate_ratio: 1.0,
            special_values: true,
            ..conforming()
        };
        let mut generator = Generator::new(spec, None, mutating, 1).unwrap();
        let mut counted = 0;
        let mut recorded = 0;
        for number in 0..600 {
            let input = generator.generate(number);
            recorded += input.mutations.len() as u64;
            seen.extend(input.mutations.iter().map(|mutation| mutation.mutator));
        }
        for param in spec
            .params
            .iter()
            .map(|param| param.name.as_str())
            .chain(["input", "target"])
        {
            if spec
                .params
                .iter()
                .filter(|known| known.name == param)
                .count()
                == 1
            {
                counted += Mutator::ALL
                    .iter()
                    .map(|mutator| generator.coverage().count(param, *mutator))
                    .sum::<u64>();
            }
        }
        assert!(counted > 0 && counted <= recorded * 2);
    }
    for mutator in Mutator::ALL {
        assert!(seen.contains(&mutator), "{mutator}");
    }
}

#[test]
fn guided_mutation_uses_every_fitting_mutator_early() {
    let spec = &common::all_specs()[0];
    let guided = GenerateOptions {
        mutate_ratio: 1.0,
        guided_mutation: true,
        optional_ratio: 0.0,
        ..conforming()
    };
    let mut generator = Generator::new(spec, None, guided, 1).unwrap();
    for number in 0..24 {
        generator.generate(number);
    }
    let coverage = generator.coverage();
    let counts: Vec<u64> = [Mutator::ExtremeValue, Mutator::None, Mutator::Zero]
        .iter()
        .map(|mutator| coverage.count("kernel_size", *mutator))
        .collect();
    let spread = counts.iter().max().unwrap() - counts.iter().min().unwrap();
    assert!(spread <= 1, "{counts:?}");
}

#[test]
fn the_extreme_value_is_a_bound_of_the_current_range() {
    let mutating = GenerateOptions {
        mutate_ratio: 1.0,
        ..conforming()
    };
    let inputs = generate(mutating, 600);
    let mut seen = 0;
    for input in &inputs {
        for mutation in &input.mutations {
            if mutation.param == "kernel_size" && mutation.mutator == Mutator::ExtremeValue {
                let argument = input
                    .arguments
                    .iter()
                    .find(|a| a.name == "kernel_size")
                    .unwrap();
                if let Value::Int(value) = argument.value {
                    assert!(matches!(value, 1 | 16), "{value}");
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 0);
}

#[test]
fn special_values_really_occur_and_only_on_request() {
    let special = |input: &ConcreteInput| {
        let mut found = false;
        for argument in &input.arguments {
            if let Value::Tensor(tensor) = &argument.value {
                found |= tensor
                    .pattern_scalars()
                    .any(|scalar| matches!(scalar, Scalar::Float(value) if !value.is_finite()));
            }
        }
        found
    };
    let with = GenerateOptions {
        special_values: true,
        ..conforming()
    };
    assert!(generate(with, 300).iter().any(special));
    assert!(!generate(conforming(), 300).iter().any(special));
}

#[test]
fn an_extreme_fills_a_whole_list_of_sizes_now_and_then() {
    let text = "title: torch.f\npackage: torch\ntarget: f\nversion: '1'\nlink: x\n\
                inputs:\n  required: [x, size]\n  optional: []\n\
                constraints:\n  x: {tensor_t: [torch.tensor], ndim: ['2']}\n\
                \x20 size: {structure: [tuple], dtype: [int], shape: ['[2]']}\n";
    let spec = fissure_spec::load_text(std::path::Path::new("f.yaml"), text)
        .unwrap()
        .spec;
    let mutating = GenerateOptions {
        mutate_ratio: 1.0,
        ..conforming()
    };
    let mut generator = Generator::new(&spec, None, mutating, 1).unwrap();
    let mut whole = 0;
    for number in 0..600 {
        for argument in generator.generate(number).arguments {
            if let Value::Tuple(items) | Value::List(items) = argument.value {
                let huge = |item: &Value| matches!(item, Value::Int(size) if size.abs() > 1 << 25);
                whole += usize::from(items.len() > 1 && items.iter().all(huge));
            }
        }
    }
    assert!(whole > 3, "{whole}");
}

#[test]
fn libraries_that_take_arrays_for_tensors_get_some() {
    let text = "title: tf.f\npackage: tensorflow\ntarget: f\nversion: '1'\nlink: x\n\
                inputs:\n  required: [a]\n  optional: []\n\
                constraints:\n  a: {tensor_t: [tf.tensor], ndim: ['2'], dtype: [tf.float32]}\n";
    let spec = fissure_spec::load_text(std::path::Path::new("f.yaml"), text)
        .unwrap()
        .spec;
    let checker = fissure_solve::Checker::new(&spec);
    let mut arrays = 0;
    let mut generator = Generator::new(&spec, None, conforming(), 1).unwrap();
    for number in 0..400 {
        let input = generator.generate(number);
        assert_eq!(checker.check(&input), [], "{input:?}");
        arrays += usize::from(matches!(input.arguments[0].value, Value::NdArray(_)));
    }
    assert!((20..150).contains(&arrays), "{arrays}");
    let always = GenerateOptions {
        tensors_as: fissure_generate::TensorsAs::Tensor,
        ..conforming()
    };
    let mut generator = Generator::new(&spec, None, always, 1).unwrap();
    for number in 0..100 {
        let input = generator.generate(number);
        assert!(matches!(input.arguments[0].value, Value::Tensor(_)));
    }
}
