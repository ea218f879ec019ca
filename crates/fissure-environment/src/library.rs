//! What is known about the libraries under test: their names on the package index, and which
//! versions have wheels for which Pythons.
//!
//! The table was read from the index's file lists (Linux x86-64 wheels). It only has to be right
//! where guessing fails: an installer that meets an interpreter without a wheel reports an
//! unsolvable puzzle instead of naming the Python that would do, and old releases do not say that
//! newer releases of their dependencies break them.

use std::str::FromStr;

use pep440_rs::Version;

use crate::{Requirement, Surroundings, index};

/// What a managed environment holds when nothing names a version: the release that Fissure's own
/// tests run against. A moving "newest" would make two users' first runs differ.
pub const DEFAULT_TORCH: &str = "torch==2.9.1";

/// A library Fissure may install on its own. For any other import name it never does: whoever
/// registered a package of that name on the index could then run code here.
struct Library {
    package: &'static str,
    /// Best first.
    distributions: &'static [&'static str],
    /// What people call it, and what bears such a name in an index is something else.
    called: &'static [&'static str],
    default: &'static str,
    /// Python that uses what workers and oracles need of it, with the library as `library`; modules
    /// that a release does not have are left out.
    parts: &'static str,
}

/// Results become arrays and back, and what compiles calls can be loaded.
const TORCH_PARTS: &str = "
library.from_numpy(library.ones(2).numpy()).sum().item()
load('torch.utils.cpp_extension', 'torch.func', 'torch._dynamo', 'torch._inductor.compile_fx')
";
const TENSORFLOW_PARTS: &str = "
float(getattr(library, 'constant')([1.0]).numpy()[0])
load('tensorflow.python.framework.ops')
";
const JAX_PARTS: &str = "
load('jax.numpy', 'jax.test_util')
float(library.jit(lambda value: value + 1)(1.0))
";
const MXNET_PARTS: &str = "
float(library.nd.ones((1,)).asnumpy()[0])
";
const NUMPY_PARTS: &str = "
load('numpy.linalg', 'numpy.fft', 'numpy.random')
";

const LIBRARIES: &[Library] = &[
    Library {
        package: "torch",
        distributions: &["torch"],
        called: &["pytorch"],
        default: DEFAULT_TORCH,
        parts: TORCH_PARTS,
    },
    Library {
        package: "tensorflow",
        distributions: &[
            "tensorflow-cpu",
            "tensorflow",
            "tensorflow-gpu",
            "intel-tensorflow",
        ],
        called: &[],
        default: "tensorflow-cpu==2.21.0",
        parts: TENSORFLOW_PARTS,
    },
    Library {
        package: "jax",
        distributions: &["jax"],
        called: &[],
        default: "jax==0.7.1",
        parts: JAX_PARTS,
    },
    Library {
        package: "mxnet",
        distributions: &["mxnet", "mxnet-mkl"],
        called: &[],
        default: "mxnet==1.9.1",
        parts: MXNET_PARTS,
    },
    Library {
        package: "numpy",
        distributions: &["numpy"],
        called: &[],
        default: "numpy",
        parts: NUMPY_PARTS,
    },
];

/// From this version of a distribution on, up to the next line: the Pythons 3.x that have wheels,
/// what must be installed beside it, and about how much disk all of it takes.
#[derive(Debug)]
pub struct Compatibility {
    pub distribution: &'static str,
    pub from: &'static str,
    /// First and last minor version of Python 3.
    pub pythons: (u32, u32),
    pub companions: &'static [&'static str],
    megabytes: u64,
}

const fn line(
    distribution: &'static str,
    from: &'static str,
    pythons: (u32, u32),
    companions: &'static [&'static str],
    megabytes: u64,
) -> Compatibility {
    Compatibility {
        distribution,
        from,
        pythons,
        companions,
        megabytes,
    }
}

