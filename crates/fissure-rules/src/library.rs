//! Rule files of APIs: the user's, and those shipped with the program.

use std::path::{Path, PathBuf};

use std::io;

use fissure_model::{Api, RuleText, Spec, abbreviated, pattern_matches};
use rust_embed::RustEmbed;

use crate::file::read_file;
use crate::parser::Precedence;

/// Where `fissure learn` writes, and where rules are looked for unless told otherwise.
pub const RULES_FOLDER: &str = "invariants";

/// The origin of rules that come with the program.
pub const SHIPPED: &str = "Fissure itself";

const EXTENSION: &str = "rules";

/// Why rule files cannot be looked up.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// Named by the user, and not there.
    #[error("there is no rule file or folder {0}")]
    Missing(PathBuf),
    #[error("failed to {action} {path}: {source}")]
    File {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
}

impl LibraryError {
    fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> LibraryError {
        let path = path.to_owned();
        move |source| LibraryError::File {
            action,
            path,
            source,
        }
    }
}

/// Built into the program, so that an API can be fuzzed at once.
#[derive(RustEmbed)]
#[folder = "../../data/invariants"]
struct Shipped;

/// A rule file that was found.
#[derive(Clone, Debug)]
pub struct RuleSheet {
    /// The API it is about.
    pub title: String,
    pub text: RuleText,
    /// The library it was learned with, and its version.
    pub library: Option<String>,
    layer: bool,
}

/// Where rules are looked for, in order.
pub struct RuleLibrary {
    /// Rule files, and folders of them.
    places: Vec<PathBuf>,
    shipped: bool,
}

impl RuleLibrary {
    /// The places that the user names, then the usual ones.
    pub fn new(named: &[PathBuf]) -> Result<Self, LibraryError> {
        if let Some(missing) = named.iter().find(|path| !path.exists()) {
            return Err(LibraryError::Missing(missing.clone()));
        }
        let mut places = named.to_vec();
        if Path::new(RULES_FOLDER).is_dir() {
            places.push(RULES_FOLDER.into());
        }
        Ok(RuleLibrary {
            places,
            shipped: true,
        })
    }

    /// One file, or what a folder holds, and nothing else.
    pub fn only(place: &Path) -> Self {
        RuleLibrary {
            places: vec![place.to_owned()],
            shipped: false,
        }
    }

    /// The rules of every API that the name or pattern stands for. Of several files about one API
    /// the first place's counts.
    pub fn find(&self, pattern: &str) -> Result<Vec<RuleSheet>, LibraryError> {
        let mut found: Vec<RuleSheet> = Vec::new();
        let known = |found: &[RuleSheet], title: &str| {
            found
                .iter()
                .any(|sheet| sheet.title.eq_ignore_ascii_case(title))
        };
        for place in &self.places {
            for path in rule_files(place)? {
                let text =
                    std::fs::read_to_string(&path).map_err(LibraryError::file("read", &path))?;
                // The name of a file is only a habit; its first line says what it is about.
                let mut lines = text.lines();
                let said = lines.find_map(|line| line.strip_prefix("api "));
                let title = said.map_or_else(|| stem(&path), |said| said.trim().to_owned());
                if pattern_matches(pattern, &title) && !known(&found, &title) {
                    found.push(RuleSheet::new(title, text, path.display().to_string()));
                }
            }
        }
        if self.shipped {
            for name in Shipped::iter() {
                let path = Path::new(name.as_ref());
                let title = stem(path);
                if !is_rules(path) || !pattern_matches(pattern, &title) || known(&found, &title) {
                    continue;
                }
                if let Some(file) = Shipped::get(&name) {
                    let text = String::from_utf8_lossy(&file.data).into_owned();
                    found.push(RuleSheet::new(title, text, SHIPPED.to_owned()));
                }
            }
        }
        found.sort_by(|one, other| one.title.cmp(&other.title));
        if !pattern.contains('*') && found.iter().any(|sheet| sheet.title == pattern) {
            // `torch.tensor` and `torch.Tensor` are two APIs.
            found.retain(|sheet| sheet.title == pattern);
        }
        Ok(found)
    }
}

