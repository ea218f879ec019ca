//! Other names under which the program answers, and other tools' ways of writing flags.

use std::ffi::OsString;
use std::path::Path;

/// The command of Soft Assertion Fuzzer: `softassertion-cli SCRIPT [--config YAML] [--timeout S]`.
const SOFT_ASSERTION: &str = "softassertion-cli";

/// The flags of DocTer that are written with a value there and have none here.
const SWITCHES: [&str; 9] = [
    "obey",
    "ignore",
    "gen_script",
    "save",
    "guided_mutate",
    "special_value",
    "model_test",
    "check_nan",
    "verbose",
];

/// The command line as `fissure` reads it.
pub(crate) fn as_typed(mut words: Vec<OsString>) -> Vec<OsString> {
    let name = words.first().map(|name| Path::new(name).to_owned());
    if name.is_some_and(|name| name.file_name().is_some_and(|name| name == SOFT_ASSERTION)) {
        let rest = words.split_off(1);
        words = ["fissure", "scan", "--layout", "softassertion"]
            .map(OsString::from)
            .to_vec();
        words.extend(rest);
    }
    if words.get(1).is_some_and(|command| command == "fuzz") {
        return words.into_iter().filter_map(switch).collect();
    }
    words
}

/// `--obey=True` is `--obey`, `--obey=False` is nothing.
fn switch(word: OsString) -> Option<OsString> {
    let Some((name, value)) = word.to_str().and_then(|text| text.split_once('=')) else {
        return Some(word);
    };
    let known = name
        .strip_prefix("--")
        .is_some_and(|name| SWITCHES.contains(&name.replace('-', "_").as_str()));
    match (known, value) {
        (true, "True" | "true" | "1") => Some(name.into()),
        (true, "False" | "false" | "0") => None,
        _ => Some(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(words: &[&str]) -> Vec<String> {
        let words = words.iter().map(OsString::from).collect();
        let typed = as_typed(words).into_iter();
        typed.map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn the_command_of_soft_assertion_fuzzer_is_a_scan_with_its_files() {
        assert_eq!(
            typed(&["/usr/bin/softassertion-cli", "train.py", "--timeout", "9"]),
            [
                "fissure",
                "scan",
                "--layout",
                "softassertion",
                "train.py",
                "--timeout",
                "9"
            ]
        );
        assert_eq!(
            typed(&["fissure", "scan", "x.py"]),
            ["fissure", "scan", "x.py"]
        );
    }

    #[test]
    fn docters_switches_may_have_values() {
        assert_eq!(
            typed(&[
                "fissure",
                "fuzz",
                "a.yaml",
                "--obey=True",
                "--save=False",
                "--mutate_p=0.2"
            ]),
            ["fissure", "fuzz", "a.yaml", "--obey", "--mutate_p=0.2"]
        );
        assert_eq!(
            typed(&["fissure", "scan", "--strict=True"]),
            ["fissure", "scan", "--strict=True"]
        );
    }
}