/// NumPy 2 is fine from torch 2.3 on; NumPy 1.21.6 is the last with a Python 3.7 wheel; MXNet uses
/// names that NumPy 1.24 removed; torch before 2.3 imports setuptools
/// (its `pkg_resources` went with setuptools 81) without depending on it, and later ones for what the compiler builds; TensorFlow before 2.12 uses names that NumPy 1.24 removed and 2.14 does not
/// say that it cannot be used with NumPy 2; protobuf 4 broke TensorFlow's generated code before 2.9.
#[rustfmt::skip]
pub const COMPATIBILITY: &[Compatibility] = &[
    line("torch", "1.0.0", (7, 7), &["numpy==1.21.6", "setuptools<60"], 1500),
    line("torch", "1.4.0", (7, 8), &["numpy==1.21.6", "setuptools<60"], 1700),
    line("torch", "1.7.1", (7, 9), &["numpy==1.21.6", "setuptools<60"], 2500),
    line("torch", "1.11.0", (7, 10), &["numpy<2", "setuptools<60"], 2500),
    line("torch", "1.13.0", (7, 11), &["numpy<2", "setuptools<60"], 4500),
    line("torch", "2.0.0", (8, 11), &["numpy<2", "setuptools<81"], 5000),
    line("torch", "2.2.0", (8, 12), &["numpy<2", "setuptools<81"], 6000),
    line("torch", "2.3.0", (8, 12), &["numpy", "setuptools"], 7000),
    line("torch", "2.5.0", (9, 13), &["numpy", "setuptools"], 7000),
    line("torch", "2.9.0", (10, 14), &["numpy", "setuptools"], 7000),
    line("torch", "2.15.0", (11, 15), &["numpy", "setuptools"], 7000),
    line("tensorflow-cpu", "2.1.0", (7, 7), &["protobuf==3.20.3", "numpy<1.24"], 800),
    line("tensorflow-cpu", "2.2.0", (7, 8), &["protobuf==3.20.3", "numpy<1.24"], 800),
    line("tensorflow-cpu", "2.5.0", (7, 9), &["protobuf==3.20.3", "numpy<1.24"], 800),
    line("tensorflow-cpu", "2.8.0", (7, 10), &["protobuf<3.21", "numpy<1.24"], 1100),
    line("tensorflow-cpu", "2.12.0", (8, 11), &[], 1500),
    line("tensorflow-cpu", "2.14.0", (9, 11), &["numpy<2"], 1500),
    line("tensorflow-cpu", "2.16.0", (9, 12), &[], 1500),
    line("tensorflow-cpu", "2.20.0", (9, 13), &[], 1600),
    line("tensorflow-cpu", "2.21.0", (10, 13), &[], 1600),
    line("mxnet", "1.0.0", (7, 8), &["numpy==1.21.6"], 300),
    line("mxnet", "1.7.0", (7, 10), &["numpy<1.24"], 300),
    line("mxnet", "1.9.0", (7, 11), &["numpy<1.24"], 300),
    line("jax", "0.4.31", (10, 12), &[], 700),
    line("jax", "0.4.34", (10, 13), &[], 700),
    line("jax", "0.7.0", (11, 13), &[], 700),
    line("jax", "0.7.1", (11, 14), &[], 700),
    line("jax", "0.11.0", (12, 14), &[], 700),
    line("jax", "0.11.1", (12, 15), &[], 700),
];

impl Compatibility {
    pub fn fits(&self, python: (u32, u32)) -> bool {
        python.0 == 3 && (self.pythons.0..=self.pythons.1).contains(&python.1)
    }

    /// `3.10 to 3.14`.
    pub fn pythons_text(&self) -> String {
        match self.pythons {
            (first, last) if first == last => format!("3.{first}"),
            (first, last) => format!("3.{first} to 3.{last}"),
        }
    }

    fn first_version(&self) -> Version {
        Version::from_str(self.from).expect("the table holds valid versions: a test reads each")
    }
}

/// The names on the package index that provide an import name, best first.
pub(crate) fn distributions_of(package: &str) -> Vec<String> {
    match LIBRARIES.iter().find(|library| library.package == package) {
        Some(library) => library
            .distributions
            .iter()
            .map(|&name| name.to_owned())
            .collect(),
        None => vec![crate::requirement::normalise(package)],
    }
}

/// The import names of the libraries that Fissure knows how to get, and whose tensors it makes; where a program imports
/// several, the first of them decides.
pub fn known_packages() -> impl Iterator<Item = &'static str> {
    LIBRARIES.iter().map(|library| library.package)
}

/// The library that is meant by a name that people use and that is not its own: `pytorch` on the index only tells
/// that it is the wrong name.
pub fn meant_by(name: &str) -> Option<&'static str> {
    let library = LIBRARIES
        .iter()
        .find(|library| library.called.contains(&name))?;
    Some(library.package)
}

