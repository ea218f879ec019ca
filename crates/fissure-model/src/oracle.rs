//! The oracles of a run, by the names that flags, workers, findings and signatures use.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! oracles {
    ($($variant:ident = $name:literal,)*) => {
        /// Which oracle said something.
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum Oracle {
            $($variant,)*
            /// Of another version of Fissure, read from its files; or a module of the worker that looks
            /// and does not judge.
            Other(String),
        }

        impl Oracle {
            /// Every oracle of this version.
            pub const ALL: &[Oracle] = &[$(Oracle::$variant,)*];

            pub fn as_str(&self) -> &str {
                match self {
                    $(Oracle::$variant => $name,)*
                    Oracle::Other(name) => name,
                }
            }
        }

        impl From<&str> for Oracle {
            fn from(name: &str) -> Self {
                match name {
                    $($name => Oracle::$variant,)*
                    _ => Oracle::Other(name.to_owned()),
                }
            }
        }
    };
}

oracles! {
    FatalSignal = "fatal-signal",
    Corruption = "corruption",
    InternalError = "internal-error",
    UnexpectedExit = "unexpected-exit",
    FatalException = "fatal-exception",
    Contract = "contract",
    Forms = "forms",
    Meta = "meta",
    Determinism = "determinism",
    Uninitialised = "uninitialised",
    Guard = "guard",
    OwnProperty = "own-property",
    Nan = "nan",
    Placement = "placement",
    Reference64 = "reference64",
    CoveredUp = "covered-up",
    Sweep = "sweep",
    Layout = "layout",
    KernelPath = "kernel-path",
    Gradient = "gradient",
    Derivatives = "derivatives",
    Reference = "reference",
    OwnReference = "own-reference",
    Device = "device",
    Compile = "compile",
    Jit = "jit",
    MemoryGrowth = "memory-growth",
    Performance = "performance",
    Hang = "hang",
    Memory = "memory",
    Acceptance = "acceptance",
    Rejection = "rejection",
    Message = "message",
}

impl Oracle {
    /// It compares a call with the documentation, of which only that input is known.
    pub fn is_against_documentation(&self) -> bool {
        matches!(self, Oracle::Acceptance | Oracle::Rejection)
    }
}

/// Findings of the first versions do not name one.
impl Default for Oracle {
    fn default() -> Self {
        Oracle::Other(String::new())
    }
}

impl From<String> for Oracle {
    fn from(name: String) -> Self {
        match Oracle::from(name.as_str()) {
            Oracle::Other(_) => Oracle::Other(name),
            known => known,
        }
    }
}

impl From<Oracle> for String {
    fn from(oracle: Oracle) -> Self {
        match oracle {
            Oracle::Other(name) => name,
            known => known.as_str().to_owned(),
        }
    }
}

impl fmt::Display for Oracle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written_and_unknown_ones_are_kept() {
        for oracle in Oracle::ALL {
            let json = serde_json::to_string(oracle).unwrap();
            assert_eq!(json, format!("\"{oracle}\""));
            assert_eq!(serde_json::from_str::<Oracle>(&json).unwrap(), *oracle);
            assert!(!matches!(oracle, Oracle::Other(_)));
        }
        let other: Oracle = serde_json::from_str("\"of-tomorrow\"").unwrap();
        assert_eq!(other, Oracle::Other("of-tomorrow".into()));
        assert_eq!(String::from(other), "of-tomorrow");
    }
}
