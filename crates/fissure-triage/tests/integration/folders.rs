//! Finding folders: whole or not there, and read back as written.

use crate::common;

use std::process::{Command, Stdio};
use std::time::Duration;

use common::{api, exception, execution, finding, floats, input, keyword};
use fissure_model::{Dtype, Finding, Outcome, Reproduction, Value};
use fissure_triage::{TriageError, read_finding, read_findings, remove_unfinished, write_finding};

fn crash() -> Finding {
    let call = input(vec![
        keyword("input", Value::Tensor(floats(&[2], &[f32::NAN, -0.0]))),
        keyword("size", Value::Int(i128::from(u64::MAX))),
        keyword("eps", Value::Float(-0.0)),
        keyword("dtype", Value::Dtype(Dtype::Bfloat16)),
    ]);
    let log = "Fatal Python error: Segmentation fault\né\n".to_owned();
    finding(
        api("torch.pool"),
        call,
        execution(Outcome::Crash { signal: 11 }, Some(log)),
    )
}

#[test]
fn a_finding_is_read_back_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut finding = crash();
    finding.reproduction = Some(Reproduction {
        failures: 1,
        runs: 3,
    });
    let path = write_finding(folder.path(), &finding).unwrap();
    assert_eq!(path, folder.path().join(&finding.id));
    assert_eq!(read_finding(&path).unwrap(), finding);
    let mut names: Vec<_> = std::fs::read_dir(&path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "finding.json",
            "input.json",
            "issue.md",
            "log.txt",
            "reproduce.py"
        ]
    );
    assert_eq!(
        Some(std::fs::read_to_string(path.join("log.txt")).unwrap()),
        finding.execution.log
    );
}

/// Guards the exact parsing of decimal numbers, which serde_json does only when told to.
#[test]
fn every_double_comes_back_from_the_file_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let mut finding = crash();
    let mut bits = 0x0123_4567_89ab_cdef_u64;
    let numbers = (0..2000).map(|_| {
        bits = bits
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        f64::from_bits(bits)
    });
    let numbers = numbers
        .filter(|number| number.is_finite())
        .map(Value::Float)
        .collect();
    finding
        .input
        .arguments
        .push(keyword("numbers", Value::List(numbers)));
    let path = write_finding(folder.path(), &finding).unwrap();
    assert_eq!(read_finding(&path).unwrap(), finding);
}

#[test]
fn an_exception_is_its_own_log() {
    let folder = tempfile::tempdir().unwrap();
    let mut error = exception("RuntimeError", "INTERNAL ASSERT FAILED");
    error.frames = vec!["/x/torch/a.py:3 f".into()];
    let finding = finding(
        api("torch.pool"),
        input(vec![]),
        execution(Outcome::Rejected(error), None),
    );
    let path = write_finding(folder.path(), &finding).unwrap();
    assert_eq!(
        std::fs::read_to_string(path.join("log.txt")).unwrap(),
        "RuntimeError: INTERNAL ASSERT FAILED\n  /x/torch/a.py:3 f\n"
    );
    assert_eq!(
        read_finding(&path).unwrap(),
        finding,
        "the process itself left no log"
    );
}

#[test]
fn writing_a_finding_again_replaces_it_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut finding = crash();
    write_finding(folder.path(), &finding).unwrap();
    finding.reproduction = Some(Reproduction {
        failures: 3,
        runs: 3,
    });
    let path = write_finding(folder.path(), &finding).unwrap();
    assert_eq!(read_finding(&path).unwrap(), finding);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_broken_folder_is_an_error_that_names_the_file_and_hides_no_other() {
    let folder = tempfile::tempdir().unwrap();
    write_finding(folder.path(), &crash()).unwrap();
    let broken = folder.path().join("a-broken-one");
    std::fs::create_dir(&broken).unwrap();
    std::fs::write(broken.join("finding.json"), "{\"format\": 1, ").unwrap();
    let newer = folder.path().join("a-newer-one");
    std::fs::create_dir(&newer).unwrap();
    std::fs::write(newer.join("finding.json"), "{\"format\": 99}").unwrap();
    let found = read_findings(folder.path()).unwrap();
    let [one, two, three] = found.as_slice() else {
        panic!("three folders: {found:?}")
    };
    let error = one.finding.as_ref().unwrap_err();
    assert!(matches!(error, TriageError::Json { .. }));
    assert!(
        error.to_string().contains("a-broken-one/finding.json"),
        "{error}"
    );
    let error = two.finding.as_ref().unwrap_err();
    assert!(
        matches!(error, TriageError::Format { found: 99, .. }),
        "{error}"
    );
    assert_eq!(three.finding.as_ref().unwrap(), &crash());
}

const WRITER: &str = "FISSURE_TEST_WRITE_FINDINGS_INTO";

/// The test program starts itself as a process that writes findings without end, and kills it.
#[test]
fn a_kill_at_any_moment_leaves_whole_findings_only() {
    if let Some(folder) = std::env::var_os(WRITER) {
        let mut finding = crash();
        for count in 0u64.. {
            finding.seed = count;
            finding.id = format!("finding-{}", count % 5);
            write_finding(folder.as_ref(), &finding).unwrap();
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let mut seen = 0;
    for round in 0..8 {
        let mut writer = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "folders::a_kill_at_any_moment_leaves_whole_findings_only",
            ])
            .env(WRITER, folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Until it has written something, then a little longer, so that each kill hits another
        // moment.
        while std::fs::read_dir(folder.path()).unwrap().count() < 5 {
            assert!(
                writer.try_wait().unwrap().is_none(),
                "the writer ended by itself"
            );
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(700 * round));
        writer.kill().unwrap();
        writer.wait().unwrap();
        for found in read_findings(folder.path()).unwrap() {
            found
                .finding
                .unwrap_or_else(|error| panic!("{}: {error}", found.path.display()));
            seen += 1;
        }
        remove_unfinished(folder.path()).unwrap();
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let name = entry.unwrap().file_name();
            assert!(!name.to_string_lossy().starts_with('.'), "{name:?} is left");
        }
        if round % 2 == 1 {
            for found in read_findings(folder.path()).unwrap() {
                std::fs::remove_dir_all(found.path).unwrap();
            }
        }
    }
    assert!(seen > 0, "the writers wrote something");
}
