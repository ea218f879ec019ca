//! `fissure scan` as a user runs it. Most programs need NumPy only: a scan takes a second.

mod support;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use support::{Ran, TestContext, run};

const EXPONENTIAL: &str = "import numpy as np\n\n\
                           def softmax(x):\n    e = np.exp(x)\n    return e / e.sum()\n\n\
                           x = np.random.normal(size=6)\nprint(softmax(x).max())\n";

fn scan(context: &TestContext, python: &Path, arguments: &[&str]) -> Ran {
    let mut command = context.command();
    command
        .arg("scan")
        .args(arguments)
        .arg("--python")
        .arg(python);
    run(&mut command)
}

#[test]
fn a_finding_ends_with_1_and_its_patch_applies() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let context = TestContext::new();
    context.write("softmax.py", EXPONENTIAL);
    let ran = scan(&context, &python, &["softmax.py", "--write-fixes"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("fix (checked)"), "{}", ran.stdout);
    assert!(
        ran.stdout
            .contains("reproduce: python fissure-out/scan-softmax/"),
        "{}",
        ran.stdout
    );
    let patch = context.path("fissure-out/scan-softmax/exp_line4_nonfinite.patch");
    assert!(patch.exists(), "{}", ran.stdout);
    let mut apply = Command::new("patch");
    apply
        .current_dir(context.path(""))
        .args(["-p1", "-i"])
        .arg(&patch);
    match apply.output() {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(error) => {
            fissure_testing::say(&format!("skipped: no `patch` to apply it with: {error}"));
            return;
        }
    }
    let again = scan(&context, &python, &["softmax.py"]);
    assert_eq!(again.code, Some(0), "{again:?}");
    assert!(again.stdout.contains("no instability found"), "{again:?}");
}

#[test]
fn nothing_found_in_the_part_that_ran_ends_with_4_and_says_how_much_that_was() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let context = TestContext::new();
    // Its last line is the unstable one, and the file that it reads before is not there.
    let program = |reads: &str| {
        format!(
            "import numpy as np\nx = np.random.rand(6)\nprint(np.sqrt(x + 1.0).sum())\n\
             {reads}\nprint(np.log(x + 2.0).sum())\n"
        )
    };
    context.write("part.py", &program("open('weights.txt').read()"));
    let part = scan(&context, &python, &["part.py"]);
    assert_eq!(part.code, Some(4), "{part:?}");
    let said = format!("{}{}", part.stdout, part.stderr);
    assert!(said.contains("FileNotFoundError"), "{said}");
    assert!(said.contains("1 of 2 unstable call sites"), "{said}");
    assert!(!said.contains("no instability found"), "{said}");
    context.write("exits.py", &program("raise SystemExit(3)"));
    let exits = scan(&context, &python, &["exits.py"]);
    assert_eq!(exits.code, Some(4), "{exits:?}");
    // The same to its end, and a failure in the part that ran.
    context.write("whole.py", &program("pass"));
    let whole = scan(&context, &python, &["whole.py"]);
    assert_eq!(whole.code, Some(0), "{whole:?}");
    let failing = program("open('weights.txt').read()").replace("np.sqrt(x + 1.0)", "np.log(x)");
    context.write("failing.py", &failing);
    let failing = scan(&context, &python, &["failing.py"]);
    assert_eq!(failing.code, Some(1), "{failing:?}");
}

