//! What is said when a library cannot be run, and what a library says about itself.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use crate::support::planted_options;
use fissure_execute::{ExecuteError, Pool};

#[test]
fn an_interpreter_that_is_not_there_is_named() {
    let scratch = tempfile::tempdir().unwrap();
    let mut options = planted_options(scratch.path());
    options.python = "/no/such/python".into();
    let error = Pool::start(options).err().unwrap();
    assert!(
        matches!(error, ExecuteError::InterpreterMissing { .. }),
        "{error}"
    );
    assert!(error.to_string().contains("/no/such/python"), "{error}");
}

#[test]
fn an_interpreter_that_is_too_old_or_none_at_all_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    for (text, expected) in [
        (
            "#!/bin/sh\necho 2 7 /usr/bin/python2\n",
            "Python 2.7, 3.7 or newer",
        ),
        ("#!/bin/sh\necho what do you want >&2\n", "what do you want"),
    ] {
        let python = scratch.path().join("python");
        fs::write(&python, text).unwrap();
        fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
        let mut options = planted_options(scratch.path());
        options.python = python;
        let error = Pool::start(options).err().unwrap();
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn a_failed_import_shows_the_end_of_the_traceback() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("broken.py"),
        "def load():\n    raise OSError('no libcuda')\nload()\n",
    )
    .unwrap();
    let mut options = planted_options(scratch.path());
    options.extra_path = vec![folder.path().to_owned()];
    options.package = "broken".into();
    let error = Pool::start(options.clone()).err().unwrap();
    assert!(
        matches!(error, ExecuteError::ImportFailed { .. }),
        "{error}"
    );
    assert!(
        error.to_string().ends_with("OSError: no libcuda"),
        "{error}"
    );

    options.package = "no_such_library".into();
    let error = Pool::start(options).err().unwrap();
    assert!(
        error
            .to_string()
            .contains("No module named 'no_such_library'"),
        "{error}"
    );
}

#[test]
fn an_import_that_crashes_shows_what_was_printed() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("crashing.py"),
        "import ctypes\nctypes.string_at(0)\n",
    )
    .unwrap();
    let mut options = planted_options(scratch.path());
    options.extra_path = vec![folder.path().to_owned()];
    options.package = "crashing".into();
    let error = Pool::start(options).err().unwrap();
    assert!(matches!(error, ExecuteError::ZygoteDied { .. }), "{error}");
    assert!(error.to_string().contains("crashing.py"), "{error}");
}

#[test]
fn the_library_is_described_as_it_was_found() {
    let scratch = tempfile::tempdir().unwrap();
    let pool = Pool::start(planted_options(scratch.path())).unwrap();
    assert_eq!(pool.info().library_version, "1.0");
    assert!(pool.info().python_version.starts_with("3."));
    assert!(pool.info().executable.is_absolute());

    let segv = pool.describe("planted.segv").unwrap();
    assert_eq!(
        (segv.missing, segv.callable, segv.is_class),
        (None, true, false)
    );
    let names: Vec<_> = segv
        .params
        .unwrap()
        .into_iter()
        .map(|param| param.name)
        .collect();
    assert_eq!(names, ["x"]);

    let layer = pool.describe("planted.Layer").unwrap();
    assert_eq!((layer.callable, layer.is_class), (true, true));

    let missing = pool.describe("planted.segw").unwrap();
    assert_eq!(missing.missing.as_deref(), Some("there is no planted.segw"));
    assert_eq!(missing.params, None);
}

#[test]
fn looking_up_an_object_that_crashes_is_an_error_and_the_next_question_is_answered() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let text = "import ctypes\ndef __getattr__(name):\n    ctypes.string_at(0)\n";
    fs::write(folder.path().join("shy.py"), text).unwrap();
    let mut options = planted_options(scratch.path());
    options.extra_path.push(folder.path().to_owned());
    let pool = Pool::start(options).unwrap();
    let error = pool.describe("shy.anything").unwrap_err();
    assert!(error.to_string().contains("signal 11"), "{error}");
    assert!(pool.describe("planted.fine").unwrap().callable);
}

#[test]
fn an_example_that_switches_something_off_leaves_the_next_one_its_calls() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let text = r#"
ON = [True]

def off():
    """
    >>> off()
    """
    ON.clear()

def needs(x):
    """
    >>> needs(x if ON else undefined)
    """

x = 3
"#;
    fs::write(folder.path().join("moody.py"), text).unwrap();
    let mut options = planted_options(scratch.path());
    options.extra_path.push(folder.path().to_owned());
    let pool = Pool::start(options).unwrap();
    for path in ["moody.off", "moody.needs", "moody.off", "moody.needs"] {
        let answer = pool.examples(path, Duration::from_secs(60)).unwrap();
        let calls: Vec<serde_json::Value> = serde_json::from_slice(&answer).unwrap();
        assert!(!calls.is_empty(), "{path}");
        // Whoever describes is still there.
        assert!(pool.describe(path).unwrap().callable);
    }
}

#[test]
fn parameters_of_an_object_without_signature_come_from_its_documentation() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    // Python refuses a signature that is none, as it does for functions written in C.
    let text = r#"
class BuiltIn:
    def __init__(self, name, documentation):
        self.__name__ = name
        self.__doc__ = documentation
        self.__signature__ = 1

    def __call__(self):
        pass

plain = BuiltIn("plain", "plain(x, /, *sizes, mode: str='a, b', **rest) -> Tensor\n\nplain(1) is 1.")
many = BuiltIn("many", """
many(input) -> Tensor

Prose with many(words) in it.

.. function:: many(input, dim, keepdim=False, *, out=None) -> (Tensor, Tensor)

.. function:: many(input, other)
""")
wrapped = BuiltIn("wrapped", """
wrapped(query, key=None,
        \\*, scale=(1,
        2), enable=False) -> Tensor:

    Prose (that opens a bracket
    and wrapped( never closes it.
""")
silent = BuiltIn("silent", "Does something.")
"#;
    fs::write(folder.path().join("documented.py"), text).unwrap();
    let mut options = planted_options(scratch.path());
    options.extra_path.push(folder.path().to_owned());
    let pool = Pool::start(options).unwrap();
    let params = |path: &str| {
        let params = pool.describe(path).unwrap().params?;
        let texts = params.into_iter().map(|param| {
            let default = param
                .default
                .map_or(String::new(), |default| format!("={default}"));
            format!("{} {}{default}", param.kind, param.name)
        });
        Some(texts.collect::<Vec<_>>())
    };
    assert_eq!(
        params("documented.plain").unwrap(),
        [
            "positional_only x",
            "var_positional sizes",
            "keyword_only mode='a, b'",
            "var_keyword rest"
        ]
    );
    assert_eq!(
        params("documented.many").unwrap(),
        [
            "positional_or_keyword input",
            "positional_or_keyword dim=...",
            "positional_or_keyword keepdim=False",
            "keyword_only out=None",
            "positional_or_keyword other=..."
        ]
    );
    assert_eq!(
        params("documented.wrapped").unwrap(),
        [
            "positional_or_keyword query",
            "positional_or_keyword key=None",
            "keyword_only scale=(1, 2)",
            "keyword_only enable=False"
        ]
    );
    assert_eq!(params("documented.silent"), None);
}
