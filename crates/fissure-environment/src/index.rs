//! Hands the user's pip configuration on to uv.
//!
//! uv ignores pip's variables and files on purpose. A user whose pip goes to a company index would
//! otherwise see uv ask the public one: no index is used but the one the user configured.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::Surroundings;

/// pip's setting, the variables with which uv may already have been told, and the one to tell it.
const SETTINGS: &[(&str, &[&str], &str)] = &[
    (
        "index-url",
        &["UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_NO_INDEX"],
        "UV_DEFAULT_INDEX",
    ),
    (
        "extra-index-url",
        &["UV_INDEX", "UV_EXTRA_INDEX_URL"],
        "UV_INDEX",
    ),
    ("find-links", &["UV_FIND_LINKS"], "UV_FIND_LINKS"),
    (
        "no-index",
        &["UV_NO_INDEX", "UV_DEFAULT_INDEX"],
        "UV_NO_INDEX",
    ),
    ("cert", &["SSL_CERT_FILE"], "SSL_CERT_FILE"),
    ("trusted-host", &["UV_INSECURE_HOST"], "UV_INSECURE_HOST"),
    (
        "proxy",
        &["HTTPS_PROXY", "https_proxy", "ALL_PROXY"],
        "HTTPS_PROXY",
    ),
    ("constraint", &["UV_CONSTRAINT"], "UV_CONSTRAINT"),
];

/// The variables that make uv follow pip's configuration, where the user did not configure uv.
pub(crate) fn variables_for_uv(surroundings: &Surroundings) -> BTreeMap<&'static str, String> {
    let configured = pip_configuration(surroundings);
    let uv_has_index = uv_files_name_an_index(surroundings);
    let mut variables = BTreeMap::new();
    for (setting, known_to_uv, variable) in SETTINGS {
        let about_index = setting.contains("index") || *setting == "find-links";
        if known_to_uv
            .iter()
            .any(|name| surroundings.variable(name).is_some())
            || (about_index && uv_has_index)
        {
            continue;
        }
        if let Some(value) = configured.get(*setting) {
            // pip separates several values by white space; uv by spaces, links by commas.
            let values: Vec<&str> = value.split_whitespace().collect();
            let separator = if *setting == "find-links" { "," } else { " " };
            variables.insert(*variable, values.join(separator));
        }
    }
    variables
}

/// Whether the user has configured an index, or a backend of uv, that has torch without CUDA.
pub(crate) fn is_cpu_only(surroundings: &Surroundings) -> bool {
    let is_cpu = |address: &str| address.trim_end_matches('/').ends_with("/cpu");
    let backend = surroundings.variable("UV_TORCH_BACKEND");
    let told = [
        "UV_DEFAULT_INDEX",
        "UV_INDEX_URL",
        "UV_INDEX",
        "UV_EXTRA_INDEX_URL",
    ];
    let variables = told
        .iter()
        .filter_map(|name| surroundings.variable(name)?.to_str())
        .any(|value| value.split_whitespace().any(is_cpu));
    let pip = pip_configuration(surroundings);
    let of_pip = ["index-url", "extra-index-url"]
        .iter()
        .filter_map(|name| pip.get(*name))
        .any(|value| value.split_whitespace().any(is_cpu));
    let of_uv = uv_files(surroundings).iter().any(|text| {
        text.lines()
            .map(str::trim)
            .filter(|line| !line.starts_with('#'))
            .any(|line| line.split('"').any(is_cpu) || is_cpu_backend(line))
    });
    backend.is_some_and(|name| name == "cpu") || variables || of_pip || of_uv
}

/// `torch-backend = "cpu"` of uv's configuration.
fn is_cpu_backend(line: &str) -> bool {
    let Some((key, value)) = line.split_once('=') else {
        return false;
    };
    key.trim() == "torch-backend" && value.trim().trim_matches('"') == "cpu"
}

/// pip's settings as it would read them: files from the general to the particular, then variables.
fn pip_configuration(surroundings: &Surroundings) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::new();
    for path in pip_files(surroundings) {
        if let Ok(text) = fs::read_to_string(path) {
            read_file(&text, &mut settings);
        }
    }
    for (setting, _, _) in SETTINGS {
        let variable = format!("PIP_{}", setting.to_uppercase().replace('-', "_"));
        if let Some(value) = surroundings.variable(&variable).and_then(|v| v.to_str()) {
            settings.insert((*setting).to_owned(), value.to_owned());
        }
    }
    // "no-index = 0" says no.
    settings.retain(|name, value| name != "no-index" || is_true(value));
    settings
}

fn is_true(value: &str) -> bool {
    ["1", "true", "yes", "on", "y", "t"].contains(&value.to_ascii_lowercase().as_str())
}

fn pip_files(surroundings: &Surroundings) -> Vec<PathBuf> {
    let own = surroundings.variable("PIP_CONFIG_FILE").map(PathBuf::from);
    if own.as_deref() == Some(Path::new("/dev/null")) {
        return Vec::new();
    }
    let mut files: Vec<PathBuf> = vec!["/etc/xdg/pip/pip.conf".into(), "/etc/pip.conf".into()];
    if let Some(home) = &surroundings.home {
        files.push(home.join(".pip/pip.conf"));
        files.push(configuration_folder(surroundings, home).join("pip/pip.conf"));
    }
    files.extend(own);
    files
}

