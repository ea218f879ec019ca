//! How `fissure fuzz` behaves around the fuzzing itself.

mod support;

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use support::{TestContext, names, planted, run};

/// Contents of a folder's files, by name.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    names(folder)
        .into_iter()
        .map(|name| {
            let bytes = std::fs::read(folder.join(&name)).unwrap();
            (name, bytes)
        })
        .collect()
}

#[test]
fn the_same_seed_gives_the_same_inputs_with_one_worker_and_with_two() {
    let inputs = |workers: &str, seed: &str| {
        let context = TestContext::new();
        let ran = run(context
            .fuzz_planted(&["segv"])
            .args([
                "--max-iter",
                "400",
                "--save",
                "--guided-mutate",
                "--special-value",
            ])
            .args(["--workers", workers, "--seed", seed]));
        assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
        contents(&context.path("out/inputs"))
    };
    let one = inputs("1", "5");
    assert_eq!(one.len(), 400);
    assert!(one == inputs("2", "5"), "two workers change nothing");
    assert!(one != inputs("1", "6"), "another seed changes the inputs");
}

#[test]
fn a_clean_library_ends_with_zero_and_a_table() {
    let context = TestContext::new();
    let ran = run(context.fuzz_planted(&["fine"]).args(["--max-iter", "50"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("planted.fine"), "{ran:?}");
    assert!(
        // It takes what its file forbids, which is a note.
        ran.stdout
            .contains("no finding, 1 note in 50 inputs over 1 API"),
        "{ran:?}"
    );
    assert!(
        !context.path("out/scratch").exists(),
        "the scratch folder is removed"
    );
}

#[test]
fn a_docter_command_line_works_and_writes_its_record_files() {
    let context = TestContext::new();
    let dtypes = context.write("dtypes.yml", "numpy.int64: np.int64\nint: np.int64\n");
    let ran = run(context
        .command()
        .arg("fuzz")
        .arg(planted().join("specs/planted.segv.yaml"))
        .arg(dtypes)
        .args([
            "--workdir=out",
            "--data_construct=tensor",
            "--fuzz_optional_p=0.6",
            "--obey",
        ])
        .args([
            "--mutate_p=0",
            "--guided_mutate",
            "--model_test",
            "--check_nan",
            "--gen_script",
        ])
        .args(["--max_iter=100", "--timeout=2", "--verbose"])
        .arg("--pythonpath")
        .arg(planted()));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let out = context.path("out");
    for file in [
        "fuzzing_config",
        "gen_order",
        "fuzz_time",
        "mutate_op_coverage.csv",
    ] {
        assert!(
            out.join(file).is_file(),
            "{file} is missing: {:?}",
            names(&out)
        );
    }
    let config = std::fs::read_to_string(out.join("fuzzing_config")).unwrap();
    let keys: Vec<&str> = config
        .lines()
        .filter_map(|line| Some(line.split_once(':')?.0))
        .collect();
    // The arguments of DocTer's driver, all of which it writes down.
    for key in [
        "check_nan",
        "data_construct",
        "dtype_config",
        "fuzz_optional_p",
        "gen_script",
        "guided_mutate",
        "ignore",
        "max_iter",
        "max_time",
        "model_test",
        "mutate_p",
        "obey",
        "save",
        "special_value",
        "target_config",
        "timeout",
        "verbose",
        "workdir",
    ] {
        assert!(keys.contains(&key), "{key} is missing in\n{config}");
    }
    for line in [
        "data_construct: tensor",
        "timeout: 2.0",
        "verbose: true",
        "max_iter: 100",
    ] {
        assert!(
            config.lines().any(|known| known == line),
            "{line} is not in\n{config}"
        );
    }
    let record = std::fs::read_to_string(out.join("Segmentation_fault_record")).unwrap();
    let line = record.lines().next().unwrap();
    let (path, number) = line.split_once(", ").unwrap();
    assert!(
        out.join(path).is_file(),
        "the recorded path {path} is relative to the work folder"
    );
    assert!(path.contains(number));
    let script = std::fs::read_to_string(out.join("Segmentation_fault_script_record")).unwrap();
    let (script, _) = script.lines().next().unwrap().split_once(", ").unwrap();
    let died = Command::new("python3")
        .arg(out.join(script))
        .env("PYTHONPATH", planted())
        .output()
        .unwrap();
    assert_eq!(
        died.status.signal(),
        Some(11),
        "the script alone shows the crash: {died:?}"
    );
    let order = std::fs::read_to_string(out.join("gen_order")).unwrap();
    assert_eq!(order.lines().count(), 100);
}

#[test]
fn in_docters_form_no_obey_means_violating() {
    let context = TestContext::new();
    let dtypes = context.write("dtypes.yml", "numpy.int64: np.int64\nint: np.int64\n");
    let ran = run(context
        .command()
        .arg("fuzz")
        .arg(planted().join("specs/planted.fine.yaml"))
        .arg(dtypes)
        .args(["--workdir=out", "--max_iter=30", "--save"])
        .arg("--pythonpath")
        .arg(planted()));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for (name, bytes) in contents(&context.path("out/inputs")) {
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains("\"violate\""), "{name}: {text}");
    }
}

#[test]
fn interrupting_ends_with_the_summary_and_keeps_what_was_found() {
    let context = TestContext::new();
    let child = context
        .fuzz_planted(&["segv", "fine"])
        .args(["--max-iter", "-1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for(|| segv_finding(&context).is_some());
    Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stdout.contains("1 finding"), "{stdout}");
    assert!(stdout.contains("interrupted"), "{stdout}");
}

#[test]
fn interrupting_before_anything_is_found_ends_with_130() {
    for times in [1, 2] {
        let context = TestContext::new();
        let child = context
            .fuzz_planted(&["fine"])
            .args(["--max-iter", "-1"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_for(|| context.path("out/run.json").is_file());
        for _ in 0..times {
            Command::new("kill")
                .args(["-INT", &child.id().to_string()])
                .status()
                .unwrap();
        }
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{output:?}");
    }
}

#[test]
fn killing_fissure_loses_no_finding_that_was_reported_and_leaves_no_process() {
    let context = TestContext::new();
    let mut child = context
        .fuzz_planted(&["segv", "fine"])
        .args(["--max-iter", "-1"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(|| segv_finding(&context).is_some());
    child.kill().unwrap();
    child.wait().unwrap();
    let folder = context
        .path("out/findings")
        .join(segv_finding(&context).unwrap());
    let files = names(&folder);
    for file in support::FINDING_FILES {
        assert!(files.iter().any(|name| name == file), "{files:?}");
    }
    let scratch = context.path("out/scratch");
    wait_for(|| processes_in(&scratch).is_empty());
}

fn segv_finding(context: &TestContext) -> Option<String> {
    names(&context.path("out/findings"))
        .into_iter()
        .find(|name| name.starts_with("planted.segv-crash"))
}

/// Processes whose working folder lies below `folder`.
fn processes_in(folder: &Path) -> Vec<String> {
    names(Path::new("/proc"))
        .into_iter()
        .filter(|pid| {
            std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
        })
        .collect()
}

fn wait_for(mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < deadline, "waited in vain");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn wrong_arguments_say_what_to_do_and_end_with_two() {
    let context = TestContext::new();
    let broken = context.write("broken.yaml", "title: torch.add\ninputs: [\n");
    let broken = broken.to_str().unwrap();
    context.write("model.py", "def loss(x):\n    return x\n");
    context.write("work.ipynb", "{}");
    context.write("notes.txt", "what was tried\n");
    let planted = planted();
    let planted = planted.to_str().unwrap();
    for (arguments, wanted) in [
        (vec!["fuzz"], "nothing to fuzz"),
        (
            vec!["fuzz", "nowhere.yaml"],
            "there is no file nowhere.yaml",
        ),
        (
            vec!["fuzz", "torch.no_such_function", "--generator", "rules"],
            "there are no rules for torch.no_such_function",
        ),
        (
            vec!["fuzz", "planted.fin", "--pythonpath", planted],
            "did you mean planted.fine?",
        ),
        (vec!["fuzz", broken], "broken.yaml"),
        (
            vec!["fuzz", "@nowhere"],
            "failed to read the names in nowhere",
        ),
        (vec!["fuzz", "model.py"], "fissure fuzz model.py::FUNCTION"),
        (
            vec!["fuzz", "work.ipynb"],
            "jupyter nbconvert --to script work.ipynb",
        ),
        (vec!["fuzz", "notes.txt"], "is no constraint file"),
        (vec!["fuzz", "--no-such-flag"], "--no-such-flag"),
        (vec!["fuzz", broken, "--mutate-p", "2"], "between 0 and 1"),
        (
            vec!["fuzz", broken, "--mode", "conform", "--obey"],
            "cannot be used with",
        ),
    ] {
        let ran = run(context.command().args(&arguments));
        assert_eq!(ran.code, Some(2), "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains(wanted), "{arguments:?}: {ran:?}");
    }
}

#[test]
fn a_missing_library_is_an_error_that_says_what_to_do() {
    let context = TestContext::new();
    let spec = context.write(
        "spec.yaml",
        "title: no_such_library.f\npackage: no_such_library\ntarget: f\nversion: '1'\nlink: ''\n\
         inputs: {required: [], optional: []}\nconstraints: {}\n",
    );
    let ran = run(context
        .command()
        .arg("fuzz")
        .arg(spec)
        .args(["--offline", "--workdir", "out"]));
    assert!(matches!(ran.code, Some(2 | 3)), "{ran:?}");
    assert!(ran.stderr.contains("no_such_library"), "{ran:?}");
}

#[test]
fn a_work_folder_that_cannot_be_written_is_named() {
    let context = TestContext::new();
    context.write("out", "a file, not a folder");
    let ran = run(&mut context.fuzz_planted(&["fine"]));
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("out"), "{ran:?}");
}

#[test]
fn an_api_the_library_lacks_is_skipped_with_the_reason() {
    let context = TestContext::new();
    let spec = std::fs::read_to_string(planted().join("specs/planted.fine.yaml")).unwrap();
    let gone = context.write("gone.yaml", &spec.replace("fine", "gone_since_1_0"));
    let ran = run(context
        .command()
        .arg("fuzz")
        .arg(gone)
        .arg(planted().join("specs/planted.fine.yaml"))
        .args(["--max-iter", "20"])
        .args(["--workdir", "out", "--pythonpath"])
        .arg(planted()));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.stderr
            .contains("skip   planted.gone_since_1_0: not in planted 1.0"),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("1 skipped"), "{ran:?}");
}
