//! The contract over every constraint file of the reference data, where this machine has it.

use std::path::{Path, PathBuf};

use fissure_generate::{GenerateOptions, Generator};
use fissure_model::{Intent, Mode};
use fissure_solve::{Broken, Checker};

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, found);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "yaml")
        {
            found.push(path);
        }
    }
}

#[test]
fn every_reference_file_is_generated_for_as_its_constraints_say() {
    let Some(folder) = fissure_testing::shared("data/docter") else {
        return;
    };
    let mut files = Vec::new();
    for library in ["pytorch", "tensorflow", "mxnet", "d2c"] {
        files_below(&folder.join(library), &mut files);
    }
    files.sort();
    let mut refused = 0;
    let mut violating = 0;
    let mut asked = 0;
    for file in &files {
        let spec = fissure_spec::load_file(file).unwrap().spec;
        let checker = Checker::new(&spec);
        let generator = |mode| {
            let options = GenerateOptions {
                mode,
                mutate_ratio: 0.0,
                ..GenerateOptions::default()
            };
            Generator::new(&spec, None, options, 11)
        };
        let Ok(mut conforming) = generator(Mode::Conform) else {
            refused += 1;
            continue;
        };
        for number in 0..6 {
            let input = conforming.generate(number);
            conforming.observe(number, number % 2 == 0);
            assert_eq!(checker.check(&input), [], "{} {input:?}", file.display());
        }
        let mut breaking = generator(Mode::Violate).unwrap();
        for number in 0..6 {
            let input = breaking.generate(number);
            asked += 1;
            if let Intent::Violate { param, category } = &input.intent {
                violating += 1;
                let expected = Broken {
                    param: param.clone(),
                    category: *category,
                };
                assert_eq!(
                    checker.check(&input),
                    [expected],
                    "{} {input:?}",
                    file.display()
                );
            }
        }
    }
    // Circles of dependencies and types that no library value has.
    assert!(refused <= 12, "{refused} files refused");
    assert!(
        violating * 100 >= asked * 98,
        "only {violating} of {asked} inputs violate"
    );
}