/// The import name that a distribution provides, as far as can be told without installing it.
pub fn package_of(distribution: &str) -> String {
    LIBRARIES
        .iter()
        .find(|library| library.distributions.contains(&distribution))
        .map_or_else(
            || distribution.replace('-', "_"),
            |library| library.package.to_owned(),
        )
}

/// Python that uses what workers and oracles need of a library; nothing for unknown ones.
pub(crate) fn parts_of(package: &str) -> &'static str {
    let known = LIBRARIES.iter().find(|library| library.package == package);
    known.map_or("", |library| library.parts)
}

/// What to install for an import name when the user did not say; `None` for unknown libraries.
pub fn default_requirement(package: &str) -> Option<Requirement> {
    let library = LIBRARIES
        .iter()
        .find(|library| library.package == package)?;
    Some(
        library
            .default
            .parse()
            .expect("the table holds valid requirements: a test reads each"),
    )
}

/// The lines of the table that a requirement may end up in, newest first.
///
/// A range is judged at the versions where a line starts and at those it names itself: what lies
/// between behaves like the line before it.
pub fn compatible_lines(requirement: &Requirement) -> Vec<&'static Compatibility> {
    // The builds with and without GPU support are released together.
    let distribution = match requirement.distribution.as_str() {
        "tensorflow" | "intel-tensorflow" | "tensorflow-gpu" => "tensorflow-cpu",
        "mxnet-mkl" => "mxnet",
        other => other,
    };
    let lines: Vec<_> = COMPATIBILITY
        .iter()
        .filter(|line| line.distribution == distribution)
        .collect();
    let mut versions: Vec<Version> = lines.iter().map(|line| line.first_version()).collect();
    versions.extend(requirement.versions.iter().map(|one| one.version().clone()));
    versions.retain(|version| requirement.versions.contains(version));
    versions.sort();
    let mut found: Vec<&'static Compatibility> = Vec::new();
    for version in versions.iter().rev() {
        let line = lines
            .iter()
            .rev()
            .find(|line| line.first_version() <= *version);
        if let Some(line) = line
            && !found.iter().any(|known| known.from == line.from)
        {
            found.push(line);
        }
    }
    found
}

/// `; it has wheels for Python 3.7 to 3.8`, or nothing for what the table does not know.
pub(crate) fn wheels_text(requirement: &str) -> String {
    let line = requirement
        .parse()
        .ok()
        .and_then(|requirement| compatible_lines(&requirement).first().copied());
    line.map_or_else(String::new, |line| {
        format!("; it has wheels for Python {}", line.pythons_text())
    })
}

/// About how many bytes an environment for this requirement takes on this machine, if it is known.
pub fn bytes_on_disk(surroundings: &Surroundings, requirement: &Requirement) -> Option<u64> {
    let line = compatible_lines(requirement).first().copied()?;
    let megabytes = if line.has_small_wheels(surroundings) {
        line.megabytes.min(1200)
    } else {
        line.megabytes
    };
    Some(megabytes * 1_000_000)
}

/// About how many bytes are fetched for it: wheels of torch with CUDA are packed to four sevenths,
/// those of machine code for the processor alone to a third.
pub fn bytes_to_download(surroundings: &Surroundings, requirement: &Requirement) -> Option<u64> {
    let line = compatible_lines(requirement).first().copied()?;
    let bytes = bytes_on_disk(surroundings, requirement)?;
    let with_cuda = line.distribution == "torch" && !line.has_small_wheels(surroundings);
    Some(if with_cuda { bytes / 7 * 4 } else { bytes / 3 })
}

