//! The Python side, embedded: what runs inside the target's interpreter.

/// The text that the interpreter is started with.
pub const BOOTSTRAP: &str = include_str!("../../../python/fissure/bootstrap.py");

/// A file that follows a `+` is data: its text becomes the module's `TEXT`.
macro_rules! sources {
    ($($name:literal $path:literal $(+ $data:literal)?),* $(,)?) => {
        &[$((
            $name,
            concat!(
                include_str!(concat!("../../../python/fissure/", $path)),
                $("\nTEXT = r'''", include_str!(concat!("../../../data/", $data)), "'''\n",)?
            ),
        )),*]
    };
}

/// Module names and their texts, each after those that it imports.
pub const SOURCES: &[(&str, &str)] = sources![
    "native" "native.py",
    "outcome" "outcome.py",
    "build" "build.py",
    "adapter" "adapter.py",
    "adapter_numpy" "adapter_numpy.py",
    "adapter_torch" "adapter_torch.py",
    "adapter_tensorflow" "adapter_tensorflow.py",
    "adapter_jax" "adapter_jax.py",
    "adapter_mxnet" "adapter_mxnet.py",
    "documented" "documented.py",
    "describe" "describe.py",
    "oracles" "oracles/__init__.py",
    "oracles.arguments" "oracles/arguments.py",
    "oracles.compare" "oracles/compare.py",
    "oracles.foreign" "oracles/foreign.py",
    "oracles.promote" "oracles/promote.py",
    "oracles.referee" "oracles/referee.py",
    "oracles.call" "oracles/call.py",
    "oracles.locality" "oracles/locality.py",
    "oracles.magnitude" "oracles/magnitude.py",
    "oracles.tracing" "oracles/tracing.py",
    "oracles.compile" "oracles/compile.py",
    "oracles.contract" "oracles/contract.py",
    "oracles.determinism" "oracles/determinism.py",
    "oracles.device" "oracles/device.py",
    "oracles.equivalents" "oracles/equivalents.py" + "equivalents.toml",
    "oracles.forms" "oracles/forms.py",
    "oracles.gradient" "oracles/gradient.py",
    "oracles.jit" "oracles/jit.py",
    "oracles.kernel_path" "oracles/kernel_path.py",
    "oracles.layout" "oracles/layout.py",
    "oracles.memory_growth" "oracles/memory_growth.py",
    "oracles.meta" "oracles/meta.py",
    "oracles.nan" "oracles/nan.py",
    "oracles.performance" "oracles/performance.py",
    "oracles.reference" "oracles/reference.py",
    "oracles.reference64" "oracles/reference64.py",
    "oracles.placement" "oracles/placement.py",
    "judging" "judging.py",
    "worker" "worker.py",
    "zygote" "zygote.py",
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Files that are something else than a module beside the others: the start, and scripts that
    /// `fissure learn` runs by themselves.
    const APART: [&str; 8] = [
        "bootstrap",
        "__init__",
        "documentation",
        "seeds",
        "seeds_examples",
        "seeds_library",
        "seeds_registry",
        "seeds_typed",
    ];

    fn names(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
            if path.is_dir() && stem != "__pycache__" {
                found.insert(format!("{prefix}{stem}"));
                names(&path, &format!("{prefix}{stem}."), found);
            } else if path.extension().is_some_and(|it| it == "py")
                && !APART.contains(&stem.as_str())
            {
                found.insert(format!("{prefix}{stem}"));
            }
        }
    }

    #[test]
    fn every_python_file_is_embedded() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/fissure");
        let mut there = BTreeSet::new();
        names(&folder, "", &mut there);
        let embedded: BTreeSet<String> =
            SOURCES.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(embedded, there);
    }
}
