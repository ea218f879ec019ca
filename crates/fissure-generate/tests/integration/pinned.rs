//! The first inputs of every kind of generator, pinned by hash: who changes what a seed gives sees it.
//!
//! Changed on purpose? `FISSURE_WRITE_INPUTS=1 cargo test -p fissure-generate --test integration pinned` writes the
//! file anew; the commit says why, for every recorded run and seed gives other inputs from then on.

use std::fmt::Write;

use fissure_generate::{GenerateOptions, Generator};
use fissure_model::{Mode, Spec};
use fissure_rules::RuleLibrary;

use crate::common;

const INPUTS: u64 = 200;
const SEED: u64 = 20_261_117;
/// Learned rules that ship: matrices, indices, windows, choices, a plain function of elements.
const RULES: [&str; 6] = [
    "torch.add",
    "torch.matmul",
    "torch.gather",
    "torch.nn.functional.conv2d",
    "torch.nn.functional.max_pool2d",
    "torch.nn.functional.interpolate",
];

/// FNV-1a, 64 bits: no library's next release changes it.
fn hash(text: &str) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325;
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    text.bytes().fold(start, step)
}

/// Outcomes are made up, and the same each time: acceptance steers what follows.
fn hash_of_inputs(spec: &Spec, options: GenerateOptions) -> String {
    let mut generator = match Generator::new(spec, None, options, SEED) {
        Ok(generator) => generator,
        Err(error) => return format!("none: {error}"),
    };
    let mut text = String::new();
    for number in 0..INPUTS {
        let input = generator.generate(number);
        generator.observe(number, number % 3 != 0);
        text.push_str(&serde_json::to_string(&input).unwrap());
        text.push('\n');
    }
    format!("{:016x}", hash(&text))
}

fn all_hashes() -> String {
    let mut specs: Vec<(&str, Spec)> = common::all_specs()
        .into_iter()
        .map(|spec| ("constraints", spec))
        .collect();
    let place = fissure_testing::root().join("data/invariants");
    let library = RuleLibrary::only(&place);
    for title in RULES {
        let mut sheets = library.find(title).unwrap();
        assert_eq!(sheets.len(), 1, "{title}");
        specs.push(("rules", sheets.remove(0).into_spec()));
    }
    let with = |mode| GenerateOptions {
        mode,
        ..GenerateOptions::default()
    };
    let ways = [
        ("mixed", with(Mode::Mixed)),
        ("conform", with(Mode::Conform)),
        ("violate", with(Mode::Violate)),
        (
            "special",
            GenerateOptions {
                special_values: true,
                guided_mutation: true,
                ..with(Mode::Mixed)
            },
        ),
        (
            "unguided",
            GenerateOptions {
                unguided: true,
                ..with(Mode::Mixed)
            },
        ),
    ];
    let mut lines = String::new();
    for (source, spec) in &specs {
        for (way, options) in &ways {
            let hash = hash_of_inputs(spec, options.clone());
            writeln!(lines, "{source} {} {way} {hash}", spec.api.title).unwrap();
        }
    }
    lines
}

#[test]
fn the_inputs_of_a_seed_are_those_that_were_pinned() {
    let file = fissure_testing::root().join("testdata/pinned-inputs.txt");
    let now = all_hashes();
    if std::env::var_os("FISSURE_WRITE_INPUTS").is_some() {
        std::fs::write(&file, &now).unwrap();
        return;
    }
    let pinned = std::fs::read_to_string(&file).unwrap();
    let changed: Vec<&str> = (now.lines())
        .filter(|line| !pinned.lines().any(|it| it == *line))
        .collect();
    assert!(
        changed.is_empty() && now.lines().count() == pinned.lines().count(),
        "the same seed gives other inputs than before:\n{}\nFISSURE_WRITE_INPUTS=1 pins them anew, where that is meant",
        changed.join("\n")
    );
}