impl Compatibility {
    /// Elsewhere than on Linux x86-64, and from an index for processors only, the wheels of torch
    /// come without the CUDA libraries.
    fn has_small_wheels(&self, surroundings: &Surroundings) -> bool {
        let elsewhere = !cfg!(all(target_os = "linux", target_arch = "x86_64"));
        self.distribution == "torch" && (elsewhere || index::is_cpu_only(surroundings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<&'static str> {
        compatible_lines(&text.parse().unwrap())
            .iter()
            .map(|line| line.from)
            .collect()
    }

    #[test]
    fn every_version_requirement_and_companion_of_the_tables_can_be_read() {
        for line in COMPATIBILITY {
            line.first_version();
            assert!(
                line.pythons.0 >= 7 && line.pythons.0 <= line.pythons.1,
                "{line:?}"
            );
            for companion in line.companions {
                companion.parse::<Requirement>().unwrap();
            }
        }
        for library in LIBRARIES {
            for name in library.called {
                assert_eq!(meant_by(name), Some(library.package));
                let taken = LIBRARIES
                    .iter()
                    .any(|it| it.package == *name || it.distributions.contains(name));
                assert!(!taken, "{name} is a library's own name");
            }
            let default = default_requirement(library.package).unwrap();
            assert_eq!(package_of(&default.distribution), library.package);
        }
    }

    #[test]
    fn the_user_page_shows_the_table_as_it_is() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/environments.md");
        let page = std::fs::read_to_string(page).unwrap();
        for (index, line) in COMPATIBILITY.iter().enumerate() {
            let next = COMPATIBILITY
                .get(index + 1)
                .filter(|next| next.distribution == line.distribution)
                .map_or_else(
                    || "and newer".to_owned(),
                    |next| format!("to before {}", next.from),
                );
            let beside: Vec<String> = line
                .companions
                .iter()
                .map(|companion| format!("`{companion}`"))
                .collect();
            let row = format!(
                "| {} | {} {next} | {} | {} |",
                line.distribution,
                line.from,
                line.pythons_text(),
                beside.join(", "),
            );
            assert!(page.contains(&row), "missing in the page: {row}");
        }
    }

    #[test]
    fn lines_of_one_distribution_rise_in_version() {
        for pair in COMPATIBILITY.windows(2) {
            if pair[0].distribution == pair[1].distribution {
                assert!(
                    pair[0].first_version() < pair[1].first_version(),
                    "{pair:?}"
                );
            }
        }
    }

    #[test]
    fn a_pin_finds_the_line_it_lies_in() {
        assert_eq!(lines("torch==2.9.1"), ["2.9.0"]);
        assert_eq!(lines("torch==1.5.0"), ["1.4.0"]);
        assert_eq!(lines("torch==99.0"), ["2.15.0"]);
        assert_eq!(lines("tensorflow==2.1.0"), ["2.1.0"]);
    }

    #[test]
    fn a_range_finds_its_newest_line_first() {
        assert_eq!(lines("torch")[0], "2.15.0");
        assert_eq!(lines("torch<2.9")[0], "2.5.0");
        assert_eq!(lines("torch>=2.0,<2.2"), ["2.0.0"]);
        assert_eq!(lines("torch~=2.7.0"), ["2.5.0"]);
        assert!(lines("six==1.16.0").is_empty());
    }

    #[test]
    fn old_torch_needs_python_3_7_or_3_8_and_its_numpy() {
        let requirement = "torch==1.5.0".parse().unwrap();
        let line = compatible_lines(&requirement)[0];
        assert!(line.fits((3, 7)) && !line.fits((3, 11)) && !line.fits((2, 7)));
        assert_eq!(line.companions, ["numpy==1.21.6", "setuptools<60"]);
    }

    /// Releases that say less than they need: what would be installed beside them cannot be used with them.
    #[test]
    fn releases_that_do_not_say_what_they_need_get_it() {
        for (asked, unusable) in [
            ("torch==2.0.1", &["setuptools==81.0.0", "numpy==2.0.0"][..]),
            ("torch==2.1.2", &["setuptools==81.0.0", "numpy==2.0.0"]),
            ("torch==2.2.2", &["setuptools==81.0.0", "numpy==2.0.0"]),
            (
                "tensorflow-cpu==2.5.0",
                &["numpy==1.24.0", "protobuf==4.21.0"],
            ),
            (
                "tensorflow-cpu==2.7.0",
                &["numpy==2.0.0", "protobuf==4.21.0"],
            ),
            ("tensorflow-cpu==2.14.0", &["numpy==2.0.0"]),
        ] {
            let line = compatible_lines(&asked.parse().unwrap())[0];
            for release in unusable {
                let (name, version) = release.split_once("==").unwrap();
                let beside: Vec<Requirement> = line
                    .companions
                    .iter()
                    .map(|it| it.parse().unwrap())
                    .collect();
                let named = beside.iter().find(|it| it.distribution == name);
                let named = named.unwrap_or_else(|| panic!("{asked} says nothing of {name}"));
                assert!(!named.allows(version), "{asked} would get {release}");
            }
        }
    }

    #[test]
    fn an_unknown_import_name_has_no_default() {
        assert_eq!(default_requirement("planted_bugs"), None);
        assert_eq!(package_of("scikit-learn"), "scikit_learn");
    }
}