fn uv_files_name_an_index(surroundings: &Surroundings) -> bool {
    uv_files(surroundings).iter().any(|text| {
        text.lines()
            .any(|line| !line.trim_start().starts_with('#') && line.contains("index"))
    })
}

/// The texts of uv's configuration files.
fn uv_files(surroundings: &Surroundings) -> Vec<String> {
    let mut files: Vec<PathBuf> = vec!["/etc/uv/uv.toml".into()];
    files.extend(surroundings.variable("UV_CONFIG_FILE").map(PathBuf::from));
    if let Some(home) = &surroundings.home {
        files.push(configuration_folder(surroundings, home).join("uv/uv.toml"));
    }
    files
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok())
        .collect()
}

fn configuration_folder(surroundings: &Surroundings, home: &Path) -> PathBuf {
    surroundings
        .variable("XDG_CONFIG_HOME")
        .map_or_else(|| home.join(".config"), PathBuf::from)
}

/// Reads the sections that hold for `pip install`; `install` wins over `global`.
fn read_file(text: &str, settings: &mut BTreeMap<String, String>) {
    let mut sections: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
    let mut section = "";
    let mut last = None;
    for line in text.lines() {
        let content = line.trim();
        if content.is_empty() || content.starts_with(['#', ';']) {
            continue;
        }
        let values = sections.entry(section).or_default();
        if line.starts_with(char::is_whitespace)
            && let Some(value) = last.as_ref().and_then(|key| values.get_mut(key))
        {
            value.push(' ');
            value.push_str(content);
        } else if let Some(name) = content.strip_prefix('[').and_then(|c| c.strip_suffix(']')) {
            section = name;
            last = None;
        } else if let Some((key, value)) = content.split_once(['=', ':']) {
            let key = key.trim().to_lowercase().replace('_', "-");
            values.insert(key.clone(), value.trim().to_owned());
            last = Some(key);
        }
    }
    for name in ["global", "install"] {
        settings.extend(sections.remove(name).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> Surroundings {
        let quiet = [("PIP_CONFIG_FILE", "/dev/null")];
        Surroundings::new("r".into(), quiet.iter().chain(variables).copied())
    }

    #[test]
    fn variables_of_pip_are_handed_on() {
        let variables = variables_for_uv(&with(&[
            ("PIP_INDEX_URL", "https://index.example/simple"),
            ("PIP_CERT", "/certificates.pem"),
            ("PIP_FIND_LINKS", "/wheels /more"),
        ]));
        assert_eq!(
            variables["UV_DEFAULT_INDEX"],
            "https://index.example/simple"
        );
        assert_eq!(variables["SSL_CERT_FILE"], "/certificates.pem");
        assert_eq!(variables["UV_FIND_LINKS"], "/wheels,/more");
    }

    #[test]
    fn what_the_user_told_uv_is_not_overruled() {
        let variables = variables_for_uv(&with(&[
            ("PIP_INDEX_URL", "https://pip.example/simple"),
            ("UV_DEFAULT_INDEX", "https://uv.example/simple"),
        ]));
        assert!(variables.is_empty(), "{variables:?}");
    }

    #[test]
    fn files_are_read_with_sections_comments_and_continued_lines() {
        let mut settings = BTreeMap::new();
        read_file(
            "# mine\n[global]\nindex-url = https://a.example\nextra-index-url =\n  https://b.example\n  https://c.example\n[install]\nindex_url: https://d.example\n[search]\nindex = https://e.example\n",
            &mut settings,
        );
        assert_eq!(settings["index-url"], "https://d.example");
        assert_eq!(
            settings["extra-index-url"].trim(),
            "https://b.example https://c.example"
        );
        assert!(!settings.contains_key("index"));
    }

    #[test]
    fn the_users_files_of_pip_and_uv_are_found_through_home() {
        let home = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = home.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let surroundings = Surroundings::new("r".into(), [("HOME", home.path())]);
        write(
            ".config/pip/pip.conf",
            "[global]\nindex-url = https://a.example\n",
        );
        assert_eq!(
            variables_for_uv(&surroundings)["UV_DEFAULT_INDEX"],
            "https://a.example"
        );
        write(
            ".config/uv/uv.toml",
            "[[index]]\nurl = \"https://b.example\"\n",
        );
        assert!(!variables_for_uv(&surroundings).contains_key("UV_DEFAULT_INDEX"));
    }

    #[test]
    fn no_index_is_handed_on_only_when_it_is_on() {
        assert!(variables_for_uv(&with(&[("PIP_NO_INDEX", "0")])).is_empty());
        let variables = variables_for_uv(&with(&[("PIP_NO_INDEX", "yes")]));
        assert_eq!(variables["UV_NO_INDEX"], "yes");
    }

    #[test]
    fn an_index_without_cuda_is_known_by_its_address() {
        let cpu = "https://wheels.example/whl/cpu";
        let told = |name: &str, value: &str| is_cpu_only(&with(&[(name, value)]));
        assert!(told("PIP_EXTRA_INDEX_URL", cpu));
        assert!(told(
            "UV_INDEX",
            &format!("https://other.example/simple {cpu}/")
        ));
        assert!(told("UV_TORCH_BACKEND", "cpu"));
        assert!(!told("UV_TORCH_BACKEND", "auto"));
        assert!(!told("PIP_INDEX_URL", "https://cpu.example/simple"));
        assert!(is_cpu_backend("torch-backend = \"cpu\""));
    }
}
