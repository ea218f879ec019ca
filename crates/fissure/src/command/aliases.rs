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
pub(crate) fn as_typed(mut words: Vec<OsString>) -> Result<Vec<OsString>, String> {
    let name = words.first().map(|name| Path::new(name).to_owned());
    if name.is_some_and(|name| name.file_name().is_some_and(|name| name == SOFT_ASSERTION)) {
        let rest = words.split_off(1);
        words = ["fissure", "scan", "--layout", "softassertion"]
            .map(OsString::from)
            .to_vec();
        words.extend(rest);
    }
    let command = words.get(1).and_then(|command| command.to_str());
    if matches!(command, Some("fuzz" | "learn" | "campaign")) {
        words = with_lists(words)?;
    }
    if words.get(1).is_some_and(|command| command == "fuzz") {
        words = words.into_iter().filter_map(switch).collect();
        let begins = |word: &OsString| word.to_str().is_some_and(|it| it.starts_with("--resume"));
        if words.iter().any(begins) {
            words = console_first(words);
        }
    }
    Ok(words)
}

/// `@FILE` stands for the lines of a file, `--api @FILE` for the flag with each of them. Empty lines and those that
/// begin with `#` do not count.
fn with_lists(words: Vec<OsString>) -> Result<Vec<OsString>, String> {
    let mut given: Vec<OsString> = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if word == "--" {
            // What follows belongs to the user's program.
            given.push(word);
            given.extend(words);
            break;
        }
        let Some(path) = word.to_str().and_then(|text| text.strip_prefix('@')) else {
            given.push(word);
            continue;
        };
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("failed to read the names in {path}: {error}"))?;
        let lines = text.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let is_flag = |word: &&OsString| word.to_str().is_some_and(|word| word.starts_with("--"));
        let flag = given.last().filter(is_flag).cloned();
        if flag.is_some() {
            given.pop();
        }
        for line in lines {
            given.extend(flag.clone());
            given.push(line.into());
        }
    }
    Ok(given)
}

/// How much is said, and in which colours, is not of the run: these flags go before the command, and what goes with no
/// other flag of the command goes with them.
fn console_first(words: Vec<OsString>) -> Vec<OsString> {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let mut words = words.into_iter();
    before.extend(words.next());
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("-q" | "--quiet" | "-v" | "--verbose") => before.push(word),
            Some("--color") => {
                before.push(word);
                before.extend(words.next());
            }
            Some(text) if text.starts_with("--color=") => before.push(word),
            _ => after.push(word),
        }
    }
    before.extend(after);
    before
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
        let typed = as_typed(words).unwrap().into_iter();
        typed.map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn a_resumed_run_can_be_quiet() {
        assert_eq!(
            typed(&[
                "fissure", "fuzz", "--resume", "out", "--color", "never", "-q"
            ]),
            [
                "fissure", "--color", "never", "-q", "fuzz", "--resume", "out"
            ]
        );
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
    fn a_list_of_names_stands_for_each_of_them() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("apis.txt");
        std::fs::write(&file, "# torch\ntorch.add\n\n torch.mm \n").unwrap();
        let list = format!("@{}", file.display());
        assert_eq!(
            typed(&["fissure", "learn", &list, "--seed", "3"]),
            ["fissure", "learn", "torch.add", "torch.mm", "--seed", "3"]
        );
        assert_eq!(
            typed(&["fissure", "campaign", "torch", "--api", &list]),
            [
                "fissure",
                "campaign",
                "torch",
                "--api",
                "torch.add",
                "--api",
                "torch.mm"
            ]
        );
        let missing = ["fissure", "fuzz", "@nowhere"].map(OsString::from);
        let error = as_typed(missing.to_vec()).unwrap_err();
        assert!(error.contains("nowhere"), "{error}");
        assert_eq!(
            typed(&["fissure", "scan", &list]),
            ["fissure", "scan", &list]
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
