//! The thing under test, and what the installed library says about it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One API function or layer class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Api {
    /// The name people use: `torch.nn.functional.avg_pool2d`, `tf.gather`.
    pub title: String,
    /// The import name of the library: `torch`, `tensorflow`, `mxnet`.
    pub package: String,
    /// The import name of the library whose tensors it takes, where that is another one: a package
    /// of your own may be built on `torch`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tensors: Option<String>,
    /// The dotted path of the object, starting with the package: `tensorflow.gather`.
    pub path: String,
    /// The library version the spec was written for, as text.
    pub version: String,
    /// A class that is constructed first and whose object is then called with an input.
    pub layer: bool,
    /// Modules to import first: they register what the path names (custom operators).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imports: Vec<String>,
    /// Folders of the user's own that the package or those modules are imported from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<PathBuf>,
    /// How it is called.
    #[serde(default, skip_serializing_if = "Way::is_eager")]
    pub way: Way,
}

impl Api {
    /// The library whose tensors it takes.
    pub fn tensor_library(&self) -> &str {
        self.tensors.as_deref().unwrap_or(&self.package)
    }
}

/// What a short name stands for that everybody imports a library by.
pub fn abbreviated(short: &str) -> Option<&'static str> {
    match short {
        "tf" => Some("tensorflow"),
        "np" => Some("numpy"),
        "jnp" => Some("jax.numpy"),
        "mx" => Some("mxnet"),
        _ => None,
    }
}

/// How an API is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// As the user's code calls it.
    #[default]
    Eager,
    /// By the library's compiler: `tf.function`, `jax.jit`, a hybridised layer of MXNet.
    Compiled,
    /// Only as far as the compiler's look at shapes and dtypes, where most libraries reject a call;
    /// nothing is computed.
    Traced,
}

impl Way {
    pub fn is_eager(&self) -> bool {
        *self == Way::Eager
    }
}

/// A parameter as the installed library declares it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignatureParam {
    pub name: String,
    /// `positional_only`, `positional_or_keyword`, `keyword_only`, `var_positional`, `var_keyword`:
    /// the names of Python's `inspect` module in lower case.
    pub kind: String,
    /// Source text of the default, if there is one.
    pub default: Option<String>,
}

/// A library with its version; packages of the user's own often tell none.
pub fn with_version(library: &str, version: &str) -> String {
    match version {
        "" | "unknown" => library.to_owned(),
        version => format!("{library} {version}"),
    }
}

/// What the installed library answers when asked about an [`Api`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// Version of the library that answered.
    pub library_version: String,
    /// Why the object cannot be found, if it cannot.
    pub missing: Option<String>,
    pub callable: bool,
    pub is_class: bool,
    /// `None` when the library does not tell (many built-in functions).
    pub params: Option<Vec<SignatureParam>>,
}

impl Signature {
    /// Of a function that is there.
    pub fn of_function(
        library_version: impl Into<String>,
        params: Option<Vec<SignatureParam>>,
    ) -> Self {
        Signature {
            library_version: library_version.into(),
            missing: None,
            callable: true,
            is_class: false,
            params,
        }
    }
}
