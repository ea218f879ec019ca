//! Where a failure was confirmed, as a bug report asks for it.

/// A program that prints facts about the interpreter, the library and the machine, one
/// `name<tab>value` per line. Standard library only; the library's import name is its argument.
pub const FACTS_PROGRAM: &str = r#"
import importlib
import os
import platform
import sys


def fact(name, value):
    text = str(value).replace("\t", " ").replace("\n", " ").strip()
    if text:
        print("FACT\t" + name + "\t" + text)


def attempt(name, ask):
    try:
        fact(name, ask())
    except Exception:
        pass


def distribution():
    with open("/etc/os-release") as stream:
        for line in stream:
            if line.startswith("PRETTY_NAME="):
                return line.split("=", 1)[1].strip().strip('"')


def processor():
    with open("/proc/cpuinfo") as stream:
        for line in stream:
            if line.startswith("model name"):
                return line.split(":", 1)[1]
    return platform.processor()


fact("Python", platform.python_version())
fact("Platform", platform.platform())
attempt("OS", distribution)
attempt("CPU", processor)
fact("Cores", os.cpu_count())
package = os.environ["FISSURE_FACTS_OF"]
library = importlib.import_module(package)
fact(package, getattr(library, "__version__", "(no version)"))
if package == "torch":
    attempt("Debug build", lambda: library.version.debug)
    attempt("CUDA of the build", lambda: library.version.cuda)
    attempt("CPU capability", lambda: library.backends.cpu.get_cpu_capability())
    attempt(
        "GPU",
        lambda: library.cuda.get_device_name() if library.cuda.is_available() else "none used",
    )
if package == "tensorflow":
    attempt("GPU", lambda: library.config.list_physical_devices("GPU") or "none")
for other in ["numpy"]:
    if other in sys.modules:
        fact(other, getattr(sys.modules[other], "__version__", ""))
"#;

/// The variable that tells [`FACTS_PROGRAM`] the import name of the library.
pub const FACTS_VARIABLE: &str = "FISSURE_FACTS_OF";

/// The facts in the output of [`FACTS_PROGRAM`]; whatever else the library printed is passed over.
pub fn read_facts(output: &str) -> Vec<(String, String)> {
    output
        .lines()
        .filter_map(|line| {
            let (name, value) = line.strip_prefix("FACT\t")?.split_once('\t')?;
            Some((name.to_owned(), value.to_owned()))
        })
        .collect()
}