/// A function gets arrays of the library that its file imports, and so does its reproducer.
fn a_function_is_scanned(package: &str, requirement: &str, program: &str) {
    let Some(python) = fissure_testing::library_python(package, requirement) else {
        return;
    };
    let context = TestContext::new();
    context.write("losses.py", program);
    let ran = scan(&context, &python, &["losses.py::energy", "--output", "out"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("logits float32[4, 3]"), "{ran:?}");
    assert!(ran.stderr.contains("fissure: protections: "), "{ran:?}");
    let mut script = Command::new(&python);
    script.arg(context.path("out/exp_line4_nonfinite/reproduce.py"));
    let reproduced = run(&mut script);
    assert_eq!(reproduced.code, Some(1), "{reproduced:?}");
    let told = "reproduced: exp at line 4";
    assert!(reproduced.stdout.contains(told), "{reproduced:?}");
}

#[test]
fn a_function_of_a_tensorflow_file_gets_tensors() {
    a_function_is_scanned(
        "tensorflow",
        "tensorflow-cpu==2.21.0",
        "import tensorflow as tf\n\ndef energy(logits):\n    \
         raised = tf.exp(logits)\n    return tf.reduce_mean(raised)\n",
    );
}

#[test]
fn a_function_of_a_jax_file_gets_arrays() {
    a_function_is_scanned(
        "jax",
        "jax==0.7.1",
        "import jax.numpy as jnp\n\ndef energy(logits):\n    \
         raised = jnp.exp(logits)\n    return raised.mean()\n",
    );
}

#[test]
fn a_module_of_jax_makes_its_weights_of_its_first_arguments() {
    let Some(python) = fissure_testing::library_python("jax", "jax==0.7.1") else {
        return;
    };
    let context = TestContext::new();
    // As modules of Flax do it.
    let program = "import jax.numpy as jnp\n\nclass Energy:\n    \
                   def init_with_output(self, key, *values, method, **named):\n        \
                   self.scale = jnp.ones(())\n        \
                   return getattr(self, method)(*values, **named), {}\n\n    \
                   def __call__(self, logits):\n        \
                   return jnp.exp(logits * self.scale).mean()\n";
    context.write("faulty.py", program);
    context.write("stable.py", &program.replace("jnp.exp", "jnp.tanh"));
    let faulty = scan(&context, &python, &["faulty.py::Energy.__call__"]);
    assert_eq!(faulty.code, Some(1), "{faulty:?}");
    let stable = scan(&context, &python, &["stable.py::Energy.__call__"]);
    assert_eq!(stable.code, Some(0), "{stable:?}");
}

#[test]
fn the_original_layout_puts_the_logs_where_its_users_look() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let context = TestContext::new();
    context.write("softmax.py", EXPONENTIAL);
    let ran = scan(
        &context,
        &python,
        &["softmax.py", "--layout", "softassertion"],
    );
    assert_eq!(ran.code, Some(1), "{ran:?}");
    for name in [
        "summary_report.json",
        "trace.log",
        "inputs_failed.npy",
        "log_exp.txt",
    ] {
        let path = context.path("experiments/logs").join(name);
        assert!(path.exists(), "{name}");
    }
    let read = |path: &str| std::fs::read_to_string(context.path(path)).unwrap();
    let rows: serde_json::Value =
        serde_json::from_str(&read("experiments/logs/summary_report.json")).unwrap();
    let row = &rows[0];
    assert_eq!(row["function"], "numpy.exp", "{row}");
    assert_eq!(row["status"], "FAIL");
    assert_eq!(row["oracle"], "NaN/INF");
    assert!(
        row["input"].is_array() && row["elapsed_time"].is_number(),
        "{row}"
    );
    let first = read("experiments/logs/trace.log");
    let entry: serde_json::Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
    for key in ["call", "input", "output", "status", "timestamp", "elapsed"] {
        assert!(entry[key].is_string() || entry[key].is_number(), "{entry}");
    }
    assert!(
        read("experiments/logs/log_exp.txt")
            .starts_with("[BUG FOUND] Function: numpy.exp\nTimestamp: 2")
    );
    let figures: serde_json::Value =
        serde_json::from_str(&read("experiments/reports/case_study_summary.json")).unwrap();
    assert_eq!(figures["Failed"], 1, "{figures}");
    let bugs = std::fs::read_dir(context.path("experiments/bugs"))
        .unwrap()
        .count();
    assert_eq!(bugs, 1);
    assert!(
        ran.stdout
            .contains("Case Study Summary:\n  Total Functions: "),
        "{ran:?}"
    );
}