impl RuleSheet {
    fn new(named: String, text: String, origin: String) -> Self {
        // Errors are told, with their place, by who uses the rules.
        let (file, _) = read_file(&text, Precedence::Usual);
        RuleSheet {
            title: file.api.unwrap_or(named),
            library: file.library,
            layer: !file.call_params.is_empty(),
            text: RuleText { text, origin },
        }
    }

    /// A spec of these rules and nothing else.
    pub fn into_spec(self) -> Spec {
        let version = self
            .library
            .as_deref()
            .and_then(|text| text.split_once(' '));
        let mut api = api_named(&self.title);
        if let Some((package, version)) = version {
            api.path = format!("{package}{}", &api.path[api.package.len()..]);
            api.package = package.to_owned();
            api.version = version.to_owned();
        }
        api.layer = self.layer;
        Spec {
            rules: Some(self.text),
            ..bare_spec(api)
        }
    }
}

/// An API of which only the name is known. The short names that everybody imports libraries by
/// stand for the libraries.
pub fn api_named(title: &str) -> Api {
    let (root, rest) = title.split_once('.').unwrap_or((title, ""));
    let path = abbreviated(root).unwrap_or(root);
    let package = path.split('.').next().unwrap_or(path).to_owned();
    Api {
        title: title.to_owned(),
        path: if rest.is_empty() {
            path.to_owned()
        } else {
            format!("{path}.{rest}")
        },
        package,
        ..Api::default()
    }
}

/// Nothing is known but the name.
pub fn bare_spec(api: Api) -> Spec {
    Spec {
        api,
        params: Vec::new(),
        layer_params: Vec::new(),
        symbols: Vec::new(),
        check_nan: false,
        aliases: Vec::new(),
        source: None,
        rules: None,
        forms: Vec::new(),
        examples: Vec::new(),
    }
}

/// The file itself, or the rule files in the folder and in its folders per library.
fn rule_files(place: &Path) -> Result<Vec<PathBuf>, LibraryError> {
    if !place.is_dir() {
        return Ok(vec![place.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in list(place)? {
        if entry.is_dir() {
            files.extend(list(&entry)?.into_iter().filter(|path| is_rules(path)));
        } else if is_rules(&entry) {
            files.push(entry);
        }
    }
    files.sort();
    Ok(files)
}

fn list(folder: &Path) -> Result<Vec<PathBuf>, LibraryError> {
    let entries = std::fs::read_dir(folder).map_err(LibraryError::file("list", folder))?;
    entries
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<_>>()
        .map_err(LibraryError::file("list", folder))
}

fn is_rules(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == EXTENSION)
}

/// `torch.add` of `…/torch.add.rules`.
fn stem(path: &Path) -> String {
    path.file_stem()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_rules_come_before_others_and_a_file_may_say_which_api_it_is_about() {
        let folder = tempfile::tempdir().unwrap();
        let first = folder.path().join("mine.rules");
        let second = folder.path().join("more/planted");
        std::fs::create_dir_all(&second).unwrap();
        std::fs::write(&first, "api planted.f\nparam n: int\n").unwrap();
        std::fs::write(second.join("planted.f.rules"), "param n: float\n").unwrap();
        std::fs::write(second.join("planted.g.rules"), "call x: tensor\n").unwrap();
        let library = RuleLibrary::new(&[first.clone(), folder.path().join("more")]).unwrap();
        let found = library.find("planted.*").unwrap();
        let titles: Vec<&str> = found.iter().map(|sheet| sheet.title.as_str()).collect();
        assert_eq!(titles, ["planted.f", "planted.g"]);
        assert_eq!(found[0].text.origin, first.display().to_string());
        let spec = found[1].clone().into_spec();
        assert_eq!(
            (spec.api.package.as_str(), spec.api.layer),
            ("planted", true)
        );
        assert!(RuleLibrary::new(&["nowhere".into()]).is_err());
    }

    #[test]
    fn the_library_line_says_which_package_a_short_name_stands_for() {
        let text = "api tf.gather\nlibrary tensorflow 2.21.0\nparam n: int\n";
        let sheet = RuleSheet::new("tf.gather".into(), text.into(), String::new());
        let api = sheet.into_spec().api;
        assert_eq!(
            (api.package.as_str(), api.path.as_str()),
            ("tensorflow", "tensorflow.gather")
        );
        assert_eq!(api_named("jnp.add").path, "jax.numpy.add");
        assert_eq!(api_named("jnp.add").package, "jax");
    }
}