#[test]
fn arguments_after_two_dashes_are_the_programs() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let context = TestContext::new();
    context.write(
        "program.py",
        "import sys\nimport numpy as np\nassert sys.argv[1:] == ['--size', '4'], sys.argv\n\
         x = np.random.normal(size=int(sys.argv[2]))\nprint(np.tanh(x).sum())\n",
    );
    let mut command = context.command();
    command
        .args(["scan", "program.py", "--python"])
        .arg(&python)
        .args(["--", "--size", "4"]);
    let ran = run(&mut command);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn what_cannot_be_scanned_ends_with_2_and_says_why() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let context = TestContext::new();
    context.write("broken.py", "import numpy as np\nx = np.array([1.0\n");
    let broken = scan(&context, &python, &["broken.py"]);
    assert_eq!(broken.code, Some(2), "{broken:?}");
    assert!(broken.stderr.contains("broken.py:"), "{}", broken.stderr);
    let missing = scan(&context, &python, &["missing.py"]);
    assert_eq!(missing.code, Some(2), "{missing:?}");
    assert!(missing.stderr.contains("missing.py"), "{}", missing.stderr);
    context.write("notes.txt", "remember\n");
    context.write("work.ipynb", "{}");
    let text = scan(&context, &python, &["notes.txt"]);
    assert_eq!(text.code, Some(2), "{text:?}");
    assert!(text.stderr.contains("is no Python program"), "{text:?}");
    let notebook = scan(&context, &python, &["work.ipynb"]);
    assert_eq!(notebook.code, Some(2), "{notebook:?}");
    assert!(
        notebook.stderr.contains("nbconvert --to script work.ipynb"),
        "{notebook:?}"
    );
    context.write("config.yaml", "mutation_rate: 0\n");
    context.write("softmax.py", EXPONENTIAL);
    let wrong = scan(
        &context,
        &python,
        &["softmax.py", "--config", "config.yaml"],
    );
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.stderr.contains("mutation_rate"), "{}", wrong.stderr);
}

#[test]
fn a_refusal_comes_before_an_interpreter_is_looked_for() {
    let context = TestContext::new();
    context.write("broken.py", "import numpy as np\nx = np.array([1.0\n");
    context.write("notes.txt", "remember\n");
    context.write("work.ipynb", "{}");
    for (file, wanted) in [
        ("broken.py", "broken.py:2:"),
        ("broken.py::f", "broken.py:2:"),
        ("notes.txt", "is no Python program"),
        ("work.ipynb", "is a notebook"),
    ] {
        let ran = scan(&context, Path::new("/nowhere/python"), &[file]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(wanted), "{ran:?}");
        assert!(!ran.stderr.contains("/nowhere"), "{ran:?}");
    }
}

#[test]
fn unknown_configuration_keys_are_reported() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let context = TestContext::new();
    context.write("config.yaml", "model_type: rf\nfoo: 1\n");
    context.write("softmax.py", EXPONENTIAL);
    let ran = scan(
        &context,
        &python,
        &["softmax.py", "--config", "config.yaml"],
    );
    assert!(ran.stderr.contains("unknown key `foo`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("model_type"), "{}", ran.stderr);
}

#[test]
fn an_interrupt_during_the_own_run_ends_the_command_at_once() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let context = TestContext::new();
    context.write(
        "slow.py",
        "import time\nimport numpy as np\nx = np.exp(np.random.normal(size=4))\ntime.sleep(100)\n",
    );
    let mut command = context.command();
    command
        .args(["scan", "slow.py", "--python"])
        .arg(&python)
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // The libraries are imported, the program begins.
    let first = lines.next().unwrap().unwrap();
    assert!(first.starts_with("scan slow.py"), "{first}");
    let signalled = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(signalled.success());
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
    assert!(
        rest.iter().any(|line| line.contains("interrupted")),
        "{rest:?}"
    );
}
